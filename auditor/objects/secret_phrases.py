"""Secrets by what stands before them: commands, statements, clauses of configurations, signed URLs, flow manifests.

Beside these words no sign says that a value follows, as `=` or `:` does. All patterns are bounded.
"""

import re
from collections.abc import Callable

PHRASES = (
    re.compile(r"(?ai)(\blogin\s{1,20}[^\s]{1,256}\s{1,20}password\s{1,20})(?P<value>\S{1,512})"),  # .netrc
    re.compile(
        r"(?aim)(^[ \t]{0,20}(?:requirepass|masterauth)[ \t]{1,20}[\"']?)(?P<value>[^\s\"']{1,512})(?=[\"']?\s*$)"
    ),  # Redis
    re.compile(
        r"(?a)(\b(?:IDENTIFIED|(?i:user[ \t]{1,20}\S{1,128}[ \t]{1,20}identified))"
        r"(?i:[ \t]{1,20}with[ \t]{1,20}\S{1,64})?(?i:[ \t]{1,20}by(?:[ \t]{1,20}password)?)"
        r"[ \t]{1,20}')(?P<value>[^'\n]{1,512})(?=')"
    ),
    re.compile(
        r"(?ai)(\b(?:with|set)(?:[ \t]{1,20}encrypted)?[ \t]{1,20}password[ \t]{1,20}')(?P<value>[^'\n]{1,512})(?=')"
    ),  # SQL
    re.compile(r"(?ai)(\b(?:mysql|mariadb)\w{0,10}[ \t](?:[^\n|;&]{0,200}?[ \t])?-p)(?P<value>[^\s|;&\"']{1,512})"),
    re.compile(r"(?ai)(\bsshpass[ \t]{1,20}-p[ \t]{0,20}[\"']?)(?P<value>[^\s\"']{1,512})"),
    re.compile(
        r"(?ai)(\bredis-cli[ \t](?:[^\n|;&]{0,200}?[ \t])?(?:-a|--pass)[ \t]{1,20}[\"']?)(?P<value>[^\s\"']{1,512})"
    ),
    re.compile(r"(?ai)([?&;](?:sig|signature|x-(?:amz|goog)-signature)=)(?P<value>[^&#\s\"'<>\\]{1,2048})"),
    re.compile(r"(?ai)(?P<before>(?<![\w./:])[\w.\-]{1,64}:)(?P<value>[^\s\"'()]{1,256}?)(?=@(?:tcp|unix)\()"),  # Go
    re.compile(
        r"(?a)(\b[Pp]ass(?:word|wd|phrase)?[ \t]{1,4})"
        r"(?=\w{0,64}[a-z])(?=\w{0,64}[A-Z])(?=\w{0,64}?\d\w{0,64}?\d)(?P<value>\w{8,64})(?![\w.\-/:])"
    ),
)
_CALL = re.compile(
    r"\b(?:define|getenv|env|environ\.get)\(\s{0,20}([\"'])(?P<name>\w{2,128})\1\s{0,20},\s{0,20}([\"'])"
    r"(?P<value>[^\"'\n]{1,512})(?=\3)"
)
"""`define('DB_PASSWORD', …)` and defaults of variables."""
_IS_SECRET = re.compile(r"\bkind\\{0,8}[\"']?\s{0,20}:\s{0,20}\\{0,8}[\"']?Secret\b")
_FLOW = re.compile(
    r"(?P<before>\b(?:data|stringData)\\{0,8}[\"']?\s{0,20}:\s{0,20}\{)"
    r"(?P<value>(?:[^{}\"'\\]|\"(?:[^\"\\]|\\.)*+\"|'[^'\n]*+')*+(?=\}|\Z)|[^\n]*)"
)
"""The entries of a Secret on one line, as JSON or YAML writes them; the rest of the line where they do not end."""


def without_phrases(text: str, once: Callable[[str], str], names_credential: Callable[[str], bool]) -> str:
    """The text with the secrets of such phrases replaced by what `once` makes of them."""

    def replaced(match: re.Match[str]) -> str:
        begin, end = match.start(), match.end()
        return text[begin : match.start("value")] + once(match["value"]) + text[match.end("value") : end]

    for phrase in PHRASES:
        text = phrase.sub(replaced, text)
    if _IS_SECRET.search(text):
        text = _FLOW.sub(replaced, text)
    return _CALL.sub(lambda match: replaced(match) if names_credential(match["name"]) else match[0], text)
