"""Values for tests: each with the fewest fields that make it true, all else given by name."""

from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from auditor.model.facts import AuditEvent, Origin

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
ORIGIN = Origin(source="audit.log", offset=0, length=1, sha256="0" * 64)
KUBECTL = "kubectl/v1.32.4 (linux/amd64) kubernetes/4cb5f07"

_T = TypeVar("_T")


def minute(minutes: float) -> datetime:
    """So many minutes after the hour at which all stories begin."""
    return START + timedelta(minutes=minutes)


def audit_event(**given: Any) -> AuditEvent:
    """A patch of Deployment shop-prod/web by alice with kubectl."""
    fields: dict[str, Any] = {
        "id": "event",
        "cluster": "prod",
        "audit_id": "audit-id",
        "stage": "ResponseComplete",
        "level": "RequestResponse",
        "verb": "patch",
        "at": START,
        "stage_at": START,
        "user": "alice@acme.example",
        "groups": ("system:authenticated",),
        "extra": {},
        "impersonated_user": "",
        "impersonated_groups": (),
        "source_ips": ("192.0.2.10",),
        "user_agent": KUBECTL,
        "request_uri": "/apis/apps/v1/namespaces/shop-prod/deployments/web",
        "api_group": "apps",
        "api_version": "v1",
        "resource": "deployments",
        "subresource": "",
        "namespace": "shop-prod",
        "name": "web",
        "uid": "",
        "object_version": "",
        "code": 200,
        "reason": "",
        "dry_run": False,
        "field_manager": "",
        "force": False,
        "request": None,
        "response": None,
        "annotations": {},
        "truncated": False,
        "dialect": "audit",
        "stream": "",
        "origin": ORIGIN,
    }
    return AuditEvent(**(fields | given))
