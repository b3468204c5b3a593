"""What a record that is no audit event may be, and what to hand in instead: said to the person who expected events."""

from auditor.collectors.kube_audit.delivery import Members

_BY_KEYS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"class_uid", "metadata"}), "an OCSF record, without bodies: export the API server's own events"),
    (
        frozenset({"eventSource", "eventVersion"}),
        "a CloudTrail record: requests to Kubernetes are in the EKS audit log",
    ),
    (frozenset({"rule", "output_fields"}), "a Falco alert: export the audit events that Falco was sent"),
    (frozenset({"requestURI", "method", "auditID"}), "Rancher's own API log: audit events are in the clusters' logs"),
    (frozenset({"resource", "service", "schemaVersion"}), "a GuardDuty finding: audit events are in the EKS audit log"),
    (frozenset({"involvedObject", "reason"}), "a Kubernetes Event, which tells of no request"),
)
_LINES = (
    (b" AUDIT: id=", "an audit log of the legacy text format, without names and bodies: set --audit-log-format=json"),
    (b"<?xml", "XML: export it as JSON or CSV"),
    (b"<result", "XML: export it as JSON or CSV"),
    (b"<!DOCTYPE", "a web page: its address gives no export without a login"),
    (b"%PDF", "a PDF: export the log as JSON or CSV"),
)
_BEGINNING = 256
NO_EVENT = "not an audit event"
NO_RECORD = "text without a record"


def reason(members: Members) -> str:
    """What an object that holds no audit event is."""
    return next((said for keys, said in _BY_KEYS if keys <= members.keys()), NO_EVENT)


def line_reason(line: bytes) -> str:
    """What a line without a record is."""
    return next((said for mark, said in _LINES if mark in line[:_BEGINNING]), "not JSON")
