import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import orjson
import pytest

from auditor.correlate.identity.actors import identify
from auditor.correlate.identity.channels import channel
from auditor.correlate.writes.histories import histories, objects_in, writes
from auditor.model.change import Write
from auditor.model.facts import AuditEvent, ObjectSnapshot
from auditor.objects import paths
from tests.factories import replace
from tests.scenario import ALICE, ARGOCD, BOB, HPA, PIPELINE, Cluster, application, config_map, deployment

IMAGE = "spec.template.spec.containers[name=app].image"
CONTAINERS = "/spec/template/spec/containers/0"


def told(events: Sequence[AuditEvent], *snapshots: ObjectSnapshot) -> tuple[Write, ...]:
    return writes(events, snapshots, identify, channel)


def last(cluster: Cluster, *snapshots: ObjectSnapshot) -> Write:
    return told(cluster.events, *snapshots)[-1]


def fields(write: Write) -> dict[str, tuple[Any, Any]]:
    """By path: value before and after; `...` for absent, "?" for unknown."""
    shown = {"absent": ..., "unknown": "?"}
    return {
        paths.text(field.path): (
            shown.get(field.before.state, field.before.value),
            shown.get(field.after.state, field.after.value),
        )
        for field in write.fields
    }


def without(events: Sequence[AuditEvent], *bodies: str) -> list[AuditEvent]:
    level = "Metadata" if "request" in bodies else "Request"
    return [replace(event, level=level, **dict.fromkeys(bodies)) for event in events]


@pytest.fixture
def cluster() -> Cluster:
    """A cluster with one Deployment that Argo CD made."""
    made = Cluster()
    made.create(ARGOCD, deployment(), field_manager="argocd-controller")
    return made


def container(**given: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": [{"name": "app", **given}]}}}}


def test_a_patch_is_a_change_of_the_field_that_it_names(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), container(image="app:2"), field_manager="kubectl-set")
    write = last(cluster)
    assert fields(write) == {IMAGE: ("registry.acme.example/app:1.0.0", "app:2")}
    assert (write.outcome, write.persisted, write.actor.name) == ("changed", "proven", ALICE)
    assert (write.cause, write.channel, write.operation) == ("out-of-band", "kubectl set", "update")


def test_a_json_patch_names_a_list_item_by_its_key(cluster: Cluster) -> None:
    request = [{"op": "replace", "path": f"{CONTAINERS}/image", "value": "app:2"}]
    cluster.patch(ALICE, deployment(), request, "json-patch")
    assert fields(last(cluster)) == {IMAGE: ("registry.acme.example/app:1.0.0", "app:2")}


def test_a_removed_list_item_is_its_leaves(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), [{"op": "remove", "path": f"{CONTAINERS}/env/0"}], "json-patch")
    path = "spec.template.spec.containers[name=app].env[name=LEVEL].value"
    assert fields(last(cluster)) == {path: ("info", ...)}


def test_defaults_in_what_a_request_adds_are_not_the_actors(cluster: Cluster) -> None:
    sidecar = {"name": "debug", "image": "busybox:1.36"}
    request = {"spec": {"template": {"spec": {"containers": [sidecar]}}}}
    cluster.patch(ALICE, deployment(), request)
    write = last(cluster)
    assert fields(write) == {"spec.template.spec.containers[name=debug].image": (..., "busybox:1.36")}
    assert {effect.by for effect in write.side_effects} <= {"default"}


def test_scale_changes_the_parents_replicas(cluster: Cluster) -> None:
    cluster.scale(ALICE, deployment(), 6)
    write = last(cluster)
    assert fields(write) == {"spec.replicas": (3, 6)}
    assert (write.object.kind, write.channel) == ("Deployment", "kubectl scale")


def test_a_put_changes_what_differs_and_removes_what_it_leaves_out(cluster: Cluster) -> None:
    body = deployment(replicas=5)
    del body["spec"]["template"]["spec"]["containers"][0]["env"]
    cluster.update(ALICE, body, field_manager="kubectl-replace")
    assert fields(last(cluster)) == {
        "spec.replicas": (3, 5),
        "spec.template.spec.containers[name=app].env[name=LEVEL].value": ("info", ...),
    }


def test_dropping_replicas_resets_them_and_is_the_writers(cluster: Cluster) -> None:
    cluster.patch(ARGOCD, deployment(), {"spec": {"replicas": None}}, field_manager="argocd-controller")
    write = last(cluster)
    assert fields(write) == {"spec.replicas": (3, 1)}
    assert write.cause == "gitops"


