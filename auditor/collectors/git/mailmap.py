""".mailmap: the names and addresses that people want to be called by (`git help mailmap`)."""

import re

_LINE = re.compile(r"^\s*([^<#]*?)\s*<([^>]*)>\s*(?:([^<]*?)\s*<([^>]*)>)?\s*(?:#.*)?$")


class Mailmap:
    """Maps what a commit says to what the map says. Names and addresses are compared without regard to case."""

    def __init__(self, text: str = "") -> None:
        self._by_both: dict[tuple[str, str], tuple[str, str]] = {}
        self._by_mail: dict[str, tuple[str, str]] = {}
        for line in text.splitlines():
            found = _LINE.match(line)
            if found:
                self._add(found[1], found[2], found[3] or "", found[4])

    def _add(self, name: str, mail: str, old_name: str, old_mail: str | None) -> None:
        if old_mail is None:
            self._by_mail[mail.lower()] = (name, mail)
        elif old_name:
            self._by_both[old_name.lower(), old_mail.lower()] = (name, mail)
        else:
            self._by_mail[old_mail.lower()] = (name, mail)

    def resolve(self, name: str, mail: str) -> tuple[str, str]:
        """The proper name and address of an identity, itself where the map has none."""
        found = self._by_both.get((name.lower(), mail.lower())) or self._by_mail.get(mail.lower())
        if found is None:
            return name, mail
        return found[0] or name, found[1] or mail
