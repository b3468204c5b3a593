"""SVG elements. Attributes carry the paper's colours, so that WeasyPrint sets them; classes let a screen theme them."""

from reports.contract.document import Shape

_COLOURS = {
    "0": "none",
    "1": "#1a212b",
    "2": "#4a5561",
    "3": "#646e7a",
    "e": "#828c97",
    "r": "#dadde1",
    "p": "#fff",
    "w": "#f4f2ec",
    "g": "#0d5b70",
    "a": "#a9430b",
}


def _paint(fill: str, stroke: str, width: float) -> tuple[tuple[str, str], ...]:
    """Class and attributes for colours by their letter, "" for none given."""
    classes = " ".join(name for name in (fill and f"f{fill}", stroke and f"s{stroke}") if name)
    found = [("class", classes)] if classes else []
    found.append(("fill", _COLOURS[fill or "0"]))
    if stroke:
        found += [("stroke", _COLOURS[stroke]), ("stroke-width", f"{width:g}")]
    return tuple(found)


def rect(
    x: float, y: float, width: float, height: float, fill: str, stroke: str = "", thick: float = 1, radius: float = 0
) -> Shape:
    """A rectangle from its upper left corner; no fill is transparent."""
    at = (("x", f"{x:g}"), ("y", f"{y:g}"), ("width", f"{max(width, 0):g}"), ("height", f"{height:g}"))
    rounded = (("rx", f"{radius:g}"),) if radius else ()
    return Shape("rect", (*_paint(fill, stroke, thick), *at, *rounded))


def circle(x: float, y: float, radius: float, fill: str, stroke: str = "", thick: float = 1) -> Shape:
    """A circle around a point."""
    return Shape("circle", (*_paint(fill, stroke, thick), ("cx", f"{x:g}"), ("cy", f"{y:g}"), ("r", f"{radius:g}")))


def path(d: str, stroke: str, thick: float = 1, fill: str = "", dashed: bool = False) -> Shape:
    """A line of any shape, by its SVG path data."""
    dash = (("stroke-dasharray", "3 2"),) if dashed else ()
    return Shape("path", (*_paint(fill, stroke, thick), ("d", d), *dash))


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, thick: float = 0.8, dashed: bool = False) -> Shape:
    """A straight line."""
    return path(f"M{x1:g} {y1:g}L{x2:g} {y2:g}", stroke, thick, dashed=dashed)


def diamond(x: float, y: float, fill: str, size: float = 5, thick: float = 0.6) -> Shape:
    """The mark of a sync, around a point."""
    d = f"M{x:g} {y - size - 0.5:g}l{size:g} {size + 0.5:g}-{size:g} {size + 0.5:g}-{size:g}-{size + 0.5:g}z"
    return path(d, "1" if fill != "g" else "g", thick, fill)


def label(
    x: float, y: float, words: str, fill: str = "1", size: float = 9.8, anchor: str = "start", bold: bool = False
) -> Shape:
    """A line of text; `x` is its start, its middle or its end by `anchor`."""
    at = (("x", f"{x:g}"), ("y", f"{y:g}"), ("font-size", f"{size:g}"))
    weight = (("font-weight", "700"),) if bold else ()
    place = (("text-anchor", anchor),) if anchor != "start" else ()
    return Shape("text", (*_paint(fill, "", 0), *at, *weight, *place), words)


def text_width(words: str, size: float = 9.8) -> float:
    """About how wide `words` are set."""
    return sum(1.0 if character >= "\u1100" else 0.56 for character in words) * size
