"""Nothing that must be kept is taken for a read, however it is written."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auditor.collectors.files.streams import decompressed
from auditor.collectors.kube_audit.prefilter import Reads, doubtful
from tests.collectors.kube_audit.deliveries import audit_event, event_lines
from tests.collectors.kube_audit.reading import collected

KEPT = [
    audit_event(1, "create"),
    audit_event(2, "update"),
    audit_event(3, "patch"),
    audit_event(4, "delete"),
    audit_event(5, "deletecollection", name=""),
    audit_event(6, "get", resource="pods", subresource="exec"),
    audit_event(7, "get", resource="pods", subresource="attach"),
    audit_event(8, "get", resource="pods", subresource="portforward"),
    audit_event(9, "list", impersonatedUser={"username": "bob", "groups": ["dev"]}),
    audit_event(10, "get", user={"username": "x", "extra": {"a": ["b"]}}, impersonatedUser={"username": "eve"}),
    audit_event(11, "patch", userAgent='a","verb":"get","user":{"username":"x'),
    audit_event(12, "patch", requestURI='/x","verb":"list","user":{"username":"y"},"sourceIPs":["'),
    audit_event(13, "create", requestObject={"spec": {"verb": "get"}, "kind": "SubjectAccessReview"}),
]
READS = [audit_event(100 + number, verb) for number, verb in enumerate(("get", "list", "watch"))]


def sifted(text: bytes) -> tuple[list[tuple[int, int]], Reads]:
    """The lines of a text that must be decoded, and all reads between them."""
    reads = Reads()
    return list(doubtful(text, 0, len(text), reads)), reads


def escaped(text: str, rng: random.Random) -> str:
    """Letters inside strings as \\u escapes, here and there: the same JSON."""
    return re.sub(
        r"(?<![\\\w])[a-zA-Z]", lambda found: f"\\u{ord(found[0]):04x}" if rng.random() < 0.2 else found[0], text
    )


def in_other_words(value: Any, rng: random.Random) -> str:
    """The same JSON value, its keys in any order, blanks anywhere, letters escaped."""
    blank = rng.choice(["", "", " ", "  ", "\t"])
    if isinstance(value, dict):
        items = list(value.items())
        if rng.random() < 0.5:
            rng.shuffle(items)
        pairs = (f"{string(key, rng)}{blank}:{blank}{in_other_words(inner, rng)}" for key, inner in items)
        return "{" + f"{blank},{blank}".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + f",{blank}".join(in_other_words(inner, rng) for inner in value) + blank + "]"
    return string(value, rng) if isinstance(value, str) else json.dumps(value)


def string(text: str, rng: random.Random) -> str:
    written = json.dumps(text, ensure_ascii=rng.random() < 0.5)
    return escaped(written, rng) if rng.random() < 0.3 else written


def wrapped(text: str, rng: random.Random) -> str:
    match rng.randrange(5):
        case 0:
            return json.dumps({"message": text})
        case 1:
            return json.dumps({"log": json.dumps(text)})
        case 2:
            return "2026-11-30T05:31:11.047Z " + text
        case _:
            return text


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_an_event_is_never_lost_to_the_filter(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    events = rng.sample(KEPT + READS, len(KEPT + READS))
    lines = [wrapped(in_other_words(event, rng), rng) for event in events]
    (tmp_path / "audit.log").write_text("\n".join(lines), encoding="utf-8")
    shelf = collected(tmp_path)
    assert {event.audit_id for event in shelf.events.values()} == {event["auditID"] for event in KEPT}
    assert (shelf.mark().events, shelf.mark().undecodable, shelf.mark().foreign) == (len(events), 0, 0)


@pytest.mark.parametrize("event", KEPT, ids=lambda event: event["verb"])
def test_what_the_api_server_writes_for_a_kept_event_is_doubtful(event: dict[str, Any]) -> None:
    text = event_lines([event])[0] + b"\n"
    found, reads = sifted(text)
    assert found[0] == (0, len(text))
    assert reads.count == 0


def test_what_the_api_server_writes_for_a_read_is_not_decoded() -> None:
    text = b"".join(line + b"\n" for line in event_lines(READS))
    found, reads = sifted(text)
    assert found == [(len(text), len(text))]
    assert (reads.count, reads.size) == (3, len(text))
    assert {time[:16] for time in reads.times} == {b"2026-11-30T05:31"}


@pytest.mark.parametrize("key", ["verb", "impersonatedUser", "kind"])
def test_a_read_with_a_second_key_is_decoded(key: str) -> None:
    line = event_lines(READS[:1])[0]
    for place in (b',"sourceIPs"', b',"userAgent"', b',"stageTimestamp"', b"}\n"):
        text = (line + b"\n").replace(place, b',"%b":"delete"' % key.encode() + place)
        assert sifted(text)[1].count == 0


def test_the_filter_sees_real_logs_through(tmp_path: Path) -> None:
    log = Path(__file__).parents[4] / "shared" / "corpus" / "audit" / "plain" / "minikube-1.33-full.log"
    if not log.exists():
        pytest.skip("the corpus is not beside this checkout")
    text = log.read_bytes()
    reads = sifted(text)[1].count
    certain = sum(b'"verb":"%b"' % verb in line for line in text.splitlines() for verb in (b"get", b"list", b"watch"))
    assert reads > 0.8 * certain
    with log.open("rb") as file:
        assert decompressed(file).read(4) == b'{"ki'