def test_what_a_webhook_adds_is_the_webhooks(cluster: Cluster) -> None:
    stored = cluster.get(deployment()) | {}
    stored = orjson.loads(orjson.dumps(stored))
    stored["spec"]["replicas"] = 4
    stored["metadata"]["labels"] = {"checked": "yes"}
    noted = {"webhook": "policy.acme.example", "patch": [{"op": "add", "path": "/metadata/labels", "value": {}}]}
    annotations = {
        "mutation.webhook.admission.k8s.io/round_0_index_0": '{"webhook":"policy.acme.example","mutated":true}',
        "patch.webhook.admission.k8s.io/round_0_index_0": orjson.dumps(noted).decode(),
    }
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 4}}, stored=stored, annotations=annotations)
    write = last(cluster)
    assert fields(write) == {"spec.replicas": (3, 4)}
    [effect] = write.side_effects
    assert (paths.text(effect.path), effect.by) == ("metadata.labels.checked", "admission webhook policy.acme.example")
    assert write.admitted_by == ("admission webhook policy.acme.example",)


def test_a_self_heal_that_a_webhook_undoes_is_a_no_op_that_keeps_what_it_asked(cluster: Cluster) -> None:
    same = cluster.get(deployment())
    for _ in range(3):
        cluster.patch(ARGOCD, deployment(), container(imagePullPolicy="Never"), stored=same)
    loop = told(cluster.events)[1:]
    assert [write.outcome for write in loop] == ["no-op"] * 3
    assert [paths.text(write.asked[0].path) for write in loop] == [
        "spec.template.spec.containers[name=app].imagePullPolicy"
    ] * 3
    assert loop[0].asked[0].after.value == "Never"


def test_a_difference_that_no_record_explains_is_nobodys(cluster: Cluster) -> None:
    hidden = cluster.patch(BOB, deployment(), {"spec": {"paused": True}})
    cluster.patch(ALICE, deployment(), {"spec": {"revisionHistoryLimit": 3}})
    write = told([event for event in cluster.events if event is not hidden])[-1]
    assert fields(write) == {"spec.revisionHistoryLimit": (10, 3)}
    assert [(paths.text(effect.path), effect.by) for effect in write.side_effects] == [("spec.paused", "not recorded")]


def test_generation_shows_a_missing_write_and_the_value_before_is_then_unknown(cluster: Cluster) -> None:
    hidden = cluster.scale(BOB, deployment(), 9)
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 4}})
    counted = []
    for generation, event in zip((1, 2, 3), cluster.events, strict=True):
        body = orjson.loads(event.response or b"{}")
        body["metadata"]["generation"] = generation
        counted.append(replace(event, response=orjson.dumps(body)))
    write = told([event for event in counted if event.id != hidden.id])[-1]
    assert fields(write) == {"spec.replicas": ("?", 4)}


def test_a_put_on_a_version_that_no_record_shows_does_not_own_what_came_between(cluster: Cluster) -> None:
    cluster.create(ARGOCD, config_map(POOL="10", LEVEL="info"))
    cluster.patch(BOB, config_map(), {"data": {"POOL": "50"}})
    cluster.update(ALICE, config_map(POOL="50", LEVEL="debug"))
    write = told([*cluster.events[:-2], cluster.events[-1]])[-1]
    assert (write.actor.name, write.outcome, write.fields_known) == (ALICE, "changed", False)
    assert write.fields == ()


def test_a_put_after_a_missing_write_to_the_spec_is_a_change_without_fields(cluster: Cluster) -> None:
    for generation, (user, replicas) in enumerate([(BOB, 5), (ALICE, 6)], start=2):
        stored = cluster.get(deployment())
        stored["metadata"]["generation"] = generation - 1
        wanted = deployment(replicas=replicas)
        cluster.update(user, wanted)
        cluster.get(deployment())["metadata"]["generation"] = generation
        cluster._amend(cluster.events[-1], cluster.get(deployment()))
    first = cluster._amend(cluster.events[-1], cluster.get(deployment()))
    made = orjson.loads(cluster.events[0].response or b"{}")
    made["metadata"]["generation"] = 1
    write = told([replace(cluster.events[0], response=orjson.dumps(made)), first])[-1]
    assert (write.actor.name, write.outcome) == (ALICE, "changed")
    assert all(field.before.state == "unknown" for field in write.fields)


def test_dry_runs_and_refused_requests_change_nothing(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 7}}, dry_run=True)
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 8}}, code=403, reason="Forbidden")
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 4}})
    made = told(cluster.events)[1:]
    assert [write.outcome for write in made] == ["dry-run", "refused", "changed"]
    assert fields(made[2]) == {"spec.replicas": (3, 4)}
    assert made[1].asked[0].after.value == 8


def test_a_no_op_is_kept_and_is_no_change(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 3}})
    assert last(cluster).outcome == "no-op"
    assert last(cluster).fields == ()


def test_ownership_handed_over_is_bookkeeping(cluster: Cluster) -> None:
    request = [
        {"op": "replace", "path": "/metadata/managedFields", "value": []},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": "101"},
    ]
    cluster.patch(ARGOCD, deployment(), request, "json-patch", moves=True)
    assert last(cluster).outcome == "bookkeeping"


