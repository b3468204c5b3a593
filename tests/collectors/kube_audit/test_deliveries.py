import json
import random
from pathlib import Path
from typing import Any

import pytest

from auditor.console.evidence import named, standings
from auditor.model.facts import AuditEvent
from tests.collectors.kube_audit.deliveries import WRAPPINGS, event_lines, story
from tests.collectors.kube_audit.reading import collected

STORY = event_lines(story())


def told(event: AuditEvent) -> tuple[Any, ...]:
    """All of an event but where it lay and how it came."""
    bodies = tuple(None if body is None else json.loads(body) for body in (event.request, event.response))
    return (
        event.id,
        event.at,
        event.stage_at,
        event.stage,
        event.level,
        event.verb,
        event.user,
        event.groups,
        event.impersonated_user,
        event.impersonated_groups,
        event.source_ips,
        event.user_agent,
        event.request_uri,
        event.api_group,
        event.api_version,
        event.resource,
        event.subresource,
        event.namespace,
        event.name,
        event.code,
        event.reason,
        event.dry_run,
        event.field_manager,
        event.force,
        dict(event.annotations),
        event.truncated,
        bodies,
    )


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, ...]]:
    folder = tmp_path_factory.mktemp("plain")
    (folder / "audit.log").write_bytes(WRAPPINGS["json lines"](STORY))
    shelf = collected(folder)
    assert (shelf.mark().events, shelf.mark().reads) == (60, 24)
    assert (shelf.mark().successful_writes, shelf.mark().dry_runs, shelf.mark().failed_writes) == (18, 6, 6)
    assert len(shelf.events) == 36
    return {key: told(event) for key, event in shelf.events.items()}


@pytest.mark.parametrize("name", WRAPPINGS)
def test_a_delivery_tells_the_same_events(name: str, plain: dict[str, tuple[Any, ...]], tmp_path: Path) -> None:
    (tmp_path / "export").write_bytes(WRAPPINGS[name](STORY))
    shelf = collected(tmp_path)
    assert {key: told(event) for key, event in shelf.events.items()} == plain
    mark = shelf.mark()
    assert (mark.events, mark.reads, mark.successful_writes, mark.dry_runs, mark.failed_writes) == (60, 24, 18, 6, 6)
    assert (mark.foreign, mark.undecodable, shelf.skipped) == (0, 0, set())
    assert sum(mark.account.values()) == mark.bytes


@pytest.mark.parametrize("name", sorted(set(WRAPPINGS) - {name for name in WRAPPINGS if "z" in name or "UTF" in name}))
def test_every_byte_of_a_delivery_is_accounted_for(name: str, tmp_path: Path) -> None:
    data = WRAPPINGS[name](STORY)
    (tmp_path / "export").write_bytes(data)
    mark = collected(tmp_path).mark()
    assert mark.bytes == len(data)
    assert mark.account["event"] + mark.account["read"] > 0


@pytest.mark.parametrize("name", WRAPPINGS)
def test_evidence_leads_back_to_the_bytes_of_the_record(name: str, tmp_path: Path) -> None:
    (tmp_path / "export").write_bytes(WRAPPINGS[name](STORY))
    origins = [event.origin for event in collected(tmp_path).events.values()]
    assert set(standings(tmp_path, origins, {"export": named(tmp_path, "export")}).values()) == {"unchanged"}


def test_events_doubled_reordered_and_spread_over_deliveries_are_the_same_events(
    plain: dict[str, tuple[Any, ...]], tmp_path: Path
) -> None:
    rng = random.Random(7)
    for number, name in enumerate(WRAPPINGS):
        lines = rng.sample(STORY, len(STORY)) if number % 2 else [*STORY[number:], *STORY[: number + 5]]
        (tmp_path / f"{number:02}").write_bytes(WRAPPINGS[name](lines))
    shelf = collected(tmp_path)
    assert {key: told(event) for key, event in shelf.events.items()} == plain


@pytest.mark.parametrize("name", WRAPPINGS)
def test_a_delivery_collected_twice_changes_nothing(name: str, tmp_path: Path) -> None:
    (tmp_path / "export").write_bytes(WRAPPINGS[name](STORY))
    shelf = collected(tmp_path)
    before = (dict(shelf.events), set(shelf.skipped), dict(shelf.marks))
    again = collected(tmp_path, shelf)
    assert (again.events, again.skipped, again.marks) == before
