"""The `ignoreDifferences` block to paste: for the Argo CD in use, and printed only once it was seen to work.

A block is built, read back as YAML, and applied to the recorded object and to what git wants: it is printed where the
difference is then gone, and never for a field that a hand has set. `jqPathExpressions` are known since Argo CD 2.1,
`managedFieldsManagers` and `RespectIgnoreDifferences` since 2.3.
"""

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import orjson
import yaml

from auditor.model.case import Case
from auditor.model.change import Write
from auditor.model.resource import Json, JsonObject, Leaf, ListItem, ObjectId, Path
from auditor.objects import ignore, leaves, managed_fields, paths

BY_HAND = frozenset({"person", "shared-credential", "ci", "unknown"})
_NOT_TO_TRUST = ("argocd", "kubectl", "helm", "kube-controller-manager")
"""Managers of Argo CD, of hands, and of many controllers at once: to trust them would hide too much."""

_AGENT = re.compile(r"argocd-application-controller/v(\d+)\.(\d+)")
_JQ, _MANAGERS = (2, 1), (2, 3)

Version: TypeAlias = tuple[int, int]


def block(case: Case, subject: ObjectId, path: Path, wanted: Leaf, found: Leaf) -> str:
    """YAML that hides `path` of the object, where git wants one value and the cluster keeps another; "" for none.

    By the manager's name where managedFields show that a controller owns the field alone, else by its path.
    """
    if touched_by_hand(case.writes, subject, path):
        return ""
    live = case.live.get(subject)
    body = live.body if live is not None and live.body is not None else {}
    pair = _placed(body, path, wanted), _placed(body, path, found)
    version = controller_version(case.writes)
    for made in _candidates(body, subject, path, version):
        text = yaml.safe_dump(made, sort_keys=False, allow_unicode=False)
        if _hides(yaml.safe_load(text), subject, path, pair):
            return text
    return ""


def touched_by_hand(writes: Sequence[Write], subject: ObjectId, path: Path) -> bool:
    """Whether a person, a shared credential, a pipeline or an unknown client ever set the field."""
    return any(
        write.object == subject
        and write.actor.kind in BY_HAND
        and any(field.path[: len(path)] == path or path[: len(field.path)] == field.path for field in write.fields)
        for write in writes
    )


def controller_version(writes: Sequence[Write]) -> Version | None:
    """The Argo CD in use, as its controller last called itself; None where no record says."""
    for write in reversed(writes):
        said = _AGENT.match(write.user_agent) if write.actor.kind == "gitops" else None
        if said and said[1] != "0":
            return int(said[1]), int(said[2])
    return None


def _candidates(body: JsonObject, subject: ObjectId, path: Path, version: Version | None) -> Iterator[JsonObject]:
    place: JsonObject = {"group": subject.group, "kind": subject.kind, "name": subject.name}
    known = version or _MANAGERS
    manager = _sole_owner(body, path)
    if manager and known >= _MANAGERS:
        yield _document(place | {"managedFieldsManagers": [manager]}, known)
    if any(isinstance(segment, ListItem) for segment in path):
        if known >= _JQ:
            yield _document(place | {"jqPathExpressions": [ignore.jq(path)]}, known)
    else:
        yield _document(place | {"jsonPointers": ["".join(map(_pointer_step, path))]}, known)


def _document(rule: JsonObject, version: Version) -> JsonObject:
    made: JsonObject = {"ignoreDifferences": [rule]}
    if version >= _MANAGERS:
        made["syncPolicy"] = {"syncOptions": ["RespectIgnoreDifferences=true"]}
    return made


def _pointer_step(segment: object) -> str:
    return "/" + str(segment).replace("~", "~0").replace("/", "~1")


def _sole_owner(body: JsonObject, path: Path) -> str:
    """The one controller that managedFields name for the field, "" for none, several, or one that is no controller."""
    names = {owner.manager for owner in managed_fields.owners(body, path)}
    name = names.pop() if len(names) == 1 else ""
    return "" if name.startswith(_NOT_TO_TRUST) else name