def test_a_pipeline_that_removes_the_tracking_id_gets_a_line_and_no_field() -> None:
    cluster = Cluster()
    body = deployment()
    body["metadata"]["annotations"] = {"argocd.argoproj.io/tracking-id": "shop-prod:apps/Deployment:shop-prod/web"}
    cluster.create(ARGOCD, body)
    removal = {"metadata": {"annotations": {"argocd.argoproj.io/tracking-id": None}}, "spec": {"replicas": 2}}
    cluster.patch(PIPELINE, deployment(), removal, moves=True)
    write = last(cluster)
    assert fields(write) == {"spec.replicas": (3, 2)}
    assert write.notes == ("removed argocd.argoproj.io/tracking-id",)
    assert dict(write.marks)["argocd.argoproj.io/tracking-id"].startswith("shop-prod:")


def test_a_persons_status_patch_is_an_access_and_a_controllers_is_nothing(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), {"status": {"abort": True}}, subresource="status", moves=True)
    cluster.patch(HPA, deployment(), {"status": {"replicas": 3}}, subresource="status", moves=True)
    assert [write.outcome for write in told(cluster.events)[1:]] == ["access"]


def test_exec_is_an_access_told_once_for_its_stages(cluster: Cluster) -> None:
    opened = cluster.patch(
        ALICE, deployment(), {}, verb="create", subresource="exec", stage="ResponseStarted", code=101
    )
    closed = replace(opened, id="closed", stage="ResponseComplete")
    made = told([*cluster.events, closed])[1:]
    assert [(write.outcome, write.subresource) for write in made] == [("access", "exec")]


def test_a_read_in_anothers_name_is_an_access(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), None, verb="get", impersonated_user="oncall-breakglass")
    assert last(cluster).outcome == "access"


def test_a_delete_and_a_create_are_whole_objects(cluster: Cluster) -> None:
    cluster.delete(ALICE, deployment())
    cluster.create(ALICE, deployment(replicas=9))
    gone, back = told(cluster.events)[1:]
    assert (gone.operation, gone.outcome, gone.fields) == ("delete", "changed", ())
    assert (back.operation, back.outcome, back.fields) == ("create", "changed", ())


def test_an_apply_that_creates_is_a_create() -> None:
    cluster = Cluster()
    cluster.create(ALICE, config_map(), verb="patch", field_manager="kubectl", force=True)
    write = last(cluster)
    assert (write.operation, write.persisted, write.channel) == ("create", "proven", "kubectl apply")


def test_a_delete_under_a_finalizer_is_one_delete(cluster: Cluster) -> None:
    held = orjson.loads(orjson.dumps(cluster.get(deployment())))
    held["metadata"] |= {
        "deletionTimestamp": "2026-11-30T09:02:00Z",
        "deletionGracePeriodSeconds": 0,
        "finalizers": ["acme.example/hold"],
        "resourceVersion": "150",
    }
    event = cluster.delete(ALICE, deployment())
    released = orjson.loads(orjson.dumps(held))
    released["metadata"] |= {"finalizers": [], "resourceVersion": "151"}
    freed = replace(
        event,
        id="freed",
        verb="patch",
        user="system:serviceaccount:acme:holder",
        at=event.at + timedelta(seconds=5),
        request=b'{"metadata":{"finalizers":null}}',
        response=orjson.dumps(released),
    )
    events = [*cluster.events[:-1], replace(event, response=orjson.dumps(held)), freed]
    [history] = histories(objects_in(events, identify, channel), (), identify, channel)
    assert [write.operation for write in history.writes] == ["create", "delete", "update"]
    assert history.writes[1].persisted == "proven"
    assert history.live.body is None


def test_what_the_garbage_collector_lets_go_is_gone_though_it_is_answered_with_metadata(cluster: Cluster) -> None:
    held = orjson.loads(orjson.dumps(cluster.get(deployment())))
    deleting = {"deletionTimestamp": "2026-11-30T09:02:00Z", "deletionGracePeriodSeconds": 0}
    held["metadata"] |= deleting | {"finalizers": ["foregroundDeletion"], "resourceVersion": "150"}
    bare = {name: value for name, value in held["metadata"].items() if name != "finalizers"}
    released = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": bare}
    event = replace(cluster.delete(ARGOCD, deployment()), response=orjson.dumps(held))
    freed = replace(
        event,
        id="freed",
        verb="patch",
        user="system:serviceaccount:kube-system:generic-garbage-collector",
        at=event.at + timedelta(seconds=1),
        request=b'{"metadata":{"resourceVersion":"150","finalizers":null}}',
        response=orjson.dumps(released),
    )
    [history] = histories(objects_in([*cluster.events[:-1], event, freed], identify, channel), (), identify, channel)
    assert [write.operation for write in history.writes][:2] == ["create", "delete"]
    assert history.live.body is None


