"""Facts go in once and come back as they were, whatever happens between."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.errors import StoreError, StoreLockedError
from auditor.model import facts
from auditor.model.facts import (
    Announcement,
    ApplicationSnapshot,
    ArgoEvent,
    ArgoSettings,
    AuditEvent,
    Batch,
    Commit,
    GitRef,
    ObjectSnapshot,
    Origin,
    PathChange,
    Skipped,
    SourceMark,
)
from auditor.store import Store, open_store
from auditor.store.rows import TABLES, codec, time_text
from tests.factories import replace

AT = datetime(2026, 11, 30, 7, 0, 34, 395277, tzinfo=UTC)
ORIGIN = Origin("audit/audit.log", 10, 20, "ab" * 32)
MARK = SourceMark("audit", "acme", "audit/audit.log", "", "jsonl", events=3, first_at=AT, writers={"alice": 2})


def event(number: int = 0, **fields: Any) -> AuditEvent:
    known: dict[str, Any] = {
        "id": f"{number:064x}", "cluster": "acme", "audit_id": f"a{number}", "stage": "ResponseComplete",
        "level": "RequestResponse", "verb": "patch", "at": AT + timedelta(seconds=number), "stage_at": None,
        "user": "alice@acme.example", "groups": ("acme:sre",), "extra": {"arn": ("x", "y")}, "impersonated_user": "",
        "impersonated_groups": (), "source_ips": ("10.0.0.1",), "user_agent": "kubectl/v1.32.4",
        "request_uri": "/apis/apps/v1/namespaces/shop/deployments/web", "api_group": "apps", "api_version": "v1",
        "resource": "deployments", "subresource": "", "namespace": "shop", "name": "web", "uid": "",
        "object_version": "", "code": 200, "reason": "", "dry_run": False, "field_manager": "kubectl-edit",
        "force": False, "request": b'{"spec":{"replicas":3}}', "response": None, "annotations": {"k": "v"},
        "truncated": False, "dialect": "audit", "stream": "", "origin": ORIGIN,
    }  # fmt: skip
    return AuditEvent(**(known | fields))


def commit(sha: str = "c1", at: datetime = AT) -> Commit:
    change = PathChange("a.yaml", "100644", "100644", "b1", "b2", "")
    return Commit(
        "https://git/deploy", sha, ("p1",), "t1", "Erin", "e@x", at, "GitHub", "g@x", at, "subject", "", "N", (change,)
    )


OTHERS = (
    ApplicationSnapshot("main", "Application", "argocd", "shop", "12", AT, b"{}", ORIGIN),
    ArgoSettings("main", "AppProject", "argocd", "default", "3", b"{}", ORIGIN),
    ArgoEvent("main", AT, 1.0, "server", "shop", "carol", "ResourceUpdated", "said", {"k": "v"}, "log", ORIGIN),
    commit(),
    GitRef("https://git/deploy", "main", "branch", "c1", ""),
    Announcement(AT, "dave", "d@x", "auto-sync is off", "inc-1", ORIGIN),
    ObjectSnapshot("acme", "apps", "v1", "Deployment", "shop", "web", "u", "7", None, b"{}", ORIGIN),
    Skipped("audit", "acme", "audit/audit.log", 5, 9, "a cut line"),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store("sqlite:///auditor.db", folder=tmp_path) as opened:
        yield opened


def read_all(store: Store) -> list[Any]:
    readers = (
        store.audit_events, store.application_snapshots, store.settings, store.argo_events, store.commits, store.refs,
        store.announcements, store.object_snapshots, store.skipped,
    )  # fmt: skip
    return [fact for reader in readers for fact in reader()]


def test_every_kind_of_fact_comes_back_as_it_was(store: Store) -> None:
    written = (event(), *OTHERS)
    store.write(Batch(written, MARK))
    assert read_all(store) == list(written)
    assert store.marks() == (MARK,)


def test_a_batch_that_is_there_changes_nothing(store: Store) -> None:
    batch = Batch((event(), *OTHERS), MARK)
    first = store.write(batch)
    generation = store.generation()
    again = store.write(batch)
    assert (first.facts, first.moved) == (9, True)
    assert (again.facts, again.moved) == (0, False)
    assert store.generation() == generation
    assert len(read_all(store)) == 9


def test_an_event_is_kept_as_its_richest_delivery_told_it(store: Store) -> None:
    whole = event(request=b'{"a":1}', response=b'{"b":2}')
    poor = replace(whole, request=None, response=None, truncated=True, origin=replace(ORIGIN, source="webhook.json"))
    asked, answered = replace(poor, request=whole.request), replace(poor, response=whole.response)
    tellings = ((poor, poor), (asked, asked), (answered, asked), (whole, whole), (answered, whole), (poor, whole))
    for told, kept in tellings:
        store.write(Batch((told,), MARK))
        assert store.audit_event(whole.id) == kept


def test_the_same_statement_found_in_another_file_is_one_fact(store: Store) -> None:
    said = OTHERS[5]
    assert isinstance(said, Announcement)
    elsewhere = replace(said, origin=replace(ORIGIN, source="copy.json"))
    store.write(Batch((said,), MARK))
    store.write(Batch((elsewhere,), MARK))
    assert list(store.announcements()) == [said]


def test_events_come_by_time_and_then_by_id(store: Store) -> None:
    late, early, same = event(3), event(1), event(2, at=AT + timedelta(seconds=3))
    store.write(Batch((late, early, same), MARK))
    assert [one.id for one in store.audit_events()] == [early.id, same.id, late.id]


def test_events_can_be_asked_for_by_time_and_cluster(store: Store) -> None:
    store.write(Batch(tuple(event(number, cluster=f"c{number % 2}") for number in range(6)), MARK))
    since, until = AT + timedelta(seconds=1), AT + timedelta(seconds=4)
    assert [one.audit_id for one in store.audit_events(since, until)] == ["a1", "a2", "a3"]
    assert [one.audit_id for one in store.audit_events(since, until, clusters=("c0",))] == ["a2"]


def test_an_event_is_found_by_its_id(store: Store) -> None:
    store.write(Batch((event(7),), MARK))
    assert store.audit_event(event(7).id) == event(7)
    assert store.audit_event("nothing") is None


def test_a_new_reading_replaces_the_refs_of_its_repository_alone(store: Store) -> None:
    other = GitRef("https://git/other", "main", "branch", "x", "")
    gone, moved = (GitRef("https://git/deploy", name, "branch", "c1", "") for name in ("gone", "main"))
    store.write(Batch((gone, moved), MARK))
    store.write(Batch((other,), MARK))
    store.write(Batch((replace(moved, sha="c2"),), MARK))
    assert list(store.refs()) == [replace(moved, sha="c2"), other]


def test_a_mark_that_moves_makes_results_out_of_date(store: Store) -> None:
    store.write(Batch((), MARK))
    before = store.generation()
    store.write(Batch((), replace(MARK, reads=5)))
    assert store.generation() > before
    assert store.marks("audit", "acme") == (replace(MARK, reads=5),)
    assert store.marks("git") == ()


@given(st.text(), st.text(), st.binary())
def test_any_text_and_body_survives(name: str, user_agent: str, body: bytes) -> None:
    form = codec(AuditEvent)
    fact = event(name=name, user_agent=user_agent, request=body)
    assert form.from_row(form.to_row(fact)) == fact


def test_text_that_no_database_takes_is_stored_visibly(store: Store) -> None:
    store.write(Batch((event(name="a\0b"),), MARK))
    assert [one.name for one in store.audit_events()] == ["a␀b"]


@given(st.datetimes(timezones=st.just(UTC)).filter(lambda at: 1 < at.year < 9999))
def test_times_sort_as_text_and_come_back(at: datetime) -> None:
    assert datetime.fromisoformat(time_text(at)) == at
    assert time_text(at) < time_text(at + timedelta(microseconds=1))


def test_the_columns_are_the_fields_of_the_facts() -> None:
    from auditor.store import tables

    for kind, table in TABLES.items():
        declared = tables.SQLModel.metadata.tables[table]
        assert tuple(declared.columns.keys()) == codec(kind).columns
    assert set(TABLES) == {*facts.Fact.__args__, SourceMark}  # type: ignore[attr-defined]


def test_a_new_store_is_its_owners_alone(store: Store, tmp_path: Path) -> None:
    store.write(Batch((event(),), MARK))
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_store_of_a_newer_program_is_refused(store: Store, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "auditor.db") as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
    connection.close()
    with pytest.raises(StoreError, match="newer auditor"):
        open_store("sqlite:///auditor.db", folder=tmp_path)


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "auditor.db") as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        open_store("sqlite:///auditor.db", folder=tmp_path)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "auditor.db").write_text("not a database, whatever its name says" * 50)
    with pytest.raises(StoreError, match="not an auditor store"):
        open_store("sqlite:///auditor.db", folder=tmp_path)


def _written_over(folder: Path, column: str, value: object) -> None:
    with sqlite3.connect(folder / "auditor.db") as database:
        database.execute(f"UPDATE audit_event SET {column} = ?", (value,))


def test_a_body_that_the_disk_changed_is_told_and_never_another_body(store: Store, tmp_path: Path) -> None:
    body = b'{"spec":{"replicas":3,"note":"zq8x 4711 hk2w"}}'
    store.write(Batch((event(request=body),), MARK))
    with sqlite3.connect(tmp_path / "auditor.db") as database:
        (kept,) = database.execute("SELECT request FROM audit_event").fetchone()
    for place in range(len(kept)):
        changed = bytes((*kept[:place], kept[place] ^ 1, *kept[place + 1 :]))
        _written_over(tmp_path, "request", changed)
        with suppress(StoreError):
            assert [one.request for one in store.audit_events()] == [body]


@pytest.mark.parametrize(
    ("column", "value"), [("at", "2026-1\x11-30T07:00:00Z"), ("at", 7), ("groups", '["a"'), ("user", b"\xff\xfe")]
)
def test_a_row_that_the_disk_changed_is_told(store: Store, tmp_path: Path, column: str, value: object) -> None:
    store.write(Batch((event(),), MARK))
    _written_over(tmp_path, column, value)
    if isinstance(value, bytes):  # as text that is none
        with sqlite3.connect(tmp_path / "auditor.db") as database:
            database.execute(f"UPDATE audit_event SET {column} = CAST({column} AS TEXT)")
    with pytest.raises(StoreError, match="is damaged"):
        list(store.audit_events())


def test_a_store_that_is_not_there_is_not_made_by_a_question(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store"):
        open_store("sqlite:///auditor.db", create=False, folder=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("url", ["mysql://root:secret@host/db", "auditor.db", "sqlite://"])
def test_an_address_that_is_none_is_refused_without_its_password(url: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        open_store(url, folder=tmp_path)
    assert "secret" not in caught.value.message


def test_one_run_at_a_time(store: Store, tmp_path: Path) -> None:
    with store.exclusive(), open_store("sqlite:///auditor.db", folder=tmp_path) as second:
        with pytest.raises(StoreLockedError), second.exclusive():
            pass
        assert list(second.audit_events()) == []
    with store.exclusive():
        pass


def test_a_full_disk_is_told_and_loses_nothing(store: Store, tmp_path: Path) -> None:
    store.write(Batch((event(1),), MARK))
    pages = store._database.one("PRAGMA page_count")
    assert pages is not None
    store._database.execute(f"PRAGMA max_page_count = {pages[0] + 4}")
    many = tuple(event(number, request=os.urandom(4000)) for number in range(100, 200))
    with pytest.raises(StoreError, match="disk is full"):
        store.write(Batch(many, replace(MARK, events=99)))
    assert [one.audit_id for one in store.audit_events()] == ["a1"]
    assert store.marks() == (MARK,)
    with open_store("sqlite:///auditor.db", folder=tmp_path) as again:
        assert again.write(Batch(many, replace(MARK, events=99))).facts == 100


_WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_store import MARK, Batch, event, open_store
store = open_store("sqlite:///auditor.db", folder=Path(sys.argv[1]))
for number in range(1000):
    batch = tuple(event(number * 50 + one) for one in range(50))
    store.write(Batch(batch, replace(MARK, events=(number + 1) * 50)))
    print(number, flush=True)
"""


def test_a_killed_run_leaves_facts_and_mark_in_step(tmp_path: Path) -> None:
    here = str(Path(__file__).parent)
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path), here], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    for _ in range(3):
        writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    with open_store("sqlite:///auditor.db", folder=tmp_path) as opened, opened.exclusive():
        [mark] = opened.marks()
        assert mark.events >= 150
        assert sum(1 for _ in opened.audit_events()) == mark.events


def test_a_person_may_ask_and_not_change(store: Store) -> None:
    store.write(Batch((event(),), MARK))
    columns, rows = store.ask("SELECT user, count(*) AS events FROM audit_event GROUP BY user")
    assert (columns, list(rows)) == (("user", "events"), [("alice@acme.example", 1)])
    with pytest.raises(StoreError):
        store.ask("DELETE FROM audit_event")
