"""What a day of a cluster costs from its records to an answer: `python -m tests.benchmarks.correlation`.

Generates the day (`cluster_day`), then collects, runs, runs again, and runs with ten minutes more of audit log, each
through the command line in a process of its own. Then the changes in the store are multiplied to a million, and
questions are asked of them. What came out on our machine stands in `docs/benchmarks.md`.
"""

import argparse
import hashlib
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.benchmarks.cluster_day import ClusterDay, Shape
from tests.benchmarks.scan import PeakMemory

_ROOT = Path(__file__).parents[2]
QUESTIONS: tuple[tuple[str, ...], ...] = (
    ("changes",),
    ("changes", "--app", "app-003"),
    ("changes", "--actor", "alice@acme.example"),
    ("changes", "--git", "not-reflected", "--since", "7d"),
    ("changes", "--namespace", "app-003", "--kind", "deployment"),
    ("changes", "--cause", "all", "--kind", "configmap"),
    ("changes", "--cause", "controller"),
    ("changes", "--cause", "all", "--channel", "helm"),
    ("changes", "--cause", "gitops", "--since", "30d", "--until", "20d"),
    ("changes", "--attempts"),
    ("findings",),
    ("findings", "--app", "app-003"),
    ("episodes",),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one command: seconds, processor seconds, and the peak of the process tree in MB."""

    wall: float
    cpu: float
    peak: float


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description="Measure correlation and queries on a day of a cluster.")
    parser.add_argument("--applications", type=int, default=300, help="and all else in proportion (300)")
    parser.add_argument("--changes", type=int, default=1_000_000, help="changes in the store for the questions (10**6)")
    parser.add_argument("--folder", type=Path, help="where to keep the records and the store (a temporary folder)")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        written = generate(folder, chosen.applications)
        print(", ".join(f"{count:,} {name}" for name, count in written.items()), flush=True)
        print("\n".join(day(folder)), flush=True)
        print(f"\n{multiply(folder / 'auditor.db', chosen.changes):,} changes in the store\n")
        print("\n".join(answers(folder)), flush=True)


def generate(folder: Path, applications: int) -> dict[str, int]:
    """The records in an empty folder; what there is of them, by name."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    full = Shape()
    share = applications / full.applications
    made = ClusterDay(Shape(applications, int(full.events * share), changes=int(full.changes * share)), folder)
    made.write()
    return made.written


def day(folder: Path) -> Iterator[str]:
    """Markdown: what each command cost."""
    yield "| command | s | CPU s | peak MB | store MB |"
    yield "|---|---|---|---|---|"
    run = ("run", "--format", "json")
    for title, command in (("collect", ("collect",)), ("run", run), ("run, nothing new", run), ("run, 10 min", run)):
        if title == "run, 10 min":
            shutil.move(folder / "later/late.log", folder / "audit/late.log")
        cost = measured(folder, command)
        size = (folder / "auditor.db").stat().st_size / 1e6
        yield f"| {title} | {cost.wall:.1f} | {cost.cpu:.1f} | {cost.peak:.0f} | {size:,.0f} |"


def answers(folder: Path) -> Iterator[str]:
    """Markdown: the seconds of each question, the start of Python included; the median of five."""
    yield "| question | s |"
    yield "|---|---|"
    for question in QUESTIONS:
        command = (*question, "--limit", "100", "--format", "json", "--quiet")
        seconds = statistics.median(measured(folder, command).wall for _ in range(5))
        yield f"| `{' '.join(question)}` | {seconds:.2f} |"


def measured(folder: Path, command: Sequence[str]) -> Cost:
    """One command of the program in the folder."""
    before, began = os.times(), time.perf_counter()
    environment = os.environ | {"PYTHONPATH": str(_ROOT)}
    arguments = [sys.executable, "-m", "auditor", *command]
    with subprocess.Popen(arguments, cwd=folder, env=environment, stdout=subprocess.DEVNULL) as process:
        watch = PeakMemory(process.pid)
        process.wait()
        watch.stop()
    wall, after = time.perf_counter() - began, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(wall, cpu, watch.peak / 1e6)


def multiply(store: Path, wanted: int) -> int:
    """Copies of all changes under other ids, each time a day earlier, until there are so many; how many there are."""
    with closing(sqlite3.connect(store)) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(change)")]
        rows = connection.execute("SELECT * FROM change").fetchall()
        statement = f"INSERT INTO change VALUES ({', '.join('?' * len(columns))})"
        for days in range(1, wanted // len(rows) + 1):
            connection.executemany(statement, (_earlier(row, columns, days) for row in rows))
        connection.commit()
        return int(connection.execute("SELECT count(*) FROM change").fetchone()[0])


def _earlier(row: Sequence[Any], columns: Sequence[str], days: int) -> tuple[Any, ...]:
    named = dict(zip(columns, row, strict=True))
    at = datetime.fromisoformat(named["at"]) - timedelta(days=days)
    named["at"] = at.isoformat(timespec="microseconds").replace("+00:00", "Z")
    named["id"] = hashlib.sha256(f"{days} {named['id']}".encode()).hexdigest()
    return tuple(named.values())


if __name__ == "__main__":
    main(sys.argv[1:])
