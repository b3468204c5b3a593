"""Rows of the Log Analytics tables AKSAudit and AKSAuditAdmin: one column a field, objects as text or as they are.

https://learn.microsoft.com/azure/azure-monitor/reference/tables/aksaudit has the columns. (The older table,
AzureDiagnostics, holds the whole event as text.)
"""

from auditor.collectors.kube_audit import events
from auditor.collectors.kube_audit.delivery import Members
from auditor.collectors.kube_audit.events import Event

_COLUMNS = {
    "AuditId": "auditID",
    "Level": "level",
    "Stage": "stage",
    "RequestUri": "requestURI",
    "Verb": "verb",
    "User": "user",
    "ImpersonatedUser": "impersonatedUser",
    "SourceIps": "sourceIPs",
    "UserAgent": "userAgent",
    "ObjectRef": "objectRef",
    "ResponseStatus": "responseStatus",
    "RequestObject": "requestObject",
    "ResponseObject": "responseObject",
    "RequestReceivedTime": "requestReceivedTimestamp",
    "StageReceivedTime": "stageTimestamp",
    "Annotations": "annotations",
}


def event_of(members: Members) -> Event:
    """The event that a row is, if it is one (see `events.is_audit`)."""
    return events.lenient({_COLUMNS[key]: value for key, value in members.items() if key in _COLUMNS})
