"""Makes the dictionaries that the store compresses with (`auditor/store/*.zdict`), from the recorded incidents.

`make dictionaries` runs it. A store can be read only with the dictionaries that it was written with: whoever makes new
ones raises `SCHEMA_VERSION`.
"""

import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import zstandard
from typer.testing import CliRunner

from auditor.cli import app
from auditor.store import Store, open_store
from auditor.store.compression import BODIES, RESULTS, Compression

ROOT = Path(__file__).parent.parent
SIZES = {BODIES: 32 << 10, RESULTS: 16 << 10}
"""Bytes. Two and four times as much gain nothing on recordings that they were not made from."""


def recordings(folder: Path) -> Iterator[Path]:
    """Folders with a configuration and its records."""
    yield Path(shutil.copytree(ROOT / "data" / "incident", folder / "incident"))
    for packed in sorted((ROOT / "tests" / "recordings" / "days").glob("*.tar.xz")):
        day = folder / packed.name.removesuffix(".tar.xz")
        with tarfile.open(packed) as archive:
            archive.extractall(day, filter="data")
        yield day


def opened(recording: Path) -> Store:
    """The store of a recording, read and correlated."""
    with chdir(recording):  # reports are written where one stands
        ran = CliRunner().invoke(app(), ["run"])
    if ran.exception and not isinstance(ran.exception, SystemExit):
        sys.exit(f"{recording.name} was not read:\n{ran.output}")
    return open_store("sqlite:///auditor.db", folder=recording, create=False)


def bodies(store: Store) -> Iterator[bytes]:
    """All bodies as they are stored: secrets are redacted."""
    for event in store.audit_events():
        yield from filter(None, (event.request, event.response))
    for kept in (store.application_snapshots(), store.settings(), store.object_snapshots()):
        yield from (fact.body for fact in kept)


def results(store: Store) -> Iterator[bytes]:
    """All that was concluded."""
    for table in ("change", "finding", "episode", "drift", "staging_pair"):
        _, rows = store.ask(f"SELECT data FROM {table}")  # noqa: S608
        yield from (RESULTS.unpack(frame) for (frame,) in rows)


def write(kind: Compression, samples: list[bytes]) -> None:
    """A dictionary, into the program."""
    made = zstandard.train_dictionary(SIZES[kind], samples, level=3)
    kind.dictionary.write_bytes(made.as_bytes())
    size = sum(map(len, samples))
    sys.stdout.write(f"{kind.dictionary.name}: {len(samples):,} samples, {size:,} bytes; {made.dict_id()}\n")


def main() -> None:
    """Write both anew."""
    os.environ["PATH"] = f"{ROOT / '.tools' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    samples: dict[Compression, list[bytes]] = {BODIES: [], RESULTS: []}
    with tempfile.TemporaryDirectory() as folder:
        for recording in recordings(Path(folder)):
            with opened(recording) as store:
                samples[BODIES] += bodies(store)
                samples[RESULTS] += results(store)
    for kind, said in samples.items():
        write(kind, said)


if __name__ == "__main__":
    main()
