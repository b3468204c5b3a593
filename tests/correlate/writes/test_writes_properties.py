"""Whatever is taken out of the records, in whatever order they come: what is still said is true."""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.correlate.identity.actors import identify
from auditor.correlate.identity.channels import channel
from auditor.correlate.writes.histories import writes
from auditor.model.change import FieldChange, Write
from auditor.model.facts import AuditEvent
from auditor.model.resource import Path
from tests.factories import replace
from tests.scenario import ALICE, ARGOCD, BOB, Cluster, deployment

Act = Callable[[Cluster], AuditEvent]
WEB = deployment()
USERS = st.sampled_from([ALICE, BOB, ARGOCD])
SMALL = st.integers(1, 4)
NAMES = st.sampled_from(["A", "B", "C"])


def _container(**given: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": [{"name": "app", **given}]}}}}


def _put(cluster: Cluster, user: str, replicas: int) -> AuditEvent:
    body = deployment(replicas=replicas)
    return cluster.update(user, body, object_version=cluster.get(WEB)["metadata"]["resourceVersion"])


ACTS: st.SearchStrategy[Act] = st.one_of(
    st.builds(lambda user, n: lambda on: on.scale(user, WEB, n), USERS, SMALL),
    st.builds(lambda user, n: lambda on: on.patch(user, WEB, {"spec": {"replicas": n}}), USERS, SMALL),
    st.builds(lambda user, n: lambda on: on.patch(user, WEB, _container(image=f"app:{n}")), USERS, SMALL),
    st.builds(
        lambda user, name, n: lambda on: on.patch(user, WEB, _container(env=[{"name": name, "value": str(n)}])),
        USERS,
        NAMES,
        SMALL,
    ),
    st.builds(
        lambda user, name: lambda on: on.patch(user, WEB, _container(env=[{"$patch": "delete", "name": name}])),
        USERS,
        NAMES,
    ),
    st.builds(
        lambda user, n: lambda on: on.patch(
            user, WEB, [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": f"app:{n}"}],
            "json-patch",
        ),
        USERS,
        SMALL,
    ),
    st.builds(
        lambda user, flag: lambda on: on.patch(user, WEB, {"spec": {"paused": flag}}, "merge"),
        USERS,
        st.sampled_from([True, None]),
    ),
    st.builds(lambda user, n: lambda on: _put(on, user, n), USERS, SMALL),
)  # fmt: skip


def told(events: Sequence[AuditEvent]) -> dict[str, Write]:
    return {write.id: write for write in writes(events, (), identify, channel)}


def by_path(write: Write) -> dict[Path, FieldChange]:
    return {field.path: field for field in write.fields}


def play(acts: Sequence[Act]) -> list[AuditEvent]:
    cluster = Cluster()
    cluster.create(ARGOCD, WEB)
    for act in acts:
        act(cluster)
    return cluster.events


@settings(max_examples=100, deadline=None)
@given(st.lists(ACTS, min_size=1, max_size=8), st.data())
def test_fewer_bodies_say_less_and_nothing_else(acts: list[Act], data: st.DataObject) -> None:
    events = play(acts)
    truth = told(events)
    fewer = []
    for event in events:
        out = data.draw(st.sampled_from([(), ("response",), ("request", "response")]))
        level = {0: "RequestResponse", 1: "Request", 2: "Metadata"}[len(out)]
        fewer.append(replace(event, level=level, **dict.fromkeys(out)))
    rest = told(fewer)
    assert rest.keys() == truth.keys()
    for ident, write in rest.items():
        whole = by_path(truth[ident])
        for path, field in by_path(write).items():
            if not field.before.known:
                continue
            assert path in whole, (path, field)
            assert field == whole[path]


@settings(max_examples=40, deadline=None)
@given(st.lists(ACTS, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_delivery_does_not_matter(acts: list[Act], random: Any) -> None:
    events = play(acts)
    shuffled = [*events, *events[: len(events) // 2]]
    random.shuffle(shuffled)
    assert told(shuffled) == told(events)
