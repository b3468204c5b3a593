from collections.abc import Callable, Sequence

import pytest

from auditor.correlate.identity.actors import identify
from auditor.correlate.identity.channels import channel
from auditor.correlate.writes import object_index
from auditor.correlate.writes.object_index import HeldLog, ObjectIndex, Objects
from auditor.model.facts import AuditEvent
from auditor.model.resource import ObjectId
from tests.scenario import ALICE, ARGOCD, HPA, Cluster, application, config_map, deployment


def indexed(events: Sequence[AuditEvent], managed: Callable[[ObjectId], bool]) -> Objects:
    log = HeldLog(events)
    index = ObjectIndex(log, identify, channel)
    for event in log.bare():
        index.take(event)
    return index.objects(managed)


def names(objects: Objects) -> list[str]:
    return sorted(subject.name for subject in objects)


def test_objects_that_only_controllers_write_are_left_out() -> None:
    cluster = Cluster()
    cluster.create(HPA, deployment("busy"))
    cluster.create(ARGOCD, deployment())
    cluster.scale(HPA, deployment(), 5)
    cluster.create(HPA, deployment("touched"))
    cluster.scale(ALICE, deployment("touched"), 2)
    objects = indexed(cluster.events, lambda subject: False)
    assert names(objects) == ["touched", "web"]
    assert [len(objects.requests(subject)) for subject in sorted(objects)] == [2, 2]


def test_managed_objects_are_kept_whoever_writes_them() -> None:
    cluster = Cluster()
    cluster.create(HPA, config_map("watched"))
    cluster.create(HPA, config_map("other"))
    assert names(indexed(cluster.events, lambda subject: subject.name == "watched")) == ["watched"]


def test_a_kind_that_is_not_built_in_is_learned_from_the_first_body_that_names_it() -> None:
    cluster = Cluster()
    cluster.create(ALICE, application("web", "apps/web"))
    [subject] = indexed(cluster.events, lambda subject: False)
    assert subject.kind == "Application"


def test_the_bodies_of_an_object_with_very_many_wait_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster()
    cluster.create(ALICE, deployment())
    cluster.scale(ALICE, deployment(), 5)
    [subject] = indexed(cluster.events, lambda subject: True)
    plain = indexed(cluster.events, lambda subject: True).requests(subject)
    monkeypatch.setattr(object_index, "_OPEN", 0)
    packed = indexed(cluster.events, lambda subject: True).requests(subject)
    assert [each.event.response for each in packed] == [None, None]
    assert [each.opened().event for each in packed] == [each.opened().event for each in plain]
