"""Who is named, by which rule, and who is never named."""

from typing import Any

import pytest

from auditor.config import ActorRule
from auditor.correlate.identity.actor_rules import RULES
from auditor.correlate.identity.actors import MACHINES, disagreement, identify, rule_problem
from auditor.model.change import Actor
from tests.factories import KUBECTL, audit_event

CONTROLLER = "argocd-application-controller/v0.0.0 (linux/amd64) kubernetes/$Format"


def account(name: str, agent: str = "controller/v1.0", **more: Any) -> dict[str, Any]:
    return {"user": f"system:serviceaccount:{name}", "user_agent": agent, **more}


def session(arn: str, user: str = "kubernetes-admin", **more: Any) -> dict[str, Any]:
    return {"user": user, "extra": {"arn": (arn,), "sessionName": (arn.rpartition("/")[2],)}, **more}


SSO = "arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_Admin_0123456789abcdef/alice@acme.example"

EXAMPLES: dict[str, dict[str, Any]] = {
    "rancher-user": account("cattle-system:kontainer-engine", impersonated_user="u-xunnontx2o"),
    "teleport-user": account("teleport:teleport-kube-agent", KUBECTL, impersonated_user="alice@acme.example"),
    "gke-connect-user": account("gke-connect:connect-agent-sa", KUBECTL, impersonated_user="alice@acme.example"),
    "azure-arc-user": account("azure-arc:azure-arc-kube-aad-proxy-sa", impersonated_user="alice@acme.example"),
    "login-proxy-user": account("auth:kube-oidc-proxy", KUBECTL, impersonated_user="alice@acme.example"),
    "gitlab-agent-user": account("gitlab-agent:gitlab-agent", KUBECTL, impersonated_user="gitlab:user:alice"),
    "gitlab-agent-ci": account("gitlab-agent:gitlab-agent", KUBECTL, impersonated_user="gitlab:ci_job:42"),
    "argocd-server-remote": account("kube-system:argocd-manager", "argocd-server/v0.0.0"),
    "argocd-server": account("argocd:argocd-server", "argocd-server/v0.0.0"),
    "argocd-applicationset-controller": account("argocd:argocd-applicationset-controller"),
    "argocd-application-controller": account("openshift-gitops:openshift-gitops-argocd-application-controller"),
    "argocd-manager": account("kube-system:argocd-manager", CONTROLLER),
    "argocd-cloud-identity": session(
        "arn:aws:sts::111122223333:assumed-role/argocd-deployer/1700000000", "argocd", user_agent=CONTROLLER
    ),
    "argocd-image-updater": account("argocd:argocd-image-updater-controller"),
    "argocd-notifications": account("argocd:argocd-notifications-controller"),
    "argocd-agent": account("argocd:argocd-agent-principal"),
    "argocd-component": account("argocd:argocd-repo-server"),
    "flux-controller": account("flux-system:kustomize-controller", "kustomize-controller/v0.0.0"),
    "flux-v1": account("flux:flux", KUBECTL),
    "helm-operator": account("flux:helm-operator", "Helm/3.1"),
    "fleet-agent": account("cattle-fleet-system:fleet-agent"),
    "config-sync": account("config-management-system:root-reconciler"),
    "other-gitops": account("kluctl-system:kluctl-controller"),
    "horizontal-pod-autoscaler": account("kube-system:horizontal-pod-autoscaler"),
    "cluster-autoscaler": account("kube-system:cluster-autoscaler-aws"),
    "karpenter": account("karpenter:karpenter"),
    "keda": account("keda:keda-operator"),
    "vertical-pod-autoscaler": account("kube-system:vpa-updater"),
    "proportional-autoscaler": account("kube-system:cluster-proportional-autoscaler"),
    "other-autoscaler": account("knative-serving:controller"),
    "garbage-collector": account("kube-system:generic-garbage-collector"),
    "kube-controller": account("kube-system:deployment-controller"),
    "kube-scheduler": {"user": "system:kube-scheduler", "user_agent": "kube-scheduler/v1.32"},
    "kube-apiserver": {"user": "system:apiserver", "user_agent": "kube-apiserver/v1.32"},
    "addon-manager": {"user": "system:addon-manager"},
    "k3s": {"user": "system:k3s-supervisor", "user_agent": "k3s-supervisor@node/v1.32"},
    "k3s-helm": account("kube-system:helm-traefik", "Helm/3.14"),
    "node": {"user": "system:node:worker-1", "user_agent": "kubelet/v1.32"},
    "node-group": {"user": "system:bootstrap:abcdef", "groups": ("system:bootstrappers",), "user_agent": "kubelet/v1"},
    "kube-proxy": {"user": "system:kube-proxy", "user_agent": "kube-proxy/v1.32"},
    "eks-machine": {"user": "eks:addon-manager", "user_agent": "Go-http-client/2.0"},
    "aks-machine": {"user": "aksService"},
    "aks-node": {"user": "nodeclient", "user_agent": "kubelet/v1.32"},
    "gke-machine": {"user": "system:gke-master-healthcheck", "user_agent": "gke-master-healthcheck"},
    "openshift-machine": account("openshift-ingress-operator:ingress-operator"),
    "policy-engine": account("kyverno:kyverno-background-controller"),
    "sidecar-injector": account("vault:vault-agent-injector"),
    "cert-manager": account("security:cert-manager-cainjector"),
    "crossplane": account("crossplane-system:provider-helm", "Helm/3.14"),
    "external-secrets": account("external-secrets:external-secrets"),
    "sealed-secrets": account("kube-system:sealed-secrets-controller"),
    "external-dns": account("dns:external-dns"),
    "vault": account("vault-secrets-operator-system:controller"),
    "service-mesh": account("istio-system:istiod"),
    "network": account("kube-system:cilium-operator"),
    "storage": account("kube-system:ebs-csi-controller-sa"),
    "progressive-delivery": account("rollouts:argo-rollouts"),
    "argo-workflows": account("argo:argo-workflows-workflow-controller"),
    "monitoring": account("monitoring:kube-prometheus-stack-prometheus"),
    "data-operator": account("data:strimzi-cluster-operator"),
    "node-maintenance": account("kube-system:kured", KUBECTL),
    "lifecycle-manager": account("olm:olm-operator-serviceaccount"),
    "rancher": account("cattle-system:rancher", "Helm/3.14"),
    "tekton-controller": account("tekton-pipelines:tekton-pipelines-controller"),
    "terraform-operator": account("infra:tf-runner"),
    "github": account("arc-runners:default", KUBECTL),
    "gitlab": account("gitlab:gitlab-runner", KUBECTL),
    "gitlab-agent": account("gitlab-agent:gitlab-agent", "gitlab-agent/v17"),
    "jenkins": account("build:jenkins", KUBECTL),
    "tekton": account("build:tekton-triggers-sa", KUBECTL),
    "buildkite": account("build:buildkite-agent", KUBECTL),
    "circleci": account("build:circleci-runner", KUBECTL),
    "azure-devops": account("shop:azdev-sa-1f2e3d", KUBECTL),
    "spinnaker": account("delivery:spinnaker", KUBECTL),
    "terraform-runner": account("infra:atlantis", "HashiCorp/1.0 Terraform/1.9.0"),
    "other-ci": account("build:teamcity-agent", KUBECTL),
    "ci-user": {"user": "ci-deploy"},
    "eks-sso-person": session(SSO),
    "eks-session-mail": session("arn:aws:sts::111122223333:assumed-role/OnCall/alice@acme.example"),
    "eks-iam-user": session("arn:aws:iam::111122223333:user/alice"),
    "admin-certificate": {"user": "kubernetes-admin"},
    "aks-local-account": {"user": "masterclient"},
    "gke-client-certificate": {"user": "client"},
    "openshift-kubeadmin": {"user": "kube:admin"},
    "aws-account-root": session("arn:aws:iam::111122223333:root"),
    "eks-role": session("arn:aws:sts::111122223333:assumed-role/Deploy/1700000000", "deploy"),
    "dashboard-account": account("kubernetes-dashboard:admin-user", "dashboard/v2.7.0"),
    "gcp-default-account": {"user": "1234-compute@developer.gserviceaccount.com"},
    "entra-object": {"user": "6f1c9a52-0c4e-4c1e-9b2f-3a3f5a0f6b11"},
    "anonymous": {"user": "system:anonymous"},
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.ident)
def test_each_rule_names_its_example(rule: Any) -> None:
    actor = identify(audit_event(**EXAMPLES[rule.ident]))
    assert (actor.rule, actor.kind) == (rule.ident, rule.kind)
    assert rule.who in actor.known_by


