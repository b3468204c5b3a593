"""Which kinds there are: resource names of audit events to kinds of manifests, and groups that mean the same.

Built-in kinds are those that a Kubernetes 1.34 API server serves and those it served in earlier versions; the custom
ones are the GitOps tools' and the add-ons' that break-glass stories are full of. A kind that stands nowhere here is no
error: its name then comes from the bodies of the records.
"""

from functools import cache

# One line a group: `group: Kind/resource ...`. `*` after a kind: not in a namespace.
_BUILT_IN = """
:Binding/bindings ComponentStatus*/componentstatuses ConfigMap/configmaps Endpoints/endpoints Event/events
:LimitRange/limitranges Namespace*/namespaces Node*/nodes PersistentVolume*/persistentvolumes Pod/pods
:PersistentVolumeClaim/persistentvolumeclaims PodTemplate/podtemplates Secret/secrets Service/services
:ReplicationController/replicationcontrollers ResourceQuota/resourcequotas ServiceAccount/serviceaccounts
admissionregistration.k8s.io:MutatingWebhookConfiguration*/mutatingwebhookconfigurations
admissionregistration.k8s.io:ValidatingWebhookConfiguration*/validatingwebhookconfigurations
admissionregistration.k8s.io:MutatingAdmissionPolicy*/mutatingadmissionpolicies
admissionregistration.k8s.io:MutatingAdmissionPolicyBinding*/mutatingadmissionpolicybindings
admissionregistration.k8s.io:ValidatingAdmissionPolicy*/validatingadmissionpolicies
admissionregistration.k8s.io:ValidatingAdmissionPolicyBinding*/validatingadmissionpolicybindings
apiextensions.k8s.io:CustomResourceDefinition*/customresourcedefinitions
apiregistration.k8s.io:APIService*/apiservices
apps:ControllerRevision/controllerrevisions DaemonSet/daemonsets Deployment/deployments ReplicaSet/replicasets
apps:StatefulSet/statefulsets
authentication.k8s.io:SelfSubjectReview*/selfsubjectreviews TokenReview*/tokenreviews TokenRequest/tokenrequests
authorization.k8s.io:LocalSubjectAccessReview/localsubjectaccessreviews SubjectAccessReview*/subjectaccessreviews
authorization.k8s.io:SelfSubjectAccessReview*/selfsubjectaccessreviews SelfSubjectRulesReview*/selfsubjectrulesreviews
autoscaling:HorizontalPodAutoscaler/horizontalpodautoscalers
batch:CronJob/cronjobs Job/jobs
certificates.k8s.io:CertificateSigningRequest*/certificatesigningrequests ClusterTrustBundle*/clustertrustbundles
certificates.k8s.io:PodCertificateRequest/podcertificaterequests
coordination.k8s.io:Lease/leases LeaseCandidate/leasecandidates
discovery.k8s.io:EndpointSlice/endpointslices
events.k8s.io:Event/events
flowcontrol.apiserver.k8s.io:FlowSchema*/flowschemas PriorityLevelConfiguration*/prioritylevelconfigurations
internal.apiserver.k8s.io:StorageVersion*/storageversions
networking.k8s.io:Ingress/ingresses IngressClass*/ingressclasses NetworkPolicy/networkpolicies IPAddress*/ipaddresses
networking.k8s.io:ServiceCIDR*/servicecidrs
node.k8s.io:RuntimeClass*/runtimeclasses
policy:PodDisruptionBudget/poddisruptionbudgets PodSecurityPolicy*/podsecuritypolicies
rbac.authorization.k8s.io:ClusterRole*/clusterroles ClusterRoleBinding*/clusterrolebindings Role/roles
rbac.authorization.k8s.io:RoleBinding/rolebindings
resource.k8s.io:DeviceClass*/deviceclasses DeviceTaintRule*/devicetaintrules ResourceClaim/resourceclaims
resource.k8s.io:ResourceClaimTemplate/resourceclaimtemplates ResourceSlice*/resourceslices
scheduling.k8s.io:PriorityClass*/priorityclasses
storage.k8s.io:CSIDriver*/csidrivers CSINode*/csinodes CSIStorageCapacity/csistoragecapacities
storage.k8s.io:StorageClass*/storageclasses VolumeAttachment*/volumeattachments
storage.k8s.io:VolumeAttributesClass*/volumeattributesclasses
storagemigration.k8s.io:StorageVersionMigration*/storageversionmigrations
"""