def test_a_deletecollection_is_a_delete_of_each_object_that_its_answer_names(cluster: Cluster) -> None:
    cluster.create(ARGOCD, deployment("api"))
    items = [orjson.loads(orjson.dumps(body)) for body in cluster.objects.values()]
    event = cluster.delete(ALICE, deployment())
    answer = orjson.dumps({"kind": "DeploymentList", "apiVersion": "apps/v1", "metadata": {}, "items": items})
    events = [*cluster.events[:-1], replace(event, verb="deletecollection", name="", response=answer)]
    made = [write for write in told(events) if write.operation == "delete"]
    assert sorted(write.object.name for write in made) == ["api", "web"]
    assert {write.persisted for write in made} == {"proven"}
    assert len({write.id for write in made}) == 2


def test_a_deletecollection_that_names_nothing_stays_unproven(cluster: Cluster) -> None:
    event = cluster.delete(ALICE, deployment())
    write = told([replace(event, verb="deletecollection", name="", response=None)])[-1]
    assert (write.operation, write.persisted, write.object.name) == ("delete", "unproven", "")


def test_metadata_answers_say_nothing_of_the_spec(cluster: Cluster) -> None:
    event = cluster.patch(ALICE, deployment(), container(image="app:2"))
    metadata = {"name": "web", "namespace": "shop-prod", "resourceVersion": str(cluster.version)}
    answer = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
    events = [*cluster.events[:-1], replace(event, response=orjson.dumps(answer))]
    write = told(events)[-1]
    assert fields(write) == {IMAGE: ("registry.acme.example/app:1.0.0", "app:2")}
    assert write.persisted == "proven"


def test_a_truncated_event_has_no_fields(cluster: Cluster) -> None:
    event = cluster.patch(ALICE, deployment(), container(image="app:2"))
    write = told([*cluster.events[:-1], replace(event, truncated=True)])[-1]
    assert (write.fields_known, write.fields, write.persisted) == (False, (), "unproven")


def test_at_metadata_level_a_change_has_an_actor_and_no_fields(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), container(image="app:2"))
    write = told(without(cluster.events, "request", "response"))[-1]
    assert (write.outcome, write.fields, write.fields_known) == ("unproven", (), False)
    assert (write.actor.name, write.object.name) == (ALICE, "web")


def test_fifty_diffs_and_no_op_applies_at_metadata_level_give_no_counted_change(cluster: Cluster) -> None:
    for _ in range(50):
        cluster.patch(ALICE, deployment(), {"spec": {"replicas": 7}}, dry_run=True)
    for _ in range(20):
        cluster.patch(ALICE, deployment(), {})
    bare = [replace(event, dry_run=False, request_uri="") for event in without(cluster.events, "request", "response")]
    assert {write.persisted for write in told(bare) if write.actor.name == ALICE} == {"unproven"}


def test_what_google_delivers_is_unproven_until_a_later_body_shows_it(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 7}})
    bare = [replace(event, dialect="gke", request_uri="", level="", response=None) for event in cluster.events]
    assert told(bare)[-1].persisted == "unproven"
    shown = told(bare, cluster.snapshot(deployment()))[-1]
    assert (shown.outcome, shown.persisted) == ("changed", "proven")
    assert fields(shown) == {"spec.replicas": (3, 7)}


def test_a_later_body_shows_that_a_request_stored_nothing(cluster: Cluster) -> None:
    before = cluster.snapshot(deployment())
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 7}}, dry_run=True)
    bare = [
        replace(event, dialect="gke", request_uri="", level="", response=None, dry_run=False)
        for event in cluster.events
    ]
    later = replace(before, resource_version="200", at=cluster.events[-1].at + timedelta(minutes=1))
    assert told(bare, later)[-1].outcome == "no-op"


def test_what_the_next_write_put_back_is_not_shown_to_have_stored_nothing(cluster: Cluster) -> None:
    cluster.create(ARGOCD, config_map())
    cluster.patch(ALICE, config_map(), {"data": {"POOL": "50"}})
    cluster.patch(ARGOCD, config_map(), {"data": {"POOL": None}})
    truncated = replace(cluster.events[-2], request=None, response=None, truncated=True)
    write = told([*cluster.events[:-2], truncated, cluster.events[-1]])[-2]
    assert (write.actor.name, write.outcome) == (ALICE, "unproven")


def test_a_bare_delete_is_proven_by_the_create_after_it(cluster: Cluster) -> None:
    cluster.delete(ALICE, deployment())
    bare = without(cluster.events, "request", "response")
    assert told(bare)[-1].persisted == "unproven"
    cluster.create(ARGOCD, deployment())
    made = told(without(cluster.events, "request", "response"))
    assert [write.persisted for write in made if write.operation == "delete"] == ["proven"]


def test_without_responses_the_fields_are_the_same(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), container(image="app:2"), field_manager="kubectl-set")
    cluster.scale(ALICE, deployment(), 6)
    cluster.patch(ARGOCD, deployment(), container(image="registry.acme.example/app:1.0.0"))
    pool = container(env=[{"name": "POOL", "value": "50"}])
    cluster.patch(ALICE, deployment(), pool, field_manager="kubectl-edit")
    whole, stripped = told(cluster.events), told(without(cluster.events, "response"))
    assert [fields(write) for write in stripped] == [fields(write) for write in whole]
    assert [write.outcome for write in stripped] == [write.outcome for write in whole]


