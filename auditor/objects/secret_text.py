"""Secrets inside text: whole configuration files, messages, command lines, URLs, and tokens known by their form.

All patterns are bounded and start only where a word starts, so that the time is linear in the text, whatever it is.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import re2

from auditor.objects.credentials import is_plain_value
from auditor.objects.secret_phrases import without_phrases

Hide = Callable[[str], str]
"""From a secret to the text that stands in its place."""

_LONGEST = 2 << 20
"""Characters of a text that is looked through; no field of an object is longer, and a longer one is hidden whole."""

_SHORT = 200
_PROMPTS = re.compile(
    r"pass|pwd|pw\b|secret|token|cred|key|auth|cookie|bearer|basic |docker|kubeconfig|-u |--user|@"
    r"|gh[opsur]_|gl(?:pat|dt|rt|cbt|ptt)-|xox[abeoprs]-|xapp-|a(?:kia|sia)[a-z0-9]{8}|aiza|ya29\.|k_(?:live|test)_"
    r"|sk-|sg\.|npm_|pypi-|hv[sbr]\.|_pat_|dop_v1_|shp(?:at|ca|pa|ss)_|glsa_|eyj|hooks\.slack"
    r"|identified|mysql|mariadb|redis-cli|sig=|signature="
)
"""What every text with a secret in it has, in lower case (a search that ignores case takes six times as long): one
without is left as it is at once."""


def _bytewise() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = False
    return options


_IN_NAMES = re2.compile(
    rb"=|://|bearer |gh[opsur]_|github_pat_|gl(?:pat|dt|rt|cbt|ptt)-|xox[abeoprs]-|xapp-|a[ks]ia|aiza|ya29\.|sk-"
    rb"|[sr]k_(?:live|test)_|sg\.|npm_|pypi-|hv[sbr]\.|_pat_|dop_v1_|age-secret|shp(?:at|ca|pa|ss)_|glsa_|eyj",
    _bytewise(),
)
"""What a name with a secret in it has, by RE2, which takes a tenth of the time.

