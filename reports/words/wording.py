"""Numbers, durations, paths and values in words. No locale, no host: the same in, the same out."""

import json
from collections.abc import Sequence
from dataclasses import replace

from auditor.model.resource import Leaf, ListItem, Path
from auditor.objects import paths
from reports.words.rich import Span, Text, visible

NARROW_SPACE = "\u202f"
ELLIPSIS = "…"


def count(number: int, one: str, many: str = "") -> str:
    """`1 change`, `20 changes`."""
    return f"{grouped(number)} {one if number == 1 else many or one + 's'}"


def grouped(number: int) -> str:
    """`3 950 568`, with narrow spaces."""
    return f"{number:,}".replace(",", NARROW_SPACE)


def duration(seconds: float) -> str:
    """`0.4 s`, `24 s`, `1 min 8 s`, `2 h 5 min`, `3 d 4 h`."""
    if seconds < 1:
        return f"{seconds:.1f} s" if seconds >= 0.05 else "less than 0.1 s"
    whole = round(seconds)
    units = ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s"))
    for size, name, part, part_name in units:
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {name}" + (f" {rest} {part_name}" if rest else "")
    return f"{whole} s"


def listed(items: Sequence[str], limit: int) -> str:
    """`a, b and 3 more`."""
    shown = ", ".join(items[:limit])
    return shown if len(items) <= limit else f"{shown} and {grouped(len(items) - limit)} more"


def width(text: str) -> float:
    """How wide a text is set, in halves of its size: enough to keep a line budget."""
    return sum(_advance(character) for character in text)


def _advance(character: str) -> float:
    if character >= "\u1100":
        return 2.1
    if character in "mwMW@%—…":
        return 1.9
    if character.isupper():
        return 1.4
    return 0.6 if character in "ijlftrI.,:;'|![]()-/ " else 1.1


def fitted(spans: Text, limit: float) -> Text:
    """A text as far as `limit` goes, with an ellipsis where it is cut. A mark or a time is whole or left out."""
    found: list[Span] = []
    left = limit
    for span in spans:
        used = width(span.text) + (1.5 if span.kind in ("mark", "sign") else 0)
        if used > left:
            if span.kind not in ("mark", "sign", "time", "local", "absent", "unknown", "becomes") and left > 4:
                found.append(replace(span, text=cut(span.text, left)))
            break
        found.append(span)
        left -= used
    return _without_half(found, spans)


def _without_half(found: list[Span], spans: Text) -> Text:
    """No `500m` of what was `500m → 750m`: a value before would be read as the value now."""
    for arrow in (place for place, span in enumerate(spans) if span.kind == "becomes"):
        if max(arrow - 2, 0) < len(found) < arrow + 3:
            kept = found[: max(arrow - 2, 0)]
            while kept and not kept[-1].text.strip():
                kept.pop()
            return (*kept, Span("text", ELLIPSIS))
    return tuple(found)


def cut(text: str, limit: float) -> str:
    """`text` as far as `limit` average characters go; cut after a whole word where it can, and with an ellipsis."""
    shown = visible(text)
    if width(shown) <= limit:
        return shown
    used, kept = 1.0, 0
    for character in shown:
        used += _advance(character)
        if used > limit:
            break
        kept += 1
    return _whole_words(shown[:kept], shown[kept]) + ELLIPSIS


def _whole_words(kept: str, following: str) -> str:
    """`kept` without the word that it breaks off in, where that costs no more than a third of it."""
    whole = kept.rpartition(" ")[0] if not following.isspace() else kept
    return (whole if len(whole) * 3 >= len(kept) * 2 else kept).rstrip(" ,;:(" + ELLIPSIS)


def middle_cut(text: str, limit: int) -> str:
    """A long name with its middle left out: both ends tell names apart. `limit` in ordinary characters."""
    shown = visible(text)
    if len(shown) <= limit and width(shown) <= limit * 1.25:
        return shown
    head, tail = cut(shown, limit * 0.75), cut(shown[::-1], limit * 0.5)[::-1]
    return head.removesuffix(ELLIPSIS) + ELLIPSIS + tail.removeprefix(ELLIPSIS)