def test_a_value_that_a_request_removed_is_not_taken_from_an_older_last_applied() -> None:
    cluster = Cluster()
    body = deployment(paused=True)
    applied = orjson.dumps(body).decode()
    body["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": applied}
    cluster.create(ALICE, body)
    cluster.patch(ALICE, deployment(), {"spec": {"paused": None}}, "merge")
    cluster.patch(ALICE, deployment(), {"spec": {"paused": True}}, "merge")
    off, on = told(without(cluster.events, "response"))[1:]
    assert fields(off) == {"spec.paused": (True, ...)}
    assert fields(on) == {"spec.paused": (..., True)}


def test_the_first_record_of_an_object_has_its_values_before_from_last_applied() -> None:
    cluster = Cluster()
    body = deployment()
    applied = orjson.dumps(body).decode()
    body["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": applied}
    cluster.create(ARGOCD, body)
    cluster.patch(ALICE, deployment(), container(image="app:2", imagePullPolicy="Never"))
    write = told(cluster.events[1:])[-1]
    assert fields(write) == {
        IMAGE: ("registry.acme.example/app:1.0.0", "app:2"),
        "spec.template.spec.containers[name=app].imagePullPolicy": ("?", "Never"),
    }


def test_a_first_record_has_its_values_before_from_git_where_nothing_else_says(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 7}})
    write = writes(cluster.events[1:], (), identify, channel, lambda subject, at: deployment())[-1]
    assert fields(write) == {"spec.replicas": (3, 7)}


def test_a_snapshot_is_a_state_before(cluster: Cluster) -> None:
    seen = cluster.snapshot(deployment())
    cluster.patch(ALICE, deployment(), {"spec": {"paused": True, "replicas": 7}})
    assert fields(told(cluster.events[1:], seen)[-1]) == {"spec.paused": (..., True), "spec.replicas": (3, 7)}


def test_a_put_against_an_unknown_state_names_no_fields(cluster: Cluster) -> None:
    cluster.update(ALICE, deployment(replicas=5))
    write = told(cluster.events[1:])[-1]
    assert (write.outcome, write.fields_known, write.fields) == ("changed", False, ())


def test_a_put_leaves_a_default_to_the_server() -> None:
    cluster = Cluster()
    cluster.create(ARGOCD, deployment(revisionHistoryLimit=10))
    cluster.update(ALICE, deployment(replicas=5))
    write = told(without(cluster.events, "response"))[-1]
    assert fields(write) == {"spec.replicas": (3, 5)}


def test_the_order_of_delivery_and_doubled_records_change_nothing(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), container(image="app:2"))
    cluster.scale(BOB, deployment(), 6)
    cluster.patch(ARGOCD, deployment(), {"spec": {"replicas": 3}})
    cluster.create(ALICE, config_map(a="1"))
    cluster.delete(ALICE, config_map())
    expected = told(cluster.events)
    for seed in range(10):
        shuffled = cluster.events * 2
        random.Random(seed).shuffle(shuffled)
        assert told(shuffled) == expected


def test_two_servers_whose_clocks_disagree_tell_one_story(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 4}})
    cluster.patch(BOB, deployment(), {"spec": {"replicas": 5}})
    cluster.patch(ARGOCD, deployment(), {"spec": {"replicas": 3}})
    late = timedelta(minutes=2, seconds=30)
    skewed = [replace(event, at=event.at + late * (place % 2)) for place, event in enumerate(cluster.events)]
    [history] = histories(objects_in(skewed, identify, channel), (), identify, channel)
    assert [fields(write).get("spec.replicas") for write in history.writes[1:]] == [(3, 4), (4, 5), (5, 3)]
    assert [write.position for write in history.writes] == [0, 1, 2, 3]


def test_a_forged_audit_id_hides_nothing(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 4}})
    cluster.patch(BOB, deployment(), {"spec": {"replicas": 5}})
    forged = [replace(event, audit_id="one-and-the-same") for event in cluster.events]
    assert [fields(write) for write in told(forged)] == [fields(write) for write in told(cluster.events)]


def test_objects_of_two_clusters_do_not_mix(cluster: Cluster) -> None:
    other = Cluster("staging")
    other.create(ARGOCD, deployment(replicas=1))
    other.scale(ALICE, deployment(), 2)
    cluster.scale(BOB, deployment(), 6)
    events = [*cluster.events, *(replace(event, id=f"other-{event.id}") for event in other.events)]
    made = {write.object.cluster: write for write in told(events) if write.subresource == "scale"}
    assert fields(made["prod"]) == {"spec.replicas": (3, 6)}
    assert fields(made["staging"]) == {"spec.replicas": (1, 2)}


