"""Results are kept as they were computed, and found again by what a person asks for."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from auditor.model.case import Case, Scope
from auditor.model.change import AppKey, Change
from auditor.model.episode import STEP_NAMES, Episode, Step
from auditor.model.finding import Finding
from auditor.model.staging import StagingDifference, StagingPair
from auditor.store import Query, Recorded, Stamp, Store, open_store
from tests.factories import SHOP, actor, change, coverage, evidence, field, minute, thing, value, verdict, write

STAMP = Stamp(3, "settings", "0.1.0")
PAY = AppKey("argocd", "argocd", "pay-prod")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store("sqlite:///auditor.db", folder=tmp_path) as opened:
        yield opened


def case(*changes: Change, **given: Any) -> Case:
    made: dict[str, Any] = {
        "scope": Scope(), "coverage": coverage(), "applications": {}, "writes": tuple(one.write for one in changes),
        "changes": changes, "verdicts": {one.id: verdict(one.id, ("not-reflected", "standing")) for one in changes},
        "episodes": (), "staging": (), "announcements": (), "commits": (), "landings": {}, "argo_events": (),
        "settings": (), "desired": {}, "live": {}, "findings": (),
    }  # fmt: skip
    return Case(**(made | given))


STORY = (
    change("a", 0, field(), field('metadata.labels["a.b/c"]', ..., {"nested": [1, None, "x"]})),
    change("b", 1, field(), application=PAY, object=thing("api", namespace="pay-prod"), actor=actor("bob")),
    change("c", 2, field(), cause="gitops", actor=actor("argocd", "gitops")),
    change("d", 3, field(), persisted="unproven", application=None),
    change("e", 4, field(), cause="bypass", channel="Argo CD UI or CLI"),
)
REFUSED = write("f", 5, field(), outcome="refused", code=403, reason="Forbidden: no")


def ids(found: Iterator[Recorded]) -> list[str]:
    return [one.write.id for one in found]


def saved(store: Store) -> Store:
    whole = case(*STORY)
    store.results.save(replace(whole, writes=(*whole.writes, REFUSED)), STAMP)
    return store


def test_changes_come_back_with_their_verdicts(store: Store) -> None:
    found = list(saved(store).results.changes())
    assert [one.change for one in found] == [STORY[0], STORY[1], STORY[3], STORY[4]]
    assert found[0].verdict == verdict("a", ("not-reflected", "standing"))
    assert found[0].write == STORY[0].write


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (Query(), "a b d e"),
        (Query(proven_only=True), "a b e"),
        (Query(causes=()), "a b c d e"),
        (Query(causes=("gitops",)), "c"),
        (Query(causes=("bypass",)), "e"),
        (Query(applications=("pay-prod",)), "b"),
        (Query(actors=("bob", "nobody")), "b"),
        (Query(namespaces=("shop-prod",)), "a d e"),
        (Query(kinds=("DEPLOYMENT",), names=("api",)), "b"),
        (Query(channels=("Argo CD UI or CLI",)), "e"),
        (Query(since=minute(1), until=minute(4)), "b d"),
        (Query(git=("reflected",)), ""),
        (Query(cluster_states=("standing",), limit=2), "a b"),
        (Query(clusters=("elsewhere",)), ""),
        (Query(attempts=True), "f"),
    ],
)
def test_a_query_finds_what_it_asks_for(store: Store, query: Query, wanted: str) -> None:
    assert ids(saved(store).results.changes(query)) == wanted.split()


def test_all_that_was_written_to_an_object_is_told(store: Store) -> None:
    found = saved(store).results.of_object(("deployment",), "shop-prod", "web")
    assert ids(found) == ["a", "c", "d", "e", "f"]
    assert ids(store.results.of_object((), None, "api")) == ["b"]


def test_a_write_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    whole = case(change("0011", 0, field()), change("0022", 0, field()))
    store.results.save(whole, STAMP)
    assert [one.write.id for one in store.results.recorded("001")] == ["0011"]
    assert len(store.results.recorded("00")) == 2
    assert store.results.recorded("%") == ()


def test_new_results_replace_the_old_ones(store: Store) -> None:
    saved(store).results.save(case(STORY[1]), replace(STAMP, generation=4))
    assert ids(store.results.changes()) == ["b"]
    assert store.results.stamp() == replace(STAMP, generation=4)


def test_results_that_cannot_be_kept_leave_the_old_ones(store: Store) -> None:
    twice = case(STORY[0], STORY[0])
    with pytest.raises(Exception, match="UNIQUE"):
        saved(store).results.save(twice, replace(STAMP, generation=9))
    assert ids(store.results.changes()) == ["a", "b", "d", "e"]
    assert store.results.stamp() == STAMP


def test_a_store_without_results_says_so(store: Store) -> None:
    assert store.results.stamp() is None
    assert store.results.overview().as_of.moment is None
    assert list(store.results.findings()) == []


def test_the_end_of_the_records_is_kept(store: Store) -> None:
    assert saved(store).results.overview().as_of == coverage().as_of


def test_findings_episodes_and_pairs_come_back_as_they_were(store: Store) -> None:
    finding = Finding(
        "f1", "second-writer", "high", "medium", SHOP, thing(), "spec.replicas", ("ci",), (1, "x", None, {"a": 1}),
        minute(0), None, 3, "It writes too.", "Stop it.", "x: 1\n", ("a",), (evidence(),),
    )  # fmt: skip
    steps = tuple(Step(name, "done", minute(1), "alice", "", (evidence(),)) for name in STEP_NAMES)
    episode = Episode("e1", SHOP, ("alice",), minute(0), None, steps, ("a",), 1.5, None, None, 3.0)
    difference = StagingDifference(
        thing(), (), value(1), value(...), ("promotion", "overlay"), "newer on staging", ("a",), None, "nothing"
    )
    pair = StagingPair(PAY, SHOP, "configuration", (difference,))
    later = replace(finding, id="f0", application=None, object=None, ident="records-gap")
    store.results.save(case(findings=(finding, later), episodes=(episode,), staging=(pair,)), STAMP)
    assert list(store.results.findings()) == [finding, later]
    assert list(store.results.findings(Query(idents=("records-gap",)))) == [later]
    assert list(store.results.findings(Query(applications=("shop-prod",)))) == [finding]
    assert list(store.results.episodes()) == [episode]
    assert list(store.results.episodes(Query(until=minute(0)))) == []
    assert list(store.results.staging()) == [pair]