def test_each_rule_has_one_ident_and_one_example() -> None:
    idents = [rule.ident for rule in RULES]
    assert len(set(idents)) == len(idents)
    assert set(EXAMPLES) == set(idents)


def test_no_shipped_rule_makes_a_machine_from_claims_alone() -> None:
    assert [rule.ident for rule in RULES if rule.kind in MACHINES and not (rule.users or rule.groups)] == []


@pytest.mark.parametrize("user", ["alice@acme.example", "mara.jenkins@acme.example", "oidc:bob", "carol"])
def test_a_plain_user_is_a_person_under_the_name_of_the_record(user: str) -> None:
    actor = identify(audit_event(user=user))
    assert (actor.name, actor.kind, actor.acting_as) == (user, "person", None)
    assert actor.known_by == "authenticated user"


def test_who_impersonates_is_named_and_whom_stands_beside() -> None:
    actor = identify(audit_event(user="dave@acme.example", impersonated_user="oncall-breakglass"))
    assert (actor.name, actor.kind, actor.acting_as) == ("dave@acme.example", "person", "oncall-breakglass")


def test_a_person_who_impersonates_argo_cd_stays_that_person() -> None:
    actor = identify(audit_event(impersonated_user="system:serviceaccount:argocd:argocd-application-controller"))
    assert (actor.name, actor.kind) == ("alice@acme.example", "person")


