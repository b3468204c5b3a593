import csv
import io
import json
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest

from auditor.console.evidence import named, standings
from auditor.model.facts import AuditEvent
from tests.collectors.kube_audit.deliveries import audit_event, event_lines, story
from tests.collectors.kube_audit.exports import EXPORTS
from tests.collectors.kube_audit.reading import Shelf, collected

STORY = event_lines(story())
ELASTIC = audit_event(
    1,
    "update",
    requestObject={"metadata": {"name": "web", "labels": {"a": "b"}}, "spec": {"replicas": 3}},
    responseObject={"kind": "Deployment", "metadata": {"name": "web", "resourceVersion": "7"}, "spec": {"replicas": 3}},
)


def told(event: AuditEvent) -> tuple[Any, ...]:
    bodies = tuple(None if body is None else json.loads(body) for body in (event.request, event.response))
    return (event.id, event.at, event.user, event.groups, event.impersonated_user, event.truncated, bodies)


def one(folder: Path, data: bytes) -> AuditEvent:
    (folder / "export").write_bytes(data)
    (event,) = collected(folder).events.values()
    return event


def read(folder: Path, data: bytes) -> Shelf:
    (folder / "export").write_bytes(data)
    return collected(folder)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    folder = tmp_path_factory.mktemp("plain")
    (folder / "audit.log").write_bytes(b"".join(line + b"\n" for line in STORY))
    return sorted(map(told, collected(folder).events.values()))


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_tells_the_same_events(name: str, plain: list[tuple[Any, ...]], tmp_path: Path) -> None:
    shelf = read(tmp_path, EXPORTS[name](STORY))
    assert sorted(map(told, shelf.events.values())) == plain
    mark = shelf.mark()
    assert (mark.events, mark.reads, mark.foreign, mark.undecodable, shelf.skipped) == (60, 24, 0, 0, set())
    assert sum(mark.account.values()) == mark.bytes


@pytest.mark.parametrize("name", EXPORTS)
def test_evidence_leads_back_to_the_same_bytes(name: str, tmp_path: Path) -> None:
    shelf = read(tmp_path, EXPORTS[name](STORY))
    origins = [event.origin for event in shelf.events.values()]
    assert set(standings(tmp_path, origins, {"export": named(tmp_path, "export")}).values()) == {"unchanged"}


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_collected_twice_changes_nothing(name: str, tmp_path: Path) -> None:
    shelf = read(tmp_path, EXPORTS[name](STORY))
    before = (dict(shelf.events), dict(shelf.marks))
    assert (collected(tmp_path, shelf).events, shelf.marks) == before


def flat(value: Any, key: str = "") -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        return {key: value}
    return {
        at: item for name, part in value.items() for at, item in flat(part, f"{key}.{name}" if key else name).items()
    }


@pytest.mark.parametrize("prefix", ["", "kubernetes.audit."])
def test_a_flattened_event_has_its_user_and_not_another_ones(prefix: str, tmp_path: Path) -> None:
    event = audit_event(1, impersonatedUser={"username": "bob@acme.example"}, requestObject={"spec": {"replicas": 3}})
    row = {"user.name": "root", **{prefix + key: value for key, value in flat(event).items()}}
    found = one(tmp_path, json.dumps(row).encode())
    assert (found.user, found.impersonated_user) == ("dave@acme.example", "bob@acme.example")
    assert (found.groups, found.source_ips) == (("acme:sre", "system:authenticated"), ("203.0.113.7", "10.0.0.4"))
    assert (found.verb, found.namespace, found.name, found.code) == ("patch", "shop", "web", 200)
    assert found.annotations["authorization.k8s.io/decision"] == "allow"
    assert (found.request, found.truncated) == (None, True)


def test_the_fields_of_elasticsearch_are_lists_of_one(tmp_path: Path) -> None:
    event = {key: value for key, value in audit_event(1).items() if key != "sourceIPs"}
    fields = {
        f"kubernetes.audit.{key}": value if isinstance(value, list) else [value] for key, value in flat(event).items()
    }
    found = one(tmp_path, json.dumps({"hits": {"hits": [{"_id": "1", "fields": fields}]}}).encode())
    assert (found.user, found.name, found.code) == ("dave@acme.example", "web", 200)
    assert (found.groups, found.truncated) == (("acme:sre", "system:authenticated"), False)


def test_a_table_with_dotted_columns_is_read(tmp_path: Path) -> None:
    row = {key: ", ".join(value) if isinstance(value, list) else value for key, value in flat(audit_event(1)).items()}
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerows([["@timestamp", *row, "objectRef.subresource"], ["x", *row.values(), "-"]])
    found = one(tmp_path, out.getvalue().encode())
    assert (found.user, found.groups) == ("dave@acme.example", ("acme:sre", "system:authenticated"))
    assert (found.subresource, found.code) == ("", 200)


