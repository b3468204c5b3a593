"""The shipped actor rules, tried in this order after the user's own: one table, and nothing but the table.

Patterns are globs. `users` is matched against the authenticated user and, where a cloud maps several people to one
user, against the identity that it keeps beside it (`extra.arn`). Whoever holds a credential chooses user agent and
field manager freely, so those only ever narrow a rule: each rule of a machine names its users or groups too.
"""

from dataclasses import dataclass
from typing import Literal

from auditor.model.change import ActorKind


@dataclass(frozen=True, slots=True)
class Rule:
    """All kinds of pattern that are given must match; of one kind, any pattern."""

    ident: str
    kind: ActorKind
    who: str
    """In words, for `Actor.known_by` and the page of rules."""
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    managers: tuple[str, ...] = ()
    impersonated: tuple[str, ...] = ()
    named_by: Literal["user", "impersonated", "session", "arn"] = "user"
    """Where the record has the name: the authenticated user, the user it impersonates for somebody who logged in
    elsewhere, the session of an AWS role, an AWS ARN."""
    runs_tools: bool = False
    """It runs kubectl, helm or the like itself, so such a client is no sign of a hand."""


def _sa(*accounts: str) -> tuple[str, ...]:
    """Service accounts given as `namespace:name`."""
    return tuple(f"system:serviceaccount:{account}" for account in accounts)


def _any(*names: str) -> tuple[str, ...]:
    """Service accounts of these names in any namespace."""
    return _sa(*(f"*:{name}" for name in names))


_PEOPLE_BEHIND_PROXIES = (
    Rule("rancher-user", "person", "through Rancher", _sa("cattle-*:*"), impersonated=("*",), named_by="impersonated"),
    Rule(
        "teleport-user",
        "person",
        "through Teleport",
        (*_any("teleport*"), "teleport*"),
        impersonated=("*",),
        named_by="impersonated",
    ),
    Rule(
        "gke-connect-user",
        "person",
        "through GKE's Connect gateway",
        _sa("gke-connect:*"),
        impersonated=("*",),
        named_by="impersonated",
    ),
    Rule(
        "azure-arc-user",
        "person",
        "through Azure Arc",
        _sa("azure-arc:*"),
        impersonated=("*",),
        named_by="impersonated",
    ),
    Rule(
        "login-proxy-user",
        "person",
        "through a login proxy",
        (
            *_any("kube-oidc-proxy", "openunison*", "*headlamp*", "kubernetes-dashboard*", "paralus*"),
            *_sa("pinniped-concierge:*", "tailscale:*", "loft:*", "vcluster-platform:*", "kubesphere-system:*"),
        ),
        impersonated=("*",),
        named_by="impersonated",
    ),
    Rule(
        "gitlab-agent-user",
        "person",
        "through the GitLab agent",
        _any("*gitlab-agent*"),
        impersonated=("gitlab:user:*",),
        named_by="impersonated",
    ),
    Rule(
        "gitlab-agent-ci",
        "ci",
        "a GitLab job through the GitLab agent",
        _any("*gitlab-agent*"),
        impersonated=("gitlab:ci_job:*",),
        named_by="impersonated",
        runs_tools=True,
    ),
)