def test_argo_cd_that_impersonates_a_projects_account_stays_argo_cd() -> None:
    actor = identify(
        audit_event(
            **account("argocd:argocd-application-controller", CONTROLLER),
            impersonated_user="system:serviceaccount:shop-prod:deployer",
        )
    )
    assert (actor.kind, actor.acting_as) == ("gitops", "system:serviceaccount:shop-prod:deployer")


def test_behind_a_login_proxy_the_impersonated_user_is_the_name() -> None:
    actor = identify(audit_event(**EXAMPLES["teleport-user"]))
    assert (actor.name, actor.account) == ("alice@acme.example", "system:serviceaccount:teleport:teleport-kube-agent")
    assert actor.acting_as is None


def test_a_proxy_that_acts_as_a_system_user_names_no_person() -> None:
    actor = identify(audit_event(**account("cattle-system:rancher", impersonated_user="system:admin")))
    assert (actor.name, actor.kind) == ("system:serviceaccount:cattle-system:rancher", "operator")


def test_eks_names_the_session_where_the_role_is_shared() -> None:
    actor = identify(audit_event(**EXAMPLES["eks-sso-person"]))
    assert (actor.name, actor.kind, actor.account) == ("alice@acme.example", "person", "kubernetes-admin")


def test_an_aws_session_that_a_program_named_is_no_person() -> None:
    actor = identify(audit_event(**EXAMPLES["eks-role"]))
    assert (actor.name, actor.kind) == ("arn:aws:sts::111122223333:assumed-role/Deploy/1700000000", "unknown")


@pytest.mark.parametrize(
    "user",
    ["kubernetes-admin", "minikube-user", "system:admin", "masterclient", "kube:admin", "kubernetes-super-admin"],
)
def test_a_shared_credential_is_never_a_person(user: str) -> None:
    actor = identify(audit_event(user=user))
    assert (actor.name, actor.kind) == (user, "shared-credential")


@pytest.mark.parametrize(
    "agent", [KUBECTL, "Helm/3.14.2", "HashiCorp/1.0 Terraform/1.9.0", "oc/4.16.0 (linux/amd64) kubernetes/abcdef0"]
)
def test_an_unnamed_service_account_with_a_command_line_tool_is_ci(agent: str) -> None:
    actor = identify(audit_event(**account("ci:pipeline", agent)))
    assert actor.kind == "ci"
    assert actor.known_by == f"service account that no rule names, and its client is {agent.partition(' ')[0]}"