def test_insights_rows_of_chosen_fields_are_read(tmp_path: Path) -> None:
    event = {**flat(audit_event(1)), "user.groups.0": "acme:sre", "user.groups.1": "dev", "user.extra.arn.0": "arn:x"}
    cells = [{"field": key, "value": str(value)} for key, value in event.items() if not isinstance(value, list)]
    found = one(tmp_path, json.dumps({"results": [cells]}).encode())
    assert (found.user, found.groups, found.code) == ("dave@acme.example", ("acme:sre", "dev"), 200)
    assert dict(found.extra) == {"arn": ("arn:x",)}


def test_bodies_that_elastic_took_the_metadata_from_are_unknown(tmp_path: Path) -> None:
    event = json.loads(json.dumps(ELASTIC))
    del event["requestObject"]["metadata"], event["responseObject"]["metadata"]
    event["annotations"] = {key.replace(".", "_"): value for key, value in event["annotations"].items()}
    found = one(tmp_path, json.dumps({"kubernetes": {"audit": event}, "user": {"name": "root"}}).encode())
    assert (found.user, found.request, found.response) == ("dave@acme.example", None, None)
    assert found.annotations["authorization.k8s.io/decision"] == "allow"


def test_a_patch_without_metadata_still_says_what_it_changed(tmp_path: Path) -> None:
    event = ELASTIC | {"verb": "patch", "requestObject": {"spec": {"replicas": 3}}, "responseObject": {"spec": {}}}
    found = one(tmp_path, json.dumps({"kubernetes": {"audit": event}}).encode())
    assert json.loads(found.request or b"") == {"spec": {"replicas": 3}}
    assert found.response is None


def test_times_of_the_azure_portal_are_read_where_their_column_names_the_zone(tmp_path: Path) -> None:
    header = ["AuditId", "Verb", "User", "ObjectRef", "Stage", "RequestReceivedTime [UTC]", "StageReceivedTime"]
    user, reference = '{"username":"dave"}', '{"resource":"pods","name":"x"}'
    out = io.StringIO()
    row = ["1", "delete", user, reference, "ResponseComplete", "11/30/2026, 5:31:11.047 PM", "30/11/2026 17:31"]
    csv.writer(out).writerows([header, row])
    found = one(tmp_path, out.getvalue().encode())
    assert (found.user, found.at.isoformat()) == ("dave", "2026-11-30T17:31:11.047000+00:00")
    assert found.stage_at is None


def test_an_event_in_a_cell_may_be_as_large_as_any(tmp_path: Path) -> None:
    event = audit_event(1, requestObject={"metadata": {"name": "web"}, "data": {"text": "x, y" * 60_000}})
    found = one(tmp_path, EXPORTS["Datadog CSV"](event_lines([event])))
    assert len(found.request or b"") > 240_000


def test_a_line_that_says_it_was_cut_keeps_what_it_has(tmp_path: Path) -> None:
    line = json.dumps(audit_event(1, requestObject={"spec": {"a": "x" * 900}}))
    cut = f"2026-11-30T05:31:11.047Z {line[:-600]}[Truncated...]\n{line}\n{line[:-600]}[Truncated...]\n"
    shelf = read(tmp_path, cut.encode())
    assert sorted(event.truncated for event in shelf.events.values()) == [False, True]
    assert {event.user for event in shelf.events.values()} == {"dave@acme.example"}


def test_a_row_with_a_cell_too_many_names_nobody(tmp_path: Path) -> None:
    columns = [{"name": name} for name in ("AuditId", "Stage", "Verb", "RequestUri", "User", "ObjectRef")]
    row = ["1", "ResponseComplete", "delete", "/api", "/api", '{"username":"dave"}', '{"resource":"pods"}']
    shelf = read(tmp_path, json.dumps({"tables": [{"columns": columns, "rows": [row]}]}).encode())
    assert not shelf.events
    assert shelf.mark().foreign > 0


def test_a_broken_cell_is_not_the_name_of_a_user(tmp_path: Path) -> None:
    event = audit_event(1) | {"user": '{"username":"dave", "gr'}
    assert one(tmp_path, json.dumps(event).encode()).user == ""


def test_events_of_an_unknown_wrapping_are_all_kept_though_they_share_an_audit_id(tmp_path: Path) -> None:
    events = [audit_event(number, auditID="x") for number in (1, 2)]
    shelf = read(tmp_path, json.dumps({"payloads": [*events, {"foreign": 1}], "copy": events[0]}).encode())
    assert (len(shelf.events), shelf.mark().events, shelf.mark().foreign) == (2, 2, 1)