def test_a_custom_kind_has_atomic_lists_and_the_name_that_bodies_give_it() -> None:
    cluster = Cluster()
    widget = {
        "apiVersion": "acme.example/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "namespace": "shop-prod"},
        "spec": {"parts": [{"name": "a", "size": 1}]},
    }
    cluster.create(ARGOCD, widget)
    cluster.patch(ALICE, widget, {"spec": {"parts": [{"name": "a", "size": 2}]}}, "merge")
    write = last(cluster)
    assert write.object.kind == "Widget"
    assert fields(write) == {"spec.parts": ([{"name": "a", "size": 1}], [{"name": "a", "size": 2}])}


def test_bodies_that_are_no_objects_are_no_bodies(cluster: Cluster) -> None:
    event = cluster.patch(ALICE, deployment(), {"spec": {"replicas": 4}})
    for body in (b'"text"', b"[]", b"null", b'{"REDACTED":"x"}', b'{"metadata":{"resourceVersion":7}}'):
        write = told([*cluster.events[:-1], replace(event, request=body, response=body)])[-1]
        assert write.fields == ()


def test_a_field_that_a_manager_no_longer_applies_is_removed_by_it() -> None:
    cluster = Cluster()
    cluster.create(ARGOCD, deployment(paused=True))
    stored = cluster.get(deployment())
    owned = {"f:spec": {"f:paused": {}, "f:replicas": {}}}
    applied = {"manager": "kubectl", "operation": "Apply", "apiVersion": "apps/v1", "fieldsV1": owned}
    stored["metadata"]["managedFields"] = [applied | {"time": "2026-11-30T09:01:00Z", "fieldsType": "FieldsV1"}]
    cluster.events[-1] = replace(cluster.events[-1], response=orjson.dumps(stored))
    request = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop-prod"},
        "spec": {"replicas": 4},
    }
    uri = "/apis/apps/v1/namespaces/shop-prod/deployments/web?fieldManager=kubectl&force=true"
    cluster.patch(ALICE, deployment(), request, "apply", field_manager="kubectl", force=True, request_uri=uri)
    write = last(cluster)
    assert fields(write) == {"spec.paused": (True, ...), "spec.replicas": (3, 4)}
    assert (write.patch_type, write.channel) == ("apply", "kubectl apply")


def test_a_request_on_an_object_whose_create_is_missing_does_not_take_its_values_for_new(cluster: Cluster) -> None:
    cluster.delete(BOB, deployment())
    missing = cluster.create(ARGOCD, deployment())
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 5}})
    write = told([event for event in cluster.events if event is not missing])[-1]
    assert fields(write) == {"spec.replicas": ("?", 5)}


def test_a_no_op_that_says_only_its_version_leaves_what_is_known(cluster: Cluster) -> None:
    event = cluster.patch(ALICE, deployment(), {"spec": {"replicas": 3}})
    metadata = {"name": "web", "namespace": "shop-prod", "resourceVersion": str(cluster.version)}
    answer = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
    cluster.events[-1] = replace(event, request=None, response=orjson.dumps(answer))
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 5}})
    quiet, write = told(cluster.events)[1:]
    assert quiet.outcome == "no-op"
    assert fields(write) == {"spec.replicas": (3, 5)}


def test_orders_to_argo_cd_are_no_changes_of_the_application() -> None:
    cluster = Cluster()
    app = application("shop-prod", "apps/shop")
    cluster.create(ALICE, app)
    cluster.patch(ALICE, app, {"operation": {"sync": {"revision": "main"}}}, "merge", moves=True)
    refresh = {"metadata": {"annotations": {"argocd.argoproj.io/refresh": "hard"}}}
    cluster.patch(ALICE, app, refresh, "merge", moves=True)
    cluster.patch(ALICE, app, {"spec": {"syncPolicy": {"automated": {"enabled": False}}}}, "merge")
    assert [write.outcome for write in told(cluster.events)] == ["changed", "bookkeeping", "bookkeeping", "changed"]
    assert fields(last(cluster)) == {"spec.syncPolicy.automated.enabled": (..., False)}


def test_the_first_record_of_an_object_has_its_marks_from_the_answer() -> None:
    cluster = Cluster()
    body = deployment()
    body["metadata"]["annotations"] = {"argocd.argoproj.io/tracking-id": "shop-prod:apps/Deployment:shop-prod/web"}
    cluster.create(ARGOCD, body)
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 5}})
    [write] = told(cluster.events[1:])
    assert dict(write.marks)["argocd.argoproj.io/tracking-id"].startswith("shop-prod:")
    claimed = {"metadata": {"annotations": {"argocd.argoproj.io/tracking-id": "other:apps/Deployment:shop-prod/web"}}}
    cluster.patch(ALICE, deployment(), claimed, moves=True)
    assert told(cluster.events[2:])[0].marks == ()


