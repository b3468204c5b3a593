from datetime import timedelta
from typing import Any

import pytest

from auditor.correlate.identity.actors import identify
from auditor.correlate.identity.channels import channel
from auditor.correlate.writes.histories import writes
from auditor.model.change import Write
from auditor.model.facts import AuditEvent, ObjectSnapshot
from auditor.objects import paths
from tests.factories import minute, replace
from tests.scenario import ALICE, ARGOCD, Body, Cluster, config_map, deployment

SETTINGS = config_map(TIMEOUT="30", SIZE="10")


def entry(manager: str, at: float, fields: Body, **given: Any) -> Body:
    """One entry of managedFields, its time in whole seconds."""
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": f"{minute(at):%Y-%m-%dT%H:%M:%SZ}",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        **given,
    }


MADE = entry("argocd-controller", 1, {"f:data": {".": {}, "f:SIZE": {}}})
EDITED = entry("kubectl-edit", 2, {"f:data": {"f:TIMEOUT": {}}})


def bare(event: AuditEvent) -> AuditEvent:
    return replace(event, level="Metadata", request=None, response=None)


def told(events: list[AuditEvent], *snapshots: ObjectSnapshot, desired: Body | None = None) -> list[Write]:
    found = writes(events, snapshots, identify, channel, lambda subject, at: desired)
    return [write for write in found if write.cause == "out-of-band"]


def values(write: Write) -> list[tuple[str, Any, Any]]:
    return [(paths.text(field.path), field.before.value, field.after.value) for field in write.fields]


@pytest.fixture
def cluster() -> Cluster:
    """A ConfigMap of Argo CD's, edited by alice a minute later."""
    made = Cluster()
    made.create(ARGOCD, SETTINGS)
    made.patch(ALICE, SETTINGS, {"data": {"TIMEOUT": "90"}}, field_manager="kubectl-edit")
    return made


def test_a_snapshot_shows_what_an_event_without_a_body_changed(cluster: Cluster) -> None:
    seen = cluster.snapshot(SETTINGS, [MADE, EDITED])
    [write] = told([bare(event) for event in cluster.events], seen, desired=SETTINGS)
    assert values(write) == [("data.TIMEOUT", "30", "90")]
    assert (write.actor.name, write.known_by, write.persisted) == (ALICE, "event", "proven")
    assert {evidence.kind for evidence in write.evidence} == {"audit", "object"}
    assert "managedFields" in write.notes[0]


def test_the_snapshot_may_say_only_its_latest_whole_second(cluster: Cluster) -> None:
    events = [replace(bare(event), at=event.at + timedelta(milliseconds=640)) for event in cluster.events]
    seen = replace(cluster.snapshot(SETTINGS, [MADE, EDITED]), at=minute(2))
    [write] = told(events, seen, desired=SETTINGS)
    assert values(write) == [("data.TIMEOUT", "30", "90")]


def test_two_writes_of_one_manager_are_proven_only_as_far_as_the_entry_goes(cluster: Cluster) -> None:
    cluster.patch(ALICE, SETTINGS, {"data": {"SIZE": "20"}}, field_manager="kubectl-edit")
    both = entry("kubectl-edit", 3, {"f:data": {"f:TIMEOUT": {}, "f:SIZE": {}}})
    first, second = told([bare(event) for event in cluster.events], cluster.snapshot(SETTINGS, [both]))
    assert (second.persisted, second.fields_known) == ("proven", False)
    assert first.fields == ()


def test_an_older_entry_shows_that_a_diff_stored_nothing(cluster: Cluster) -> None:
    seen = cluster.snapshot(SETTINGS, [MADE, EDITED])
    event = cluster.patch(ALICE, SETTINGS, {"data": {"TIMEOUT": "95"}}, field_manager="kubectl-edit", dry_run=True)
    blind = replace(bare(event), dry_run=False, request_uri="", at=minute(8))
    later = replace(seen, at=minute(9), resource_version="900")
    assert told([*cluster.events[:2], blind], later)[-1].outcome == "no-op"


