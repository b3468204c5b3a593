from auditor.correlate.actors import identify
from auditor.correlate.changes import changes, relevant
from auditor.correlate.channels import channel
from auditor.model.change import Write
from auditor.model.resource import ObjectId
from tests.factories import SHOP, field, thing, write
from tests.scenario import ALICE, ARGOCD, HPA, Cluster, config_map, deployment


def nobody(of: Write) -> tuple[tuple[()], str]:
    return (), "status.resources"


def managed_by_nobody(subject: ObjectId) -> bool:
    return False


def test_only_writes_that_stored_something_or_may_have_are_changes() -> None:
    made = [write(outcome, 1, outcome=outcome) for outcome in ("changed", "unproven", "no-op", "refused", "access")]
    assert [change.id for change in changes(made, nobody)] == ["changed", "unproven"]


def test_a_change_names_its_command_and_its_owners() -> None:
    made = [write("w0", 0, field()), write("w1", 0.001, object=thing("api"))]
    placed = changes(made, lambda of: ((SHOP,), "tracking-id") if of.id == "w0" else ((), "tracking-id"))
    assert [change.command for change in placed] == ["w0", "w0"]
    assert (placed[0].application, placed[0].owner_known_by) == (SHOP, "tracking-id")
    assert (placed[1].application, placed[1].owners, placed[1].owner_known_by) == (None, (), "")


def test_objects_that_only_controllers_write_are_left_out() -> None:
    cluster = Cluster()
    cluster.create(HPA, deployment("busy"))
    cluster.create(ARGOCD, deployment())
    cluster.scale(HPA, deployment(), 5)
    cluster.create(HPA, deployment("touched"))
    cluster.scale(ALICE, deployment("touched"), 2)
    kept = list(relevant(lambda: cluster.events, identify, channel, managed_by_nobody))
    assert [event.name for event in kept] == ["web", "web", "touched", "touched"]


def test_managed_objects_are_kept_whoever_writes_them() -> None:
    cluster = Cluster()
    cluster.create(HPA, config_map("watched"))
    cluster.create(HPA, config_map("other"))
    kept = relevant(lambda: cluster.events, identify, channel, lambda subject: subject.name == "watched")
    assert [event.name for event in kept] == ["watched"]