_GITOPS = (
    Rule(
        "argocd-server-remote",
        "unknown",
        "Argo CD's server, which acts for whoever is logged in there",
        _any("argocd-manager"),
        agents=("argocd-server/*",),
    ),
    Rule(
        "argocd-server",
        "unknown",
        "Argo CD's server, which acts for whoever is logged in there",
        _any("*argocd-server", "*argo-cd-server"),
    ),
    Rule(
        "argocd-applicationset-controller",
        "gitops",
        "Argo CD's ApplicationSet controller",
        _any("*applicationset-controller"),
    ),
    Rule(
        "argocd-application-controller",
        "gitops",
        "Argo CD's application controller",
        (*_any("*argocd-application-controller", "*argo-cd-application-controller"), *_sa("argo*:*app*-controller")),
    ),
    Rule("argocd-manager", "gitops", "Argo CD, in a cluster that it manages from another", _any("argocd-manager")),
    Rule(
        "argocd-cloud-identity",
        "gitops",
        "Argo CD, under a cloud identity",
        ("arn:aws*:*argocd*", "arn:aws*:*argo-cd*", "*argocd*@*.iam.gserviceaccount.com"),
        agents=("argocd-application-controller/*",),
    ),
    Rule("argocd-image-updater", "gitops", "Argo CD Image Updater", _any("*argocd-image-updater*")),
    Rule(
        "argocd-notifications",
        "gitops",
        "Argo CD's notifications controller",
        _any("*argocd-notifications*", "*argo-cd-notifications*"),
    ),
    Rule("argocd-agent", "gitops", "an Argo CD agent", _any("argocd-agent-*")),
    Rule(
        "argocd-component",
        "operator",
        "a component of Argo CD that deploys nothing",
        (
            *_any("*argocd-repo-server", "*argocd-dex-server", "*argocd-redis*", "*argocd-commit-server"),
            *_any("*argocd-operator*", "*gitops-operator*"),
        ),
    ),
    Rule(
        "flux-controller",
        "gitops",
        "a controller of Flux",
        (*_any("kustomize-controller", "helm-controller", "source-controller"), *_sa("flux-system:*")),
    ),
    Rule("flux-v1", "gitops", "Flux 1, which runs kubectl", _sa("flux:flux", "weave:flux"), runs_tools=True),
    Rule("helm-operator", "gitops", "the Helm operator", _any("*helm-operator*"), runs_tools=True),
    Rule(
        "fleet-agent",
        "gitops",
        "Rancher Fleet",
        _sa("cattle-fleet-*:*", "fleet-system:*", "fleet-default:*"),
        runs_tools=True,
    ),
    Rule(
        "config-sync",
        "gitops",
        "Config Sync",
        _sa("config-management-system:*reconciler*", "config-management-system:importer"),
    ),
    Rule(
        "other-gitops",
        "gitops",
        "a GitOps controller",
        (
            *_sa("kluctl-system:*", "pipecd:*", "projectsveltos:*", "open-cluster-management-agent:*"),
            *_any("kapp-controller*"),
        ),
        runs_tools=True,
    ),
)

_AUTOSCALERS = (
    Rule(
        "horizontal-pod-autoscaler",
        "autoscaler",
        "the horizontal pod autoscaler",
        _sa("kube-system:horizontal-pod-autoscaler"),
    ),
    Rule(
        "cluster-autoscaler",
        "autoscaler",
        "the cluster autoscaler",
        (*_any("*cluster-autoscaler*"), "system:cluster-autoscaler", "cluster-autoscaler"),
    ),
    Rule("karpenter", "autoscaler", "Karpenter", _any("karpenter*")),
    Rule("keda", "autoscaler", "KEDA", _any("keda-*", "keda")),
    Rule(
        "vertical-pod-autoscaler",
        "autoscaler",
        "the vertical pod autoscaler",
        (*_any("vpa-*", "*-vpa-*", "*vertical-pod-autoscaler*"), "system:vpa-*", "system:vertical-pod-autoscaler*"),
    ),
    Rule(
        "proportional-autoscaler",
        "autoscaler",
        "a cluster-proportional autoscaler",
        (*_any("*proportional-autoscaler*", "*dns-autoscaler*"), "system:dns-autoscaler"),
    ),
    Rule(
        "other-autoscaler",
        "autoscaler",
        "an autoscaler",
        (*_sa("knative-serving:*", "castai-agent:*"), *_any("*kube-downscaler*", "*scaling-operator*")),
    ),
)

_KUBE_CONTROLLERS = (
    "attachdetach-controller",
    "bootstrap-signer",
    "certificate-controller",
    "clusterrole-aggregation-controller",
    "cronjob-controller",
    "daemon-set-controller",
    "deployment-controller",
    "device-taint-eviction-controller",
    "disruption-controller",
    "endpoint-controller",
    "endpointslice*-controller",
    "ephemeral-volume-controller",
    "expand-controller",
    "generic-garbage-collector",
    "job-controller",
    "legacy-service-account-token-cleaner",
    "namespace-controller",
    "node-controller",
    "persistent-volume-binder",
    "pod-garbage-collector",
    "pv-protection-controller",
    "pvc-protection-controller",
    "replicaset-controller",
    "replication-controller",
    "resource-claim-controller",
    "resourcequota-controller",
    "root-ca-cert-publisher",
    "route-controller",
    "selinux-warning-controller",
    "service-account-controller",
    "service-cidrs-controller",
    "service-controller",
    "statefulset-controller",
    "storage-version-*",
    "storage-version-migrator-controller",
    "taint-eviction-controller",
    "token-cleaner",
    "ttl-after-finished-controller",
    "ttl-controller",
    "validatingadmissionpolicy-status-controller",
    "volumeattributesclass-protection-controller",
)