def test_braces_that_only_look_like_a_record_are_not_one(tmp_path: Path) -> None:
    shelf = read(tmp_path, b'x {"kind":"Event",} {"verb":"delete"} y\n' + STORY[3] + b"\n")
    assert (shelf.mark().events, shelf.mark().undecodable, shelf.mark().foreign) == (1, 1, 0)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (
            '{"class_uid": 6003, "metadata": {}, "api": {"operation": "patch"}, "actor": {"user": {"name": "x"}}}',
            "OCSF",
        ),
        ('{"Records": [{"eventVersion": "1.08", "eventSource": "eks.amazonaws.com", "eventName": "x"}]}', "CloudTrail"),
        ('{"rule": "x", "output_fields": {"ka.user.name": "x", "ka.verb": "create"}}', "Falco"),
        ('{"auditID": "1", "requestURI": "/v3", "user": {"name": "x"}, "method": "POST"}', "Rancher"),
        ('{"resource": {}, "schemaVersion": "2.0", "service": {"action": {"verb": "patch"}}}', "GuardDuty"),
        ('2026-11-30T05:31:11Z AUDIT: id="1" method="patch" user="dave" uri="/api"', "--audit-log-format=json"),
        ("<?xml version='1.0'?>", "export it as JSON or CSV"),
    ],
)
def test_what_holds_no_audit_event_says_what_it_is(record: str, reason: str, tmp_path: Path) -> None:
    shelf = read(tmp_path, record.encode() + b"\n")
    assert not shelf.events
    (skipped,) = shelf.skipped
    assert reason in skipped.reason


@pytest.mark.parametrize(
    ("head", "said"),
    [(b"PAR1\x15\x04", "a Parquet file"), (b"\x04\x22\x4d\x18\x60", "lz4 -d"), (b"%PDF-1.7\n%", "as JSON or CSV")],
)
def test_a_file_that_can_hold_no_records_says_what_to_hand_in(head: bytes, said: str, tmp_path: Path) -> None:
    shelf = read(tmp_path, head + bytes(range(256)))
    assert said in shelf.mark().problem
    assert (shelf.events, shelf.skipped) == ({}, set())


def test_a_zip_in_another_archive_says_so_and_the_other_files_are_read(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, data in (("a.zip", EXPORTS["zip"](STORY)), ("b.log", STORY[3] + b"\n")):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    shelf = read(tmp_path, out.getvalue())
    assert len(shelf.events) == 1
    assert [place.reason for place in shelf.skipped] == [
        "a.zip in export is a zip archive that is damaged, piped or packed once more: unpack it"
    ]


@pytest.mark.parametrize("name", ["bzip2", "xz", "tar", "tar in xz", "zip"])
def test_a_cut_archive_says_so_and_keeps_what_was_before(name: str, tmp_path: Path) -> None:
    data = EXPORTS[name](STORY)
    shelf = read(tmp_path, data[: len(data) * 6 // 10])
    assert any(word in place.reason for place in shelf.skipped for word in ("too early", "damaged", "zip archive"))


def test_a_cut_yaml_document_is_told_of_and_those_before_it_read(tmp_path: Path) -> None:
    shelf = read(tmp_path, EXPORTS["YAML documents"](STORY[3:5])[:-9])
    assert len(shelf.events) == 1
    assert [place.reason for place in shelf.skipped] == [
        "the last YAML document does not end with a line: it may be cut"
    ]


def test_names_that_yaml_takes_for_something_else_are_the_text_that_they_are(tmp_path: Path) -> None:
    document = EXPORTS["YAML documents"](STORY[3:4])
    (event,) = read(tmp_path, document).events.values()
    for name in ("no", "0123", "1e3", "on", "1_000"):
        changed = re.sub(rb"(username: ).*|(  name: ).*", rb"\g<0>@", document)
        changed = re.sub(rb"(username: |  name: ).*@", rb"\g<1>" + name.encode(), changed)
        (tmp_path / name).mkdir()
        (found,) = read(tmp_path / name, changed).events.values()
        assert (found.user, found.name, found.code) == (name, name, event.code)


def test_a_yaml_document_that_is_none_is_told_of_and_the_next_one_read(tmp_path: Path) -> None:
    good = EXPORTS["YAML documents"](STORY[3:4])
    shelf = read(tmp_path, good + b"---\nkind: [\n" + good.replace(b"7b4ddbb1", b"7b4ddbb2"))
    assert (len(shelf.events), shelf.mark().undecodable) == (2, 1)
