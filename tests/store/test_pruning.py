"""What goes when old facts go, and what stays for the statements that rest on it."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from auditor.model.change import AppKey
from auditor.model.facts import ApplicationSnapshot, ArgoEvent, AuditEvent, Batch, Fact, ObjectSnapshot, Origin
from auditor.model.resource import ObjectId
from auditor.store import Cited, Pruned, Store, open_store
from tests.factories import replace
from tests.store.test_store import AT, MARK, ORIGIN, OTHERS, event, read_all

NOTHING = Cited(frozenset(), frozenset(), frozenset(), frozenset(), {})
LATER = AT + timedelta(days=1)
BODY = b'{"metadata":{"name":"web"}}'
NAMESPACES = "system:serviceaccount:kube-system:namespace-controller"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store("sqlite:///auditor.db", folder=tmp_path) as opened:
        yield opened


def write(store: Store, *facts: Fact) -> None:
    store.write(Batch(facts, MARK))


def events(store: Store) -> list[int]:
    return [int(one.id, 16) for one in store.audit_events()]


def full(number: int, **fields: Any) -> AuditEvent:
    return event(number, response=BODY, **fields)


def prune(store: Store, cited: Cited = NOTHING, **options: bool) -> dict[str, tuple[int, int]]:
    return {one.name: (one.gone, one.stayed) for one in store.prune(LATER, cited, **options)}


def test_of_an_object_without_a_statement_the_last_known_state_stays(store: Store) -> None:
    write(store, *(full(number) for number in range(4)), event(4))
    assert prune(store)["audit events"] == (3, 2)
    assert events(store) == [3, 4], "what was asked after the last body changes the state that it shows"


def test_what_is_younger_stays(store: Store) -> None:
    write(store, full(0, at=LATER, name="a"), full(1, at=LATER + timedelta(1), name="a"))
    assert prune(store)["audit events"] == (0, 0)
    assert store.pruned_before() is None


def test_an_object_that_is_gone_leaves_nothing(store: Store) -> None:
    write(store, full(0, verb="create"), full(1), event(2, verb="delete"))
    prune(store)
    assert events(store) == []


def test_a_delete_that_was_refused_or_only_tried_is_none(store: Store) -> None:
    write(store, full(0), event(1, verb="delete", code=403), event(2, verb="delete", dry_run=True))
    prune(store)
    assert events(store) == [0, 1, 2]


def test_with_a_namespace_goes_what_was_in_it(store: Store) -> None:
    emptied = {"verb": "deletecollection", "name": "", "user": NAMESPACES}
    write(store, full(0), full(1, namespace="other"), event(2, **emptied))
    prune(store)
    assert events(store) == [1]


def test_what_a_statement_is_about_keeps_its_history(store: Store) -> None:
    write(store, full(0), event(1), full(2), full(3, name="api"), full(4, name="api"), event(5, verb="delete"))
    prune(store, replace(NOTHING, events=frozenset({event(1).id})))
    assert events(store) == [0, 1, 2, 4, 5]


def test_a_request_that_deleted_many_stays_with_any_of_them(store: Store) -> None:
    many = event(2, verb="deletecollection", name="", namespace="shop")
    write(store, full(0), full(1, namespace="other"), many, event(3, verb="deletecollection", name="", namespace="b"))
    prune(store, replace(NOTHING, events=frozenset({event(0).id})))
    assert events(store) == [0, 1, 2]


def test_without_bodies_no_state_stays(store: Store) -> None:
    write(store, event(0, request=None), event(1, request=None))
    prune(store)
    assert events(store) == []


def test_an_application_that_a_statement_is_about_keeps_what_is_known_of_it(store: Store) -> None:
    of_argo: dict[str, Any] = {"api_group": "argoproj.io", "resource": "applications", "namespace": "argocd"}
    said = [
        ArgoEvent("main", AT, 1.0, "controller", name, "", "", "synced", {}, "log", Origin("log", offset, 1, "00"))
        for offset, name in enumerate(("shop", "argocd/shop", "other", "argocd/other"))
    ]
    snapshots = [
        ApplicationSnapshot("main", "Application", "argocd", name, str(day), AT + timedelta(hours=day), b"{}", ORIGIN)
        for name in ("shop", "other")
        for day in (1, 2)
    ]
    write(
        store,
        *(full(number, name=name, **of_argo) for number, name in enumerate(("shop", "shop", "other", "other"))),
        *said,
        *snapshots,
    )
    cited = replace(
        NOTHING, applications={AppKey("main", "argocd", "shop"): ((AT, LATER),)}, records=frozenset({("log", 3)})
    )
    prune(store, cited)
    assert events(store) == [0, 1, 3]
    assert [one.application for one in store.argo_events()] == ["shop", "argocd/shop", "argocd/other"]
    assert [(one.name, one.resource_version) for one in store.application_snapshots()] == [
        ("shop", "1"),
        ("other", "2"),
        ("shop", "2"),
    ]


def test_what_a_user_of_argo_cd_did_stays(store: Store) -> None:
    write(store, *(one for one in OTHERS if isinstance(one, ArgoEvent)))
    assert prune(store)["statements of Argo CD"] == (0, 1)


def test_of_an_objects_snapshots_the_last_stays(store: Store) -> None:
    def snapshot(name: str, hour: int) -> ObjectSnapshot:
        at = AT + timedelta(hours=hour)
        return ObjectSnapshot("acme", "apps", "v1", "Deployment", "shop", name, "u", str(hour), at, b"{}", ORIGIN)

    write(store, *(snapshot(name, hour) for name in ("api", "web") for hour in (1, 2)))
    prune(store, replace(NOTHING, objects=frozenset({ObjectId("acme", "apps", "Deployment", "shop", "api")})))
    assert [(one.name, one.resource_version) for one in store.object_snapshots()] == [
        ("api", "1"),
        ("api", "2"),
        ("web", "2"),
    ]


def test_git_announcements_settings_and_what_was_skipped_stay(store: Store) -> None:
    write(store, *OTHERS)
    prune(store)
    assert read_all(store) == list(OTHERS)
    assert store.marks() == (MARK,)


def test_counting_changes_nothing(store: Store) -> None:
    write(store, *(full(number) for number in range(4)))
    generation = store.generation()
    counted = prune(store, dry_run=True)
    assert events(store) == [0, 1, 2, 3]
    assert (store.generation(), store.pruned_before()) == (generation, None)
    assert counted == prune(store)
    assert store.generation() > generation
    assert store.pruned_before() == LATER


def test_pruning_twice_is_pruning_once(store: Store) -> None:
    write(store, *(full(number) for number in range(4)))
    store.prune(LATER, NOTHING)
    generation = store.generation()
    assert store.prune(LATER, NOTHING)[0] == Pruned("audit events", 0, 1)
    assert store.generation() == generation


def test_a_shorter_pruning_does_not_bring_anything_back(store: Store) -> None:
    write(store, *(full(number) for number in range(4)), *(full(10 + number, name="b") for number in range(2)))
    store.prune(LATER, NOTHING)
    write(store, full(20, at=AT, name="c"), full(21, at=AT + timedelta(1), name="c"))
    store.prune(AT + timedelta(hours=1), NOTHING)
    assert store.pruned_before() == LATER


def test_the_room_is_given_back(store: Store, tmp_path: Path) -> None:
    noise = [full(number, user_agent=f"{number}" * 900) for number in range(400)]
    write(store, *noise)
    store.compact()
    before = store.size()
    prune(store)
    store.compact()
    assert store.size() < before / 3
    assert (tmp_path / "auditor.db").stat().st_size == store.size()


OF_ARGO: dict[str, Any] = {
    "api_group": "argoproj.io",
    "resource": "applications",
    "namespace": "argocd",
    "name": "shop",
}
SHOP = AppKey("main", "argocd", "shop")


def around(first: int, last: int) -> Cited:
    return replace(NOTHING, applications={SHOP: ((AT + timedelta(seconds=first), AT + timedelta(seconds=last)),)})


def test_of_an_application_stays_what_was_around_a_statement_and_what_it_was_before(store: Store) -> None:
    write(store, *(full(number, **OF_ARGO) for number in range(10)))
    prune(store, around(4, 6))
    assert events(store) == [3, 4, 5, 6, 9]


def test_what_an_application_was_before_is_never_told_by_a_hand_alone(store: Store) -> None:
    write(store, *(full(number, **OF_ARGO) for number in range(10)))
    prune(store, replace(around(4, 6), by_people=frozenset({event(3).id, event(9).id})))
    assert events(store) == [2, 3, 4, 5, 6, 8, 9], "without what was before it, it would be taken for a change"


def test_a_record_of_an_application_that_is_cited_brings_what_was_before_it(store: Store) -> None:
    write(store, *(full(number, **OF_ARGO) for number in range(10)))
    prune(store, replace(NOTHING, events=frozenset({event(5).id})))
    assert events(store) == [4, 5, 9]


def test_a_hand_that_changed_nothing_is_not_left_as_the_last_known_state(store: Store) -> None:
    write(store, *(full(number) for number in range(4)))
    prune(store, replace(NOTHING, by_people=frozenset({event(3).id, event(2).id})))
    assert events(store) == [1, 2, 3]