_CLUSTER = (
    Rule(
        "garbage-collector",
        "control-plane",
        "the garbage collector, which deletes what belonged to a deleted object",
        _sa("kube-system:generic-garbage-collector"),
    ),
    Rule(
        "kube-controller",
        "control-plane",
        "a controller of Kubernetes",
        (
            *_sa(*(f"kube-system:{name}" for name in _KUBE_CONTROLLERS)),
            *("system:kube-controller-manager", "system:cloud-controller-manager", "system:controller:*"),
            *_sa("kube-system:*cloud-controller-manager*"),
        ),
    ),
    Rule("kube-scheduler", "control-plane", "the scheduler", ("system:kube-scheduler", *_sa("kube-system:*scheduler"))),
    Rule("kube-apiserver", "control-plane", "the API server itself", ("system:apiserver", "system:aggregator")),
    Rule(
        "addon-manager",
        "control-plane",
        "the add-on manager, which runs kubectl",
        ("system:addon-manager", "system:kube-addon-manager", *_sa("kube-system:addon-manager")),
        runs_tools=True,
    ),
    Rule(
        "k3s",
        "control-plane",
        "k3s or RKE2 itself",
        ("system:k3s-*", "system:rke2-*", "k3s-*-controller", "rke2-*-controller"),
        runs_tools=True,
    ),
    Rule(
        "k3s-helm",
        "operator",
        "the Helm controller of k3s or RKE2",
        _sa("kube-system:helm-*"),
        runs_tools=True,
    ),
    Rule(
        "node",
        "node",
        "a node",
        ("system:node:*",),
        runs_tools=True,
    ),
    Rule("node-group", "node", "a node", groups=("system:nodes", "system:bootstrappers*"), runs_tools=True),
    Rule(
        "kube-proxy",
        "node",
        "kube-proxy",
        ("system:kube-proxy", *_sa("kube-system:kube-proxy*")),
    ),
)

_CLOUDS = (
    Rule("eks-machine", "control-plane", "EKS itself", ("eks:*", *_sa("kube-system:eks-*")), runs_tools=True),
    Rule(
        "aks-machine",
        "control-plane",
        "AKS itself",
        ("aksService", "aksProblemDetector", "hcpService", "aks-*", "acsService", "ccpService"),
        runs_tools=True,
    ),
    Rule("aks-node", "node", "an AKS node", ("nodeclient", "kubelet-nodepool-bootstrap"), runs_tools=True),
    Rule(
        "gke-machine",
        "control-plane",
        "GKE itself",
        (
            *("system:gke-*", "system:gcp-*", "system:clustermetrics", "system:managed-certificate-controller"),
            *("system:l7-lb-controller", "system:glbc", "system:resource-tracker", "system:pdcsi-controller"),
            *("service-*@container-engine-robot.iam.gserviceaccount.com", "*@cloudservices.gserviceaccount.com"),
            *_sa("gke-managed-*:*", "gke-gmp-system:*", "gmp-system:*"),
        ),
        runs_tools=True,
    ),
    Rule(
        "openshift-machine",
        "control-plane",
        "OpenShift itself",
        (*("system:openshift-*", "system:ovn-*"), *_sa("openshift*:*")),
        runs_tools=True,
    ),
)

_ADMISSION = (
    Rule(
        "policy-engine",
        "admission",
        "a policy engine",
        (
            *_sa("kyverno:*", "gatekeeper-system:*", "kubewarden:*", "opa:*", "neuvector:*", "polaris:*"),
            *_any("kyverno-*", "gatekeeper-*", "policy-server"),
            "system:azure-policy*",
            *_sa("kube-system:azure-policy*"),
        ),
    ),
    Rule(
        "sidecar-injector",
        "admission",
        "an injector of sidecars",
        _any("*sidecar-injector*", "*proxy-injector*", "*agent-injector*"),
    ),
)

