"""Cases for detectors: what the records hold, and nothing else."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from auditor.config import Config
from auditor.detectors import Detector
from auditor.model.application import ApplicationHistory, SyncRecord, SyncResource
from auditor.model.case import Case, Scope
from auditor.model.change import Actor, Change, Write
from auditor.model.finding import Finding
from auditor.model.verdict import Verdict
from tests.factories import SHOP, actor, coverage, evidence, minute

CONTROLLER = Actor(
    "system:serviceaccount:argocd:argocd-application-controller", "gitops", known_by="authenticated user"
)
AUTOSCALER = Actor(
    "system:serviceaccount:kube-system:horizontal-pod-autoscaler", "autoscaler", known_by="authenticated user"
)
PIPELINE = Actor("system:serviceaccount:ci:pipeline", "ci", known_by="authenticated user")
ALICE = actor()


def case(
    *changes: Change,
    verdicts: Iterable[Verdict] = (),
    histories: Iterable[ApplicationHistory] = (),
    writes: Iterable[Write] = (),
    **given: Any,
) -> Case:
    """A case of these changes; their writes are in it, with `writes` beside them, oldest first."""
    told = sorted((*(change.write for change in changes), *writes), key=lambda write: write.at)
    made: dict[str, Any] = {
        "scope": Scope(),
        "coverage": coverage(),
        "applications": {history.key: history for history in histories},
        "writes": tuple(told),
        "changes": changes,
        "verdicts": {verdict.change: verdict for verdict in verdicts},
        "episodes": (),
        "staging": (),
        "announcements": (),
        "commits": (),
        "landings": {},
        "argo_events": (),
        "settings": (),
        "desired": {},
        "live": {},
    }
    return Case(**(made | given))


def found(detector: Detector, of: Case, config: Config | None = None) -> list[Finding]:
    """What a detector says of a case; the same twice, as a detector keeps no state."""
    settings = config or Config(Path())
    first = list(detector.detect(of, settings))
    assert list(detector.detect(of, settings)) == first
    return first


def sync(at: float, phase: str = "Succeeded", **given: Any) -> SyncRecord:
    """A full automated sync of shop-prod that took six seconds."""
    made: dict[str, Any] = {
        "app": SHOP,
        "started_at": minute(at),
        "finished_at": minute(at + 0.1),
        "phase": phase,
        "revisions": ("a" * 40,),
        "sources": (),
        "origin": "automated",
        "extent": "full",
        "initiated_by": "",
        "requested_by": None,
        "local_manifests": False,
        "dry_run": False,
        "rollback_to": None,
        "retries": 0,
        "message": "",
        "resources": (),
        "selected": (),
        "evidence": (evidence(f"sync-{at}"),),
    }
    return SyncRecord(**(made | given))


def result(name: str, status: str, message: str = "") -> SyncResource:
    """What a sync did to one Deployment."""
    return SyncResource("apps", "Deployment", "shop-prod", name, status, message)