def test_the_last_finalizer_goes_with_its_own_write_though_no_new_version_is_stored(cluster: Cluster) -> None:
    held = orjson.loads(orjson.dumps(cluster.get(deployment())))
    deleting = {"deletionTimestamp": "2026-11-30T09:02:00Z", "deletionGracePeriodSeconds": 0, "resourceVersion": "150"}
    held["metadata"] |= deleting | {"finalizers": ["orphan"]}
    released = orjson.loads(orjson.dumps(held))
    del released["metadata"]["finalizers"]
    event = replace(cluster.delete(ALICE, deployment()), response=orjson.dumps(held))
    freed = replace(
        event,
        id="freed",
        verb="patch",
        at=event.at + timedelta(seconds=5),
        request=b'{"metadata":{"finalizers":null}}',
        response=orjson.dumps(released),
    )
    create, delete, update = told([*cluster.events[:-1], freed, event])
    assert (create.operation, delete.operation, update.outcome) == ("create", "delete", "changed")
    assert fields(update) == {"metadata.finalizers": (["orphan"], ...)}


def test_a_second_delete_of_what_may_wait_for_its_finalizers_is_not_proven(cluster: Cluster) -> None:
    first = cluster.delete(ALICE, deployment())
    again = replace(first, id="again", audit_id="again", at=first.at + timedelta(seconds=5))
    _, one, two = told(without([*cluster.events, again], "response"))
    assert (one.outcome, two.outcome) == ("changed", "unproven")


def test_a_list_item_that_its_manager_gives_up_goes_with_what_the_server_filled_in() -> None:
    cluster = Cluster()
    cluster.create(ARGOCD, deployment())
    stored = cluster.get(deployment())
    [container] = stored["spec"]["template"]["spec"]["containers"]
    container["ports"] = [{"containerPort": 80, "protocol": "TCP"}]
    item = {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}}
    owned = {"f:template": {"f:spec": {"f:containers": {'k:{"name":"app"}': {".": {}, "f:ports": item}}}}}
    entry = {"manager": "kubectl", "operation": "Apply", "apiVersion": "apps/v1", "fieldsV1": {"f:spec": owned}}
    stored["metadata"]["managedFields"] = [entry | {"time": "2026-11-30T09:01:00Z", "fieldsType": "FieldsV1"}]
    cluster.events[-1] = replace(cluster.events[-1], response=orjson.dumps(stored))
    request = deployment() | {"spec": {"template": {"spec": {"containers": [{"name": "app"}]}}}}
    cluster.patch(ALICE, deployment(), request, "apply", field_manager="kubectl", force=True)
    place = "spec.template.spec.containers[name=app].ports[containerPort=80]"
    assert fields(last(cluster)) == {f"{place}.protocol": ("TCP", ...)}


MANY = deployment() | {
    "spec": {"template": {"spec": {"containers": [{"name": "app"}, {"name": "side", "image": "s"}]}}}
}


def test_a_patch_that_may_merge_or_replace_lists_says_only_what_holds_for_both() -> None:
    cluster = Cluster()
    cluster.create(ALICE, MANY)
    cluster.patch(ALICE, MANY, container(image="app:2"), "merge", field_manager="kubectl-patch")
    side = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "t"}]}}}}
    cluster.patch(ALICE, MANY, side, field_manager="kubectl-set")
    _, _, later = told(without(cluster.events, "response"))
    assert fields(later) == {"spec.template.spec.containers[name=side].image": ("?", "t")}


HOOKED = {
    "patch.webhook.admission.k8s.io/round_0_index_0": orjson.dumps(
        {
            "configuration": "hook",
            "webhook": "hook.acme.example",
            "patch": [{"op": "replace", "path": f"{CONTAINERS}/image", "value": "mirror/app:1"}],
            "patchType": "JSONPatch",
        }
    ).decode()
}


def test_what_a_webhook_puts_back_is_no_change_though_no_answer_is_recorded() -> None:
    cluster = Cluster()
    stored = deployment()
    stored["spec"]["template"]["spec"]["containers"][0]["image"] = "mirror/app:1"
    cluster.create(ALICE, deployment(), annotations=HOOKED)
    cluster.patch(
        ALICE, deployment(), container(image="app:2"), field_manager="kubectl-set", annotations=HOOKED, stored=stored
    )
    _, write = told(without(cluster.events, "response"))
    assert (write.outcome, write.fields) == ("no-op", ())


def test_what_a_webhook_sets_is_not_taken_from_last_applied(cluster: Cluster) -> None:
    before = cluster.get(deployment())
    applied = orjson.dumps(deployment()).decode()
    before["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": applied}
    request = container(image="app:2")
    cluster.patch(ALICE, deployment(), request, field_manager="kubectl-set", annotations=HOOKED)
    assert fields(told(cluster.events[1:])[0]) == {IMAGE: ("?", "app:2")}


def test_an_apply_that_may_have_removed_something_is_no_proven_no_op() -> None:
    cluster = Cluster()
    settings = config_map(TIMEOUT="30", SIZE="1")
    manager: dict[str, Any] = {"field_manager": "kustomize-controller", "force": True}
    cluster.create(ALICE, settings, verb="patch", **manager)
    cluster.patch(ALICE, settings, settings, "apply", **manager)
    cluster.patch(ALICE, settings, config_map(TIMEOUT="30"), "apply", **manager)
    _, same, less = told(without(cluster.events, "response"))
    assert (same.outcome, less.outcome) == ("no-op", "unproven")


