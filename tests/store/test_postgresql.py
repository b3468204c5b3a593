"""The same store in PostgreSQL, where the machine has one to start."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from auditor.errors import StoreError, StoreLockedError
from auditor.model.facts import Batch
from auditor.store import Query, Store, open_store
from tests.factories import replace
from tests.store.test_pruning import LATER, NOTHING, full
from tests.store.test_results import REFUSED, STAMP, STORY, case, ids
from tests.store.test_store import MARK, OTHERS, event, read_all

PROGRAMS = ("initdb", "pg_ctl")


def as_its_user(*command: str) -> list[str]:
    """PostgreSQL refuses to run as root."""
    return ["runuser", "-u", "postgres", "--", *command] if os.geteuid() == 0 else list(command)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    found = {name: shutil.which(name) for name in PROGRAMS}
    if not all(found.values()):
        pytest.skip("this machine has no PostgreSQL server")
    folder = Path(tempfile.mkdtemp(prefix="auditor-postgresql-"))  # pytest's own folders are closed to other users
    folder.chmod(0o755)
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    data, options = folder / "data", f"-k {folder} -c listen_addresses="
    control = as_its_user(str(found["pg_ctl"]), "-D", str(data), "-w")
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    made = as_its_user(str(found["initdb"]), "-D", str(data), "-A", "trust", "-U", "postgres", "--locale=C.UTF-8")
    subprocess.run(made, **quiet)
    subprocess.run([*control, "-t", "120", "-o", options, "-l", str(folder / "log"), "start"], **quiet)
    yield f"postgresql://postgres@/postgres?host={folder}"
    subprocess.run([*control, "-m", "immediate", "-t", "120", "stop"], **quiet)
    shutil.rmtree(folder)


@pytest.fixture
def store(server: str) -> Iterator[Store]:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    with open_store(server) as opened:
        yield opened


def test_every_kind_of_fact_comes_back_as_it_was(store: Store) -> None:
    written = (event(), *OTHERS)
    store.write(Batch(written, MARK))
    assert read_all(store) == list(written)
    assert store.write(Batch(written, MARK)).facts == 0
    assert store.marks() == (MARK,)
    assert store.generation() == 1


def test_text_that_postgresql_does_not_take_is_stored_visibly(store: Store) -> None:
    store.write(Batch((event(name="a\0b%s"),), MARK))
    assert [one.name for one in store.audit_events()] == ["a␀b%s"]


def test_many_events_are_streamed_while_others_are_written(store: Store) -> None:
    store.write(Batch(tuple(event(number) for number in range(1200)), MARK))
    reader = store.audit_events()
    next(reader)
    store.write(Batch((event(5000),), replace(MARK, events=5000)))
    assert sum(1 for _ in reader) >= 1199


def test_results_are_found_by_what_a_person_asks_for(store: Store) -> None:
    whole = case(*STORY)
    store.results.save(replace(whole, writes=(*whole.writes, REFUSED)), STAMP)
    assert ids(store.results.changes(Query(applications=("pay-prod",)))) == ["b"]
    assert ids(store.results.changes(Query(attempts=True))) == ["f"]
    assert ids(iter(store.results.recorded("a"))) == ["a"]
    assert store.results.stamp() == STAMP


def test_one_run_at_a_time(store: Store, server: str) -> None:
    with store.exclusive(), open_store(server) as second, pytest.raises(StoreLockedError), second.exclusive():
        pass
    with open_store(server) as second, second.exclusive():
        pass


def test_a_failure_in_a_batch_leaves_nothing_of_it(store: Store) -> None:
    broken = replace(event(1), code="not a number")  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        store.write(Batch((event(0), broken), MARK))
    assert read_all(store) == []
    assert store.marks() == ()


def test_a_person_may_ask_and_not_change(store: Store) -> None:
    store.write(Batch((event(),), MARK))
    columns, rows = store.ask('SELECT "user" FROM audit_event WHERE "user" LIKE \'alice%\'')
    assert (columns, [tuple(row) for row in rows]) == (("user",), [("alice@acme.example",)])
    with pytest.raises(StoreError):
        store.ask("DELETE FROM audit_event")


def test_old_facts_go_and_last_states_stay(store: Store) -> None:
    store.write(Batch(tuple(full(number) for number in range(4)), MARK))
    store.write(Batch(OTHERS, MARK))
    dry = store.prune(LATER, NOTHING, dry_run=True)
    assert [(one.gone, one.stayed) for one in dry] == [(3, 1), (0, 1), (0, 1), (0, 0)]
    assert store.prune(LATER, NOTHING) == dry
    store.compact()
    assert store.size() > 0
    assert (len(list(store.audit_events())), store.pruned_before()) == (1, LATER)
