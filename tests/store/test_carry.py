"""What is known of a source follows it to a new name, and what is read again is said again."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from auditor.model.facts import AuditEvent, Batch, Origin, Skipped, SourceMark
from auditor.store import open_store

AT = datetime(2026, 11, 30, 7, tzinfo=UTC)
MARK = SourceMark("audit", "prod", "audit.log", "", "jsonl", events=3)
EVENT = AuditEvent(
    *("e1", "prod", "a", "ResponseComplete", "Metadata", "patch", AT, None, "dave", (), {}, "", (), (), "", "", "apps"),
    *("v1", "deployments", "", "shop", "web", "", "", 200, "", False, "", False, None, None, {}, False, "audit", ""),
    Origin("audit.log", 10, 20, "00"),
)


def place(offset: int, source: str = "audit.log") -> Skipped:
    return Skipped("audit", "prod", source, offset, 5, "not JSON")


def test_a_renamed_source_takes_its_mark_its_places_and_its_evidence_along(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/auditor.db") as store:
        store.write(Batch((EVENT, place(30)), MARK))
        moved = replace(MARK, source="audit.log.1", events=4)
        store.write(Batch((), moved, formerly="audit.log"))
        assert store.marks("audit") == (moved,)
        assert list(store.skipped()) == [place(30, "audit.log.1")]
        assert [event.origin.source for event in store.audit_events()] == ["audit.log.1"]


def test_places_from_where_a_source_is_read_again_are_withdrawn(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/auditor.db") as store:
        store.write(Batch((place(10), place(90), place(90, "other.log")), MARK))
        store.write(Batch((place(95),), replace(MARK, events=5), reread_from=90))
        assert [(each.source, each.offset) for each in store.skipped()] == [
            ("audit.log", 10),
            ("audit.log", 95),
            ("other.log", 90),
        ]
