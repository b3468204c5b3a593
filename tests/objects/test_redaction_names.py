"""Names of users, clients, groups, authors and tags: tokens leave them, and no ordinary name changes."""

import gzip
import json
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from auditor.objects.redaction import Redactor

REDACTOR = Redactor(b"k" * 32)
INCIDENT = Path(__file__).parents[2] / "data" / "incident"
SHARED = Path(__file__).parents[3] / "shared" / "corpus"


@pytest.mark.parametrize(
    "name",
    [
        "kubectl ghp_hunter2Zq9xhunter2Zq9x",
        "curl/7 password=hunter2Zq9x",
        "deploy/v1 AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.hunter2Zq9x",
        "Bearer hunter2Zq9xAAAA1111",
        "glpat-hunter2Zq9xhunter2Zq",
        "hvs.CAESIhunter2Zq9xhunter2Zq9x",
        "/api/v1/namespaces/shop/services/x/proxy/reset/ghp_hunter2Zq9xhunter2Zq9x",
        "https://bot:hunter2Zq9x@git.acme.example",
        "password=hunter2Zq9x@acme.example",
    ],
)
def test_a_token_leaves_a_name(name: str) -> None:
    redacted = REDACTOR.name(name)
    assert "[redacted:" in redacted
    assert "hunter2Zq9x" not in redacted
    assert "AKIA" not in redacted
    assert REDACTOR.name(redacted) == redacted


@pytest.mark.parametrize(
    "name",
    [
        "system:serviceaccount:token:default",
        "system:serviceaccount:credentials:secret-sync",
        "oidc:password:alice",
        "sk-payments-controller-manager-production",
        "system:serviceaccount:oran:xapp-onboarder-controller",
        "pypi-mirror-controller-production",
        "hvs.payments.internal.acme.example",
        "CN=secret-reader,OU=Credentials,O=Acme Token Services",
        "arn:aws:sts::123456789012:assumed-role/token-admin/alice@acme.example",
        "Token Refresher/1.0 (linux/amd64)",
        "Basic Client/2.0",
        'RBAC: allowed by RoleBinding "db-password/reader" of ClusterRole "secret-reader" to User "alice"',
        "JTI=6d2f0d5e-3a44-4b0c-9d40-0f6a2d4f8f0f",
        "release/token-rotation-v2",
        "/api/v1/namespaces/shop/secrets/db-password",
    ],
)
def test_an_ordinary_name_stays(name: str) -> None:
    assert REDACTOR.name(name) == name


def test_what_credentials_say_stays_but_for_tokens() -> None:
    said = {"accessKeyId": ("ASIAIOSFODNN7EXAMPLE",), "sessionName": ("alice",), "scopes": ("user:info", "token")}
    assert REDACTOR.claims(said) == said
    leaked = {"authentication.kubernetes.io/token": ("hunter2Zq9x",), "note": ("ghp_hunter2Zq9xhunter2Zq9x",)}
    assert "hunter2Zq9x" not in str(REDACTOR.claims(leaked))


def test_a_token_leaves_labels_and_selectors_and_other_values_stay() -> None:
    raw = b'{"labels":{"token":"ghp_hunter2Zq9xhunter2Zq9x"},"selector":{"secret":"yes"}}'
    redacted = json.loads(REDACTOR.body(raw))
    assert redacted["labels"]["token"].startswith("[redacted:")
    assert redacted["selector"] == {"secret": "yes"}


def test_a_token_in_an_encoded_parameter_leaves_a_uri() -> None:
    uri = "/apis/apps/v1/namespaces/shop/deployments/api?fieldManager="
    assert "hunter2" not in REDACTOR.uri(f"{uri}Bearer%20hunter2Zq9xAAAA1111")
    assert REDACTOR.uri(f"{uri}kubectl%20edit") == f"{uri}kubectl%20edit"


def recorded(folder: Path) -> Iterator[bytes]:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        try:
            yield from (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).splitlines()
        except (OSError, EOFError, zlib.error, tarfile.TarError):
            continue


def spoken(line: bytes) -> Iterator[str]:
    """The names in an audit event."""
    try:
        event = orjson.loads(line)
    except ValueError:
        return
    if not isinstance(event, dict) or not isinstance(event.get("user"), dict):
        return
    for user in (event["user"], event.get("impersonatedUser") or {}):
        yield user.get("username") or ""
        yield from user.get("groups") or ()
        for key, values in (user.get("extra") or {}).items():
            assert REDACTOR.claims({key: tuple(values)}) == {key: tuple(values)}
    yield event.get("userAgent") or ""
    yield event.get("requestURI", "").partition("?")[0]
    yield from (event.get("annotations") or {}).values()


@pytest.mark.parametrize("folder", [INCIDENT / "audit", SHARED / "audit"], ids=["incident", "corpus"])
def test_no_name_of_the_recordings_changes(folder: Path) -> None:
    if not folder.is_dir():
        pytest.skip("the recordings are not here")
    names = {name for line in recorded(folder) for name in spoken(line)}
    assert len(names) > 20
    changed = {name: REDACTOR.name(name) for name in sorted(names) if not name.startswith("{")}
    assert {name: shown for name, shown in changed.items() if shown != name} == {}
