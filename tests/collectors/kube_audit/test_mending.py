"""No value that a client chooses hides its event: what the decoder refuses is unknown, and all else is read."""

import json
import random
from pathlib import Path

import pytest

from auditor.collectors.kube_audit.mending import mended
from auditor.collectors.kube_audit.syntax import syntax_end
from auditor.collectors.kube_audit.values import BROKEN, CUT
from auditor.model.facts import AuditEvent
from tests.collectors.kube_audit.deliveries import audit_event
from tests.collectors.kube_audit.reading import Shelf, collected

EVENT = json.dumps(audit_event(7, "patch", requestObject="@@", responseObject={"spec": {"replicas": 3}}))
BEFORE, AFTER = (json.dumps(audit_event(number)) for number in (6, 8))
REFUSED = {
    "half of a surrogate pair": '{"metadata":{"annotations":{"a":"\\ud800"}}}',
    "half of one in a key": '{"metadata":{"\\udc00":1}}',
    "half of one as the body": '"\\ud800"',
    "1,100 lists in each other": "[" * 1100 + "]" * 1100,
    "9,000 objects in each other": '{"a":' * 9000 + "1" + "}" * 9000,
    "an event in it": '{"a":"\\ud800","items":[{"kind":"Event","apiVersion":"audit.k8s.io/v1","verb":"delete",'
    '"user":{"username":"victim"},"auditID":"forged","stage":"ResponseComplete"}]}',
}
DELIVERED = {
    "lines": lambda lines: lines,
    "CRI": lambda lines: [f"2026-11-30T05:31:00.0Z stdout F {line}" for line in lines],
    "syslog": lambda lines: [f"<14>Nov 30 07:00:00 host kube: {line}" for line in lines],
    "docker": lambda lines: [json.dumps({"log": line + "\n", "stream": "stdout", "time": ""}) for line in lines],
    "a member": lambda lines: [f'{{"host":"a","event":{line}}}' for line in lines],
    "a text": lambda lines: [json.dumps({"message": line}) for line in lines],
    "one list": lambda lines: [f'{{"kind":"EventList","items":[{",".join(lines)}]}}'],
    "joined": lambda lines: ["".join(lines)],
    "a list over lines": lambda lines: ["[", ",\n".join(lines), "]"],
}


def read(folder: Path, text: str | bytes) -> Shelf:
    data = text.encode() if isinstance(text, str) else text
    (folder / "audit.log").write_bytes(data + b"\n")
    return collected(folder)


def only(shelf: Shelf) -> AuditEvent:
    (event,) = shelf.events.values()
    return event


@pytest.mark.parametrize("form", DELIVERED)
@pytest.mark.parametrize("body", REFUSED.values(), ids=list(REFUSED))
def test_a_body_that_cannot_be_read_hides_no_event(body: str, form: str, tmp_path: Path) -> None:
    lines = [BEFORE, EVENT.replace('"@@"', body), AFTER]
    shelf = read(tmp_path, "\n".join(DELIVERED[form](lines)))
    found = {event.audit_id[-1]: event for event in shelf.events.values()}
    assert sorted(found) == ["6", "7", "8"]
    event = found["7"]
    assert (event.verb, event.user, event.name) == ("patch", found["6"].user, json.loads(EVENT)["objectRef"]["name"])
    assert (event.request, event.truncated, found["6"].truncated, found["8"].truncated) == (None, True, False, False)
    assert event.response is not None
    mark = shelf.mark()
    assert sum(mark.account.values()) == mark.bytes
    assert not shelf.skipped or form == "a list over lines"


@pytest.mark.parametrize("size", [1, 100, 300_000])
def test_elements_of_an_array_larger_than_a_block_stay_apart(size: int, tmp_path: Path) -> None:
    padding = json.dumps(audit_event(5, requestObject={"data": "x" * size}))
    bad = EVENT.replace('"@@"', '{"a":"\\ud800","b":"' + "y" * size + '"}')
    shelf = read(tmp_path, '{"items":[' + ",".join([padding, bad, BEFORE, bad.replace("07", "09"), AFTER]) + "]}")
    assert {event.audit_id[-1] for event in shelf.events.values()} >= {"5", "6", "7", "8"}
    assert not shelf.skipped


def test_a_record_that_was_cut_too_keeps_what_came_before(tmp_path: Path) -> None:
    line = EVENT.replace('"@@"', '{"a":"\\ud800","b":"' + "x" * 99)
    cut = line[: line.index("x" * 99) + 50]
    message = cut + "[Truncated...]"
    in_cloudwatch = json.dumps({"events": [{"timestamp": 1796022600000, "message": message}]})
    for text in ("2026-11-30T05:31:00.0Z stdout F " + message, in_cloudwatch):
        event = only(read(tmp_path, text))
        assert (event.user, event.verb, event.truncated, event.request) == ("dave@acme.example", "patch", True, None)


def test_a_name_keeps_what_of_it_is_text(tmp_path: Path) -> None:
    for user in (b'"al\\ud800ice"', b'"al\xffice"'):
        line = json.dumps(audit_event(7) | {"user": {"username": "@", "groups": ["g"]}}).encode()
        event = only(read(tmp_path, line.replace(b'"@"', user)))
        assert (event.user, event.groups, event.verb) == ("al\ufffdice", ("g",), json.loads(line)["verb"])


@pytest.mark.parametrize("value", ["1e999", "NaN", "[" * 1200 + "]" * 1200])
def test_a_number_that_is_none_is_unknown_and_the_event_stays(value: str, tmp_path: Path) -> None:
    line = json.dumps(audit_event(7) | {"responseStatus": {"code": "@", "reason": "Conflict"}})
    event = only(read(tmp_path, line.replace('"@"', value)))
    assert (event.code, event.reason, event.audit_id[-1]) == (None, "Conflict", "7")


def test_a_delete_whose_options_are_no_text_is_read(tmp_path: Path) -> None:
    line = json.dumps(audit_event(7, "delete", requestObject="@")).encode()
    event = only(read(tmp_path, line.replace(b'"@"', b'{"dryRun":["\xff"]}')))
    assert (event.verb, event.request, event.truncated) == ("delete", None, True)


def test_a_damaged_record_is_not_mended() -> None:
    line = EVENT.replace('"@@"', REFUSED["half of a surrogate pair"]).encode()
    for at in range(5, len(line) - 5, 3):
        assert mended(line[:at] + b"\x00" + line[at:]).end == BROKEN
        assert mended(line[:at]).end == CUT


def test_the_end_by_syntax_is_that_of_the_decoder() -> None:
    rng = random.Random(1)
    for _ in range(2000):
        text = "".join(
            rng.choices(['"a"', "1", "{", "}", "[", "]", ",", ":", "null", " ", '"b":'], k=rng.randrange(1, 9))
        )
        end = syntax_end(text.encode(), 0)
        try:
            value, expected = json.JSONDecoder().raw_decode(text.lstrip()), len(text) - len(text.lstrip())
            assert end == value[1] + expected
        except ValueError:
            assert end < 0
