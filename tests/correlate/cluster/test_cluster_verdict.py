import pytest

from auditor.correlate.cluster.verdict import judge_cluster
from auditor.correlate.writes.overlap import holds, same_place
from auditor.model.case import LiveState
from auditor.model.change import Actor, Change, FieldChange, SideEffect, Write
from auditor.model.resource import UNKNOWN, Json, Leaf, Path, leaf
from auditor.model.verdict import ClusterVerdict
from auditor.objects import paths
from tests.factories import actor, change, field, minute, thing, write

ARGO = actor("system:serviceaccount:argocd:argocd-application-controller", "gitops")
END = minute(60)


def nothing_in_git(path: Path) -> Leaf:
    return UNKNOWN


def later(ident: str, at: float, *fields: object, by: Actor | None = None, **given: object) -> Write:
    """A later write on the same object; its place among the object's writes is its minute."""
    who = by or actor("bob@acme.example")
    cause = "gitops" if who.kind == "gitops" else "out-of-band"
    return write(ident, at, *fields, actor=who, cause=cause, position=int(at), **given)  # type: ignore[arg-type]


def judged(
    of: Change, *others: Write, git: Leaf = UNKNOWN, live: LiveState | None = None, minutes: float = 60
) -> ClusterVerdict:
    whole, fields = judge_cluster(of, (of.write, *others), lambda path: git, minute(minutes), live)
    return fields[0] if fields else whole


@pytest.fixture
def raised() -> Change:
    """Replicas 3 to 6, by alice, at minute 1."""
    return change("c1", 1, field("spec.replicas", 3, 6), position=1)


def test_a_change_stands_where_no_later_write_left_another_value(raised: Change) -> None:
    assert judged(raised, later("w", 2, field("spec.paused", ..., True))).verdict == "standing"


def test_the_controller_giving_the_value_before_reverts_it(raised: Change) -> None:
    verdict = judged(raised, later("w", 2, field("spec.replicas", 6, 3), by=ARGO))
    assert (verdict.verdict, verdict.by, verdict.write) == ("reverted-by-gitops", ARGO.name, "w")


def test_the_controller_giving_gits_value_reverts_it_too(raised: Change) -> None:
    verdict = judged(raised, later("w", 2, field("spec.replicas", 6, 2), by=ARGO), git=leaf(2))
    assert verdict.verdict == "reverted-by-gitops"


def test_a_person_giving_the_value_before_reverts_it(raised: Change) -> None:
    assert judged(raised, later("w", 2, field("spec.replicas", 6, 3))).verdict == "reverted"


def test_a_third_value_overwrites_it_whoever_gave_it(raised: Change) -> None:
    assert judged(raised, later("w", 2, field("spec.replicas", 6, 9), by=ARGO)).verdict == "overwritten"
    assert judged(raised, later("w", 2, field("spec.replicas", 6, 9))).by == "bob@acme.example"


def test_nothing_after_the_first_other_value_alters_the_verdict(raised: Change) -> None:
    first, second = later("w2", 2, field("spec.replicas", 6, 3)), later("w3", 3, field("spec.replicas", 3, 6))
    assert judged(raised, second, first).verdict == "reverted"
    assert judged(raised, second, first, later("w4", 4, operation="delete")).write == "w2"


def test_a_delete_of_the_object_deletes_the_field(raised: Change) -> None:
    assert judged(raised, later("w", 2, operation="delete")).verdict == "deleted"


def test_what_came_after_the_moment_asked_for_does_not_count(raised: Change) -> None:
    undone = later("w", 30, field("spec.replicas", 6, 3))
    assert judged(raised, undone, minutes=20).verdict == "standing"
    assert judged(raised, undone, minutes=40).verdict == "reverted"


def test_requests_that_stored_nothing_alter_nothing(raised: Change) -> None:
    for outcome in ("no-op", "dry-run", "refused", "bookkeeping", "access"):
        other = later("w", 2, field("spec.replicas", 6, 3), outcome=outcome)
        assert judged(raised, other).verdict == "standing"


def test_an_unproven_write_of_another_value_leaves_a_doubt(raised: Change) -> None:
    other = later("w", 2, field("spec.replicas", 6, 3), outcome="unproven", persisted="unproven")
    assert judged(raised, other).verdict == "unknown"