A colon is no sign of one: `system:serviceaccount:token:default`."""

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r".*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_URL_PASSWORD = re.compile(r"(://[^\s/:@\"'<>\\]{0,256}:)([^\s/\"'<>\\]{1,512})(@)")
_URL_LONG_PASSWORD = re.compile(
    r"(://[^\s/:@\"'<>\\\[]{0,256}:)(?!\d{1,5}[/,?#]|\$)([^\s\"'<>\\@/]{1,256}/[^\s\"'<>\\@]{0,256})(@)(?=[\w\[])"
)
"""A password with a solidus; not the port, path and digest of an image."""
_URL_TOKEN = re.compile(r"(://)([A-Za-z0-9_\-.~%]{16,512})(@)")
_KNOWN = re.compile(
    r"\b(?:gh[opsur]_[A-Za-z0-9]{16,255}|github_pat_\w{20,255}|xox[abeoprs]-[\w\-]{8,255}|A(?:KIA|SIA)[A-Z0-9]{16}\b"
    r"|(?:gl(?:pat|dt|rt|cbt|ptt)-|xapp-|sk-|pypi-|hv[sbr]\.)(?=[\w\-.]{0,255}?(?:[A-Z]|[0-9a-f]{16}))[\w\-.]{16,512}"
    r"|AIza[\w\-]{30,64}|ya29\.[\w\-.]{16,512}|[sr]k_(?:live|test)_\w{16,255}|SG\.[\w\-]{16,64}\.[\w\-]{16,64}"
    r"|npm_\w{30,64}|dckr_pat_[\w\-]{16,64}|dop_v1_\w{32,128}|AGE-SECRET-KEY-\w{20,128}|shp(?:at|ca|pa|ss)_\w{16,64}"
    r"|glsa_\w{16,64})",
    re.ASCII,
)
"""Those that the name of an object could begin with have a capital or many hexadecimal digits, as no name has."""
_JWT = re.compile(r"(?<![\w\-.])eyJ[\w\-]{8,8192}\.[\w\-]{8,65536}(?:\.[\w\-]{0,8192})?", re.ASCII)
_BEARER = re.compile(r"(?ai)(\bbearer[ \t]{1,20})([\w+/=.~\-]{16,65536})")
_SLACK_HOOK = re.compile(r"(hooks\.slack\.com/(?:services|workflows|triggers)/)([\w/\-]{8,255})")
_SCHEME = re.compile(
    r"(?ai)(\b(?:bearer|basic|token)[ \t]{1,20})((?-i:[\w+/.~\-]{0,8192}?[\dA-Z=])[\w+/=.~\-]{6,65536})"
)
_USER = re.compile(r"((?<!\S)(?:-u|--user)[ \t=]{1,20}[^\s:]{1,256}:)(\S{1,512})")

_NAMED = re.compile(
    r"(?<![\w.\-/])(?P<flag>--?)?(?P<name>[A-Za-z_][\w.\-/]{1,127})(?P<quote>\\{0,15}[\"']|>)?"
    r"(?P<between>[ \t]{0,20}(?::=|=>|=|:)[ \t]{0,20}|[ \t]{1,20}(?:(?:is|was|now)[ \t]{1,20}){0,2})?"
)
_PAIR = re.compile(
    r"""(?i)(?<!\w)(?:name|key)["']?[ \t]{0,20}:[ \t]{0,20}["']?(?P<name>[\w.\-/]{1,128})["']?[ \t]{0,20},?"""
    r"""[ \t]{0,20}\r?\n?[ \t]{0,200}["']?value["']?[ \t]{0,20}:[ \t]{0,20}"""
)
_SAYS_ABOUT = re.compile(
    r"(?i)(?:not|missing|required|invalid|expired|empty|set|unset|(?:un|mis)?configured|wrong|incorrect|nil|null|none|a"
    r"|an|the|in|on|at|for|from|to|of|and|or|being|no|used|still|also|already|managed|rotated|leaked|stored|too|valid"
    r"|needed|mounted|created|deleted|updated|changed|patched|available|provided|present|absent|found|exposed|now)\b"
)
"""Words after `the token is …` that tell something of it and are not it."""
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*+)', re.DOTALL)
_ESCAPED = re.compile(r"\\+[\"']")
_WORD = re.compile(r"(?:(?i:bearer|basic|token|digest)[ \t]{1,20})?[^\s\"'`,;&<>\[\]{}()|\\]+")
_REST = re.compile(r"[^\r\n]*")
_COMMENT = re.compile(r"[ \t]#|[ \t]//[ \t]")
_BLOCK = re.compile(r"[|>][+\-]?\d?[+\-]?[ \t]{0,20}\r?\n")
_FENCES = ('"""', "'''")
_BELOW = re.compile(
    r"(?<=[: \t])[ \t]*(?:#[^\n]*)?\r?\n(?P<indent>[ \t]+)"
    r"(?P<value>\"[^\"\n]+\"|'[^'\n]+'|[^\s#\-{\[&*!|>\"'][^\s]*(?<!:))"
    r"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)"
)
"""A value on the line below its name, as YAML has it: one word, or a quoted text."""
_ANCHOR = re.compile(r"&[\w\-]+[ \t]+(?=\S)")
_LEAD = re.compile(r"""[ \t]*(?:(?:export|set|setx|env|ENV|ARG|-)[ \t]+)*["']?(?:--?)?""")

_MANIFEST = re.compile(r"(?m)^[ \t]{0,200}(?:- )?[\"']?kind[\"']?:[ \t]{0,20}[\"']?Secret[\"']?[ \t]{0,20}(?:#.*)?\r?$")
_SECTION = re.compile(r"(?P<indent>[ \t]*)[\"']?(?:data|stringData)[\"']?:[ \t]*(?:#.*)?\r?")
_ENTRY = re.compile(r"(?P<head>[ \t]+[^\s#:][^:]*:[ \t]+)(?P<value>\S.*)")


