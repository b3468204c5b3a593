"""A story is taken again where all that it was told from is as it was, and told anew elsewhere."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from auditor.correlate.identity.actors import identify
from auditor.correlate.identity.channels import channel
from auditor.correlate.writes.drafts import Senses
from auditor.correlate.writes.histories import histories, objects_in
from auditor.correlate.writes.recall import ObjectHistory, Recall
from auditor.model.change import Actor
from auditor.model.facts import AuditEvent, ObjectSnapshot
from auditor.model.resource import JsonObject, ObjectId
from tests.scenario import ALICE, ARGOCD, Cluster, config_map, deployment

SERVER = Actor("system:serviceaccount:argocd:argocd-server", "gitops", rule="argocd-server")


class Memory:
    """A shelf that counts what is put on it."""

    def __init__(self) -> None:
        self.told: dict[tuple[str, str], bytes] = {}
        self.kept = 0

    def find(self, subject: str, inputs: str) -> bytes | None:
        return self.told.get((subject, inputs))

    def keep(self, subject: str, inputs: str, told: bytes) -> None:
        self.told[subject, inputs] = told
        self.kept += 1


def tell(
    memory: Memory, events: Sequence[AuditEvent], *snapshots: ObjectSnapshot, rules: str = "", **given: Any
) -> tuple[list[ObjectHistory], int]:
    """The stories, and how many of them were told anew."""
    before, senses = memory.kept, {"identify": identify, "channel": channel} | given
    told = histories(objects_in(events, identify, channel), snapshots, **senses, recall=Recall(memory, rules))
    return list(told), memory.kept - before


@pytest.fixture
def cluster() -> Cluster:
    """Two objects that Argo CD made, and that somebody changed."""
    made = Cluster()
    for thing in (deployment(), config_map()):
        made.create(ARGOCD, thing, field_manager="argocd-controller")
    made.patch(ALICE, deployment(), {"spec": {"replicas": 5}}, field_manager="kubectl-edit")
    return made


@pytest.fixture
def memory(cluster: Cluster) -> Memory:
    made = Memory()
    tell(made, cluster.events)
    return made


def test_equal_records_give_equal_stories_without_telling_them(cluster: Cluster, memory: Memory) -> None:
    expected = list(histories(objects_in(cluster.events, identify, channel), (), identify, channel))
    assert tell(memory, cluster.events) == (expected, 0)


def test_only_the_object_with_a_new_request_is_told_anew(cluster: Cluster, memory: Memory) -> None:
    cluster.patch(ALICE, config_map(), {"data": {"MODE": "fast"}})
    assert tell(memory, cluster.events) == (tell(Memory(), cluster.events)[0], 1)


def test_a_request_that_is_gone_has_its_object_told_anew(cluster: Cluster, memory: Memory) -> None:
    assert tell(memory, cluster.events[:-1]) == (tell(Memory(), cluster.events[:-1])[0], 1)


def test_another_program_or_other_rules_tell_everything_anew(cluster: Cluster, memory: Memory) -> None:
    assert tell(memory, cluster.events, rules="another")[1] == 2


def test_a_snapshot_has_its_object_told_anew(cluster: Cluster, memory: Memory) -> None:
    seen = cluster.snapshot(deployment())
    assert tell(memory, cluster.events, seen)[1] == 1


def test_another_answer_of_git_has_a_story_told_anew(cluster: Cluster) -> None:
    memory, events = Memory(), cluster.events[2:]
    asked: list[datetime] = []

    def desired(replicas: int) -> Any:
        def answer(subject: ObjectId, at: datetime) -> JsonObject | None:
            asked.append(at)
            return deployment() | {"spec": {"replicas": replicas}}

        return answer

    assert tell(memory, events, desired=desired(3))[1] == 1
    assert tell(memory, events, desired=desired(3))[1] == 0
    assert tell(memory, events, desired=desired(4))[1] == 1
    assert asked, "the state before is not in the records"


def test_what_went_through_the_server_of_argocd_is_never_kept(cluster: Cluster) -> None:
    memory = Memory()
    tell(memory, cluster.events, identify=lambda event: SERVER)
    assert memory.kept == 0


def test_a_story_that_cannot_be_encoded_is_told_each_time(cluster: Cluster) -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"a": deep}
    memory = Memory()
    history = next(iter(histories(objects_in(cluster.events, identify, channel), (), identify, channel)))
    told = replace(history, live=replace(history.live, body=deep))
    senses = Senses(identify, channel, lambda subject, at: None, "")
    assert Recall(memory, "").history(history.object, "1", senses, lambda _: told) is told
    assert memory.kept == 0
