"""Items of which nothing is said but their keys: what the API server fills in stands for the item."""

from typing import Any

import pytest

from auditor.model.resource import ABSENT, JsonObject, leaf
from auditor.objects import leaves, paths
from auditor.objects.bare_items import BARE, as_leaf, is_bare, stood_for
from tests.factories import field, thing

PORT = "spec.template.spec.containers[name=app].ports[containerPort=8080]"
DEPLOYMENT = thing()


def stands_for(*fields: Any) -> tuple[str, Any, Any]:
    told = stood_for(fields, DEPLOYMENT)[0]
    return paths.text(told.path), told.before, told.after


def test_a_default_that_comes_or_goes_alone_stands_for_its_item() -> None:
    assert stands_for(field(f"{PORT}.protocol", "TCP", ...)) == (PORT, BARE, ABSENT)
    assert stands_for(field(f"{PORT}.protocol", ..., "TCP")) == (PORT, ABSENT, BARE)


@pytest.mark.parametrize(
    "fields",
    [
        [field(f"{PORT}.protocol", "TCP", "UDP")],
        [field(f"{PORT}.protocol", "UDP", ...)],
        [field(f"{PORT}.protocol", "TCP", ...), field(f"{PORT}.name", "http", ...)],
        [field("spec.template.spec.containers[name=app].readinessProbe.httpGet.scheme", "HTTP", ...)],
        [field("spec.strategy.type", "RollingUpdate", ...)],
    ],
)
def test_any_other_field_stands_for_itself(fields: list[Any]) -> None:
    assert stood_for(fields, DEPLOYMENT) == tuple(fields)


def test_an_item_as_a_leaf_is_what_it_says_beside_its_keys_and_defaults() -> None:
    path = paths.parse(PORT)
    assert as_leaf(path, leaf({"containerPort": 8080, "protocol": "TCP"}), DEPLOYMENT) == BARE
    assert as_leaf(path, leaf({"containerPort": 8080, "name": "http"}), DEPLOYMENT) == leaf({"name": "http"})
    assert as_leaf(path, ABSENT, DEPLOYMENT) == ABSENT
    assert as_leaf(paths.parse("spec.replicas"), leaf(3), DEPLOYMENT) == leaf(3)


def test_a_bare_item_that_is_there_is_not_like_one_that_is_not() -> None:
    path = paths.parse(PORT)
    assert not leaves.equal("apps", "Deployment", path, BARE, ABSENT)
    assert leaves.equal("apps", "Deployment", path, BARE, BARE)
    with_secret: JsonObject = {"spec": {"template": {"spec": {"imagePullSecrets": [{"name": "registry"}]}}}}
    (added,) = leaves.differences({}, with_secret, "apps", "Deployment")
    assert is_bare(added)
