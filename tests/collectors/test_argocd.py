"""Argo CD's exports, Events and logs, whatever their files are called."""

import gzip
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.collectors.argocd import collect as argocd
from auditor.collectors.argocd import log_files as argocd_log_files
from auditor.collectors.argocd import logs as argocd_logs
from auditor.model.facts import ApplicationSnapshot, ArgoEvent, ArgoSettings, Batch
from tests.collectors.configured import CORPUS, collected, facts, last_marks, reasons

APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  creationTimestamp: "2026-11-30T06:00:00Z"
  name: {name}
  namespace: argocd
  resourceVersion: "42"
spec:
  destination: {{namespace: shop, server: https://kubernetes.default.svc}}
  project: default
  source: {{path: apps, repoURL: https://git.acme.example/r.git, targetRevision: main}}
status:
  reconciledAt: "{at}"
  history:
  - deployedAt: "2026-11-30T06:01:00Z"
    source: {{helm: {{parameters: [{{name: startedAt, value: "2099-01-01T00:00:00Z"}}]}}}}
"""
SERVER_LINE = (
    'time="2026-11-30T07:04:32Z" level=info msg="carol patched resource /Service \'payments\'" application=payments '
    "dest-namespace=payments reason=ResourceUpdated type=Normal user=carol\n"
)
NOISE = 'time="2026-11-30T07:00:00Z" level=info msg="Starting configmap/secret informers"\n'


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / "argocd" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def collect(folder: Path, earlier: list[Batch] | None = None) -> list[Batch]:
    return collected(argocd.collect, folder, marks=last_marks(earlier or []))


def test_an_application_is_dated_by_what_it_says_of_itself(tmp_path: Path) -> None:
    content = APPLICATION.format(name="web", at="2026-11-30T07:00:00Z")
    put(tmp_path, "whatever.txt", content)
    (snapshot,) = facts(collect(tmp_path), ApplicationSnapshot)
    assert (snapshot.argocd, snapshot.name, snapshot.resource_version) == ("main", "web", "42")
    assert snapshot.at == datetime(2026, 11, 30, 7, tzinfo=UTC)
    assert snapshot.origin.sha256 == hashlib.sha256(content.encode()).hexdigest()
    assert snapshot.origin.source == "argocd/whatever.txt"


def test_the_objects_of_one_list_were_read_at_one_moment(tmp_path: Path) -> None:
    items = [
        {"kind": "Application", "metadata": {"name": name}, "status": {"reconciledAt": at}}
        for name, at in (("a", "2026-11-30T07:00:00Z"), ("b", "2026-11-30T07:10:00Z"))
    ]
    put(tmp_path, "list.json", json.dumps({"kind": "List", "items": items}))
    assert {snapshot.at for snapshot in facts(collect(tmp_path), ApplicationSnapshot)} == {
        datetime(2026, 11, 30, 7, 10, tzinfo=UTC)
    }


def test_two_exports_of_one_application_are_two_facts(tmp_path: Path) -> None:
    put(tmp_path, "start/apps.yaml", APPLICATION.format(name="web", at="2026-11-30T07:00:00Z"))
    put(tmp_path, "end/apps.yaml", APPLICATION.format(name="web", at="2026-11-30T08:00:00Z"))
    assert len(facts(collect(tmp_path), ApplicationSnapshot)) == 2


def test_an_export_of_the_command_line_has_no_kind(tmp_path: Path) -> None:
    spec = {"destination": {"server": "x"}, "source": {"path": "p"}}
    put(tmp_path, "get.json", json.dumps({"metadata": {"name": "web"}, "spec": spec}))
    assert [snapshot.kind for snapshot in facts(collect(tmp_path), ApplicationSnapshot)] == ["Application"]


def test_admin_export_gives_settings_and_leaves_secrets_alone(tmp_path: Path) -> None:
    documents = [
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {a: b}\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: argocd-secret}\ndata: {admin.password: aHVudGVyMg==}\n",
        "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: default}\n",
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: shops}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n",
        APPLICATION.format(name="web", at="2026-11-30T07:00:00Z"),
    ]
    put(tmp_path, "export.yaml", "---\n".join(documents))
    batches = collect(tmp_path)
    assert [each.name for each in facts(batches, ArgoSettings)] == ["argocd-cm", "default", "shops"]
    assert len(facts(batches, ApplicationSnapshot)) == 1
    assert reasons(batches) == ["Secret: not of Argo CD", "ConfigMap: not of Argo CD"]
    assert last_marks(batches)[0].foreign == 2
    assert "aHVudGVyMg" not in repr(batches)


EVENT = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "payments.18ecc0bda0996bf5", "namespace": "argocd"},
    "involvedObject": {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "name": "payments",
        "namespace": "argocd",
    },
    "reason": "ResourceUpdated",
    "message": "carol patched resource /Service 'payments'",
    "source": {"component": "argocd-server"},
    "firstTimestamp": "2026-11-30T07:04:32Z",
    "lastTimestamp": "2026-11-30T07:04:32Z",
    "count": 1,
    "type": "Normal",
}


def test_an_event_is_as_exact_as_its_name(tmp_path: Path) -> None:
    put(tmp_path, "events.json", json.dumps(EVENT))
    (event,) = facts(collect(tmp_path), ArgoEvent)
    assert event.at == datetime(2026, 11, 30, 7, 4, 32, 89746, tzinfo=UTC)
    assert (event.precision, event.component, event.user) == (1e-6, "server", "carol")
    assert event.application == "argocd/payments"


def test_a_name_that_disagrees_with_the_time_is_only_a_name(tmp_path: Path) -> None:
    put(tmp_path, "events.json", json.dumps(EVENT | {"firstTimestamp": "2026-11-30T08:00:00Z"}))
    (event,) = facts(collect(tmp_path), ArgoEvent)
    assert (event.at, event.precision) == (datetime(2026, 11, 30, 8, tzinfo=UTC), 1.0)


def test_events_of_others_are_foreign(tmp_path: Path) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "name": "x"}
    put(tmp_path, "events.json", json.dumps(EVENT | {"involvedObject": pod, "source": {"component": "kubelet"}}))
    assert reasons(collect(tmp_path)) == ["Event: not of Argo CD"]


def test_an_unknown_user_is_nobody(tmp_path: Path) -> None:
    put(tmp_path, "events.json", json.dumps(EVENT | {"message": "Unknown user initiated sync locally"}))
    assert facts(collect(tmp_path), ArgoEvent)[0].user == ""


JSON_LINE = json.dumps(
    {
        "level": "info",
        "msg": "Initiated automated sync to 'abc'",
        "time": "2026-11-30T07:00:01.250Z",
        "application": "web",
        "reason": "OperationStarted",
    }
)


@pytest.mark.parametrize(
    ("line", "message", "precision"),
    [
        (SERVER_LINE, "carol patched resource /Service 'payments'", 1.0),
        (JSON_LINE + "\n", "Initiated automated sync to 'abc'", 0.001),
        (json.dumps({"log": SERVER_LINE, "stream": "stderr", "time": "x"}) + "\n", "carol patched resource", 1.0),
        ("2026-11-30T07:04:32.1Z stderr F " + SERVER_LINE, "carol patched resource", 1.0),
        ("[pod/argocd-server-1/server] " + SERVER_LINE, "carol patched resource", 1.0),
    ],
)
def test_log_lines_are_read_in_every_wrapping(tmp_path: Path, line: str, message: str, precision: float) -> None:
    put(tmp_path, "x.log", NOISE + line)
    (event,) = facts(collect(tmp_path), ArgoEvent)
    assert event.message.startswith(message)
    assert event.precision == precision
    assert event.origin.offset == len(NOISE)
    assert event.origin.sha256 == hashlib.sha256(line.rstrip("\n").encode()).hexdigest()


def stored(*lines: str) -> dict[str, object]:
    """Log lines as log stores answer with them."""
    parsed = [json.loads(line) for line in lines if line.startswith("{")]
    return {
        "Loki": {"data": {"result": [{"stream": {"app": "x"}, "values": [["1796016671047000000", x] for x in lines]}]}},
        "Grafana": [{"line": line, "timestamp": "1", "date": "2026-11-30T07:00:00Z"} for line in lines],
        "Elasticsearch": {"hits": {"hits": [{"_source": {"message": x, "json": {"x": 1}}} for x in lines]}},
        "gcloud text": [{"insertId": "1", "textPayload": line} for line in lines],
        "gcloud parsed": [{"insertId": "1", "jsonPayload": each, "timestamp": "x"} for each in parsed],
        "text and parsed": [{"message": line, "json": json.loads(line)} for line in lines if line.startswith("{")],
        "CloudWatch": {"events": [{"message": line, "timestamp": 1796016671047} for line in lines]},
        "OpenTelemetry": {
            "resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": x}} for x in lines]}]}]
        },
    }


@pytest.mark.parametrize("pretty", [None, 2])
@pytest.mark.parametrize("name", stored())
def test_an_answer_of_a_log_store_is_read_whole(name: str, pretty: int | None, tmp_path: Path) -> None:
    value = stored(JSON_LINE, SERVER_LINE.rstrip())[name]
    put(tmp_path, "x.json", json.dumps(value, indent=pretty))
    found = facts(collect(tmp_path), ArgoEvent)
    users = [""] if "parsed" in name else ["", "carol"]
    assert [event.user for event in found] == users
    assert {event.application for event in found} <= {"web", "payments"}
    assert not reasons(collect(tmp_path))


@pytest.mark.parametrize(
    "line",
    [
        '2026-11-30T07:00:02Z {app="argocd"} ' + JSON_LINE,
        "[pod/argocd-server-1/server] " + JSON_LINE,
        json.dumps({"preview": False, "result": {"_raw": JSON_LINE}}),
        json.dumps({"_index": "x", "_source": {"message": JSON_LINE}}),
        '"2026-11-30T07:00:02Z","' + SERVER_LINE.rstrip().replace('"', '""') + '"',
        "\x1b[35margocd-server-1\x1b[0m \x1b[95mserver\x1b[0m " + SERVER_LINE.rstrip(),
        "\ufeff" + SERVER_LINE.rstrip(),
    ],
)
def test_a_line_of_a_shipper_or_terminal_is_read(line: str, tmp_path: Path) -> None:
    put(tmp_path, "x.log", f"{line}\n{NOISE}")
    (event,) = facts(collect(tmp_path), ArgoEvent)
    assert event.reason in ("OperationStarted", "ResourceUpdated")


@pytest.mark.parametrize("content", [NOISE + SERVER_LINE, APPLICATION.format(name="web", at="2026-11-30T06:02:00Z")])
def test_what_powershell_wrote_is_read(content: str, tmp_path: Path) -> None:
    put(tmp_path, "x", content.replace("\n", "\r\n").encode("utf-16"))
    (mark,) = last_marks(collect(tmp_path))
    assert (mark.events, mark.undecodable, mark.foreign) == (1, 0, 0)


def test_lists_of_the_command_line_and_the_api_are_read(tmp_path: Path) -> None:
    app = {"metadata": {"name": "web", "namespace": "argocd"}, "spec": {"destination": {}, "source": {}}}
    put(tmp_path, "app-list.yaml", "- metadata: {name: web}\n  spec: {destination: {}, source: {}}\n")
    put(tmp_path, "api.json", json.dumps({"metadata": {"resourceVersion": "9"}, "items": [app]}))
    put(tmp_path, "lists.json", json.dumps({"kind": "List", "items": [{"kind": "ApplicationList", "items": [app]}]}))
    found = facts(collect(tmp_path), ApplicationSnapshot)
    assert [(fact.kind, fact.name) for fact in found] == [("Application", "web")] * 3


def test_events_of_a_typed_list_need_no_kind_of_their_own(tmp_path: Path) -> None:
    event = {
        "metadata": {"name": "web.1", "creationTimestamp": "2026-11-30T07:00:00Z"},
        "involvedObject": {"kind": "Application", "name": "web", "apiVersion": "argoproj.io/v1alpha1"},
        "message": "carol initiated sync to main",
        "source": {"component": "argocd-server"},
    }
    put(tmp_path, "events.json", json.dumps({"kind": "EventList", "apiVersion": "v1", "items": [event]}))
    assert [fact.user for fact in facts(collect(tmp_path), ArgoEvent)] == ["carol"]


def test_an_archive_says_that_it_must_be_unpacked(tmp_path: Path) -> None:
    put(tmp_path, "x.zip", b"PK\x03\x04" + b"\0" * 40)
    assert reasons(collect(tmp_path)) == ["packed as zip: unpack it and list its folder"]


def test_an_automated_sync_is_taken_with_its_reason_only(tmp_path: Path) -> None:
    message = 'time="2026-11-30T07:00:00Z" level=info msg="Initiated automated sync to \'abc\'" application=web'
    put(tmp_path, "x.log", f"{message}\n{message} reason=OperationStarted\n")
    assert len(facts(collect(tmp_path), ArgoEvent)) == 1


def test_what_an_operation_holds_is_not_kept(tmp_path: Path) -> None:
    operation = (
        "Initialized new operation: {&SyncOperation{Revision:abc,Prune:true,DryRun:false,SyncStrategy:nil,"
        "Resources:[]SyncOperationResource{},Source:&ApplicationSource{TargetRevision:main,Helm:&ApplicationSourceHelm{"
        "Parameters:[]HelmParameter{HelmParameter{Name:token,Value:hunter2-hunter2,},},},},Manifests:[secret-manifest],"
        "SyncOptions:[],SelfHealAttemptsCount:3,} {carol false} [] {5 nil false}}"
    )
    put(tmp_path, "x.log", f'time="2026-11-30T07:00:00Z" level=info msg="{operation}" application=web\n')
    batches = collect(tmp_path)
    (event,) = facts(batches, ArgoEvent)
    assert "hunter2" not in repr(batches)
    assert "secret-manifest" not in repr(batches)
    assert event.fields["revision"] == "abc"
    assert event.fields["initiated-by"] == "carol"
    assert event.fields["local-manifests"] == "true"
    assert event.fields["self-heal-attempts"] == "3"


def test_the_arguments_of_calls_are_not_kept(tmp_path: Path) -> None:
    call = (
        'time="2026-11-30T07:00:00Z" level=info msg="received unary call /application.ApplicationService/Sync" '
        'grpc.request.content="reason manifests:\\"hunter2-hunter2\\""\n'
    )
    put(tmp_path, "x.log", NOISE + call)
    batches = collect(tmp_path)
    assert facts(batches, ArgoEvent) == []
    assert "hunter2" not in repr(batches)


def test_a_growing_log_is_read_on(tmp_path: Path) -> None:
    path = put(tmp_path, "x.log", NOISE + SERVER_LINE + SERVER_LINE[:40])
    first = collect(tmp_path)
    assert len(facts(first, ArgoEvent)) == 1
    assert reasons(first) == ["cut last line"]
    path.write_text(NOISE + SERVER_LINE + SERVER_LINE.replace("carol", "dan") + SERVER_LINE)
    second = collect(tmp_path, first)
    assert [event.user for event in facts(second, ArgoEvent)] == ["dan", "carol"]
    assert last_marks(second)[0].events == 3
    assert last_marks(second)[0].bytes == path.stat().st_size


def test_a_log_that_was_replaced_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = put(tmp_path, "x.log", NOISE + SERVER_LINE)
    first = collect(tmp_path)
    path.write_text(SERVER_LINE.replace("carol", "dan") + NOISE + NOISE)
    assert [event.user for event in facts(collect(tmp_path, first), ArgoEvent)] == ["dan"]


def test_an_unchanged_folder_gives_nothing(tmp_path: Path) -> None:
    put(tmp_path, "x.log", NOISE + SERVER_LINE)
    put(tmp_path, "apps.yaml", APPLICATION.format(name="web", at="2026-11-30T07:00:00Z"))
    put(tmp_path, "notes.md", "# Notes\n")
    assert collect(tmp_path, collect(tmp_path)) == []


def test_a_killed_log_run_goes_on_from_its_last_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(argocd_log_files, "BATCH", 2)
    put(tmp_path, "x.log", SERVER_LINE * 5)
    whole = collect(tmp_path)
    rest = collect(tmp_path, whole[:1])
    assert [event.origin.offset for event in facts(whole[:1] + rest, ArgoEvent)] == [
        event.origin.offset for event in facts(whole, ArgoEvent)
    ]


def test_compressed_exports_and_logs_are_read(tmp_path: Path) -> None:
    put(tmp_path, "x.gz", gzip.compress((NOISE + SERVER_LINE).encode()))
    put(tmp_path, "y.gz", gzip.compress(APPLICATION.format(name="web", at="2026-11-30T07:00:00Z").encode()))
    batches = collect(tmp_path)
    assert len(facts(batches, ArgoEvent)) == len(facts(batches, ApplicationSnapshot)) == 1


def test_a_cut_archive_keeps_what_was_before(tmp_path: Path) -> None:
    packed = gzip.compress((NOISE * 5000 + SERVER_LINE).encode(), mtime=0)
    put(tmp_path, "x.gz", packed[:-20])
    batches = collect(tmp_path)
    assert any("end early" in reason for reason in reasons(batches)) or last_marks(batches)[0].problem


def test_what_is_missing_or_foreign_is_said(tmp_path: Path) -> None:
    (batch,) = collect(tmp_path)
    assert batch.mark.problem == "argocd/ does not exist."
    put(tmp_path, "picture.png", b"\x89PNG\r\n\x1a\n")
    batches = collect(tmp_path)
    assert reasons(batches) == ["neither objects nor a log of Argo CD: export with -o json or -o yaml"]


def test_a_line_without_an_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    put(tmp_path, "x.log", NOISE + "time=" + "x" * (3 << 20) + "\n" + SERVER_LINE)
    batches = collect(tmp_path)
    assert reasons(batches) == ["longer than 1 MiB"]
    assert len(facts(batches, ArgoEvent)) == 1


def test_flux_is_read_the_same_way(tmp_path: Path) -> None:
    flux = (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
        "metadata: {name: apps, namespace: flux-system}\n"
        'status: {history: [{lastReconciled: "2026-11-30T07:00:00Z"}]}\n'
        "---\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
    )
    put(tmp_path, "flux.yaml", flux)
    (snapshot,) = facts(collect(tmp_path), ApplicationSnapshot)
    assert (snapshot.kind, snapshot.name, snapshot.at) == (
        "Kustomization",
        "apps",
        datetime(2026, 11, 30, 7, tzinfo=UTC),
    )


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not there")
def test_the_recorded_incident_is_read_whole() -> None:
    batches = collected(argocd.collect, CORPUS / "incident-a")
    events = facts(batches, ArgoEvent)
    started = [each for each in events if each.medium == "log" and each.message.startswith("Initiated automated sync")]
    assert len(facts(batches, ApplicationSnapshot)) == 16
    assert len(facts(batches, ArgoSettings)) == 4
    assert len(started) == 50
    assert {each.user for each in events} == {"", "carol"}
    assert not any(batch.mark.undecodable for batch in batches)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not there")
def test_log_lines_of_other_versions_are_read() -> None:
    content = (CORPUS / "argo" / "argocd-log-lines.log").read_bytes()
    lines = [argocd_logs.parse_line(line) for line in content.splitlines()]
    assert all(lines)
    assert len(lines) == 13