def dense_pair(before: Leaf, after: Leaf) -> tuple[str, str]:
    """Both values for a dense table: an ellipsis stands for the registry that two images share."""
    first, second = pair_texts(before, after)
    host, slash, rest = first.partition("/")
    shared = bool(slash) and "." in host and second.startswith(host + slash)
    return (f"{ELLIPSIS}/{rest}", ELLIPSIS + second[len(host) :]) if shared else (first, second)


def differing(first: str, second: str, limit: int) -> tuple[str, str]:
    """Both texts without a long beginning that they share, where the cut of one to `limit` could hide what differs."""
    shared = _common(first, second)
    if max(len(first), len(second)) <= limit or shared <= limit // 4:
        return first, second
    start = shared - limit // 4
    return ELLIPSIS + first[start:], ELLIPSIS + second[start:]


_POD_SPEC = "spec.template.spec.containers"


def dense_path(path: Path) -> str:
    """The path for a dense table: an ellipsis stands for the pod template's containers."""
    written = paths.text(path)
    return ELLIPSIS + written[len(_POD_SPEC) :] if written.startswith(_POD_SPEC + "[") else written


def field_name(path: Path) -> str:
    """The few words by which a sentence names a field: `image`, `limits.cpu`, `DB_POOL`, `replicas`."""
    named = [segment for segment in path if not isinstance(segment, int)]
    if not named:
        return "whole object"
    last = named[-1]
    if isinstance(last, ListItem):
        return paths.text(tuple(named[-2:]))
    if last in ("value", "valueFrom") and len(named) > 1 and isinstance(named[-2], ListItem):
        return named[-2].keys[0][1]
    if len(named) > 1 and named[-2] in ("limits", "requests", "matchLabels", "labels", "annotations", "strategy"):
        return f"{named[-2]}.{last}" if named[-2] != "annotations" else f"annotation {last.rsplit('/', 1)[-1]}"
    return last


def value_text(leaf: Leaf) -> str:
    """A value as the record has it; an empty string is `""`, so that no cell looks blank."""
    if leaf.state != "value":
        return leaf.state
    if isinstance(leaf.value, str):
        return leaf.value if leaf.value else '""'
    return json.dumps(leaf.value, ensure_ascii=False)


def pair_texts(before: Leaf, after: Leaf) -> tuple[str, str]:
    """Both values as texts that differ where the values do: `8080` and `"8080"`."""
    first, second = value_text(before), value_text(after)
    if first == second and before != after and before.state == after.state == "value":
        return json.dumps(before.value, ensure_ascii=False), json.dumps(after.value, ensure_ascii=False)
    return first, second


def value_span(leaf: Leaf, shown: str, limit: int) -> Span:
    """One value of at most `limit` characters."""
    if leaf.state == "absent":
        return Span("absent", "absent")
    if leaf.state == "unknown":
        return Span("unknown", "unknown")
    return Span("value", middle_cut(shown, limit))


BECOMES_LIMIT = 40
"""Characters of both values together that still stand on one line."""
_AROUND = 48
_PIECE = 400


def pieces(value: str, other: str) -> tuple[tuple[str, bool], ...]:
    """A long value as (text, same as in the other): the common head and tail, cut to what is near, and the rest."""
    head = _common(value, other)
    tail = _common(value[head:][::-1], other[head:][::-1])
    end = len(value) - tail
    parts = (
        (_tail_of(value[:head]), True),
        (middle_cut(value[head:end], _PIECE), False),
        (_head_of(value[end:]), True),
    )
    return tuple((part, same) for part, same in parts if part) or (('""', False),)


def _common(first: str, second: str) -> int:
    length = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        length += 1
    return length


def _tail_of(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= _AROUND else ELLIPSIS + shown[-_AROUND:]


def _head_of(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= _AROUND else shown[:_AROUND] + ELLIPSIS