def _hides(document: JsonObject, subject: ObjectId, path: Path, pair: tuple[JsonObject, JsonObject]) -> bool:
    """Whether the rules, applied to both sides as Argo CD does, leave no difference at the field, and had one."""
    rules = document["ignoreDifferences"]
    wanted, found = pair
    if not isinstance(rules, list) or not _differs(subject, path, wanted, found):
        return False
    for rule in rules:
        if isinstance(rule, dict) and ignore.applies(rule, subject):
            drop = _dropper(rule, found, path)
            wanted, found = drop(wanted), drop(found)
    return not _differs(subject, path, wanted, found)


def _differs(subject: ObjectId, path: Path, wanted: JsonObject, found: JsonObject) -> bool:
    differing = leaves.differences(wanted, found, subject.group, subject.kind)
    return any(field.path[: len(path)] == path or path[: len(field.path)] == field.path for field in differing)


def _dropper(rule: JsonObject, found: JsonObject, path: Path) -> Callable[[JsonObject], JsonObject]:
    """What takes out of a document what a rule names."""
    steps: list[list[ignore.Step]] = [[*paths.split_pointer(each)] for each in _texts(rule.get("jsonPointers"))]
    steps += [read for each in _texts(rule.get("jqPathExpressions")) if (read := ignore.jq_steps(each)) is not None]
    trusted = set(_texts(rule.get("managedFieldsManagers")))
    if trusted & {owner.manager for owner in managed_fields.owners(found, path)}:
        steps.append([segment.keys if isinstance(segment, ListItem) else str(segment) for segment in path])

    def drop(document: JsonObject) -> JsonObject:
        left = copy.deepcopy(document)
        for each in steps:
            _drop(left, each)
        return left

    return drop


def leads_somewhere(value: Json, steps: Sequence[ignore.Step]) -> bool:
    """Whether the steps of a path expression select anything in a document."""
    return not steps or any(leads_somewhere(below, steps[1:]) for _, below in _selected(value, steps[0]))


def _drop(value: Json, steps: Sequence[ignore.Step]) -> None:
    """Take out in place what the steps lead to."""
    for key, below in _selected(value, steps[0]):
        if len(steps) > 1:
            _drop(below, steps[1:])
        elif isinstance(value, dict):
            value.pop(str(key))
        elif isinstance(value, list):
            value.remove(below)


def _selected(value: Json, step: ignore.Step) -> list[tuple[str | int, Json]]:
    """What one step leads to: a key of a map, or items of a list."""
    if isinstance(value, dict) and isinstance(step, str):
        return [(step, value[step])] if step in value else []
    if isinstance(value, list):
        return [(place, item) for place, item in enumerate(value) if _selects(step, item, place)]
    return []


def _selects(step: ignore.Step, item: Json, place: int) -> bool:
    if step is None:
        return True
    if isinstance(step, str):
        return step == str(place)
    return isinstance(item, dict) and all(paths.key_text(item.get(key)) == text for key, text in step)


def _placed(body: JsonObject, path: Path, value: Leaf) -> JsonObject:
    """The object with a value at a path, the way there made where the record does not hold it."""
    document: JsonObject = copy.deepcopy(body)
    here: Json = document
    for number, segment in enumerate(path):
        last = number == len(path) - 1
        if isinstance(segment, ListItem):
            here = _item(here, segment)
            continue
        if not isinstance(here, dict):
            return document
        if last and value.state != "value":
            here.pop(str(segment), None)
        elif last:
            here[str(segment)] = copy.deepcopy(value.value)
        else:
            below: Json = [] if isinstance(path[number + 1], ListItem) else {}
            if not isinstance(here.get(str(segment)), type(below)):
                here[str(segment)] = below
            here = here[str(segment)]
    return document


def _item(items: Json, segment: ListItem) -> Json:
    if not isinstance(items, list):
        return None
    for item in items:
        if paths.matches(item, segment):
            return item
    made: JsonObject = {key: orjson.loads(text) if text.isdigit() else text for key, text in segment.keys}
    items.append(made)
    return made


def _texts(value: Json) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
