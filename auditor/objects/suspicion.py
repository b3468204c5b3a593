"""Whether a JSON body may hold a secret at all, told from its bytes without decoding it.

It errs on one side only: what it lets pass has no secret that the redactor knows of. Many bodies have words such as
`secretKeyRef` or `serviceAccountToken` in them, so each such place is looked at: is it a credential's name, and is
there a text beside it? RE2 finds the places in one pass, whatever the number of words (measured: a tenth of the time
of `re`).
"""

import re
from functools import lru_cache

import re2

from auditor.objects.credentials import names_credential


def _options() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = False
    return options


_PLACES = re2.compile(
    rb"(pass|pwd|secret|token|cred|key|auth|bearer|cookie|dockerc|pw)"
    rb"|gh[opsur]_\w{16}|github_pat_|gl(?:pat|dt|rt|cbt|ptt)-|glsa_|xox[a-z]-|xapp-|a[ks]ia[a-z0-9]{16}|aiza[\w-]{30}"
    rb"|ya29\.|[sr]k_(?:live|test)_|sk-[\w-]{20}|sg\.[\w-]{16,64}\.[\w-]{16}|npm_\w{30}|pypi-|hv[sbr]\.[\w-]{16}"
    rb"|dckr_pat_|dop_v1_\w{32}|shp(?:at|ca|pa|ss)_|eyj[\w-]{8}|hooks\.slack|basic |private key|age-secret-key-"
    rb"|(?:^|[^\w./-])--?u(?:ser)?(?:[ =]|\\t)|env/\d{1,4}/value|execoptions|owner\"[: ]{1,9}\"helm",
    _options(),
)
"""The first group is part of a name; all others are secrets by their form, or what holds some."""
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
    if any(hit.start(1) < 0 or _names(raw, hit.start()) for hit in _PLACES.finditer(raw)):
        return True
    return _is_deep(raw)


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
    brackets = raw.translate(None, _OTHERS)
    for level in range(DEEP):
        if len(brackets) < DEEP - level:
            return False
        shorter = brackets.replace(b"{}", b"").replace(b"[]", b"")
        if len(shorter) == len(brackets):
            break
        brackets = shorter
    return True
