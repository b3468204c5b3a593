"""The person behind a request of Argo CD's server: named where one user can be meant, and not else."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from auditor.config import ArgoCDConfig
from auditor.correlate.identity.argo_statements import Statements
from auditor.correlate.identity.identities import Identities
from auditor.correlate.writes.drafts import evidence_of
from auditor.model.facts import ArgoEvent, AuditEvent
from tests.correlate.applications.argo_story import SERVER
from tests.factories import ORIGIN, audit_event, minute, write

SECOND = 1 / 60


def told(at: float, user: str, what: str = "patched resource apps/Deployment 'web'", **given: Any) -> ArgoEvent:
    fields: dict[str, Any] = {"precision": 1e-6, "medium": "event", "fields": {}, "application": "argocd/shop-prod"}
    fields |= given
    return ArgoEvent(
        argocd="argocd", at=minute(at), component="server", user=user, reason="ResourceUpdated",
        message=f"{user} {what}", origin=ORIGIN, **fields,
    )  # fmt: skip


def request(at: float = 0, **given: Any) -> AuditEvent:
    return audit_event(**({"at": minute(at), "stage_at": minute(at), "user": SERVER} | given))


def name(event: AuditEvent, *statements: ArgoEvent, kind: str = "Deployment", group: str = "apps") -> str | None:
    found = Statements(statements).author(event, group, kind)
    return found[0].name if found else None


def test_the_user_of_the_event_is_the_actor() -> None:
    found = Statements([told(0.001, "carol")]).author(request(), "apps", "Deployment")
    assert found is not None
    assert (found[0].name, found[0].kind, found[0].account) == ("carol", "person", SERVER)
    assert found[0].known_by == "Argo CD event by carol"
    assert found[1].kind == "argocd-event"


def test_a_log_line_of_whole_seconds_will_do() -> None:
    line = told(0, "carol", precision=1.0, medium="log")
    assert name(request(0.9 * SECOND), line) == "carol"


def test_an_event_long_after_tells_of_something_else() -> None:
    assert name(request(), told(1, "carol")) is None


def test_what_was_said_before_the_request_is_not_of_it() -> None:
    assert name(request(), told(-1 * SECOND, "carol")) is None


def test_another_object_is_not_meant() -> None:
    assert name(request(), told(0.001, "carol", "patched resource apps/Deployment 'api'")) is None
    assert name(request(), told(0.001, "carol", "patched resource /Service 'web'")) is None


def test_what_was_said_of_another_namespace_s_object_is_not_meant() -> None:
    lines = [
        told(0, user, precision=1.0, medium="log", fields={"dest-namespace": namespace})
        for user, namespace in (("carol", "shop-prod"), ("dan", "shop-staging"))
    ]
    assert name(request(0.5 * SECOND), *lines) == "carol"
    assert name(request(0.5 * SECOND, namespace="shop-staging"), *lines) == "dan"


def test_another_argo_cd_with_an_application_of_that_name_is_not_meant() -> None:
    said = told(0.001, "carol", "updated application spec", application="web")
    argocds = [ArgoCDConfig("argocd", "prod"), ArgoCDConfig("staging", "prod", namespace="argocd-staging")]
    asked = {"api_group": "argoproj.io", "resource": "applications", "namespace": "argocd"}
    statements = Statements([replace(said, argocd="staging")], argocds)
    assert statements.author(request(**asked), "argoproj.io", "Application") is None
    own = request(**asked | {"user": "system:serviceaccount:argocd-staging:argocd-server"})
    assert statements.author(own, "argoproj.io", "Application") is not None


def test_an_application_of_that_name_in_another_namespace_is_not_meant() -> None:
    said = told(0.001, "carol", "updated application spec", application="team-b/web")
    asked = request(api_group="argoproj.io", resource="applications", namespace="team-a")
    assert name(asked, said, kind="Application", group="argoproj.io") is None


def test_two_users_within_one_second_of_log_lines_are_nobody() -> None:
    lines = [told(0, user, precision=1.0, medium="log") for user in ("carol", "dan")]
    assert name(request(0.5 * SECOND), *lines) is None


def test_exact_events_tell_two_users_apart() -> None:
    statements = (told(0.01 * SECOND, "carol"), told(0.9 * SECOND, "dan"))
    assert name(request(), *statements) == "carol"
    assert name(request(0.89 * SECOND), *statements) == "dan"


def test_two_exact_events_close_together_are_nobody() -> None:
    assert name(request(), told(0.010 * SECOND, "carol"), told(0.015 * SECOND, "dan")) is None


def test_a_log_line_that_repeats_an_event_is_no_second_user() -> None:
    statements = (
        told(0.01 * SECOND, "carol"),
        told(0, "carol", precision=1.0, medium="log"),
        told(0.9 * SECOND, "dan"),
        told(0, "dan", precision=1.0, medium="log"),
    )
    assert name(request(), *statements) == "carol"


def test_deletes_actions_and_spec_updates_are_told_too() -> None:
    assert name(request(), told(0.001, "carol", "deleted resource apps/Deployment 'web'")) == "carol"
    assert name(request(), told(0.001, "carol", "ran action restart on resource apps/Deployment/web")) == "carol"
    application = request(name="shop-prod", namespace="argocd", api_group="argoproj.io", resource="applications")
    spec = told(0.001, "carol", "updated application spec")
    assert name(application, spec, kind="Application", group="argoproj.io") == "carol"


def job_request(owner: str) -> AuditEvent:
    owners = [{"apiVersion": "batch/v1", "kind": "CronJob", "name": owner}]
    body = orjson.dumps({"kind": "Job", "metadata": {"name": "nightly-261130", "ownerReferences": owners}})
    return request(verb="create", api_group="batch", resource="jobs", name="nightly-261130", request=body)


def test_who_ran_an_action_made_the_object_that_the_action_creates_for_its_resource() -> None:
    ran = told(0.001, "carol", "ran action create-job on resource batch/CronJob/nightly")
    edited = told(0.001, "carol", "patched resource batch/CronJob 'nightly'")
    assert name(job_request("nightly"), ran, kind="Job", group="batch") == "carol"
    assert name(job_request("hourly"), ran, kind="Job", group="batch") is None
    assert name(job_request("nightly"), edited, kind="Job", group="batch") is None


def test_the_built_in_admin_is_a_shared_credential() -> None:
    found = Statements([told(0.001, "admin")]).author(request(), "apps", "Deployment")
    assert found is not None
    assert found[0].kind == "shared-credential"


def test_a_project_token_is_no_person() -> None:
    found = Statements([told(0.001, "proj:shop:deployer")]).author(request(), "apps", "Deployment")
    assert found is not None
    assert found[0].kind == "ci"


def outcome(*said: str, **given: Any) -> str:
    """Of a request of Argo CD's server on an Application, after which it said this."""
    of_application = {
        "api_group": "argoproj.io",
        "resource": "applications",
        "name": "shop-prod",
        "namespace": "argocd",
    }
    event = request(**of_application, user_agent="argocd-server/v3.6.0")
    identities = Identities((), Statements([told(0.001, "carol", each) for each in said]))
    assert identities.identify(event).name == ("carol" if said else SERVER)
    made = write("w1", 0, evidence=evidence_of(event), **({"fields_known": False, "outcome": "unproven"} | given))
    return identities.with_evidence(made).outcome


@pytest.mark.parametrize(
    "said", ["initiated sync to main (4507)", "initiated partial sync to main (4507)", "initiated rollback to 3",
             "terminated running operation", "refreshed application"],
)  # fmt: skip
def test_an_order_to_argo_cd_is_no_change_of_its_application_where_no_body_shows_one(said: str) -> None:
    assert outcome(said) == "bookkeeping"
    assert outcome(said, fields_known=True, outcome="changed") == "changed"
    assert outcome(said, outcome="refused") == "refused"


def test_an_edit_of_an_application_stays_one() -> None:
    assert outcome("updated application spec") == outcome() == "unproven"
