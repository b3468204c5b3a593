"""An application that somebody kept from syncing and that is still kept from it when the records end."""

from collections.abc import Iterator

from auditor.config import Config
from auditor.detectors import Detector
from auditor.detectors.conclusion import argument, conclude, span
from auditor.model.application import Freeze
from auditor.model.case import Case
from auditor.model.finding import Finding

UNFREEZE = {
    "automated-removed": "argocd app set {argument} --sync-policy automated",
    "automated-disabled": "argocd app set {argument} --sync-policy automated",
    "self-heal-off": "argocd app set {argument} --self-heal",
    "sync-window": "Delete the deny window from the AppProject: argocd proj windows list",
    "skip-reconcile": "kubectl annotate application {app} argocd.argoproj.io/skip-reconcile-",
    "controller-scaled": "Scale the application controller up again",
    "rollback": "argocd app set {argument} --sync-policy automated",
    "suspended": "flux resume {kind} {app} --namespace {namespace}",
    "reconcile-disabled": "Take the annotation of Flux off the object",
}


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """One finding for each freeze without an end."""
    end = case.coverage.as_of.moment
    for history in case.applications.values():
        if history.removed_at is not None:
            continue
        for freeze in history.freezes:
            if freeze.ended_at is None:
                lasted = f", for {span((end - freeze.began_at).total_seconds())}" if end else ""
                yield _finding(case, freeze, lasted)


def _finding(case: Case, freeze: Freeze, lasted: str) -> Finding:
    by = freeze.began_by.name or "a credential that is not recorded"
    return conclude(
        "freeze-not-lifted",
        "low" if freeze.form == "self-heal-off" else "high",
        f"{case.called(freeze.app)} is still frozen ({freeze.form.replace('-', ' ')} by {by}) when the records "
        f"end{lasted}.",
        UNFREEZE[freeze.form].format(
            argument=argument(case, freeze.app),
            app=freeze.app.name,
            kind=freeze.app.kind.lower(),
            namespace=freeze.app.namespace,
        ),
        key=(freeze.form, freeze.began_at.isoformat()),
        application=freeze.app,
        actors=filter(None, (freeze.began_by.name,)),
        first_at=freeze.began_at,
        evidence=freeze.evidence,
    )


DETECTOR = Detector("freeze-not-lifted", "auto-sync was switched off and is still off", detect)
