"""Remote bases of kustomizations, found in what was collected of their repositories and never fetched.

A base at a tag or a commit is always the same and lies in a folder of its own. One that follows a branch is a further
strand of the application, so that a commit on that branch is one of the states that the application went through.
"""

import re
from collections.abc import Mapping
from urllib.parse import parse_qs

from auditor.desired.blobs import Contents
from auditor.desired.repositories import Checkout, Tracked
from auditor.desired.source import location, normal_path
from auditor.desired.trees import Files

_SCHEME = re.compile(r"(?:[a-z+]+://|[^@/]+@[^/:]+:)", re.I)
_FULL_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PREFIX = "auditor-base-"


class Bases:
    """The remote bases of one source."""

    def __init__(self, checkouts: Mapping[str, Checkout], followed: Mapping[str, str] | None = None) -> None:
        """`followed` are the repositories that the application follows already, with the folder and the branch
        (`folder:branch`) of those that are bases; "" for its own sources."""
        self._checkouts = checkouts
        self._followed = followed or {}
        self._found: dict[str, tuple[str, str]] = {}
        self.trees: dict[str, Files] = {}
        """Bases that never change, by their folder beside the source's own files."""
        self.contents: dict[str, Contents] = {}
        """What the files of those hold, by repository."""
        self.moving: dict[str, tuple[Checkout, str, Tracked]] = {}
        """Bases on branches that are not followed yet: by repository, with the ref."""

    def resolve(self, text: str) -> tuple[str, str]:
        """(the base's folder, ""), or ("", the sentence why it is not at hand)."""
        if text not in self._found:
            self._found[text] = self._resolved(text)
        return self._found[text]

    def _resolved(self, text: str) -> tuple[str, str]:
        address, _, query = text.removeprefix("git::").partition("?")
        given = parse_qs(query)
        ref = (given.get("ref") or given.get("version") or ["HEAD"])[0]
        place = self._repository(address)
        if place is None:
            return "", f"it has a remote base, {text}, which is not fetched"
        checkout, path = place
        tracked = _named(checkout, ref)
        if isinstance(tracked, str):
            return "", f"it has a remote base, {text}: {tracked}"
        folder = self._moving(checkout, ref, tracked) if tracked.branch else self._fixed(checkout, tracked.shas[0])
        if not folder and not tracked.branch:
            return "", f"it has a remote base, {text}, whose commit is not in what was collected"
        if not folder:
            reason = "on a branch that it no longer follows, or of a repository that it follows on another one"
            return "", f"it has a remote base, {text}, {reason}"
        return f"{folder}/{path}".rstrip("/"), ""

    def _repository(self, address: str) -> tuple[Checkout, str] | None:
        """The configured repository that an address begins with, and the path in it."""
        full = address if _SCHEME.match(address) else f"https://{address}"
        host, wanted = location(full)
        found: list[tuple[int, Checkout, str]] = []
        for checkout in self._checkouts.values():
            other, path = location(checkout.url)
            rest = wanted[len(path) :].removeprefix(".git")
            if host == other and path and wanted.lower().startswith(path.lower()) and rest[:1] in ("", "/"):
                inside = normal_path(rest)
                if inside is not None:
                    found.append((len(path), checkout, inside))
        longest = max(found, key=lambda one: one[0], default=None)
        return longest and longest[1:]

    def _fixed(self, checkout: Checkout, sha: str) -> str:
        folder = f"{_PREFIX}{sha}"
        if folder not in self.trees:
            tree = checkout.tree(sha, checkout.main)
            if tree is None:
                return ""
            self.trees[folder] = tree
            self.contents[checkout.url] = checkout.blobs
        return folder

    def _moving(self, checkout: Checkout, ref: str, tracked: Tracked) -> str:
        folder, _, branch = self._followed.get(checkout.url, "").partition(":")
        if checkout.url not in self._followed:
            self.moving.setdefault(checkout.url, (checkout, ref, tracked))
        return folder if branch == tracked.branch else ""


def _named(checkout: Checkout, ref: str) -> Tracked | str:
    """What a ref of a base names: git knows no ranges and no shortened names there."""
    tracked = checkout.tracked(ref)
    if not isinstance(tracked, str) and tracked.branch and checkout.has_tag(ref):
        return f"{ref} is both a branch and a tag of {checkout.url}"
    if isinstance(tracked, str) or tracked.branch or checkout.has_tag(ref) or _FULL_SHA.fullmatch(ref):
        return tracked
    return f"{checkout.url} has no branch, tag or commit {ref} in what was collected"


def mount(path: str) -> str:
    """The folder of the tree that a path lies in, "" for the source's own."""
    first = path.partition("/")[0]
    return first if first.startswith((_PREFIX, "auditor-source-")) else ""
