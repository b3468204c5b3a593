"""An ApplicationSet that rolls out step by step starts the syncs of its Applications itself."""

from typing import Any

import orjson
import pytest

from auditor.correlate.applications.rollouts import Rollouts
from auditor.model.application import ApplicationState
from auditor.model.facts import ArgoSettings
from tests.correlate.applications.argo_story import Story
from tests.factories import ORIGIN, SHOP, app_state

STEP = {"matchExpressions": [{"key": "wave", "operator": "In", "values": ["one"]}]}


def rolling(*steps: dict[str, Any], version: str = "5", **given: Any) -> ArgoSettings:
    spec = {"strategy": {"type": "RollingSync", "rollingSync": {"steps": list(steps)}}}
    body = {"kind": "ApplicationSet", "spec": spec, "status": {"applicationStatus": [{"application": SHOP.name}]}}
    return ArgoSettings(
        SHOP.argocd, "ApplicationSet", SHOP.namespace, "shops", version, orjson.dumps(body | given), ORIGIN
    )


def marked(*settings: ArgoSettings, **given: Any) -> ApplicationState:
    state = {"automated": False, "self_heal": False, "prune": False, "owner_set": "shops", "labels": {"wave": "one"}}
    return Rollouts(settings).marked(app_state(0, **(state | given)))


def test_its_set_starts_the_syncs_of_an_application_that_a_step_selects() -> None:
    state = marked(rolling(STEP))
    assert (state.rolled_out_by, state.waits_for_a_hand) == ("shops", False)


@pytest.mark.parametrize(
    ("expression", "selected"),
    [
        ({"key": "wave", "operator": "In", "values": ["two"]}, False),
        ({"key": "tier", "operator": "In", "values": ["web"]}, False),
        ({"key": "wave", "operator": "NotIn", "values": ["one"]}, False),
        ({"key": "tier", "operator": "NotIn", "values": ["web"]}, True),
        ({"key": "wave", "operator": "Exists"}, False),
    ],
)
def test_an_application_that_no_step_selects_waits_for_a_person(expression: dict[str, Any], selected: bool) -> None:
    state = marked(rolling({"matchExpressions": [expression]}))
    assert state.waits_for_a_hand is not selected


def test_the_first_step_that_selects_an_application_says_whether_it_updates_any() -> None:
    assert marked(rolling(STEP | {"maxUpdate": 0}, STEP)).waits_for_a_hand
    assert not marked(rolling(STEP, STEP | {"maxUpdate": "0%"})).waits_for_a_hand


def test_a_set_whose_controller_does_not_roll_out_starts_nothing() -> None:
    assert marked(rolling(STEP, status={})).waits_for_a_hand
    assert marked(rolling(STEP, spec={"strategy": {"type": "AllAtOnce"}})).waits_for_a_hand
    assert marked(rolling(STEP), owner_set="others").waits_for_a_hand


def test_the_latest_export_of_a_set_counts() -> None:
    assert marked(rolling(STEP, version="12"), rolling(STEP, version="9", spec={})).rolled_out_by == "shops"


@pytest.mark.parametrize(
    ("own", "template", "default", "prunes"),
    [
        ({"enabled": False, "prune": True}, {}, None, True),
        (None, {"prune": True}, None, True),
        (None, {"prune": False}, True, False),
        (None, {}, True, True),
        (None, {}, None, False),
    ],
)
def test_its_syncs_prune_as_auto_sync_would(own: Any, template: Any, default: Any, prunes: bool) -> None:
    spec = {
        "strategy": {"type": "RollingSync", "rollingSync": {"steps": [STEP], "defaultPrune": default}},
        "template": {"spec": {"syncPolicy": {"automated": template}}},
    }
    document = {"spec": {"syncPolicy": {"automated": own}}}
    assert marked(rolling(spec=spec), document=document).prune is prunes


def test_the_states_of_a_history_name_the_set() -> None:
    story = Story({"enabled": False})
    story.document["metadata"] |= {
        "labels": {"wave": "one"},
        "ownerReferences": [{"kind": "ApplicationSet", "name": "shops"}],
    }
    status = {"applicationStatus": [{"application": "web"}]}
    body = orjson.loads(rolling(STEP).body) | {"status": status}
    story.settings.append(ArgoSettings("argocd", "ApplicationSet", "argocd", "shops", "5", orjson.dumps(body), ORIGIN))
    states = story.created(-60).compared(0, "c1").history().states
    assert [state.rolled_out_by for state in states] == ["shops", "shops"]