@dataclass(frozen=True, slots=True)
class Reader:
    """How to look through text: how a secret is hidden, and which names stand for one."""

    hide: Hide
    names_credential: Callable[[str], bool]
    """Whether what such a name holds is a secret."""
    every_name: bool = False
    """Whether names of the user's own count, so that no text can be left out for its words."""

    def without_secrets(self, text: str, whole_file: bool = False) -> str:
        """The text with its secrets hidden; `whole_file`: a configuration, where a value fills the rest of its line.

        Forms that are secrets by themselves go first; then what stands beside a credential's name.
        """
        if not self.every_name and (_is_clean(text) if len(text) < _SHORT else not _prompts(text)):
            return text
        if len(text) > _LONGEST:
            return self.hide(text)
        text = self._known_forms(text)
        if whole_file and _MANIFEST.search(text):
            text = self._manifests(text)
        text = without_phrases(text, self.once, self.names_credential)
        for places in (self._pairs, self._assignments):
            text = self._replaced(text, places(text, whole_file))
        return text

    def name(self, text: str) -> str:
        """A name (of a user, client, group or tag) without secrets; only what none has by chance counts as one."""
        if _is_bare(text):
            return text
        text = _BEARER.sub(lambda match: match[1] + self.hide(match[2]), self._tokens(text[:_LONGEST]))
        return self._replaced(text, self._assignments(text, whole_file=False, signs=("=",)))

    def _known_forms(self, text: str) -> str:
        text = self._tokens(_PRIVATE_KEY.sub(lambda match: self.hide(match[0]), text))
        text = _SLACK_HOOK.sub(lambda match: match[1] + self.hide(match[2]), text)
        text = _SCHEME.sub(lambda match: match[1] + self.hide(match[2]), text)
        return _USER.sub(lambda match: match[1] + self.once(match[2]), text)

    def _tokens(self, text: str) -> str:
        """The text without what is a secret by its form, whatever stands around it."""
        if "@" in text:
            text = _URL_PASSWORD.sub(lambda match: match[1] + self.once(match[2]) + match[3], text)
            text = _URL_LONG_PASSWORD.sub(lambda match: match[1] + self.once(match[2]) + match[3], text)
            text = _URL_TOKEN.sub(lambda match: match[1] + self.hide(match[2]) + match[3], text)
        text = _KNOWN.sub(lambda match: self.hide(match[0]), text)
        return _JWT.sub(lambda match: self.hide(match[0]), text)

    def once(self, value: str) -> str:
        """The value hidden, unless it is no secret or hidden already."""
        return value if is_plain_value(value) else self.hide(value)

    def _replaced(self, text: str, places: Iterator[tuple[int, int]]) -> str:
        """The text with what lies between these places hidden. Places come in order and do not overlap."""
        parts: list[str] = []
        done = 0
        for begin, end in places:
            parts += (text[done:begin], self.once(text[begin:end]))
            done = end
        return "".join(parts) + text[done:] if parts else text

    def _pairs(self, text: str, whole_file: bool) -> Iterator[tuple[int, int]]:
        """The values of `name: DB_PASSWORD`, `value: …` pairs."""
        done = 0
        for match in _PAIR.finditer(text):
            if match.start() >= done and self.names_credential(match["name"]):
                begin, done = _value(text, match.end(), whole_file, "")
                yield begin, done

    def _assignments(self, text: str, whole_file: bool, signs: tuple[str, ...] = ()) -> Iterator[tuple[int, int]]:
        """The values of `password=…`, `"password": "…"`, `--password …`, `<password>…` and `password is …`.

        With `signs` only those that one of these assigns.
        """
        done = 0
        for match in _NAMED.finditer(text):
            if match.start() < done or not _assigns(text, match) or not self.names_credential(match["name"]):
                continue
            if signs and (match["between"] or "").strip() not in signs:
                continue
            at_start = whole_file and not match["flag"] and _is_lead(text, match.start())
            begin, done = _value(text, match.end(), at_start, "<" if match["quote"] == ">" else "")
            if begin < done:
                yield begin, done

    def _manifests(self, text: str) -> str:
        """Manifests of Secrets inside a text, as YAML: the entries of `data` and `stringData`."""
        indent: int | None = None
        lines = text.split("\n")
        for number, line in enumerate(lines):
            depth = len(line) - len(line.lstrip())
            if section := _SECTION.fullmatch(line):
                indent = len(section["indent"])
            elif indent is None or not line.strip():
                continue
            elif depth <= indent:
                indent = None
            elif entry := _ENTRY.fullmatch(line):
                lines[number] = entry["head"] + self.once(entry["value"])
            elif not line.rstrip().endswith(":"):
                lines[number] = line[:depth] + self.once(line.strip())
        return "\n".join(lines)


