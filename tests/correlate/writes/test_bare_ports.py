"""An item of a list that a request adds by its key alone is its actor's, with all that the API server fills in."""

import copy
from typing import Any

import pytest

from auditor.correlate.identity.actors import identify
from auditor.correlate.identity.channels import channel
from auditor.correlate.writes.histories import writes
from auditor.model.change import Write
from auditor.objects import paths
from tests.scenario import ALICE, ARGOCD, Cluster, deployment

PORTS = "spec.template.spec.containers[name=app].ports"


def added(port: dict[str, Any]) -> Write:
    """What is told of a patch that adds a port, to which the API server gives its protocol."""
    cluster, before = Cluster(), deployment()
    before["spec"]["template"]["spec"]["containers"][0]["ports"] = [{"containerPort": 8080, "protocol": "TCP"}]
    cluster.create(ARGOCD, copy.deepcopy(before))
    stored = copy.deepcopy(cluster.get(before))
    stored["spec"]["template"]["spec"]["containers"][0]["ports"].append({"protocol": "TCP"} | port)
    request = {"spec": {"template": {"spec": {"containers": [{"name": "app", "ports": [port]}]}}}}
    cluster.patch(ALICE, before, request, stored=stored)
    return writes(cluster.events, (), identify, channel)[-1]


def places(write: Write) -> list[str]:
    return [paths.text(field.path) for field in write.fields]


def test_a_port_that_is_added_by_its_number_alone_is_a_change() -> None:
    write = added({"containerPort": 9090})
    assert write.outcome == "changed"
    assert places(write) == [f"{PORTS}[containerPort=9090].protocol"]
    assert write.side_effects == ()


@pytest.mark.parametrize("said", [{"name": "metrics"}, {"hostPort": 9090}])
def test_of_an_item_that_says_more_the_default_stays_the_servers(said: dict[str, Any]) -> None:
    write = added({"containerPort": 9090} | said)
    assert places(write) == [f"{PORTS}[containerPort=9090].{next(iter(said))}"]
    assert [effect.by for effect in write.side_effects] == ["default"]
