"""The acts again, with a server that runs now: what the program tells of them, and what the cluster shows of them."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.live.reconstruction_acts import ACTS
from tests.live.reconstruction_place import kubectl_program
from tests.live.reconstruction_record import record
from tests.live.servers import can_build
from tests.recordings.comparison import (
    Lines,
    after_creates,
    complaints,
    exactly,
    nothing_wrong,
    told,
    without_bodies,
    without_creates,
    without_responses,
)

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not can_build(), reason="no Go to build an API server with"),
    pytest.mark.skipif(kubectl_program() is None or shutil.which("openssl") is None, reason="no kubectl or openssl"),
]

Recording = tuple[Lines, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return record(Path(tmp_path_factory.mktemp("cluster")), ACTS)


def test_every_act_is_told_as_the_cluster_shows_it(
    recording: Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, entries = recording
    assert len(entries) == len(ACTS)
    assert complaints(told(tmp_path, lines, capsys), entries, exactly) == []


@pytest.mark.parametrize("lose", [without_responses, without_bodies, without_creates])
def test_fewer_records_say_less_and_nothing_wrong(
    recording: Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str], lose: Any
) -> None:
    lines, entries = recording
    expected = after_creates(entries) if lose is without_creates else entries
    assert complaints(told(tmp_path, lose(lines), capsys), expected, nothing_wrong) == []