@pytest.mark.parametrize("agent", ["shop-operator/v1.2 (linux/amd64)", "Go-http-client/2.0"])
def test_an_unnamed_service_account_with_another_client_is_an_operator(agent: str) -> None:
    actor = identify(audit_event(**account("shop:shop-operator", agent)))
    assert actor.kind == "operator"
    assert "no rule names" in actor.known_by


ACCOUNT = "deploy@acme.iam.gserviceaccount.com"


def delegated(*history: str, dialect: str = "gke", **given: Any) -> Actor:
    extra = {"serviceAccountDelegationInfo": history}
    event = {"user": ACCOUNT, "user_agent": KUBECTL, "extra": extra, "dialect": dialect}
    return identify(audit_event(**event | given))


def test_who_took_the_identity_of_a_google_service_account_is_named() -> None:
    actor = delegated("alice@acme.example")
    assert (actor.name, actor.kind, actor.account) == ("alice@acme.example", "person", ACCOUNT)
    assert actor.known_by == "delegation of the service account's identity, authenticated user"
    assert delegated("alice@acme.example", "other@acme.iam.gserviceaccount.com").name == "alice@acme.example"
    assert delegated("release-bot@acme.example").kind == "ci"


@pytest.mark.parametrize(
    "history",
    [
        ("other@acme.iam.gserviceaccount.com",),
        ("other@acme.iam.gserviceaccount.com", "alice@acme.example"),
        ("", "alice@acme.example"),
        ("user:alice@acme.example",),
        ("principal://iam.googleapis.com/pool/subject/alice@acme.example",),
    ],
)
def test_a_delegation_that_does_not_begin_with_a_person_names_nobody(history: tuple[str, ...]) -> None:
    assert (delegated(*history).name, delegated(*history).kind) == (ACCOUNT, "ci")


def test_only_what_google_cloud_recorded_is_a_delegation() -> None:
    assert delegated("alice@acme.example", dialect="audit").name == ACCOUNT
    assert delegated("alice@acme.example", user="bob@acme.example").name == "bob@acme.example"


def test_a_rule_of_the_configuration_for_the_account_comes_before_its_delegation() -> None:
    rule = ActorRule("release", "ci", user=ACCOUNT)
    event = audit_event(user=ACCOUNT, dialect="gke", extra={"serviceAccountDelegationInfo": ("alice@acme.example",)})
    assert (identify(event, (rule,)).name, identify(event, (rule,)).kind) == (ACCOUNT, "ci")


def test_a_service_account_of_whose_client_nothing_is_said_may_be_a_pipeline_or_an_operator() -> None:
    actor = identify(audit_event(**account("shop:deployer", "")))
    assert (actor.kind, actor.rule) == ("unknown", "service-account-silent")
    known = identify(audit_event(**account("kube-system:generic-garbage-collector", "")))
    assert known.kind == "control-plane"


def test_a_service_accounts_token_in_a_console_is_a_shared_credential() -> None:
    assert identify(audit_event(**account("shop:debug", "k9s/v0.32.5"))).kind == "shared-credential"


def test_argo_cds_account_in_kubectl_is_nobody_known_and_a_disagreement() -> None:
    event = audit_event(**account("argocd:argocd-application-controller", KUBECTL))
    actor = identify(event)
    assert (actor.kind, actor.name) == ("unknown", event.user)
    assert disagreement(event, actor) == (
        "system:serviceaccount:argocd:argocd-application-controller is the account of "
        "Argo CD's application controller; the request came from kubectl/v1.32.4."
    )


@pytest.mark.parametrize(
    ("user", "agent"),
    [("", KUBECTL), ("system:something", KUBECTL), ("robot@acme.iam.gserviceaccount.com", "Go-http-client/2.0")],
)
def test_who_cannot_be_told_is_unknown(user: str, agent: str) -> None:
    assert identify(audit_event(user=user, user_agent=agent)).kind == "unknown"


def test_a_cloud_service_account_with_kubectl_is_ci() -> None:
    assert identify(audit_event(user="robot@acme.iam.gserviceaccount.com")).kind == "ci"


def test_the_users_own_rule_comes_first() -> None:
    rules = (ActorRule(ident="release-robot", kind="ci", user="alice@*"),)
    actor = identify(audit_event(), rules)
    assert (actor.kind, actor.rule, actor.known_by) == (
        "ci",
        "release-robot",
        "rule release-robot of the configuration",
    )


