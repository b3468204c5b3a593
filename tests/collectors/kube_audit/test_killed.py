"""A run that is killed at any moment leaves a store that the next run brings to the same end."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.collectors.kube_audit.deliveries import WRAPPINGS, event_lines, story

KILLS = int(os.environ.get("AUDITOR_TEST_KILLS", "4"))
"""The default is what a build can afford."""

RUN = """
import sys
from pathlib import Path
from auditor.collectors.kube_audit import collecting, scan, window
from auditor.collectors import Reading
from auditor.config import ClusterConfig, Config
from auditor.objects.redaction import Redactor
from auditor.progress import SILENT
from auditor.store import open_store

collecting.BATCH, scan.BLOCK, window.BLOCK = 8 << 10, 2 << 10, 2 << 10
folder = Path(sys.argv[1])
config = Config(folder, clusters=(ClusterConfig("prod", audit=("audit/",)),))
with open_store("sqlite:///" + str(folder / "auditor.db")) as store:
    print("open", flush=True)
    reading = Reading(config, Redactor(b"k" * 32), store.marks, folder, SILENT)
    for batch in collecting.collect(reading):
        store.write(batch)
"""


def content(database: Path) -> list[list[tuple[Any, ...]]]:
    tables = ("audit_event", "skipped", "source_mark")
    with sqlite3.connect(database) as connection:
        found = [sorted(connection.execute(f"SELECT * FROM {table}")) for table in tables]
    connection.close()
    return found


def run(folder: Path, kill_after: float | None = None) -> bool:
    """Whether it came to its end."""
    with subprocess.Popen([sys.executable, "-c", RUN, str(folder)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        if kill_after is not None:
            time.sleep(kill_after)
            process.send_signal(signal.SIGKILL)
        return process.wait() == 0


def audit_folder(folder: Path) -> Path:
    audit = folder / "audit"
    audit.mkdir(parents=True)
    lines = event_lines(story())
    for number, name in enumerate(("json lines", "a pretty array", "AKS storage", "CRI", "gzip")):
        (audit / f"{number}").write_bytes(WRAPPINGS[name](lines))
    (audit / "noise").write_bytes(b"\n".join([b"noise", *lines, b"more noise", lines[0][:200]]))
    return folder


def test_killed_at_random_moments_a_run_ends_in_the_same_database(tmp_path: Path) -> None:
    whole = audit_folder(tmp_path / "whole")
    begun = time.perf_counter()
    assert run(whole)
    took = time.perf_counter() - begun
    expected = content(whole / "auditor.db")
    rng = random.Random(11)
    killed = audit_folder(tmp_path / "killed")
    done = 0
    while done < KILLS:
        for leftover in killed.glob("auditor.db*"):
            leftover.unlink()
        while not run(killed, rng.uniform(0, took / 3)):
            done += 1
        run(killed)
        assert content(killed / "auditor.db") == expected
