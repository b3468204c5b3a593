"""The same comparison with a server that runs now, and other random patches than the recorded ones."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.live.cases import record
from tests.live.schema_table import TABLE, table
from tests.live.servers import Api, api_server, can_build
from tests.objects.test_patch_cases import applied, case_id, missed

pytestmark = [pytest.mark.live, pytest.mark.skipif(not can_build(), reason="no Go to build an API server with")]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with api_server(Path(tmp_path_factory.mktemp("servers"))) as running:
        yield running


def test_patches_give_what_a_running_api_server_gives(api: Api) -> None:
    wrong = {}
    count = 0
    for case in map(asdict, record(api, seed=2)):
        count += 1
        if differences := missed(case, applied(case).document):
            wrong[case_id(case)] = (case["request"], differences)
    assert wrong == {}
    assert count >= 300


def test_the_schema_table_is_that_of_the_sources() -> None:
    assert table() == TABLE.read_text()
