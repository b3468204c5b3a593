from datetime import timedelta

from auditor.correlate.writes.bodies import Bodies
from auditor.correlate.writes.sequence import Entry, Request, Sighting, in_order, once
from auditor.model.facts import AuditEvent
from tests.factories import replace
from tests.scenario import ALICE, ARGOCD, BOB, Cluster, deployment

HOUR = timedelta(hours=1)


def order(*events: AuditEvent, sightings: tuple[Sighting, ...] = ()) -> list[str]:
    entries: list[Entry] = [*(Request(event, Bodies(event)) for event in events), *sightings]
    return [entry.event.id if isinstance(entry, Request) else "seen" for entry in in_order(entries)]


def lives() -> Cluster:
    """Made, patched, deleted and made again."""
    cluster = Cluster()
    cluster.create(ARGOCD, deployment())
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 4}})
    cluster.delete(BOB, deployment())
    cluster.create(ARGOCD, deployment())
    return cluster


def test_versions_order_what_clocks_do_not() -> None:
    first, second, *_ = lives().events
    assert order(replace(first, at=first.at + HOUR), second) == [first.id, second.id]


def test_what_has_no_version_goes_by_time() -> None:
    first, second, *_ = lives().events
    blind = replace(second, id="blind", response=None, at=first.at + timedelta(seconds=1))
    assert order(second, blind, first) == [first.id, "blind", second.id]


def test_a_delete_lies_between_two_lives_whatever_its_clock() -> None:
    made, patched, gone, again = lives().events
    for skew in (-HOUR, timedelta(0), HOUR):
        told = order(again, replace(gone, at=gone.at + skew), patched, made)
        assert told == [made.id, patched.id, gone.id, again.id]


def test_a_delete_of_an_earlier_life_comes_before_the_life_that_is_recorded() -> None:
    _, _, gone, again = lives().events
    assert order(again, replace(gone, at=gone.at + HOUR)) == [gone.id, again.id]


def test_a_put_without_an_answer_follows_the_version_that_it_was_sent_on() -> None:
    made, patched, *_ = lives().events
    put = replace(patched, id="put", verb="update", response=None, object_version="101", at=made.at - HOUR)
    assert order(put, made, patched) == [made.id, "put", patched.id]


def test_what_was_written_in_a_snapshots_second_is_in_it() -> None:
    cluster = Cluster()
    made = cluster.create(ARGOCD, deployment())
    blind = replace(made, id="blind", verb="patch", response=None, at=made.at + timedelta(milliseconds=500))
    seen = Sighting(replace(cluster.snapshot(deployment()), resource_version="900"))
    assert order(blind, made, sightings=(seen,)) == [made.id, "blind", "seen"]


def test_a_snapshot_that_does_not_say_when_it_was_taken_comes_last_unless_a_version_is_later() -> None:
    cluster = Cluster()
    made = cluster.create(ARGOCD, deployment())
    blind = replace(made, id="blind", verb="patch", response=None, at=made.at + HOUR)
    bare = Sighting(replace(cluster.snapshot(deployment()), resource_version="900"))
    assert order(blind, made, sightings=(bare,)) == [made.id, "blind", "seen"]
    managed = Sighting(replace(cluster.snapshot(deployment(), []), resource_version="900"))
    assert order(blind, made, sightings=(managed,)) == [made.id, "seen", "blind"]
    told = replace(cluster.patch(ALICE, deployment(), {"spec": {"replicas": 4}}), id="told", at=made.at + HOUR / 2)
    early = Sighting(replace(bare.snapshot, resource_version="101"))
    assert order(blind, told, made, sightings=(early,)) == [made.id, "seen", "told", "blind"]


def test_an_event_that_comes_twice_is_one() -> None:
    events = lives().events
    assert len(once([*events, *events])) == len(events)


def test_a_record_that_was_cut_before_its_times_is_the_whole_one_that_another_delivery_has() -> None:
    _, whole, *_ = lives().events
    late = whole.at + timedelta(seconds=9)
    cut = replace(whole, id="cut", at=late, stage_at=None, response=None, truncated=True)
    assert once([cut, whole]) == [whole]
    assert len(once([replace(cut, code=409), whole])) == 2
    assert len(once([replace(cut, at=late + HOUR), whole])) == 2
    assert len(once([replace(cut, audit_id=""), replace(whole, audit_id="")])) == 2


def test_stages_of_one_request_are_one_and_the_last_is_kept() -> None:
    event = lives().events[1]
    begun = replace(event, id="begun", stage="ResponseStarted", code=101)
    assert [each.id for each in once([begun, event])] == [event.id]
    assert [each.id for each in once([begun])] == ["begun"]


def test_one_audit_id_on_two_requests_is_two_requests() -> None:
    made, patched, *_ = lives().events
    assert len(once([made, replace(patched, audit_id=made.audit_id)])) == 2
    again = replace(patched, id="again", at=patched.at + timedelta(milliseconds=1), source_ips=("192.0.2.99",))
    assert len(once([patched, again])) == 2


def test_an_aggregated_server_tells_a_request_of_its_own_kinds_twice() -> None:
    told = replace(lives().events[2], api_group="wardle.example.com", resource="flunders", response=None)
    passed_on = replace(told, id="passed-on", source_ips=("10.0.0.1", "192.0.2.10"), response=b"{}")
    assert [event.id for event in once([told, passed_on])] == ["passed-on"]