def test_admission_gives_new_objects_what_their_manifest_does_not_tell() -> None:
    cluster = Cluster()
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}}
    cluster.create(ALICE, node, resource="nodes", api_group="", namespace="")
    taints = {"spec": {"taints": [{"key": "mine", "effect": "NoSchedule"}]}}
    cluster.patch(ALICE, node, taints, field_manager="kubectl-taint", resource="nodes", api_group="", namespace="")
    _, write = told(without(cluster.events, "response"))
    assert fields(write) == {"spec.taints": ("?", [{"key": "mine", "effect": "NoSchedule"}])}


def test_a_position_in_a_list_that_is_not_known_names_the_list_and_no_value(cluster: Cluster) -> None:
    request = [
        {"op": "replace", "path": f"{CONTAINERS}/image", "value": "app:2"},
        {"op": "add", "path": f"{CONTAINERS}/args/0", "value": "--debug"},
    ]
    [container_] = cluster.get(deployment())["spec"]["template"]["spec"]["containers"]
    container_["args"] = ["--serve"]
    cluster.patch(ALICE, deployment(), request, "json-patch")
    [write] = told(without(cluster.events[1:], "response"))
    place = "spec.template.spec.containers[0]"
    assert fields(write) == {f"{place}.image": ("?", "app:2"), f"{place}.args": ("?", "?")}


def test_of_a_replaced_map_the_fields_count_and_no_bookkeeping(cluster: Cluster) -> None:
    undo = {"deployment.kubernetes.io/revision": "2", "acme.example/team": "shop"}
    request = [{"op": "replace", "path": "/metadata/annotations", "value": undo}]
    cluster.patch(ALICE, deployment(), request, "json-patch", field_manager="")
    [write] = told(without(cluster.events[1:], "response"))
    assert fields(write) == {'metadata.annotations["acme.example/team"]': ("?", "shop")}


def test_an_item_put_behind_the_last_of_a_list_was_not_there_before(cluster: Cluster) -> None:
    request = [{"op": "add", "path": f"{CONTAINERS}/env/-", "value": {"name": "TRACE", "value": "on"}}]
    [container_] = cluster.get(deployment())["spec"]["template"]["spec"]["containers"]
    container_["env"] = [{"name": "MODE", "value": "web"}]
    cluster.patch(ALICE, deployment(), request, "json-patch")
    [write] = told(cluster.events[1:])
    place = "spec.template.spec.containers[name=app].env[name=TRACE].value"
    assert fields(write) == {place: (..., "on")}


def test_what_becomes_of_a_removed_default_is_unknown_where_not_all_is_known(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": None}}, field_manager="kubectl-edit")
    [write] = told(without(cluster.events[1:], "response"))
    assert fields(write) == {"spec.replicas": ("?", "?")}


def test_an_emptied_list_is_a_change(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), {"metadata": {"finalizers": []}}, field_manager="kubectl-patch")
    [write] = told(without(cluster.events[1:], "response"))
    assert fields(write) == {"metadata.finalizers": ("?", [])}


def test_each_version_of_autoscaling_drops_what_it_does_not_know() -> None:
    cluster = Cluster()
    hpa = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop-prod"},
        "spec": {"maxReplicas": 5},
    }
    place = {"resource": "horizontalpodautoscalers", "api_group": "autoscaling", "field_manager": "kubectl-edit"}
    cluster.create(ALICE, hpa, **place)
    cpu = {"spec": {"metrics": None, "targetCPUUtilizationPercentage": 45}}
    cluster.patch(ALICE, hpa, cpu, **place, api_version="v1")
    cluster.patch(ALICE, hpa, {"spec": {"targetCPUUtilizationPercentage": 60}}, **place, api_version="v2", stored={})
    _, old, new = told(without(cluster.events, "response"))
    target = {"type": "Utilization", "averageUtilization": 45}
    [(_, after)] = fields(old).values()
    assert after == [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    assert new.fields == ()


def test_a_custom_kind_is_known_by_its_definition() -> None:
    cluster = Cluster()
    names = {"plural": "gears", "kind": "Gear"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gears.acme.example"},
        "spec": {"group": "acme.example", "names": names},
    }
    place = {"resource": "customresourcedefinitions", "api_group": "apiextensions.k8s.io", "namespace": ""}
    cluster.create(ALICE, definition, **place)
    gear = {"apiVersion": "acme.example/v1", "kind": "Gear", "metadata": {"name": "one", "namespace": "shop-prod"}}
    made = cluster.create(ALICE, gear, resource="gears", api_group="acme.example")
    [bare] = without([made], "request", "response")
    assert {write.object.kind for write in told([cluster.events[0], bare])} == {"CustomResourceDefinition", "Gear"}
