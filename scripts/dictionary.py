"""Makes the dictionary that bodies are compressed with (`auditor/store/bodies.zdict`), from the recorded incidents.

    python scripts/dictionary.py

A store can be read only with the dictionary that it was written with: whoever makes a new one raises `SCHEMA_VERSION`.
"""

import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import zstandard
from typer.testing import CliRunner

from auditor.cli import app
from auditor.store import open_store
from auditor.store.compression import DICTIONARY

ROOT = Path(__file__).parent.parent
SIZE = 32 << 10
"""Bytes. Two and four times as much were measured to gain nothing on recordings that it was not made from."""


def recordings(folder: Path) -> Iterator[Path]:
    """Folders with a configuration and its records."""
    yield Path(shutil.copytree(ROOT / "data" / "incident", folder / "incident"))
    for packed in sorted((ROOT / "tests" / "recordings" / "days").glob("*.tar.xz")):
        day = folder / packed.name.removesuffix(".tar.xz")
        with tarfile.open(packed) as archive:
            archive.extractall(day, filter="data")
        yield day


def bodies(recording: Path) -> Iterator[bytes]:
    """All bodies as they are stored: secrets are redacted."""
    collected = CliRunner().invoke(app(), ["collect", "--config", str(recording / "auditor.toml")])
    if collected.exit_code:
        sys.exit(f"{recording.name} was not collected:\n{collected.output}")
    store = open_store("sqlite:///auditor.db", folder=recording, create=False)
    for event in store.audit_events():
        yield from filter(None, (event.request, event.response))
    for kept in (store.application_snapshots(), store.settings(), store.object_snapshots()):
        yield from (fact.body for fact in kept)
    store.close()


def main() -> None:
    """Write the dictionary anew."""
    with tempfile.TemporaryDirectory() as folder:
        samples = [body for recording in recordings(Path(folder)) for body in bodies(recording)]
    made = zstandard.train_dictionary(SIZE, samples, level=3)
    DICTIONARY.write_bytes(made.as_bytes())
    print(f"{len(samples):,} bodies, {sum(map(len, samples)):,} bytes; dictionary {made.dict_id()}")


if __name__ == "__main__":
    main()
