"""`ignoreDifferences` rules of Argo CD: which field a rule covers, and the expression that names a field.

From argoproj/argo-cd `util/argo/normalizers`: `group` and `kind` are globs, `name` and `namespace` exact;
`jsonPointers`, `jqPathExpressions` and `managedFieldsManagers` say what is left out of the comparison. Other keys are
dropped by the API server without a word.
"""

import re
from fnmatch import fnmatchcase

import orjson

from auditor.model.resource import Json, JsonObject, ListItem, ObjectId, Path

KNOWN_KEYS = frozenset(
    {"group", "kind", "name", "namespace", "jsonPointers", "jqPathExpressions", "managedFieldsManagers"}
)
SELECTING_KEYS = ("jsonPointers", "jqPathExpressions", "managedFieldsManagers")

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def applies(rule: JsonObject, subject: ObjectId) -> bool:
    """Whether the rule is about this object at all."""
    return (
        fnmatchcase(subject.group, _text(rule.get("group")) or "")
        and fnmatchcase(subject.kind, _text(rule.get("kind")) or "")
        and _text(rule.get("name")) in ("", subject.name)
        and _text(rule.get("namespace")) in ("", subject.namespace)
    )


def covers(rule: JsonObject, subject: ObjectId, path: Path) -> bool:
    """Whether the rule leaves `path` out by pointer or by jq path; a manager's rule depends on ownership: False."""
    if not applies(rule, subject):
        return False
    steps = [_steps(segment) for segment in path]
    pointers = (_pointer_steps(pointer) for pointer in _texts(rule.get("jsonPointers")))
    expressions = (jq_steps(expression) for expression in _texts(rule.get("jqPathExpressions")))
    return any(wanted is not None and _prefix(wanted, steps) for wanted in (*pointers, *expressions))


def jq(path: Path) -> str:
    """The jq path expression of a path: `.spec.template.spec.containers[] | select(.name == "web") | .image`."""
    said = ""
    for segment in path:
        if isinstance(segment, ListItem):
            tests = " and ".join(f".{key} == {_jq_value(value)}" for key, value in segment.keys)
            said += f"[] | select({tests}) | "
        elif isinstance(segment, int):
            said += f"[{segment}]"
        else:
            said += f".{segment}" if _PLAIN_KEY.fullmatch(segment) else f".[{orjson.dumps(segment).decode()}]"
    return said.removesuffix(" | ")


Step = str | tuple[tuple[str, str], ...] | None
"""A map key; the keys that select a list item; None for any item of a list."""

_TOKEN = re.compile(
    r"""\s*(?:
        \.?\[(?P<quoted>"(?:[^"\\]|\\.)*")\]      # ["key"]
      | \.(?P<quoted_dot>"(?:[^"\\]|\\.)*")       # ."key"
      | \.?\[(?P<index>\d*)\]                     # [] or [0]
      | \.(?P<key>[A-Za-z_][A-Za-z0-9_]*)
      | \|\s*select\((?P<select>[^()]*)\)\s*\|?
      | (?P<pipe>\|)
    )""",
    re.VERBOSE,
)
_TEST = re.compile(r"""\s*\.(\w+)\s*==\s*(?:"([^"\\]*)"|(\d+))\s*""")


def jq_steps(expression: str) -> list[Step] | None:
    """A path expression as steps; None for what is no plain path (functions, wildcards, tests other than equality)."""
    steps: list[Step] = []
    position = 0
    while position < len(expression.rstrip()):
        token = _TOKEN.match(expression, position)
        if token is None:
            return None
        position = token.end()
        if token["select"] is not None:
            chosen = _selection(token["select"])
            if chosen is None or not steps or steps[-1] is not None:
                return None
            steps[-1] = chosen
        elif token["key"] is not None:
            steps.append(token["key"])
        elif token["index"] is not None:
            steps.append(token["index"] or None)
        elif token["pipe"] is None:
            steps.append(orjson.loads(token["quoted"] or token["quoted_dot"]))
    return steps


def _selection(tests: str) -> tuple[tuple[str, str], ...] | None:
    found = [_TEST.fullmatch(test) for test in tests.split(" and ")]
    if any(test is None for test in found):
        return None
    return tuple((test[1], test[2] if test[2] is not None else test[3]) for test in found if test)


def _prefix(wanted: list[Step], steps: list[Step]) -> bool:
    """Whether `wanted` selects the field or something that holds it."""
    return len(wanted) <= len(steps) and all(_matches(want, have) for want, have in zip(wanted, steps, strict=False))


def _matches(want: Step, have: Step) -> bool:
    if want is None:
        return not isinstance(have, str) or have.isdigit()
    if isinstance(want, tuple):
        return isinstance(have, tuple) and set(want) <= set(have)
    return want == have


def _steps(segment: str | int | ListItem) -> Step:
    return segment.keys if isinstance(segment, ListItem) else str(segment)


def _pointer_steps(pointer: str) -> list[Step]:
    parts = pointer.removeprefix("/").split("/")
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]


def _jq_value(value: str) -> str:
    return value if value.isdigit() else orjson.dumps(value).decode()


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Json) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