def test_a_write_that_was_stored_decides_behind_any_number_of_unproven_ones(raised: Change) -> None:
    unproven = [
        later(f"w{at}", at, field("spec.replicas", 6, at), outcome="unproven", persisted="unproven")
        for at in range(7, 20)
    ]
    verdict = judged(raised, *unproven, later("w", 30, field("spec.replicas", 6, 9)))
    assert (verdict.verdict, verdict.write) == ("overwritten", "w")
    assert judged(raised, *unproven, later("w", 30, operation="delete")).verdict == "deleted"
    assert judged(raised, *unproven).write == "w7"


def test_a_write_without_a_body_leaves_a_doubt_that_the_last_state_settles(raised: Change) -> None:
    other = later("w", 2, fields_known=False)
    assert judged(raised, other).verdict == "unknown"
    seen = LiveState(thing(), {"spec": {"replicas": 6}}, minute(3), complete=True)
    assert judged(raised, other, live=seen).verdict == "standing"
    moved = LiveState(thing(), {"spec": {"replicas": 8}}, minute(3), complete=True)
    assert judged(raised, other, live=moved).verdict == "unknown"


def test_a_value_that_no_record_explains_is_unknown(raised: Change) -> None:
    effect = SideEffect(paths.parse("spec.replicas"), leaf(6), leaf(8), "not recorded")
    verdict = judged(raised, later("w", 2, side_effects=(effect,)))
    assert (verdict.verdict, verdict.by) == ("unknown", None)


def test_an_unknown_value_before_is_no_revert() -> None:
    blind = change("c1", 1, FieldChange(paths.parse("spec.replicas"), UNKNOWN, leaf(6)), position=1)
    assert judged(blind, later("w", 2, field("spec.replicas", 6, 3))).verdict == "unknown"


def test_quantities_are_one_value_however_they_are_written() -> None:
    path = "spec.template.spec.containers[name=app].resources.limits.cpu"
    of = change("c1", 1, field(path, "500m", "1"), position=1)
    assert judged(of, later("w", 2, field(path, "1", "1000m"))).verdict == "standing"
    assert judged(of, later("w", 2, field(path, "1", "0.5"))).verdict == "reverted"


@pytest.mark.parametrize(
    ("path", "before", "after", "word"),
    [
        ("spec.template.spec.volumes", [{"name": "scratch", "emptyDir": {}}], ..., "reverted"),
        ("spec.template.spec.volumes[name=scratch].emptyDir.sizeLimit", ..., "1Gi", "overwritten"),
        ("spec.template.spec.volumes[name=other].emptyDir", ..., {}, "standing"),
    ],
)
def test_a_write_around_or_inside_the_field_counts(path: str, before: Json, after: Json, word: str) -> None:
    of = change("c1", 1, field("spec.template.spec.volumes[name=scratch].emptyDir", ..., {}), position=1)
    assert judged(of, later("w", 2, field(path, before, after))).verdict == word


def test_a_created_object_stands_until_it_goes(raised: Change) -> None:
    made = change("c1", 1, operation="create", position=1)
    patched = later("w", 2, field("spec.replicas", 3, 4))
    assert judged(made, patched).verdict == "standing"
    assert judged(made, patched, later("w3", 3, operation="delete")).verdict == "deleted"
    assert judged(made, later("w3", 3, operation="delete", by=ARGO)).verdict == "reverted-by-gitops"
    doubted = later("w3", 3, operation="delete", outcome="unproven", persisted="unproven")
    assert judged(made, doubted).verdict == "unknown"


def test_a_deletion_stands_until_somebody_makes_the_object_again() -> None:
    gone = change("c1", 1, operation="delete", position=1)
    assert judged(gone).verdict == "standing"
    assert judged(gone, later("w", 2, operation="create", by=ARGO)).verdict == "reverted-by-gitops"
    assert judged(gone, later("w", 2, operation="create")).verdict == "reverted"


def test_what_takes_the_finalizers_off_a_deleted_object_does_not_make_it_again() -> None:
    gone = change("c1", 1, operation="delete", position=1)
    collector = actor("system:serviceaccount:kube-system:generic-garbage-collector", "control-plane")
    freed = later("w", 2, field("metadata.finalizers", ["orphan"], ...), by=collector)
    assert judged(gone, freed).verdict == "standing"
    unseen = later("w", 2, by=collector, outcome="unproven", persisted="unproven", fields_known=False)
    again = later("w3", 3, operation="create", by=ARGO)
    assert [judged(gone, unseen).verdict, judged(gone, unseen, again).by] == ["standing", ARGO.name]
    assert judged(gone, later("w", 2, field("spec.replicas", 3, 6))).verdict == "unknown"


