"""Every file of the corpus, against its independent ground truth."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from auditor.config import ClusterConfig
from tests.collectors.kube_audit.reading import collected

CORPUS = Path(__file__).parents[4] / "shared" / "corpus" / "audit"
EXPECTED: dict[str, Any] = json.loads((CORPUS / "expected.json").read_text()) if CORPUS.exists() else {}


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


@pytest.mark.skipif(not EXPECTED, reason="the corpus is not beside this checkout")
@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_of_the_corpus_is_counted_as_its_ground_truth_says(name: str) -> None:
    expected = EXPECTED[name]
    mark = collected(CORPUS, clusters=[ClusterConfig("c", audit=(name,))]).mark()
    assert {
        "events": mark.events,
        "undecodable": mark.undecodable,
        "successful_writes": mark.successful_writes,
        "by_user": mark.writers,
        "dry_run": mark.dry_runs,
        "failed": mark.failed_writes,
        "levels": mark.levels,
        "first": mark.first_at,
        "last": mark.last_at,
    } == {
        key: expected[key]
        for key in ("events", "undecodable", "successful_writes", "by_user", "dry_run", "failed", "levels")
    } | {
        "first": _time(expected["first"]),
        "last": _time(expected["last"]),
    }
    assert mark.complete
    assert sum(mark.account.values()) == mark.bytes
