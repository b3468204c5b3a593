"""Whether a JSON body may hold a secret at all, told from its bytes without decoding it.

It errs on one side only: what it lets pass has no secret that the redactor knows of. Most bodies have words such as
`secretKeyRef` or `serviceAccountToken` in them, so each such place is looked at: is it a credential's name, and is
there a text beside it? The patterns begin with letters that are rare in bodies, which makes the scan several times
faster than one over the words themselves (measured; `password` is found by `word`, `token` by `ken`).
"""

import re
from functools import lru_cache

from auditor.objects.credentials import names_credential

_RARE = re.compile(
    rb"k(?:ey|en|ie|ubeconfig|erc|-[\w\-]{20}|ia[a-z0-9]{16}|s\.slack)|w(?:ord|d|ner\"[: ]{1,9}\"helm|(?![a-z]))"
    rb"|b(?:earer|asic )|u(?:th|[ \t]|ser[ \t=])|v(?:ate key|/\d{1,4}/value|[sbr]\.[\w\-]{16}|1_\w{32})"
    rb"|x(?:ox|app-|ecoptions)|za[\w\-]{30}|g(?:l(?:pat|dt|rt|cbt|ptt)-|\.[\w\-]{16,64}\.[\w\-]{16})|y(?:a29\.|pi-|j[\w\-]{8})"
    rb"|_(?=\w{16})"
)
_COMMON = (b"pass", b"ecret", b"cred")
"""Words of which no part begins with a rare letter."""
_NAME_WORDS = frozenset((b"key", b"ken", b"kie", b"kubeconfig", b"kerc", b"word", b"wd", b"w", b"bearer", b"uth"))
"""Hits that are part of a name; all others are secrets by their form."""
_BEHIND = {
    b"u": re.compile(rb"(?:^|[\s\"']|\\[nrt])--?\Z"),
    b"_": re.compile(rb"(?i)(?:gh[opsur]|github_pat|dckr_pat|shp(?:at|ca|pa|ss)|glsa|npm|[sr]k_(?:live|test))\Z"),
}
"""What must stand before a hit that begins so: `-u user:password`, `ghp_…`."""
_BARE_PATH = re.compile(rb"\"path\"[ \t]*:[ \t]*\"$")

_AROUND = bytes(byte if chr(byte).isalnum() or byte in b"_.-/" else 0x20 for byte in range(128)) + b" " * 128
_KEY = re.compile(rb"[\w.\-/]*(?:\\*[\"'][ \t\r\n]*:[ \t\r\n]*(?:\{|true|false|null|\[[ \t\r\n]*[\]{]))?")
_ESCAPED = re.compile(rb"\\u00(?!26|27|3[cCeE]|[01])")
_URL_USER = re.compile(rb":(?:\\?/){2}[^\s\"]{1,800}?@")

_BRACKETS = b"{[]}"
_OTHERS = bytes(byte for byte in range(256) if byte not in _BRACKETS)
DEEP = 140
"""Levels of nesting beyond which a body is looked at, as it may be one that is made to break its readers."""


def is_suspicious(raw: bytes) -> bool:
    """Whether the body must be decoded and looked through."""
    if b"\\u00" in raw and _ESCAPED.search(raw):
        return True
    if b"@" in raw and _URL_USER.search(raw):
        return True
    lower = raw.lower()
    if any(_is_secret(raw, hit) for hit in _RARE.finditer(lower)):
        return True
    for word in _COMMON:
        place = lower.find(word)
        while place >= 0:
            if _names(raw, place):
                return True
            place = lower.find(word, place + 1)
    return b"ASIA" in raw or b"AGE-SECRET-KEY-" in raw or _is_deep(raw)


def _is_secret(raw: bytes, hit: re.Match[bytes]) -> bool:
    if hit[0] in _NAME_WORDS:
        return _names(raw, hit.start())
    behind = _BEHIND.get(hit[0][:1])
    return behind is None or bool(behind.search(raw, max(0, hit.start() - 12), hit.start()))


def _names(raw: bytes, place: int) -> bool:
    """Whether the name around this place is a credential's and not a key of something that is no text."""
    before = raw[max(0, place - 120) : place]
    begin = before.translate(_AROUND).rpartition(b" ")[2]
    rest = _KEY.match(raw, place)
    name, closing, _ = (rest[0] if rest else b"").partition(b'"')
    escape = before[: len(before) - len(begin)].endswith(b"\\")  # the first letter may be the n of a line's end
    if closing or not (_names_credential(begin + name) or (escape and _names_credential(begin[1:] + name))):
        return False
    return not _BARE_PATH.search(before, 0, len(before) - len(begin)) or begin.startswith(b"/")


@lru_cache(16384)
def _names_credential(name: bytes) -> bool:
    return names_credential(name.decode("ascii", "replace"))


def _is_deep(raw: bytes) -> bool:
    """Whether brackets may nest too deeply; those inside strings count too, which errs on the safe side."""
    if raw.count(b"{") + raw.count(b"[") < DEEP:
        return False
    brackets = raw.translate(None, _OTHERS)
    for _ in range(DEEP):
        shorter = brackets.replace(b"{}", b"").replace(b"[]", b"")
        if not shorter:
            return False
        if len(shorter) == len(brackets):
            break
        brackets = shorter
    return True
