"""Stories for the findings that the sample incident does not have: what their pages show comes from here."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from auditor.model.case import Case, LiveState
from auditor.model.change import AppKey
from auditor.model.coverage import Gap
from auditor.model.desired import DesiredState, ManifestKey
from auditor.model.episode import STEP_NAMES, Episode, Step
from tests.detectors.cases import AUTOSCALER, case
from tests.factories import SHOP, actor, app_state, change, coverage, field, freeze, history, minute, thing, write

EDGE = AppKey("argocd", "argocd", "shop-edge")


def _frozen() -> Case:
    return case(histories=[history(app_state(0), freezes=(freeze(1, None),))])


def _in_disguise() -> Case:
    said = "mallory@acme.example sent the field manager argocd-controller"
    return case(writes=[write("w", 1, field(), actor=actor("mallory@acme.example"), disagreement=said)])


def _slow() -> Case:
    steps = tuple(Step(name, "not-recorded", None, None, "", ()) for name in STEP_NAMES)
    people = ("alice@acme.example",)
    episode = Episode("e", SHOP, people, minute(1), minute(240), steps, ("c",), 2_580.0, 11_400.0, None, None)
    return case(change("c", 1, field()), episodes=(episode,))


def _scaled() -> Case:
    out_of_sync = ("apps", "Deployment", "shop-prod", "web", "OutOfSync")
    key = ManifestKey("apps", "Deployment", "shop-prod", "web")
    return case(
        change("c", 1, field(before=3, after=5), actor=AUTOSCALER, cause="controller"),
        histories=[history(app_state(2, resources=(out_of_sync,), sync_status="OutOfSync"))],
        desired={SHOP: DesiredState("k", {key: {"spec": {"replicas": 3}}}, "now", "high")},
        live={thing(): LiveState(thing(), {"spec": {"replicas": 5}}, minute(2), True)},
    )


def _gap() -> Case:
    sentence = "No announcements were read: whether a change was announced is not recorded."
    export = "export the incident channel (Slack: Settings, Export), or keep a timeline as CSV"
    return replace(case(), coverage=coverage(gaps=(Gap("announcements", "", None, None, sentence, export),)))


def _shared() -> Case:
    listed = ("apps", "Deployment", "shop-prod", "web", "Synced")
    return case(histories=[history(app_state(1, key, resources=(listed,)), key=key) for key in (SHOP, EDGE)])


EXAMPLES: Mapping[str, Callable[[], Case]] = {
    "freeze-not-lifted": _frozen,
    "identity-mismatch": _in_disguise,
    "late-detection": _slow,
    "phantom-diff": _scaled,
    "records-gap": _gap,
    "shared-ownership": _shared,
}
"""By ident."""
