"""By what a request was sent: each command of a real kubectl, and the clients that are no kubectl."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from auditor.correlate.identity.channels import CHANNELS, channel
from tests.factories import KUBECTL, audit_event

LAB = Path(__file__).parents[4] / "shared" / "corpus" / "audit" / "lab"

INDISTINGUISHABLE = {
    # replace --force sends the delete that `kubectl delete` sends, byte for byte.
    ("kubectl get cm c2 -o json | kubectl replace --force -f -", "delete"): "kubectl delete",
    # The lab made these two ReplicaSets by hand while this command ran.
    ("kubectl apply -f dep2.yaml", "create"): "kubectl create",
}


def recorded() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each write of the lab with the command that sent it."""
    commands = json.loads((LAB / "kubectl-1.32.4-commands.json").read_text())
    for line in (LAB / "kubectl-1.32.4-requests.jsonl").read_text().splitlines():
        event = json.loads(line)
        reads = ("get", "list", "watch")
        if event["stage"] == "ResponseComplete" and (
            event["verb"] not in reads or event["objectRef"].get("subresource") == "exec"
        ):
            yield commands[event["auditID"]], event


def parsed(event: dict[str, Any], with_body: bool = True) -> Any:
    reference, query = event["objectRef"], parse_qs(urlsplit(event["requestURI"]).query)
    body = event.get("requestObject")
    return audit_event(
        verb=event["verb"],
        at=datetime.fromisoformat(event["requestReceivedTimestamp"]).astimezone(UTC),
        user_agent=event["userAgent"],
        request_uri=event["requestURI"],
        api_group=reference.get("apiGroup", ""),
        resource=reference["resource"],
        subresource=reference.get("subresource", ""),
        field_manager=query.get("fieldManager", [""])[0],
        force="force" in query,
        dry_run="dryRun" in query,
        request=json.dumps(body).encode() if body is not None and with_body else None,
    )


def wanted(command: str, verb: str) -> str:
    words = command[command.rindex("kubectl ") :].split()
    return INDISTINGUISHABLE.get((command, verb), f"kubectl {words[1]}")


def patch_type(event: dict[str, Any]) -> str:
    body = event.get("requestObject")
    if event["verb"] != "patch":
        return str(event["verb"])
    if isinstance(body, list):
        return "json-patch"
    return "apply" if "force=true" in event["requestURI"] else "strategic"


def test_every_command_of_a_real_kubectl_is_told() -> None:
    if not LAB.exists():
        pytest.skip("the recorded kubectl commands are not beside this checkout")
    writes = list(recorded())
    told = [(command, channel(parsed(event), patch_type(event))) for command, event in writes]
    assert told == [(command, wanted(command, event["verb"])) for command, event in writes]
    assert len({command for command, _ in writes}) == 51, "two of the 53 commands only read"


def test_a_command_whose_body_is_not_recorded_is_told_or_left_open_and_never_mistold() -> None:
    if not LAB.exists():
        pytest.skip("the recorded kubectl commands are not beside this checkout")
    for command, event in recorded():
        told = channel(parsed(event, with_body=False), "unknown")
        if told != "kubectl":
            assert told == wanted(command, event["verb"]), command


def body(value: object) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("request_body", "uri", "word"),
    [
        (
            {"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "t"}}}}},
            "",
            "rollout",
        ),
        ({"spec": {"paused": True}}, "", "rollout"),
        ({"metadata": {"labels": {"a": "b"}}}, "", "label"),
        ({"metadata": {"annotations": {"a": "b"}}}, "", "annotate"),
        ({"spec": {"template": {"spec": {"$setElementOrder/containers": [], "containers": []}}}}, "", "set"),
        ({"spec": {"replicas": 2}}, "", "patch"),
        ({"spec": {"replicas": 2}}, "&fieldValidation=Strict", "edit"),
        ({"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}}}, "", "apply"),
    ],
)
def test_a_field_manager_of_the_callers_choice_hides_no_command(request_body: object, uri: str, word: str) -> None:
    event = audit_event(
        field_manager="argocd-controller",
        request=body(request_body),
        request_uri=f"/apis/apps/v1/namespaces/a/deployments/b?fieldManager=argocd-controller{uri}",
    )
    assert channel(event, "merge") == f"kubectl {word}"


def test_rollout_undo_of_a_daemon_set_replaces_the_template() -> None:
    event = audit_event(resource="daemonsets", request=body({"spec": {"template": {"$patch": "replace", "spec": {}}}}))
    assert channel(event, "strategic") == "kubectl rollout"


def test_server_side_apply_under_any_manager_is_apply() -> None:
    event = audit_event(field_manager="me", force=True, request=body({"apiVersion": "v1", "kind": "A"}))
    assert channel(event, "apply") == "kubectl apply"


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"user_agent": "oc/4.16.0 (linux/amd64) kubernetes/0123456", "field_manager": "kubectl-edit"}, "kubectl edit"),
        ({"user_agent": "k/v1.32.4 (linux/amd64) kubernetes/4cb5f07", "field_manager": "kubectl-set"}, "kubectl set"),
        ({"user_agent": "kubectl.exe/v1.32.4 (windows/amd64)", "subresource": "scale"}, "kubectl scale"),
        ({"user_agent": KUBECTL, "verb": "create", "subresource": "eviction", "resource": "pods"}, "kubectl drain"),
        ({"user_agent": KUBECTL, "verb": "get", "subresource": "exec", "resource": "pods"}, "kubectl exec"),
        ({"user_agent": KUBECTL, "request_uri": "", "request": None}, "kubectl"),
        (
            {"user_agent": "argocd-server/v0.0.0", "user": "system:serviceaccount:argocd:argocd-server"},
            "Argo CD UI or CLI",
        ),
        ({"user_agent": "argocd-server/v0.0.0"}, "API client"),
        ({"user_agent": "argocd/v2.13.0"}, "Argo CD UI or CLI"),
        ({"user_agent": "Helm/3.16.2", "field_manager": "helm"}, "helm"),
        ({"user_agent": "HashiCorp/1.0 Terraform/1.9.5"}, "terraform"),
        ({"user_agent": "Mozilla/5.0 (X11; Linux x86_64)"}, "console"),
        ({"user_agent": "k9s/v0.32.5"}, "console"),
        ({"user_agent": "curl/8.5.0", "field_manager": "kubectl-edit"}, "API client"),
        ({"user_agent": "OpenAPI-Generator/31.0.0/python"}, "API client"),
        ({"user_agent": "kubectl-argo-rollouts/v1.7"}, "API client"),
        ({"user_agent": ""}, "unknown"),
    ],
)
def test_the_client_decides_the_channel(event: dict[str, Any], expected: str) -> None:
    told = channel(audit_event(**event), "strategic")
    assert told == expected
    assert told in CHANNELS


@pytest.mark.parametrize("body", [b'{"x":' + b"9" * 5000 + b"}", b'{"x":1e999}', b'{"x":' * 990 + b"1" + b"}" * 990])
def test_a_body_that_no_decoder_takes_tells_nothing_and_breaks_nothing(body: bytes) -> None:
    event = audit_event(verb="patch", user_agent=KUBECTL, request=body, field_manager="")
    assert channel(event, "merge").startswith("kubectl")