_CUSTOM = """
argoproj.io:Application/applications ApplicationSet/applicationsets AppProject/appprojects Rollout/rollouts
argoproj.io:AnalysisTemplate/analysistemplates AnalysisRun/analysisruns Experiment/experiments
argoproj.io:ClusterAnalysisTemplate*/clusteranalysistemplates EventBus/eventbus EventSource/eventsources Sensor/sensors
argoproj.io:Workflow/workflows WorkflowTemplate/workflowtemplates CronWorkflow/cronworkflows
argoproj.io:ClusterWorkflowTemplate*/clusterworkflowtemplates
kustomize.toolkit.fluxcd.io:Kustomization/kustomizations
helm.toolkit.fluxcd.io:HelmRelease/helmreleases
source.toolkit.fluxcd.io:GitRepository/gitrepositories HelmRepository/helmrepositories HelmChart/helmcharts
source.toolkit.fluxcd.io:OCIRepository/ocirepositories Bucket/buckets
notification.toolkit.fluxcd.io:Alert/alerts Provider/providers Receiver/receivers
image.toolkit.fluxcd.io:ImagePolicy/imagepolicies ImageRepository/imagerepositories
image.toolkit.fluxcd.io:ImageUpdateAutomation/imageupdateautomations
fleet.cattle.io:Bundle/bundles BundleDeployment/bundledeployments GitRepo/gitrepos
cert-manager.io:Certificate/certificates CertificateRequest/certificaterequests Issuer/issuers
cert-manager.io:ClusterIssuer*/clusterissuers
acme.cert-manager.io:Challenge/challenges Order/orders
external-secrets.io:ExternalSecret/externalsecrets SecretStore/secretstores ClusterSecretStore*/clustersecretstores
bitnami.com:SealedSecret/sealedsecrets
gateway.networking.k8s.io:Gateway/gateways GatewayClass*/gatewayclasses HTTPRoute/httproutes GRPCRoute/grpcroutes
gateway.networking.k8s.io:ReferenceGrant/referencegrants TCPRoute/tcproutes TLSRoute/tlsroutes
networking.istio.io:VirtualService/virtualservices DestinationRule/destinationrules Gateway/gateways Sidecar/sidecars
networking.istio.io:ServiceEntry/serviceentries EnvoyFilter/envoyfilters WorkloadEntry/workloadentries
security.istio.io:AuthorizationPolicy/authorizationpolicies PeerAuthentication/peerauthentications
monitoring.coreos.com:ServiceMonitor/servicemonitors PodMonitor/podmonitors PrometheusRule/prometheusrules
monitoring.coreos.com:Prometheus/prometheuses Alertmanager/alertmanagers AlertmanagerConfig/alertmanagerconfigs
keda.sh:ScaledObject/scaledobjects ScaledJob/scaledjobs TriggerAuthentication/triggerauthentications
autoscaling.k8s.io:VerticalPodAutoscaler/verticalpodautoscalers
karpenter.sh:NodePool*/nodepools NodeClaim*/nodeclaims
traefik.io:IngressRoute/ingressroutes Middleware/middlewares
kyverno.io:ClusterPolicy*/clusterpolicies Policy/policies PolicyException/policyexceptions
cilium.io:CiliumNetworkPolicy/ciliumnetworkpolicies
cilium.io:CiliumClusterwideNetworkPolicy*/ciliumclusterwidenetworkpolicies
projectcalico.org:NetworkPolicy/networkpolicies GlobalNetworkPolicy*/globalnetworkpolicies
crd.projectcalico.org:NetworkPolicy/networkpolicies GlobalNetworkPolicy*/globalnetworkpolicies
route.openshift.io:Route/routes
apps.openshift.io:DeploymentConfig/deploymentconfigs
apiextensions.crossplane.io:Composition*/compositions CompositeResourceDefinition*/compositeresourcedefinitions
k3s.cattle.io:Addon/addons
helm.cattle.io:HelmChart/helmcharts HelmChartConfig/helmchartconfigs
"""

# Kinds that moved, by their old group: `extensions/v1beta1` held what is now in three groups.
_MOVED = {
    ("extensions", "Deployment"): "apps",
    ("extensions", "DaemonSet"): "apps",
    ("extensions", "ReplicaSet"): "apps",
    ("extensions", "Ingress"): "networking.k8s.io",
    ("extensions", "NetworkPolicy"): "networking.k8s.io",
    ("extensions", "PodSecurityPolicy"): "policy",
    ("extensions", "ThirdPartyResource"): "extensions",
    ("events.k8s.io", "Event"): "",
}


@cache
def _table(text: str) -> dict[tuple[str, str], tuple[str, bool]]:
    """By (group, kind): (resource, whether it is in a namespace)."""
    table: dict[tuple[str, str], tuple[str, bool]] = {}
    for line in text.split("\n"):
        group, _, entries = line.partition(":")
        for entry in entries.split():
            kind, _, resource = entry.partition("/")
            table[group, kind.rstrip("*")] = (resource, not kind.endswith("*"))
    return table


@cache
def _known() -> dict[tuple[str, str], tuple[str, bool]]:
    known = _table(_BUILT_IN) | _table(_CUSTOM)
    moved = {(old, kind): known[new, kind] for (old, kind), new in _MOVED.items() if (new, kind) in known}
    return known | moved


@cache
def _by_resource() -> dict[tuple[str, str], str]:
    return {(group, resource): kind for (group, kind), (resource, _) in _known().items()}


def kind_of(api_group: str, resource: str) -> str | None:
    """The kind that `objectRef.resource` (plural) of `objectRef.apiGroup` stands for; None where it is not known."""
    return _by_resource().get((api_group, resource))


def resource_of(group: str, kind: str) -> str | None:
    """The plural resource name of a kind; None where it is not known."""
    entry = _known().get((group, kind))
    return entry[0] if entry else None


def plural(kind: str) -> str:
    """The resource's name as generators of custom resources make it from the kind (apimachinery,
    `meta.UnsafeGuessKindToResource`)."""
    name = kind.lower()
    if name.endswith("s"):
        return f"{name}es"
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def is_built_in(group: str, kind: str) -> bool:
    """Whether the API server itself defines the kind: its lists then have merge keys and its fields defaults."""
    return (canonical_group(group, kind), kind) in _table(_BUILT_IN)


def is_namespaced(group: str, kind: str) -> bool | None:
    """Whether objects of the kind live in a namespace; None where the kind is not known."""
    entry = _known().get((group, kind))
    return entry[1] if entry else None


def canonical_group(group: str, kind: str) -> str:
    """The group that holds the kind today: `extensions` Deployments are `apps` ones, however a client called them."""
    return _MOVED.get((group, kind), group)


def group_of(api_version: str) -> str:
    """The group in an `apiVersion`: `apps` of `apps/v1`, "" of `v1`."""
    group, slash, _ = api_version.partition("/")
    return group if slash else ""