_OPERATORS = (
    Rule("cert-manager", "operator", "cert-manager", (*_any("cert-manager*"), *_sa("cert-manager:*"))),
    Rule(
        "crossplane",
        "operator",
        "Crossplane",
        _sa("crossplane-system:*", "upbound-system:*"),
        runs_tools=True,
    ),
    Rule("external-secrets", "operator", "External Secrets", _any("external-secrets*", "*-external-secrets")),
    Rule("sealed-secrets", "operator", "Sealed Secrets", _any("sealed-secrets*", "*-sealed-secrets")),
    Rule("external-dns", "operator", "ExternalDNS", _any("external-dns*", "*-external-dns")),
    Rule(
        "vault",
        "operator",
        "Vault",
        (*_any("vault", "vault-*"), *_sa("vault-secrets-operator-system:*")),
    ),
    Rule(
        "service-mesh",
        "operator",
        "a service mesh",
        (
            *_sa("istio-system:*", "istio-operator:*", "linkerd*:*", "consul:*", "kuma-system:*", "kong-mesh-system:*"),
            *_any("istiod*", "consul-*", "aws-app-mesh*", "appmesh-controller*"),
        ),
        runs_tools=True,
    ),
    Rule(
        "network",
        "operator",
        "a network or ingress controller",
        (
            *_any("cilium*", "calico-*", "aws-node", "antrea-*", "*ingress-nginx*", "*nginx-ingress*", "traefik*"),
            *_any("*load-balancer-controller*", "metallb-*", "contour*", "kube-flannel*", "coredns", "kube-dns"),
            *_sa("tigera-operator:*", "calico-system:*", "metallb-system:*"),
        ),
    ),
    Rule(
        "storage",
        "operator",
        "a storage driver or backup",
        _any("*csi-*", "*-csi", "*provisioner*", "*snapshot-controller*", "*longhorn*", "rook-*", "velero*"),
        runs_tools=True,
    ),
    Rule(
        "progressive-delivery",
        "operator",
        "Argo Rollouts or Flagger",
        _any("*argo-rollouts*", "*flagger*"),
    ),
    Rule(
        "argo-workflows",
        "operator",
        "a controller of Argo Workflows or Argo Events",
        _any("*workflow-controller*", "argo-events-*", "*eventbus-controller*", "*sensor-controller*"),
    ),
    Rule(
        "monitoring",
        "operator",
        "a monitoring operator",
        _any("*prometheus*", "*grafana*", "metrics-server", "kube-state-metrics", "opentelemetry-*", "datadog*"),
    ),
    Rule(
        "data-operator",
        "operator",
        "an operator of databases or queues",
        _any(
            *("strimzi-*", "cnpg-*", "cloudnative-pg*", "*postgres-operator*", "elastic-operator", "*mysql-operator*"),
            *("rabbitmq-*operator*", "mongodb-*operator*", "redis-operator*", "*kafka-operator*"),
        ),
    ),
    Rule(
        "node-maintenance",
        "operator",
        "a controller that restarts nodes or pods",
        _any("kured*", "*reloader*", "*descheduler*", "system-upgrade*", "*node-termination-handler*"),
        runs_tools=True,
    ),
    Rule(
        "lifecycle-manager",
        "operator",
        "the Operator Lifecycle Manager",
        _sa("olm:*", "operators:*", "operator-lifecycle-manager:*"),
    ),
    Rule("rancher", "operator", "Rancher itself", _sa("cattle-*:*"), runs_tools=True),
    Rule(
        "tekton-controller",
        "operator",
        "a controller of Tekton",
        _sa("tekton-pipelines:*", "tekton-operator:*", "tekton-pipelines-resolvers:*"),
    ),
    Rule("terraform-operator", "operator", "a Terraform or Pulumi operator", _any("tf-runner*", "pulumi-*operator*")),
)

