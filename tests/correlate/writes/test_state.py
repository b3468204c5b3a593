from typing import Any

from auditor.correlate.writes.state import GONE, NOTHING_KNOWN, Before, State, marks, of_object
from auditor.model.resource import ABSENT, UNKNOWN, leaf
from auditor.objects import paths
from tests.scenario import deployment

REPLICAS = paths.parse("spec.replicas")
PAUSED = paths.parse("spec.paused")


def test_what_a_whole_state_lacks_is_absent() -> None:
    state = State(deployment(), True)
    assert (state.lookup(REPLICAS), state.lookup(PAUSED)) == (leaf(3), ABSENT)
    assert GONE.lookup(REPLICAS) == ABSENT


def test_what_a_partly_known_state_lacks_is_unknown() -> None:
    assert State(deployment(), False).lookup(PAUSED) == UNKNOWN
    assert NOTHING_KNOWN.lookup(REPLICAS) == UNKNOWN
    assert State(deployment(), False, removed=(PAUSED,)).lookup(PAUSED) == ABSENT
    assert State(deployment(), False, rebuilt=True).lookup(PAUSED) == ABSENT


def test_an_uncertain_path_is_unknown_however_much_else_is_known() -> None:
    state = State(deployment(), True, uncertain=(paths.parse("spec"),))
    assert state.lookup(REPLICAS) == UNKNOWN
    assert not state.comparable


def test_a_value_before_comes_from_the_most_trusted_source_that_has_it() -> None:
    known = State({"spec": {"paused": True}}, False)
    before = Before(
        known, ({"spec": {"replicas": 5}}, {"spec": {"replicas": 7, "paused": False, "minReadySeconds": 9}})
    )
    assert before.lookup(PAUSED) == leaf(True)
    assert before.lookup(REPLICAS) == leaf(5)
    assert before.lookup(paths.parse("spec.minReadySeconds")) == leaf(9)
    assert before.lookup(paths.parse("spec.strategy.type")) == UNKNOWN


def test_a_missed_write_leaves_the_spec_unknown_and_nothing_else() -> None:
    body = deployment()
    body["metadata"]["generation"] = 2
    before = Before(State(body, True), doubtful=True)
    assert before.lookup(REPLICAS) == UNKNOWN
    assert before.lookup(paths.parse("metadata.labels.team")) == ABSENT


def test_a_missed_write_leaves_nothing_known_of_an_object_that_counts_none() -> None:
    before = Before(State({"data": {"POOL": "10"}}, True), doubtful=True)
    assert before.lookup(paths.parse("data.POOL")) == UNKNOWN


def test_a_deleted_object_that_nothing_keeps_is_gone() -> None:
    held: dict[str, Any] = deployment()
    held["metadata"] |= {"deletionTimestamp": "2026-11-30T09:00:00Z", "finalizers": ["acme.example/hold"]}
    assert of_object(held).deleting
    held["metadata"]["finalizers"] = []
    assert of_object(held).gone


def test_marks_are_what_gitops_tools_know_their_objects_by() -> None:
    body = deployment()
    body["metadata"] |= {
        "annotations": {"argocd.argoproj.io/tracking-id": "a:b", "other": "x"},
        "labels": {"app.kubernetes.io/instance": "shop", "team.example/app": "shop"},
    }
    found = dict(marks(State(body, True), "team.example/app"))
    assert found == {
        "argocd.argoproj.io/tracking-id": "a:b",
        "app.kubernetes.io/instance": "shop",
        "team.example/app": "shop",
    }


def test_documents_of_another_shape_hold_nothing() -> None:
    for body in ({"metadata": []}, {"metadata": {"annotations": "x", "labels": 7}}, {}):
        state = State(body, True)
        assert (state.last_applied, state.generation, marks(state)) == (None, None, ())


def test_a_path_that_many_requests_bring_is_kept_once() -> None:
    paused, state = (PAUSED,), NOTHING_KNOWN
    for _ in range(100):
        state = State(None, False, removed=(*state.removed, *paused), uncertain=(*state.uncertain, REPLICAS, *paused))
    assert (state.removed, state.uncertain) == (paused, (REPLICAS, PAUSED))
