"""The state that a request leaves where the record does not hold the API server's answer."""

from collections.abc import Iterator

from auditor.correlate.writes import admission
from auditor.correlate.writes.attribution import Ask
from auditor.correlate.writes.overlap import holds
from auditor.correlate.writes.state import NOTHING_KNOWN, State
from auditor.model.resource import Json, JsonObject, ObjectId, Path
from auditor.objects import kinds, leaves, schema, server_side
from auditor.objects.defaults import with_defaults
from auditor.objects.shaped import shaped


def of_create(ask: Ask, version: str) -> State:
    """A new object, by its manifest; `version` is its resourceVersion, "" where it is not known."""
    if not isinstance(ask.body, dict):
        return NOTHING_KNOWN
    subject = ask.object
    asked = ask.on({}, True).document or {}
    stored, doubtful = _admitted(asked, ask, complete=True)
    doubtful = (*doubtful, *shaped(ask.body, subject.group, subject.kind))
    return State(stored, False, version, rebuilt=_has_known_defaults(subject), uncertain=doubtful)


def of_update(ask: Ask, before: State, version: str, whole: bool) -> State:
    """An object after an accepted update or patch. `whole`: the request holds all that the object is then."""
    asked = ask.on(before.body, before.complete).document or {}
    if ask.type != "apply":
        asked = server_side.forget_owners(asked)
    stored, doubtful = _admitted(asked, ask, before.complete)
    doubtful = (*doubtful, *_still_uncertain(ask, before), *_read_otherwise(asked, ask, before))
    doubtful = (*doubtful, *(() if before.complete else _left_to_server(asked, ask.object)))
    rebuilt = before.complete and _has_known_defaults(ask.object)
    return State(stored, whole and not doubtful, version, rebuilt=rebuilt, uncertain=doubtful)


def _admitted(asked: JsonObject, ask: Ask, complete: bool) -> tuple[JsonObject, tuple[Path, ...]]:
    """What webhooks made of an object, and the paths that they may have set where that cannot be told."""
    seen = admission.admitted(asked, ask.annotations) if complete else None
    if seen is not None:
        return seen, ()
    return asked, admission.touched(asked, ask.annotations, ask.object.group, ask.object.kind)


def _still_uncertain(ask: Ask, before: State) -> Iterator[Path]:
    """What was uncertain and is not set by the request."""
    if before.uncertain:
        named = ask.names(before.body, before.complete).paths
        yield from (path for path in before.uncertain if not any(holds(each, path) for each in named))


def _read_otherwise(asked: JsonObject, ask: Ask, before: State) -> Iterator[Path]:
    """Where the object differs if the request was another type of patch."""
    if ask.or_merge:
        merged = ask.as_merge().on(before.body, before.complete).document
        for each in leaves.differences(asked, merged, ask.object.group, ask.object.kind):
            yield each.path


def _left_to_server(asked: JsonObject, subject: ObjectId) -> Iterator[Path]:
    """What the API server may have filled in: defaults depend on what else is there, which is not all known."""
    filled = with_defaults(asked, subject.group, subject.kind)
    yield from (each.path for each in leaves.differences(asked, filled, subject.group, subject.kind))


def _has_known_defaults(subject: ObjectId) -> bool:
    """Whether it is known what the API server fills in: the CRDs of Argo CD itself have no defaults."""
    return kinds.is_built_in(subject.group, subject.kind) or (
        subject.group == "argoproj.io" and subject.kind in ("Application", "ApplicationSet", "AppProject")
    )


class Applied:
    """What each manager applied last to one object, server-side: an apply removes what its manager leaves out."""

    def __init__(self, subject: ObjectId) -> None:
        self._root = schema.root(subject.group, subject.kind)
        self._last: dict[str, frozenset[Path]] = {}

    def may_give_up(self, manager: str, body: Json, before: State) -> bool:
        """Whether an apply may leave out what its manager owns, and no record tells what that is."""
        if before.body is not None and server_side.knows_owners(before.body):
            return False
        last = self._last.get(manager)
        return last is None or not last <= self._owned(body)

    def note(self, manager: str, body: Json) -> None:
        """An apply that was accepted."""
        self._last[manager] = self._owned(body)

    def _owned(self, body: Json) -> frozenset[Path]:
        return frozenset(server_side.owned_paths(body, self._root)) if isinstance(body, dict) else frozenset()