_CI = (
    Rule(
        "github",
        "ci",
        "GitHub Actions",
        (
            *_any("*actions-runner*", "*gha-runner*", "*gha-rs*", "*github-actions*"),
            *_sa("arc-runners:*", "arc-systems:*", "actions-runner-system:*"),
            *("*:assumed-role/*GitHub*", "*:assumed-role/*github*", "*github-actions*", "GitHubActions*"),
        ),
        runs_tools=True,
    ),
    Rule("gitlab", "ci", "GitLab CI", (*_any("*gitlab-runner*"), "*gitlab-runner*", "*gitlab-ci*"), runs_tools=True),
    Rule("gitlab-agent", "gitops", "the GitLab agent", _any("*gitlab-agent*")),
    Rule(
        "jenkins",
        "ci",
        "Jenkins",
        (*_any("*jenkins*"), "jenkins", "jenkins-*", "jenkins@*", "*:assumed-role/*[Jj]enkins*"),
        runs_tools=True,
    ),
    Rule("tekton", "ci", "Tekton", (*_any("tekton*", "*tekton-triggers*"), "*tekton*"), runs_tools=True),
    Rule("buildkite", "ci", "Buildkite", (*_any("*buildkite*"), "*buildkite*"), runs_tools=True),
    Rule("circleci", "ci", "CircleCI", (*_any("*circleci*"), "*circleci*"), runs_tools=True),
    Rule(
        "azure-devops",
        "ci",
        "Azure Pipelines",
        (*_any("azdev-sa-*", "*azure-pipelines*"), "*azure-pipelines*"),
        runs_tools=True,
    ),
    Rule("spinnaker", "ci", "Spinnaker", (*_any("*spinnaker*"), "*spinnaker*"), runs_tools=True),
    Rule(
        "terraform-runner",
        "ci",
        "a runner of Terraform",
        (*_any("atlantis*", "*tfc-agent*", "*spacelift*", "*env0-*"), "*atlantis*", "*spacelift*", "*terraform-cloud*"),
        runs_tools=True,
    ),
    Rule(
        "other-ci",
        "ci",
        "a CI system",
        (
            *_any("*teamcity*", "*bamboo*", "*drone-runner*", "*harness-delegate*", "*codefresh*", "gocd*"),
            *_any("*concourse*", "*woodpecker*", "argo-workflow", "argo-workflows-*"),
            *_sa("octopus-agent-*:*", "harness-delegate*:*"),
        ),
        runs_tools=True,
    ),
    Rule(
        "ci-user",
        "ci",
        "a user named as a pipeline",
        ("ci", "ci-*", "ci_*", "cicd*", "ci@*", "*-ci", "*-ci@*", "*-bot", "*-bot@*", "*:assumed-role/*[Cc]odeBuild*"),
        runs_tools=True,
    ),
)

_PEOPLE_AND_SHARED = (
    Rule(
        "eks-sso-person",
        "person",
        "session of an AWS IAM Identity Center role",
        ("arn:aws*:sts::*:assumed-role/AWSReservedSSO_*/*",),
        named_by="session",
    ),
    Rule(
        "eks-session-mail",
        "person",
        "session of an AWS role, named by a mail address",
        ("arn:aws*:sts::*:assumed-role/*/*@*",),
        named_by="session",
    ),
    Rule("eks-iam-user", "person", "an AWS IAM user", ("arn:aws*:iam::*:user/*",), named_by="arn"),
    Rule(
        "aws-account-root",
        "shared-credential",
        "the root user of an AWS account",
        ("arn:aws*:iam::*:root",),
        named_by="arn",
    ),
    Rule(
        "admin-certificate",
        "shared-credential",
        "an administrator's certificate or token that people share",
        (
            *(
                "kubernetes-admin",
                "kubernetes-super-admin",
                "kubernetes-admin@*",
                "system:admin",
                "kube-admin",
                "admin",
            ),
            *("minikube-user", "minikube", "docker-for-desktop", "docker-desktop", "kubecfg", "cluster-admin", "root"),
        ),
    ),
    Rule("aks-local-account", "shared-credential", "the local account of AKS", ("masterclient", "clusterAdmin")),
    Rule("gke-client-certificate", "shared-credential", "the client certificate of GKE", ("client",)),
    Rule("openshift-kubeadmin", "shared-credential", "the bootstrap user of OpenShift", ("kube:admin", "kubeadmin")),
    Rule(
        "eks-role",
        "unknown",
        "an AWS role whose session names nobody",
        ("arn:aws*:sts::*:assumed-role/*",),
        named_by="arn",
    ),
    Rule(
        "dashboard-account",
        "shared-credential",
        "the service account of a console",
        (*_sa("kubernetes-dashboard:*", "headlamp:*"), *_any("*kubernetes-dashboard*", "*headlamp*", "admin-user")),
    ),
    Rule(
        "gcp-default-account",
        "node",
        "the default account of Compute Engine, which nodes use",
        ("*-compute@developer.gserviceaccount.com",),
        runs_tools=True,
    ),
    Rule(
        "entra-object",
        "unknown",
        "an Entra object id, which may be a person or a program",
        ("????????-????-????-????-????????????",),
    ),
    Rule(
        "anonymous",
        "unknown",
        "nobody logged in",
        ("system:anonymous", "system:unauthenticated", "system:unsecured"),
    ),
)

RULES: tuple[Rule, ...] = (
    *_PEOPLE_BEHIND_PROXIES,
    *_GITOPS,
    *_AUTOSCALERS,
    *_CLUSTER,
    *_CLOUDS,
    *_ADMISSION,
    *_OPERATORS,
    *_CI,
    *_PEOPLE_AND_SHARED,
)
