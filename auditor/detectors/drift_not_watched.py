"""Drift that waits for a manual sync and reaches nobody."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import orjson

from auditor.config import Config
from auditor.detectors import Detector
from auditor.detectors.conclusion import conclude, span
from auditor.model.application import ApplicationHistory
from auditor.model.case import Case
from auditor.model.change import AppKey
from auditor.model.finding import Finding
from auditor.model.resource import JsonObject

SUBSCRIPTION = "notifications.argoproj.io/subscribe"
WAITS_LONG = timedelta(hours=1)
"""A release that waits for its button is OutOfSync for a while too: drift that is younger is information."""


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """One finding for each application that ends OutOfSync, syncs by hand only, and notifies nobody."""
    for history in case.applications.values():
        last = history.states[-1] if history.states else None
        if last is None or history.removed_at or not last.waits_for_a_hand or last.sync_status != "OutOfSync":
            continue
        since = _out_of_sync_since(history)
        if since is not None and not _notifies(last.document) and not _notified(case, history.key):
            resources = [f"{kind} {name}" for _, kind, _, name, status in last.resources if status == "OutOfSync"]
            yield conclude(
                "drift-not-watched",
                "low" if last.at - since >= WAITS_LONG else "info",
                f"{case.called(history.key)} is OutOfSync {_how_long((last.at - since).total_seconds())} "
                f"({', '.join(resources[:3]) or 'objects not recorded'}), syncs by hand only, and no notification "
                "is subscribed on it.",
                "Subscribe a channel to on-out-of-sync, or let it sync by itself.",
                key=(since.isoformat(),),
                confidence="medium",
                application=history.key,
                first_at=since,
                last_at=last.at,
                evidence=(last.evidence,),
            )


def _how_long(seconds: float) -> str:
    """One export does not tell since when."""
    return f"for {span(seconds)}" if seconds > 0 else "in the only record of its state"


def _out_of_sync_since(history: ApplicationHistory) -> datetime | None:
    since = None
    for state in reversed(history.states):
        if state.sync_status != "OutOfSync":
            break
        since = state.at
    return since


def _notifies(document: JsonObject) -> bool:
    """Whether a channel is subscribed on the Application itself."""
    metadata = document.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return isinstance(annotations, dict) and any(name.startswith(SUBSCRIPTION) for name in annotations)


def _notified(case: Case, key: AppKey) -> bool:
    """Whether argocd-notifications-cm, where it was exported, subscribes channels for all applications."""
    for settings in case.settings:
        if settings.argocd == key.argocd and settings.name == "argocd-notifications-cm":
            document = orjson.loads(settings.body)
            data = document.get("data") if isinstance(document, dict) else None
            if isinstance(data, dict) and data.get("subscriptions"):
                return True
    return False


DETECTOR = Detector("drift-not-watched", "drift that reaches nobody", detect)
