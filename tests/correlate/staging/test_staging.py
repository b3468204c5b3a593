"""What staging and production differ in, and what explains it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path as Folder
from typing import Any, cast

import pytest

from auditor.config import Config, EnvironmentPair
from auditor.correlate.staging.pairing import pairings
from auditor.correlate.staging.pairs import staging_pairs
from auditor.model.application import ApplicationState
from auditor.model.case import LiveState
from auditor.model.change import AppKey, Change
from auditor.model.desired import DesiredState, GitReader, Landing, ManifestKey, Undeterminable
from auditor.model.resource import JsonObject, ObjectId
from auditor.model.staging import StagingDifference
from auditor.objects.paths import text
from tests.factories import START, actor, app_state, change, field, history, minute, thing, verdict

PROD = AppKey("argocd", "argocd", "shop-prod")
STAGE = AppKey("argocd", "argocd", "shop-staging")
CONFIG = Config(folder=Folder("/"), environments=(EnvironmentPair("shop-staging", "shop-prod"),))
STATES = {PROD: history(app_state(-30, PROD), key=PROD), STAGE: history(app_state(-30, STAGE), key=STAGE)}
WEB = "spec.template.spec.containers[name=web].image"
DAVE = actor("dave@acme.example")
ARGO = actor("system:serviceaccount:argocd:argocd-application-controller", "gitops")


def deployment(replicas: int = 3, image: str = "web:1.4.0", name: str = "web", **spec: Any) -> JsonObject:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [{"name": "web", "image": image}]}}, **spec},
    }


def config_map(name: str, **data: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": dict(data)}


def subject(body: JsonObject, key: AppKey) -> ObjectId:
    metadata = body["metadata"]
    assert isinstance(metadata, dict)
    return thing(str(metadata["name"]), str(body["kind"]), key.name, "apps" if body["kind"] == "Deployment" else "")


def live(key: AppKey, *bodies: JsonObject) -> dict[ObjectId, LiveState]:
    return {subject(body, key): LiveState(subject(body, key), body, START, True) for body in bodies}


def declared(key: AppKey, *bodies: JsonObject) -> DesiredState:
    objects = {}
    for body in bodies:
        each = subject(body, key)
        objects[ManifestKey(each.group, each.kind, each.namespace, each.name)] = body
    return DesiredState("content", objects, "now", "high")


def here(key: AppKey, ident: str, at: float, *fields: Any, **given: Any) -> Change:
    return change(ident, at, *fields, application=key, object=given.pop("object", thing(namespace=key.name)), **given)


class Git:
    """What one application renders to, by commit: all of git that staging drift asks for."""

    def __init__(self, rendered: Mapping[str, DesiredState]) -> None:
        self._rendered = rendered

    def render(self, state: ApplicationState, sha: str) -> DesiredState | Undeterminable:
        return self._rendered.get(sha, Undeterminable("not rendered"))


def landing(sha: str, at: float, subject: str, request: int | None = None) -> Landing:
    return Landing(sha, minute(at), "Bob Ito <bob@acme.example>", subject, request, (), "N")


def drift(
    staging: Sequence[JsonObject],
    production: Sequence[JsonObject],
    changes: Sequence[Change] = (),
    verdicts: Sequence[Any] = (),
    git: Git | None = None,
    landings: Mapping[AppKey, Sequence[Landing]] | None = None,
    desired: Mapping[AppKey, DesiredState | Undeterminable] | None = None,
) -> list[StagingDifference]:
    (pair,) = staging_pairs(
        CONFIG,
        STATES,
        live(STAGE, *staging) | live(PROD, *production),
        desired or {PROD: declared(PROD, *production), STAGE: declared(STAGE, *staging)},
        changes,
        {each.change: each for each in verdicts},
        landings or {},
        cast(GitReader, git) if git else None,
    )
    return list(pair.differences)


def told(difference: StagingDifference) -> tuple[str, Any, Any, tuple[str, ...], str]:
    return (
        text(difference.path),
        difference.staging.value,
        difference.production.value,
        difference.causes,
        difference.advice,
    )


def test_values_that_nobody_changed_are_the_overlay() -> None:
    (found,) = drift([deployment(1)], [deployment(3)])
    assert told(found) == ("spec.replicas", 1, 3, ("overlay",), "nothing")
    assert found.because == "git declares both, and both had these values when the records begin"


def test_without_git_the_objects_are_those_that_argo_cd_lists() -> None:
    states = {
        key: history(app_state(-30, key, resources=(("apps", "Deployment", key.name, "web", "Synced"),)), key=key)
        for key in (PROD, STAGE)
    }
    unread = {key: Undeterminable("no clone") for key in (PROD, STAGE)}
    bodies = live(STAGE, deployment(1)) | live(PROD, deployment(3))
    (pair,) = staging_pairs(CONFIG, states, bodies, unread, (), {}, {})
    assert [each.because for each in pair.differences] == ["both had these values when the records begin"]


def test_equal_objects_have_no_differences() -> None:
    assert drift([deployment()], [deployment()]) == []


def test_a_hotfix_on_top_of_an_overlay_has_both_causes() -> None:
    fix = here(PROD, "fix", 10, field("spec.replicas", 3, 6), actor=DAVE, channel="kubectl scale")
    answer = verdict("fix", ("reflected", "standing"), commit="b648bbc3fa59", pull_request=41)
    (found,) = drift([deployment(1)], [deployment(6)], [fix], [answer])
    assert told(found) == ("spec.replicas", 1, 6, ("production-hotfix", "overlay"), "promote")
    assert found.because == (
        "production hotfix of dave@acme.example (kubectl scale, 2026-11-30 09:10:00 UTC) that went to git for "
        "production only (b648bbc3, #41); 1 against 3 was the overlay when the records begin"
    )
    assert (found.changes, found.commit) == (("fix",), "b648bbc3fa59")


@pytest.mark.parametrize(
    ("word", "git", "cause", "words"),
    [
        ("reflected", {"commit": "abc"}, "production-hotfix", "that went to git for production only (abc)"),
        ("already", {}, "production-hotfix", "of what git had before for production only"),
        ("not-declared", {}, "hotfix-not-in-git", "that never reached git"),
        ("not-reflected", {}, "hotfix-not-in-git", "that never reached git"),
        ("on-branch", {"branch": "fix/cpu"}, "hotfix-not-in-git", "that only the branch fix/cpu has"),
        ("unknown", {"reason": "no clone"}, "production-hotfix", "whether git has it is unknown: no clone"),
    ],
)
def test_what_git_says_of_the_hotfix_decides_its_cause(word: str, git: dict[str, Any], cause: str, words: str) -> None:
    fix = here(PROD, "fix", 10, field("spec.replicas", 3, 6))
    (found,) = drift([deployment(3)], [deployment(6)], [fix], [verdict("fix", (word, "standing"), **git)])
    assert found.causes == (cause,)
    assert words in found.because


def test_a_hotfix_that_git_has_for_both_and_staging_does_not_run_yet_is_told_so() -> None:
    fix = here(PROD, "fix", 10, field("spec.replicas", 3, 6))
    (found,) = drift(
        [deployment(3)],
        [deployment(6)],
        [fix],
        [verdict("fix", ("reflected", "standing"), commit="abc")],
        desired={STAGE: declared(STAGE, deployment(6))},
    )
    assert found.because.endswith("that went to git for both (abc), and staging does not run it yet")


def test_a_hotfix_in_production_and_a_promotion_on_its_way_are_both_told() -> None:
    changes = [
        here(PROD, "fix", 10, field(WEB, "web:1.4.1", "web:1.4.1-hotfix.1"), actor=DAVE),
        here(STAGE, "sync", 40, field(WEB, "web:1.4.1", "web:1.5.0"), actor=ARGO, cause="gitops"),
    ]
    rendered = {
        "c1": declared(STAGE, deployment(image="web:1.4.1")),
        "c2": declared(STAGE, deployment(image="web:1.5.0")),
        "c3": declared(STAGE, deployment(image="web:1.5.0")),
    }
    steps = [
        landing("c1", 0, "Begin"),
        landing("c2", 35, "Release web 1.5.0 to staging", 49),
        landing("c3", 38, "Docs"),
    ]
    (found,) = drift(
        [deployment(image="web:1.5.0")],
        [deployment(image="web:1.4.1-hotfix.1")],
        changes,
        [verdict("fix", ("reflected", "standing"), commit="b648")],
        Git(rendered),
        {STAGE: steps},
    )
    assert told(found) == (WEB, "web:1.5.0", "web:1.4.1-hotfix.1", ("production-hotfix", "promotion"), "decide")
    assert "staging has a newer commit (c2, #49, Release web 1.5.0 to staging)" in found.because
    assert found.changes == ("fix", "sync")


def test_a_commit_is_not_named_where_it_cannot_be_told() -> None:
    sync = here(STAGE, "sync", 40, field(WEB, "web:1.4.0", "web:1.5.0"), actor=ARGO, cause="gitops")
    (found,) = drift(
        [deployment(image="web:1.5.0")], [deployment()], [sync], landings={STAGE: [landing("c2", 35, "A")]}
    )
    assert (found.causes, found.commit) == (("promotion",), None)


def test_a_hotfix_that_gitops_reverted_and_git_brought_again_stays_a_hotfix() -> None:
    changes = [
        here(PROD, "fix", 10, field("spec.replicas", 3, 6), actor=DAVE),
        here(PROD, "heal", 11, field("spec.replicas", 6, 3), actor=ARGO, cause="gitops"),
        here(PROD, "sync", 20, field("spec.replicas", 3, 6), actor=ARGO, cause="gitops"),
    ]
    (found,) = drift([deployment(3)], [deployment(6)], changes, [verdict("fix", ("reflected", "reverted-by-gitops"))])
    assert found.causes == ("production-hotfix",)


def test_a_commit_for_production_alone_is_an_overlay_that_git_made() -> None:
    sync = here(PROD, "sync", 20, field("spec.replicas", 3, 6), actor=ARGO, cause="gitops")
    (found,) = drift([deployment(3)], [deployment(6)], [sync])
    assert (found.causes, found.because) == (("overlay",), "git changed it for production")


def test_what_git_has_for_both_and_one_does_not_run_yet_is_on_its_way() -> None:
    sync = here(PROD, "sync", 20, field("spec.replicas", 3, 6), actor=ARGO, cause="gitops")
    desired = {PROD: declared(PROD, deployment(6)), STAGE: declared(STAGE, deployment(6))}
    (found,) = drift([deployment(3)], [deployment(6)], [sync], desired=desired)
    assert (found.causes, found.advice) == (("promotion",), "promote")
    assert found.because == "git has it for both, and staging does not run it yet"


def test_a_hand_on_staging_is_to_be_reverted() -> None:
    made = here(
        STAGE, "test", 10, field("spec.replicas", 3, 1), actor=actor("bob@acme.example"), channel="kubectl scale"
    )
    (found,) = drift([deployment(1)], [deployment(3)], [made])
    assert (found.causes, found.advice) == (("staging-change",), "revert")
    assert "bob@acme.example (kubectl scale, 2026-11-30 09:10:00 UTC)" in found.because


def test_a_hand_on_staging_that_git_has_since_is_a_promotion_on_its_way() -> None:
    made = here(STAGE, "test", 10, field(WEB, "web:1.4.0", "web:1.5.0"), actor=DAVE, channel="kubectl set")
    taken = verdict("test", ("reflected", "standing"), commit="5e1f" * 10, pull_request=70)
    (found,) = drift([deployment(image="web:1.5.0")], [deployment()], [made], [taken])
    assert (found.causes, found.advice, found.commit) == (("promotion",), "promote", "5e1f" * 10)
    assert found.because.endswith("2026-11-30 09:10:00 UTC), and in git since (5e1f5e1f, #70)")


def test_what_a_hand_took_back_in_production_is_a_hotfix_even_where_the_day_began_with_it() -> None:
    sync = here(PROD, "sync", 10, field(WEB, "web:1.4.0", "web:1.5.0"), actor=ARGO, cause="gitops")
    back = here(PROD, "back", 20, field(WEB, "web:1.5.0", "web:1.4.0"), actor=DAVE, cause="bypass")
    desired = {key: declared(key, deployment(image="web:1.5.0")) for key in (PROD, STAGE)}
    lost = verdict("back", ("not-reflected", "standing"))
    (found,) = drift([deployment(image="web:1.6.0")], [deployment()], [sync, back], [lost], desired=desired)
    assert (found.causes[0], found.changes) == ("hotfix-not-in-git", ("back",))


def test_what_an_autoscaler_set_needs_no_decision() -> None:
    scaler = actor("system:serviceaccount:kube-system:horizontal-pod-autoscaler", "autoscaler")
    made = here(PROD, "scale", 10, field("spec.replicas", 3, 9), actor=scaler, cause="controller")
    (found,) = drift([deployment(3)], [deployment(9)], [made])
    assert (found.causes, found.advice) == (("unexplained",), "nothing")


def test_a_value_that_neither_git_nor_a_record_explains_is_unexplained() -> None:
    desired = {PROD: declared(PROD, deployment(3)), STAGE: declared(STAGE, deployment(3))}
    (found,) = drift([deployment(3)], [deployment(7)], desired=desired)
    assert (found.causes, found.advice) == (("unexplained",), "decide")
    assert found.because == "git declares another value for production, and the records do not hold who set it"


def test_a_change_that_came_to_nothing_explains_nothing() -> None:
    probe = here(STAGE, "probe", 10, field("spec.minReadySeconds", 0, 5))
    heal = here(STAGE, "heal", 11, field("spec.minReadySeconds", 5, 0), actor=ARGO, cause="gitops")
    (found,) = drift([deployment(1)], [deployment(3)], [probe, heal])
    assert [text(found.path), found.causes] == ["spec.replicas", ("overlay",)]


def test_unproven_changes_explain_nothing() -> None:
    made = here(PROD, "maybe", 10, field("spec.replicas", 3, 6), persisted="unproven")
    (found,) = drift([deployment(3)], [deployment(6)], [made])
    assert found.causes == ("overlay",)


def test_names_and_namespaces_that_differ_by_environment_do_not_count() -> None:
    def body(env: str, replicas: int) -> JsonObject:
        reference: JsonObject = {"configMapRef": {"name": f"shop-{env}-config"}}
        pod: JsonObject = {"containers": [{"name": f"shop-{env}", "image": "shop:1", "envFrom": [reference]}]}
        made = deployment(replicas, name=f"shop-{env}")
        made["spec"] = {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": f"shop-{env}"}},
            "template": {"metadata": {"labels": {"app": f"shop-{env}"}}, "spec": pod},
        }
        return made

    found = drift([body("staging", 1)], [body("prod", 3)])
    assert [(text(each.path), each.object.name) for each in found] == [("spec.replicas", "shop-prod")]


def test_a_value_beneath_a_renamed_item_is_found_on_both_sides() -> None:
    path = "spec.template.spec.containers[name=shop-{}].image"

    def body(env: str, image: str) -> JsonObject:
        return deployment(name="web") | {
            "spec": {"template": {"spec": {"containers": [{"name": f"shop-{env}", "image": image}]}}}
        }

    made = here(STAGE, "test", 10, field(path.format("staging"), "shop:1", "shop:2"))
    (found,) = drift([body("staging", "shop:2")], [body("prod", "shop:1")], [made])
    assert told(found) == (path.format("prod"), "shop:2", "shop:1", ("staging-change",), "revert")


def test_values_that_name_an_environment_without_being_names_are_shown_as_overlay() -> None:
    (found,) = drift([config_map("web", URL="http://db.staging")], [config_map("web", URL="http://db.prod")])
    assert told(found) == ("data.URL", "http://db.staging", "http://db.prod", ("overlay",), "nothing")


def test_config_maps_are_matched_without_the_hash_of_their_content() -> None:
    found = drift([config_map("web-6f7b9k2m5t", SIZE="1")], [config_map("web-2g4h6k8m9t", SIZE="2")])
    assert [text(each.path) for each in found] == ["data.SIZE"]


def test_a_restart_is_no_difference() -> None:
    annotations = {"kubectl.kubernetes.io/restartedAt": "2026-11-30T07:04:42Z"}
    pod = {"containers": [{"name": "web", "image": "web:1.4.0"}]}
    restarted = deployment(template={"metadata": {"annotations": annotations}, "spec": pod})
    assert drift([deployment()], [restarted]) == []


def test_what_the_api_server_fills_in_is_no_difference() -> None:
    def service(address: str) -> JsonObject:
        return {"kind": "Service", "metadata": {"name": "web"}, "spec": {"clusterIP": address, "type": "ClusterIP"}}

    assert drift([service("10.0.0.1")], [service("10.0.0.2")]) == []


def test_an_object_on_one_side_only_is_one_difference_with_its_cause() -> None:
    extra = config_map("flags", A="1")
    flags = thing("flags", "ConfigMap", "shop-prod", "")
    made = here(PROD, "new", 10, object=flags, operation="create", actor=DAVE)
    (found,) = drift([], [extra], [made], [verdict("new", ("not-in-git", "standing"), whole=True)])
    assert told(found) == ("", None, "present", ("hotfix-not-in-git",), "decide")
    (found,) = drift([extra], [])
    assert (found.object.namespace, told(found)) == ("shop-staging", ("", "present", None, ("overlay",), "nothing"))


def test_an_object_that_somebody_deleted_in_production_is_a_hotfix() -> None:
    flags = thing("flags", "ConfigMap", "shop-prod", "")
    gone = here(PROD, "gone", 10, object=flags, operation="delete", actor=DAVE)
    (found,) = drift(
        [config_map("flags", A="1")], [], [gone], [verdict("gone", ("not-reflected", "standing"), whole=True)]
    )
    assert (found.causes, found.changes) == (("hotfix-not-in-git",), ("gone",))


def test_an_object_without_a_live_record_is_compared_as_git_declares_it() -> None:
    (pair,) = staging_pairs(
        CONFIG,
        STATES,
        live(STAGE, deployment(1)),
        {PROD: declared(PROD, deployment(3)), STAGE: declared(STAGE, deployment(1))},
        (),
        {},
        {},
    )
    assert [text(each.path) for each in pair.differences] == ["spec.replicas"]


UNPAIRED = replace(CONFIG, environments=())


def paired(*states: ApplicationState, config: Config = UNPAIRED) -> list[tuple[str, str, str]]:
    found = pairings(config, {state.key: history(state, key=state.key) for state in states})
    return [(pair.staging.name, pair.production.name, pair.paired_by) for pair in found]


def app(name: str, **given: Any) -> ApplicationState:
    return app_state(0, AppKey("argocd", "argocd", name), **given)


def test_pairs_by_hand_come_first_and_take_their_production() -> None:
    config = replace(CONFIG, environments=(EnvironmentPair("shop-uat", "shop-prod"), EnvironmentPair("no", "such")))
    assert paired(app("shop-prod"), app("shop-uat"), app("shop-staging"), config=config) == [
        ("shop-uat", "shop-prod", "configuration")
    ]


@pytest.mark.parametrize(
    ("staging", "production", "known_by"),
    [
        (app("a", owner_set="", sources=()), app("b", sources=()), None),
        (app("shop-staging", owner_set="shops"), app("shop-prod", owner_set="shops"), "ApplicationSet"),
        (
            app("one", sources=(replace(app("x").sources[0], path="apps/shop/overlays/staging"),)),
            app("two", sources=(replace(app("x").sources[0], path="apps/shop/overlays/prod"),)),
            "path",
        ),
        (
            app("one", sources=(), labels={"env": "staging", "app": "shop"}),
            app("two", sources=(), labels={"env": "production", "app": "shop"}),
            "label",
        ),
        (app("stg-shop", sources=()), app("prd-shop", sources=()), "name"),
        (app("shop-staging", sources=()), app("pay-prod", sources=()), None),
        (app("nonprod-shop", sources=()), app("prod-shop", sources=()), None),
    ],
)
def test_pairs_by_rule(staging: ApplicationState, production: ApplicationState, known_by: str | None) -> None:
    wanted = [(staging.key.name, production.key.name, known_by)] if known_by else []
    assert paired(staging, production) == wanted


def test_of_two_stagings_the_first_word_is_preferred() -> None:
    apps = [app(name, sources=()) for name in ("shop-stage", "shop-staging", "shop-preprod", "shop-prod")]
    assert paired(*apps) == [("shop-staging", "shop-prod", "name")]