def test_a_write_whose_event_is_missing_is_known_by_ownership(cluster: Cluster) -> None:
    seen = cluster.snapshot(SETTINGS, [MADE, EDITED])
    [write] = told(cluster.events[:1], seen)
    assert values(write) == [("data.TIMEOUT", "30", "90")]
    assert (write.actor.name, write.actor.kind, write.actor.known_by) == ("", "unknown", "field manager and time")
    assert (write.known_by, write.channel, write.at) == ("ownership", "kubectl edit", minute(2))


def test_controllers_and_what_was_before_the_records_are_no_missing_writes(cluster: Cluster) -> None:
    controllers = entry("kube-controller-manager", 2, {"f:data": {"f:TIMEOUT": {}}})
    early = entry("kubectl-edit", -30, {"f:data": {"f:TIMEOUT": {}}})
    of_status = entry("kubectl-edit", 2, {"f:data": {"f:TIMEOUT": {}}}, subresource="status")
    for each in (controllers, early, of_status):
        assert told(cluster.events[:1], cluster.snapshot(SETTINGS, [MADE, each])) == []


def test_without_audit_records_ownership_tells_nothing(cluster: Cluster) -> None:
    assert told([], cluster.snapshot(SETTINGS, [MADE, EDITED])) == []


def test_an_event_in_the_records_is_not_missing(cluster: Cluster) -> None:
    seen = cluster.snapshot(SETTINGS, [MADE, EDITED])
    assert len(told(cluster.events, seen)) == 1


def test_an_event_that_does_not_say_its_manager_is_not_missing_either(cluster: Cluster) -> None:
    seen = cluster.snapshot(SETTINGS, [MADE, EDITED])
    google = [replace(event, field_manager="", request_uri="", dialect="gke") for event in cluster.events]
    [write] = told(google, seen)
    assert (write.actor.name, write.known_by, values(write)) == (ALICE, "event", [("data.TIMEOUT", "30", "90")])


def test_an_entry_seen_in_two_bodies_is_one_write(cluster: Cluster) -> None:
    seen = cluster.snapshot(SETTINGS, [MADE, EDITED])
    again = replace(seen, at=minute(30), resource_version="900")
    assert len(told(cluster.events[:1], seen, again)) == 1


def test_defaults_that_an_entry_owns_are_not_its_fields() -> None:
    cluster = Cluster()
    cluster.create(ARGOCD, deployment())
    sidecar = {"name": "debug", "image": "busybox:1.36", "volumeMounts": []}
    cluster.patch(ALICE, deployment(), {"spec": {"template": {"spec": {"containers": [sidecar]}}}})
    owned = {".": {}, "f:name": {}, "f:image": {}, "f:imagePullPolicy": {}, "f:terminationMessagePath": {}}
    fields = {"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"debug"}': owned}}}}}
    seen = cluster.snapshot(deployment(), [entry("kubectl-patch", 2, fields)])
    [write] = told(cluster.events[:1], seen)
    assert values(write) == [("spec.template.spec.containers[name=debug].image", None, "busybox:1.36")]


def test_a_scale_has_an_entry_without_a_time() -> None:
    cluster = Cluster()
    cluster.create(ARGOCD, deployment())
    cluster.scale(ALICE, deployment(), 6)
    scaled = entry("kubectl", 2, {"f:spec": {"f:replicas": {}}}, subresource="scale")
    del scaled["time"]
    made, event = cluster.events
    [write] = told([made, bare(event)], cluster.snapshot(deployment(), [scaled]))
    assert values(write) == [("spec.replicas", 3, 6)]
    assert (write.channel, write.actor.name) == ("kubectl scale", ALICE)


def test_a_write_that_is_known_by_ownership_bears_the_marks_of_its_object() -> None:
    cluster = Cluster()
    body = config_map(TIMEOUT="30")
    body["metadata"]["annotations"] = {"argocd.argoproj.io/tracking-id": "shop:/ConfigMap:shop-prod/settings"}
    cluster.create(ARGOCD, body)
    cluster.patch(ALICE, SETTINGS, {"data": {"TIMEOUT": "90"}}, field_manager="kubectl-edit")
    seen = cluster.snapshot(SETTINGS, [EDITED])
    for events in (cluster.events[:1], [bare(event) for event in cluster.events]):
        [write] = told(events, seen)
        assert write.marks == (("argocd.argoproj.io/tracking-id", "shop:/ConfigMap:shop-prod/settings"),)