def test_all_patterns_of_a_users_rule_must_match() -> None:
    rules = (ActorRule(ident="on-call", kind="person", user="ops-*", group="sre", user_agent="kubectl/*"),)
    assert identify(audit_event(user="ops-1", groups=("sre",)), rules).rule == "on-call"
    assert identify(audit_event(user="ops-1", groups=("dev",)), rules).rule == "person"


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        (ActorRule("mine", "gitops", user_agent="argocd*"), "makes a gitops actor from what clients say of themselves"),
        (ActorRule("mine", "operator", field_manager="x"), "makes a operator actor from what clients say"),
        (ActorRule("mine", "robot", user="x"), "robot is not a kind"),
        (ActorRule("mine", "ci"), "has no pattern"),
    ],
)
def test_a_users_rule_that_cannot_be_used_says_why_and_never_matches(rule: ActorRule, problem: str) -> None:
    assert problem in rule_problem(rule)
    assert identify(audit_event(user_agent="argocd-x", field_manager="x"), (rule,)).rule == "person"


@pytest.mark.parametrize(
    ("claims", "sentence"),
    [
        (
            {"field_manager": "argocd-controller"},
            "The field manager is argocd-controller, which Argo CD uses; the authenticated user is alice@acme.example.",
        ),
        (
            {"user_agent": CONTROLLER},
            f"The user agent is {CONTROLLER}, which Argo CD uses; the authenticated user is alice@acme.example.",
        ),
        (
            {"field_manager": "kustomize-controller"},
            "The field manager is kustomize-controller, which Flux uses; the authenticated user is alice@acme.example.",
        ),
        (
            {"user_agent": "kube-controller-manager/v1.32"},
            "The user agent is kube-controller-manager/v1.32, which the controller manager of Kubernetes uses; "
            "the authenticated user is alice@acme.example.",
        ),
    ],
)
def test_a_claim_makes_nobody_a_machine_and_is_a_disagreement(claims: dict[str, str], sentence: str) -> None:
    event = audit_event(**claims)
    actor = identify(event)
    assert (actor.name, actor.kind) == ("alice@acme.example", "person")
    assert disagreement(event, actor) == sentence


@pytest.mark.parametrize(
    "event",
    [
        account("argocd:argocd-application-controller", CONTROLLER, field_manager="argocd-controller"),
        account("argocd:argocd-server", "argocd-server/v0.0.0"),
        account("flux-system:kustomize-controller", "kustomize-controller/v0", field_manager="kustomize-controller"),
        account("kube-system:horizontal-pod-autoscaler", "kube-controller-manager/v1.32"),
        {"user": "system:node:a", "user_agent": "kubelet/v1.32"},
        {"field_manager": "kubectl-edit"},
        {"user": "system:k3s-supervisor", "user_agent": "k3s/v1.32", "field_manager": "helm-controller"},
    ],
)
def test_who_is_what_the_client_says_disagrees_with_nobody(event: dict[str, Any]) -> None:
    record = audit_event(**event)
    assert disagreement(record, identify(record)) is None


def test_an_unnamed_service_account_that_claims_to_be_argo_cd_is_a_disagreement() -> None:
    event = audit_event(**account("team:deployer", CONTROLLER))
    assert disagreement(event, identify(event)) is not None


def test_a_user_who_names_an_argo_cd_account_by_rule_ends_the_disagreement() -> None:
    rules = (ActorRule(ident="argo", kind="gitops", user="deployer"),)
    event = audit_event(user="deployer", user_agent=CONTROLLER, field_manager="argocd-controller")
    assert disagreement(event, identify(event)) is not None
    assert disagreement(event, identify(event, rules)) is None


def test_an_operation_in_another_persons_name_is_a_disagreement() -> None:
    event = audit_event()
    assert disagreement(event, identify(event), "bob") == (
        "The operation names bob as who asked for it; the authenticated user is alice@acme.example."
    )
    assert disagreement(event, identify(event), "alice") is None
    server = audit_event(**EXAMPLES["argocd-server"])
    assert disagreement(server, identify(server), "bob") is None