def test_objects_that_came_or_went_without_a_record_are_unknown() -> None:
    made = change("c1", 1, operation="create", position=1)
    assert judged(made, live=LiveState(thing(), None, minute(3), complete=True)).verdict == "unknown"
    gone = change("c2", 1, operation="delete", position=1)
    assert judged(gone, live=LiveState(thing(), {}, minute(3), complete=True)).verdict == "unknown"


def test_a_change_without_fields_is_unknown_and_says_why() -> None:
    bare = change("c1", 1, fields_known=False, position=1)
    verdict = judged(bare, later("w", 2, field("spec.replicas", 6, 3)))
    assert (verdict.verdict, bool(verdict.reason)) == ("unknown", True)
    assert judged(bare, later("w", 2, operation="delete")).verdict == "deleted"


def test_a_change_shows_its_worst_field() -> None:
    of = change("c1", 1, field("spec.replicas", 3, 6), field("spec.paused", ..., True), position=1)
    whole, fields = judge_cluster(of, [later("w", 2, field("spec.replicas", 6, 9))], nothing_in_git, END)
    assert [each.verdict for each in fields] == ["overwritten", "standing"]
    assert whole.verdict == "overwritten"


def test_the_reason_says_who_pressed_sync_and_by_is_the_controller(raised: Change) -> None:
    undone = later("w", 2, field("spec.replicas", 6, 3), by=ARGO)
    _, [verdict] = judge_cluster(raised, [undone], nothing_in_git, END, None, lambda write: "asked for by carol")
    assert (verdict.reason, verdict.by) == ("asked for by carol", ARGO.name)


def test_by_is_the_audit_user_where_the_name_was_joined(raised: Change) -> None:
    joined = actor("carol", account="system:serviceaccount:argocd:argocd-server")
    assert judged(raised, later("w", 2, field("spec.replicas", 6, 9), by=joined)).by == joined.account


def test_paths_meet_by_fewer_keys() -> None:
    short, full = paths.parse("spec.ports[port=53]"), paths.parse("spec.ports[port=53,protocol=UDP].targetPort")
    assert holds(short, full)
    assert not holds(full, short)
    assert same_place(short, full[:3])
    assert not holds(paths.parse("spec.ports[port=80]"), full)


def test_a_value_that_a_later_write_found_changed_does_not_stand(raised: Change) -> None:
    again = later("w", 3, field("spec.replicas", 3, 6))
    verdict = judged(raised, again)
    assert (verdict.verdict, verdict.by) == ("unknown", None)
    assert "by a write that the records do not hold" in verdict.reason
    unseen = later("w2", 2, fields_known=False)
    assert judged(raised, unseen, again).reason.startswith("bob@acme.example may have changed it")


def test_what_is_not_known_is_not_deleted_where_another_write_came_between() -> None:
    hidden = change("c1", 1, position=1)
    gone = later("w3", 3, operation="delete")
    assert judged(hidden, gone).verdict == "deleted"
    assert judged(hidden, later("w2", 2, fields_known=False), gone).verdict == "unknown"


def test_what_went_with_its_namespace_or_its_kind_does_not_stand(raised: Change) -> None:
    def swept(by: Write, *others: Write, live: LiveState | None = None) -> ClusterVerdict:
        git = nothing_in_git
        return judge_cluster(raised, (raised.write, *others), git, minute(60), live, sweeps=(by,))[1][0]

    namespace = later("w5", 5, operation="delete", object=thing("Namespace", "shop", group="", namespace=""))
    collection = later("w5", 5, operation="delete", outcome="unproven", object=thing(name=""))
    assert "deleted its namespace" in swept(namespace).reason
    assert "deleted objects of its kind" in swept(collection).reason
    assert swept(collection, later("w9", 9, field("spec.paused", ..., True))).verdict == "standing"
    assert swept(later("w0", 0, operation="delete")).verdict == "standing"
    seen = LiveState(thing(), {"spec": {"replicas": 6}}, minute(9), complete=True)
    assert swept(collection, live=seen).verdict == "standing"