def _prompts(text: str) -> bool:
    return _PROMPTS.search(text.lower()) is not None


@lru_cache(16384)
def _is_clean(text: str) -> bool:
    """Whether a short text has no prompt. The same ones come again and again."""
    return not _prompts(text)


@lru_cache(16384)
def are_bare(names: tuple[str, ...]) -> bool:
    """Whether none of these names holds a sign of a secret."""
    return all(map(_is_bare, names))


@lru_cache(16384)
def _is_bare(name: str) -> bool:
    """Whether a name holds no sign of a secret. The same ones come with every request."""
    return _IN_NAMES.search(name.encode(errors="surrogatepass")) is None


def _assigns(text: str, match: re.Match[str]) -> bool:
    """Whether what follows the name is its value."""
    between = match["between"] or ""
    if _SAYS_ABOUT.match(text, match.end()) and ":" not in between and "=" not in between:
        return False
    if match["quote"] == ">":
        return text[match.start() - 1 : match.start()] == "<"
    if between.strip() in ("=", ":", ":=", "=>") or between.strip():
        return True
    return bool(match["flag"] and between)


def _is_lead(text: str, place: int) -> bool:
    """Whether nothing but white space, a quote or `export` stands before this place in its line."""
    begin = max(text.rfind("\n", 0, place) + 1, place - 200)
    return bool(_LEAD.fullmatch(text, begin, place))


def _value(text: str, place: int, whole_line: bool, closed_by: str) -> tuple[int, int]:
    """Begin and end of the value at a place: quoted, a block of lines, the rest of the line, or one word."""
    first = text[place : place + 1]
    if closed_by:
        end = text.find(closed_by, place)
        return place, len(text) if end < 0 else end
    if (fence := text[place : place + 3]) in _FENCES:
        end = text.find(fence, place + 3)
        return place + 3, len(text) if end < 0 else end
    if first == '"' and (double := _DOUBLE.match(text, place)):
        return double.span(1)
    if first == "'":
        end = text.find("'", place + 1)
        return place + 1, len(text) if end < 0 else end
    if escaped := _ESCAPED.match(text, place):
        end = text.find(escaped[0], escaped.end())
        return escaped.end(), len(text) if end < 0 else end
    if whole_line and (block := _BLOCK.match(text, place)):
        return block.end(), _block_end(text, place, block.end())
    if whole_line and (below := _BELOW.match(text, place)) and _is_deeper(text, place, below["indent"]):
        return below.span("value")
    if whole_line and (anchor := _ANCHOR.match(text, place)):
        return _rest_of_line(text, anchor.end())
    if whole_line and first not in ("{", "[", "&", "*"):
        return _rest_of_line(text, place)
    word = _WORD.match(text, place)
    return word.span() if word else (place, place)


def _is_deeper(text: str, place: int, indent: str) -> bool:
    opening = text[text.rfind("\n", 0, place) + 1 : place]
    return len(indent) > len(opening) - len(opening.lstrip())


def _rest_of_line(text: str, place: int) -> tuple[int, int]:
    rest = _REST.match(text, place)
    line = rest[0] if rest else ""
    if line.startswith("# ") and text[place - 1 : place] in (" ", "\t"):
        return place, place  # a comment, and no value
    comment = _COMMENT.search(line)
    line = (line[: comment.start()] if comment else line).rstrip().rstrip(",;")
    return place, place + len(line)


def _block_end(text: str, place: int, begin: int) -> int:
    """The end of a YAML block scalar: its lines are deeper than the line that opens it."""
    opening = text[text.rfind("\n", 0, place) + 1 : place]
    depth = len(opening) - len(opening.lstrip())
    end = begin
    while end < len(text):
        stop = text.find("\n", end)
        line = text[end : len(text) if stop < 0 else stop]
        if line.strip() and len(line) - len(line.lstrip()) <= depth:
            break
        end += len(line) + 1
    return max(begin, min(end, len(text)) - 1 if text[min(end, len(text)) - 1 :][:1] == "\n" else min(end, len(text)))
