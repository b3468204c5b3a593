"""How fast and in how much memory audit logs are read: `python -m tests.benchmarks.scan`.

Generates the files, runs all readers in turn (five rounds, each run in a process of its own, the file in the page
cache) and prints tables of medians. `--memory` reads one file of many gigabytes and prints the peak of the process
tree. What the readers do is in `contenders`; what came out on our machine, and why, in `docs/benchmarks.md`.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.contenders import CONTENDERS
from tests.benchmarks.generate import Shape, write_log

_ROOT = Path(__file__).parents[2]
_PLAIN = tuple(CONTENDERS)
_COMPRESSED = ("scan", "orjson", "duckdb", "duckdb inside", "jq")


@dataclass(frozen=True, slots=True)
class Bench:
    """One generated file and who reads it."""

    name: str
    title: str
    writes: float
    level: str
    gke: bool = False
    readers: tuple[str, ...] = _PLAIN


BENCHES = (
    Bench("5.log", "JSON lines, 5 % writes, RequestResponse", 0.05, "RequestResponse"),
    Bench("50.log", "JSON lines, 50 % writes, RequestResponse", 0.5, "RequestResponse"),
    Bench("5-metadata.log", "JSON lines, 5 % writes, Metadata", 0.05, "Metadata"),
    Bench("5.log.gz", "JSON lines, 5 % writes, gzip", 0.05, "RequestResponse", readers=_COMPRESSED),
    Bench("gke.log", "Cloud Logging export, 5 % writes", 0.05, "RequestResponse", gke=True, readers=_COMPRESSED),
)


@dataclass(frozen=True, slots=True)
class Run:
    """One run: seconds on the clock, processor seconds of the tree (imports too), rows, and its peak memory in MB."""

    seconds: float
    processor: float
    rows: int
    peak: float


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description="Measure how audit logs are read.")
    parser.add_argument("--size", type=int, default=500, help="megabytes of plain text of each file (500)")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved runs, of which the median counts (5)")
    parser.add_argument("--only", default="", help="only files whose name contains this")
    parser.add_argument("--readers", default="", help="only these readers, between semicolons")
    parser.add_argument("--folder", type=Path, help="where to keep the files for another run (a temporary folder)")
    parser.add_argument("--memory", type=int, default=0, help="instead: megabytes of one file, and its peak memory")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if chosen.memory:
            memory(folder, chosen.memory)
            return
        wanted = chosen.readers.split(";") if chosen.readers else CONTENDERS
        for bench in BENCHES:
            if chosen.only in bench.name:
                readers = [name for name in bench.readers if name in wanted and name in CONTENDERS]
                compare(bench, folder, chosen.size, chosen.rounds, readers)


def compare(bench: Bench, folder: Path, size: int, rounds: int, readers: Sequence[str]) -> None:
    path = folder / f"{size}-{bench.name}"
    print(f"\n### {bench.title}\n", flush=True)
    if not path.exists():
        part = path.with_name(f"part-{path.name}")
        split = write_log(part, Shape(size * 1_000_000, bench.writes, bench.level), gke=bench.gke)
        (folder / f"{path.name}.split").write_text(str(split))
        part.rename(path)
    print((folder / f"{path.name}.split").read_text() + f"; {path.stat().st_size:,} bytes on disk\n", flush=True)
    warm(path)
    runs: dict[str, list[Run]] = {name: [] for name in readers}
    for _ in range(rounds):
        for name, done in runs.items():
            done.append(run(name, path))
    print("\n".join(table(runs, size)), flush=True)


def table(runs: dict[str, list[Run]], size: int) -> Iterator[str]:
    """Markdown: medians, and how often faster (above 1) than DuckDB with as many threads, and than jq."""
    median = {name: statistics.median(each.seconds for each in done) for name, done in runs.items()}
    yield "| reader | median s | min–max s | CPU s | MB/s | × DuckDB | × jq | peak MB | rows |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, done in runs.items():
        seconds = sorted(each.seconds for each in done)
        own = ", 2 threads" if "2 " in name else ""
        rival = f"duckdb table{own}" if name.startswith("store") else f"duckdb{own}"
        ratios = [f"{median[other] / median[name]:.2f}" if other in median else "" for other in (rival, "jq")]
        processor = statistics.median(each.processor for each in done)
        span = f"{seconds[0]:.2f}–{seconds[-1]:.2f}"
        peak = max(each.peak for each in done)
        yield (
            f"| {name} | {median[name]:.2f} | {span} | {processor:.2f} | {size / median[name]:.0f} "
            f"| {ratios[0]} | {ratios[1]} | {peak:.0f} | {done[0].rows:,} |"
        )


def run(name: str, path: Path) -> Run:
    command = [sys.executable, "-m", "tests.benchmarks.contenders", name, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=_ROOT) as process:
        watch = PeakMemory(process.pid)
        assert process.stdout is not None
        answer = process.stdout.read()
        watch.stop()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    said = json.loads(answer)
    return Run(said["seconds"], used.ru_utime + used.ru_stime, said["rows"], watch.peak / 1e6)


def memory(folder: Path, size: int) -> None:
    """The peak of collecting into a store, by one process and by two workers."""
    path = folder / "memory.log"
    piece = folder / "memory-piece.log"
    print(write_log(piece, Shape(min(size, 500) * 1_000_000, 0.05)), flush=True)
    with path.open("wb") as out:
        for _ in range(max(size // 500, 1)):
            out.write(piece.read_bytes())
    for name in ("scan", "scan, 2 workers", "facts", "facts, 2 workers", "store"):
        done = run(name, path)
        print(f"{name}: {path.stat().st_size:,} bytes in {done.seconds:.1f} s, peak {done.peak:.0f} MB", flush=True)
    path.unlink()


class PeakMemory:
    """Samples the resident memory of a process and its descendants twenty times a second."""

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._pid = pid
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(0.05):
            self.peak = max(self.peak, sum(map(resident, tree(self._pid))))


def tree(pid: int) -> Iterator[int]:
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from tree(int(child))


def resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def warm(path: Path) -> None:
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


if __name__ == "__main__":
    main(sys.argv[1:])
