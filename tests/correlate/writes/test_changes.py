from auditor.correlate.writes.changes import changes
from auditor.model.change import Write
from tests.factories import SHOP, field, thing, write


def nobody(of: Write) -> tuple[tuple[()], str]:
    return (), "status.resources"


def test_only_writes_that_stored_something_or_may_have_are_changes() -> None:
    made = [write(outcome, 1, outcome=outcome) for outcome in ("changed", "unproven", "no-op", "refused", "access")]
    assert [change.id for change in changes(made, nobody)] == ["changed", "unproven"]


def test_a_change_names_its_command_and_its_owners() -> None:
    made = [write("w0", 0, field()), write("w1", 0.001, object=thing("api"))]
    placed = changes(made, lambda of: ((SHOP,), "tracking-id") if of.id == "w0" else ((), "tracking-id"))
    assert [change.command for change in placed] == ["w0", "w0"]
    assert (placed[0].application, placed[0].owner_known_by) == (SHOP, "tracking-id")
    assert (placed[1].application, placed[1].owners, placed[1].owner_known_by) == (None, (), "")
