"""What `kubectl delete` and `kubectl apply --prune` send alike is told as neither."""

from typing import Any

from auditor.correlate.writes.pruned import EITHER, maybe_pruned
from auditor.model.change import Write
from tests.factories import actor, thing, write

SECOND = 1 / 60


def applied(ident: str, at: float, **given: Any) -> Write:
    return write(ident, at * SECOND, object=thing(ident), channel="kubectl apply", **given)


def deleted(ident: str, at: float, **given: Any) -> Write:
    return write(ident, at * SECOND, object=thing(ident), channel="kubectl delete", operation="delete", **given)


def told(*sent: Write) -> list[str]:
    return [one.channel for one in maybe_pruned(sent)]


def test_a_delete_right_behind_an_apply_of_the_same_client_may_be_its_pruning() -> None:
    found = list(maybe_pruned([applied("a", 0), deleted("b", 0.2), deleted("c", 1.1)]))
    assert [one.channel for one in found] == ["kubectl apply", "kubectl", "kubectl"]
    assert [one.notes for one in found] == [(), (EITHER,), (EITHER,)]


def test_a_delete_that_follows_no_apply_is_a_delete() -> None:
    assert told(deleted("a", 0), applied("b", 0.5)) == ["kubectl delete", "kubectl apply"]
    assert told(applied("a", 0), deleted("b", 1.5)) == ["kubectl apply", "kubectl delete"]


def test_another_client_prunes_nothing() -> None:
    others = deleted("b", 0.1, actor=actor("bob@acme.example")), deleted("c", 0.1, user_agent="kubectl/v1.20.0 (x) y")
    assert told(applied("a", 0), *others) == ["kubectl apply", "kubectl delete", "kubectl delete"]
