"""The text search that stands in where nothing can render: a hint beside `unknown`, never a verdict."""

import re

from auditor.correlate.git.course import Course
from auditor.model.resource import Leaf, Path

_SHORTEST = 4
"""Characters of a text that says something by itself."""


def text_hint(course: Course, path: Path, after: Leaf) -> str:
    """Since when a file that the application reads has the value as text, as a clause; "" where none has."""
    pattern = _pattern(path, after)
    if not pattern:
        return ""
    found, since = "", len(course.steps)
    for number in range(len(course.steps) - 1, -1, -1):
        step = course.steps[number]
        file = course.git.mentions(step.state, step.sha, pattern)
        if not file:
            break
        found, since = found or file, number
    if not found:
        return ""
    landing = course.steps[since].landing
    return f"by text search, {found} has the value since {landing.sha[:12]} ({landing.at:%Y-%m-%d %H:%M:%S} UTC)"


def _pattern(path: Path, after: Leaf) -> str:
    """The value itself where it is a telling text, else the value behind the field's name."""
    value = after.value
    if after.state != "value" or isinstance(value, list | dict) or value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, str) and len(value) >= _SHORTEST and not value.isdigit():
        return re.escape(text)
    name = next((segment for segment in reversed(path) if isinstance(segment, str)), "")
    return rf"\b{re.escape(name)}[\"']?\s*[:=]\s*[\"']?{re.escape(text)}\b" if name else ""
