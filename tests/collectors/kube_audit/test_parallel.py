"""Several processes at once find what one finds."""

import errno
import gzip
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from auditor.collectors import Reading
from auditor.collectors.kube_audit import collecting, parallel
from auditor.config import ClusterConfig, Config
from auditor.objects.redaction import Redactor
from auditor.progress import SILENT
from tests.collectors.kube_audit.deliveries import WRAPPINGS, event_lines, story
from tests.collectors.kube_audit.reading import Shelf, collected
from tests.collectors.kube_audit.test_incremental import whole

LINES = event_lines(story())


def read(
    folder: Path,
    executor: ProcessPoolExecutor | ThreadPoolExecutor | None,
    workers: int = 2,
    shelf: Shelf | None = None,
) -> Shelf:
    shelf = shelf or Shelf()
    config = Config(folder, clusters=(ClusterConfig("prod", audit=("audit",)),))
    reading = Reading(config, Redactor(b"k" * 32), shelf.known, folder, SILENT, workers=workers, executor=executor)
    for batch in collecting.collect(reading):
        shelf.write(batch)
    return shelf


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", [name for name in WRAPPINGS if name != "journald bytes"])
def test_parts_of_a_file_add_up_to_the_whole(
    name: str, packed: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "audit").write_bytes(packed(WRAPPINGS[name](LINES)))
    one = collected(tmp_path, clusters=[ClusterConfig("prod", audit=("audit",))])
    monkeypatch.setattr(parallel, "PART", 9_000)
    monkeypatch.setattr(parallel, "_WORTHWHILE", 10_000)
    with ThreadPoolExecutor(2) as threads:
        assert whole(read(tmp_path, threads)) == whole(one)


def test_noise_and_cut_lines_are_told_once_whatever_the_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noisy = [piece for line in LINES for piece in (b"E1130 klog noise", line, line[:50])]
    (tmp_path / "audit").write_bytes(b"\n".join(noisy))
    one = collected(tmp_path, clusters=[ClusterConfig("prod", audit=("audit",))])
    monkeypatch.setattr(parallel, "PART", 7_000)
    monkeypatch.setattr(parallel, "_WORTHWHILE", 10_000)
    with ThreadPoolExecutor(2) as threads:
        several = read(tmp_path, threads)
    assert set(several.events) == set(one.events)
    assert (several.mark().undecodable, several.mark().account) == (120, one.mark().account)


def test_processes_of_this_machine_scan_a_large_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "audit").write_bytes(b"".join(line + b"\n" for line in LINES * 20))
    one = collected(tmp_path, clusters=[ClusterConfig("prod", audit=("audit",))])
    monkeypatch.setattr(parallel, "PART", 400_000)
    monkeypatch.setattr(parallel, "_WORTHWHILE", 400_000)
    assert whole(read(tmp_path, None, workers=2)) == whole(one)


def test_a_line_cut_by_the_end_of_a_compressed_file_is_read_again_when_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "PART", 9_000)
    text = b"".join(line + b"\n" for line in LINES)
    (tmp_path / "audit").write_bytes(gzip.compress(text[:-200]))
    with ThreadPoolExecutor(2) as threads:
        shelf = read(tmp_path, threads)
        (tmp_path / "audit").write_bytes(gzip.compress(text))
        again = read(tmp_path, threads, shelf=shelf)
    assert whole(again) == whole(collected(tmp_path, clusters=[ClusterConfig("prod", audit=("audit",))]))


def test_many_small_sources_are_read_as_by_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "audit"
    folder.mkdir()
    for number, wrap in enumerate(WRAPPINGS.values()):
        (folder / f"{number:03}").write_bytes(wrap(LINES[number::20]))
    (folder / "cut.gz").write_bytes(gzip.compress(b"\n".join(LINES))[:-500])
    (folder / "half").write_bytes(b"\n".join(LINES)[:-99])
    one = collected(tmp_path, clusters=[ClusterConfig("prod", audit=("audit",))])
    monkeypatch.setattr(parallel, "_MUCH", 1)
    with ThreadPoolExecutor(2) as threads:
        several = read(tmp_path, threads)
    assert several.events == one.events
    assert several.marks == one.marks
    assert several.skipped == one.skipped


def test_a_machine_without_semaphores_reads_with_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(parallel, "ProcessPoolExecutor", refused)
    (tmp_path / "audit").write_bytes(b"".join(line + b"\n" for line in LINES))
    assert whole(read(tmp_path, None)) == whole(collected(tmp_path, clusters=[ClusterConfig("prod", audit=("audit",))]))


class Broken(ThreadPoolExecutor):
    """Takes `taken` jobs; from then on its workers are dead, or the system starts no further one."""

    def __init__(self, taken: int, error: Exception) -> None:
        super().__init__(2)
        self.left = taken
        self.error = error

    def submit(self, *job: Any, **named: Any) -> Future[Any]:
        self.left -= 1
        if self.left < 0:
            raise self.error
        return super().submit(*job, **named)


@pytest.mark.parametrize("taken", [0, 1, 4])
@pytest.mark.parametrize(
    "error", [BrokenProcessPool("a child terminated"), OSError(errno.EMFILE, "Too many open files")]
)
def test_what_a_killed_worker_leaves_this_process_reads_alone(
    error: Exception, taken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "large.log").write_bytes(b"".join(line + b"\n" for line in LINES))
    for number in range(8):
        (tmp_path / "audit" / f"small-{number}.log").write_bytes(LINES[number] + b"\n")
    one = collected(tmp_path, clusters=[ClusterConfig("prod", audit=("audit",))])
    monkeypatch.setattr(parallel, "PART", 9_000)
    for size in ("_WORTHWHILE", "_MUCH"):
        monkeypatch.setattr(parallel, size, 1_000)
    with Broken(taken, error) as broken:
        assert whole(read(tmp_path, broken)) == whole(one)
        assert broken.left < 0


def test_workers_end_with_the_process_that_started_them() -> None:
    script = (
        "import os, sys, time\n"
        "from auditor.collectors.kube_audit.parallel import processes\n"
        "if __name__ == '__main__':\n"
        "    with processes(1) as executor:\n"
        "        print(executor.submit(os.getpid).result(), flush=True)\n"
        "        time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
    for _ in range(100):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the worker goes on without its parent")
