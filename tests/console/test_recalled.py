"""A run that takes stories again from the run before says what a run says that tells them all."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from auditor.commands.collect import read_sources
from auditor.commands.demo import unpack
from auditor.console.computed import compute
from auditor.console.workspace import workspace

RESULTS = (("change", "id"), ("episode", "id"), ("finding", "id"), ("staging_pair", "position"), ("drift", "position"))
LATER = ("audit/audit-2026-11-30T07-08-17.850.log.gz", "audit/audit.log", "argocd/end", "argocd/argocd-server.log")
CONTROLLER = """
[[actor]]
ident = "our-pipeline"
kind = "ci"
user = "alice*"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The recorded incident, of which only the beginning is there yet."""
    made = tmp_path / "incident"
    unpack(made)
    for name in LATER:
        shutil.move(made / name, tmp_path / Path(name).name)
    return made


def run(folder: Path) -> None:
    """Collect what is new and correlate, as `auditor run` does."""
    place = workspace(folder / "auditor.toml", None)
    with place.store(create=True) as store, store.exclusive():
        read_sources(place, store, 1)
        compute(place, store)


def rows(store: Path, table: str, order: str) -> list[Any]:
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute(f"SELECT * FROM {table} ORDER BY {order}").fetchall()


def stories(folder: Path) -> dict[str, str]:
    """By object, the digest of what its story was told from."""
    return {row[0]: row[1] for row in rows(folder / "auditor.db", "told_object", "object")}


def assert_as_if_told_anew(folder: Path) -> None:
    """The results are those of the same facts in a store that holds no story."""
    here, there = folder / "auditor.db", folder / "anew.db"
    with closing(sqlite3.connect(here)) as source, closing(sqlite3.connect(there)) as copy:
        source.backup(copy)
        copy.execute("DELETE FROM told_object")
        copy.execute("DELETE FROM change")
        copy.commit()
    place = workspace(folder / "auditor.toml", "sqlite:///" + str(there))
    with place.store() as store, store.exclusive():
        compute(place, store)
    for table, order in RESULTS:
        assert rows(here, table, order) == rows(there, table, order), table


def arrives(folder: Path, name: str, content: bytes | None = None) -> None:
    """One of the sources that were not there yet, or a part of it."""
    source = folder.parent / Path(name).name
    if content is None:
        shutil.move(source, folder / name)
    else:
        (folder / name).write_bytes(content)


def test_each_part_of_a_log_that_arrives_gives_what_a_run_without_stories_gives(folder: Path) -> None:
    run(folder)
    assert_as_if_told_anew(folder)
    arrives(folder, LATER[0])
    for part in (1, 2, 3):
        lines = (folder.parent / "audit.log").read_bytes().splitlines(keepends=True)
        arrives(folder, LATER[1], b"".join(lines[: len(lines) * part // 3]))
        before = stories(folder)
        run(folder)
        assert before.items() & stories(folder).items(), "some stories had nothing new"
        assert_as_if_told_anew(folder)


def test_what_argocd_tells_later_counts_for_what_was_told_before(folder: Path) -> None:
    for name in LATER[:2]:
        arrives(folder, name)
    run(folder)
    for name in LATER[2:]:
        arrives(folder, name)
    run(folder)
    assert_as_if_told_anew(folder)


def test_a_rule_for_actors_that_is_new_counts_for_what_was_told_before(folder: Path) -> None:
    for name in LATER:
        arrives(folder, name)
    run(folder)
    before = rows(folder / "auditor.db", "change", "id")
    with (folder / "auditor.toml").open("a") as file:
        file.write(CONTROLLER)
    run(folder)
    assert rows(folder / "auditor.db", "change", "id") != before
    assert_as_if_told_anew(folder)


def test_a_source_that_was_renamed_is_named_anew(folder: Path) -> None:
    for name in LATER:
        arrives(folder, name)
    run(folder)
    shutil.move(folder / LATER[1], folder / "audit/audit-2026-11-30T07-16-00.000.log")
    (folder / LATER[1]).write_bytes(b"")
    run(folder)
    assert_as_if_told_anew(folder)
    assert not [row for row in rows(folder / "auditor.db", "audit_event", "id") if row[-4] == LATER[1]]


def without_bodies(line: bytes) -> bytes:
    """An event as a backend with a limit of size sends it."""
    event = json.loads(line)
    if event.pop("requestObject", None) or event.pop("responseObject", None):
        event.pop("responseObject", None)
        event.setdefault("annotations", {})["audit.k8s.io/truncated"] = "true"
    return json.dumps(event).encode() + b"\n"


def test_a_delivery_with_bodies_counts_for_what_was_told_from_one_without(folder: Path) -> None:
    for name in LATER:
        arrives(folder, name)
    log = folder / LATER[1]
    whole = log.read_bytes()
    log.write_bytes(b"".join(map(without_bodies, whole.splitlines())))
    run(folder)
    poor = rows(folder / "auditor.db", "change", "id")
    (folder / "audit/again.log").write_bytes(whole)
    run(folder)
    assert rows(folder / "auditor.db", "change", "id") != poor
    assert_as_if_told_anew(folder)


def test_stories_that_are_damaged_are_told_anew(folder: Path) -> None:
    run(folder)
    with closing(sqlite3.connect(folder / "auditor.db")) as connection:
        connection.execute("UPDATE told_object SET data = substr(data, 1, 40)")
        connection.execute("UPDATE told_object SET data = x'00' WHERE rowid % 2")
        connection.commit()
    arrives(folder, LATER[0])
    run(folder)
    assert_as_if_told_anew(folder)
