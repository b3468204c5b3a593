"""The defaults of the built-in kinds, by type: from `defaults.go` and the `+default` marks of Kubernetes 1.34.

A default is a value, or a function from the struct that lacks the field to a value (`NOTHING` for none).
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from auditor.model.resource import Json, JsonObject


class _Nothing:
    """A field stays away."""


NOTHING: Final = _Nothing()
Default: TypeAlias = Json | Callable[[JsonObject], "Json | _Nothing"]

_RBAC = "rbac.authorization.k8s.io"


def pull_policy(container: JsonObject, image: str = "image") -> Json:
    """Always for `latest` and for an image without tag and digest."""
    name = str(container.get(image) or "")
    if "@" in name:
        return "IfNotPresent"
    _, colon, tag = name.rpartition("/")[2].partition(":")
    return "Always" if not colon or tag == "latest" else "IfNotPresent"


def _only(key: str, value: str, then: Json) -> Callable[[JsonObject], "Json | _Nothing"]:
    """A default that a struct has only where its `key` is `value`."""
    return lambda struct: then if struct.get(key) == value else NOTHING


def _copy_of(key: str) -> Callable[[JsonObject], "Json | _Nothing"]:
    return lambda struct: struct[key] if struct.get(key) else NOTHING


def _volume_source(volume: JsonObject) -> Json | _Nothing:
    return {} if not volume.keys() - {"name"} else NOTHING


def _completions(job: JsonObject) -> Json | _Nothing:
    return 1 if job.get("parallelism") is None else NOTHING


def _backoff(job: JsonObject) -> Json:
    return 6 if job.get("backoffLimitPerIndex") is None else 2147483647


def _replacement(job: JsonObject) -> Json:
    return "TerminatingOrFailed" if job.get("podFailurePolicy") is None else "Failed"


def _policy_types(spec: JsonObject) -> Json:
    return ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _metrics(spec: JsonObject) -> Json | _Nothing:
    if "targetCPUUtilizationPercentage" in spec:
        return NOTHING  # a body in version 1
    target: Json = {"type": "Utilization", "averageUtilization": 80}
    return [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]


def _affinity(spec: JsonObject) -> Json | _Nothing:
    return {"clientIP": {"timeoutSeconds": 10800}} if spec.get("sessionAffinity") == "ClientIP" else NOTHING


def _internal(spec: JsonObject) -> Json | _Nothing:
    return "Cluster" if spec.get("type") in (None, "ClusterIP", "NodePort", "LoadBalancer") else NOTHING


def _external(spec: JsonObject) -> Json | _Nothing:
    outside = spec.get("type") in ("NodePort", "LoadBalancer") or spec.get("externalIPs")
    return "Cluster" if outside else NOTHING


def _subject_group(subject: JsonObject) -> Json | _Nothing:
    return _RBAC if subject.get("kind") in ("User", "Group") else NOTHING


def _singular(names: JsonObject) -> Json | _Nothing:
    return str(names["kind"]).lower() if names.get("kind") else NOTHING


def _list_kind(names: JsonObject) -> Json | _Nothing:
    return f"{names['kind']}List" if names.get("kind") else NOTHING


_RULES: Mapping[str, Json] = {
    "scaleUp": {
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ],
    },
    "scaleDown": {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]},
}
_CONTAINER: Mapping[str, Default] = {
    "imagePullPolicy": pull_policy,
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_RBD: Mapping[str, Default] = {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}
_SCALE_IO: Mapping[str, Default] = {"storageMode": "ThinProvisioned", "fsType": "xfs"}
_MODE: Mapping[str, Default] = {"defaultMode": 420}
_SELECTORS: Mapping[str, Default] = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}
_WEBHOOK: Mapping[str, Default] = {**_SELECTORS, "failurePolicy": "Fail", "timeoutSeconds": 10}

DEFAULTS: Mapping[str, Mapping[str, Default]] = {
    "core.Container": _CONTAINER,
    "core.EphemeralContainer": _CONTAINER,
    "core.ContainerPort": {"protocol": "TCP"},
    "core.PodSpec": {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        "schedulerName": "default-scheduler",
        "serviceAccount": _copy_of("serviceAccountName"),
        "serviceAccountName": _copy_of("serviceAccount"),
    },
    "core.Volume": {"emptyDir": _volume_source},
    "core.ImageVolumeSource": {"pullPolicy": lambda volume: pull_policy(volume, "reference")},
    "core.Probe": {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
    "core.HTTPGetAction": {"path": "/", "scheme": "HTTP"},
    "core.GRPCAction": {"service": ""},
    "core.SecretVolumeSource": _MODE,
    "core.ConfigMapVolumeSource": _MODE,
    "core.DownwardAPIVolumeSource": _MODE,
    "core.ProjectedVolumeSource": _MODE,
    "core.ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    "core.HostPathVolumeSource": {"type": ""},
    "core.RBDVolumeSource": _RBD,
    "core.RBDPersistentVolumeSource": _RBD,
    "core.ISCSIVolumeSource": {"iscsiInterface": "default"},
    "core.ISCSIPersistentVolumeSource": {"iscsiInterface": "default"},
    "core.ScaleIOVolumeSource": _SCALE_IO,
    "core.ScaleIOPersistentVolumeSource": _SCALE_IO,
    "core.AzureDiskVolumeSource": {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"},
    "core.FileKeySelector": {"optional": False},
    "core.ObjectFieldSelector": {"apiVersion": "v1"},
    "core.ServiceSpec": {
        "sessionAffinity": "None",
        "sessionAffinityConfig": _affinity,
        "type": "ClusterIP",
        "internalTrafficPolicy": _internal,
        "externalTrafficPolicy": _external,
        "allocateLoadBalancerNodePorts": _only("type", "LoadBalancer", True),
    },
    "core.ServicePort": {"protocol": "TCP", "targetPort": _copy_of("port")},
    "core.EndpointPort": {"protocol": "TCP"},
    "core.Secret": {"type": "Opaque"},
    "core.PersistentVolumeSpec": {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"},
    "core.PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
    "core.ReplicationControllerSpec": {"replicas": 1},
    "apps.DeploymentSpec": {
        "replicas": 1,
        "strategy": {},
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    },
    "apps.DeploymentStrategy": {
        "type": "RollingUpdate",
        "rollingUpdate": _only("type", "RollingUpdate", {}),
    },
    "apps.RollingUpdateDeployment": {"maxUnavailable": "25%", "maxSurge": "25%"},
    "apps.DaemonSetSpec": {"updateStrategy": {}, "revisionHistoryLimit": 10},
    "apps.DaemonSetUpdateStrategy": {
        "type": "RollingUpdate",
        "rollingUpdate": _only("type", "RollingUpdate", {}),
    },
    "apps.RollingUpdateDaemonSet": {"maxUnavailable": 1, "maxSurge": 0},
    "apps.StatefulSetSpec": {
        "podManagementPolicy": "OrderedReady",
        "updateStrategy": {},
        "persistentVolumeClaimRetentionPolicy": {},
        "replicas": 1,
        "revisionHistoryLimit": 10,
    },
    "apps.StatefulSetUpdateStrategy": {
        "rollingUpdate": lambda strategy: NOTHING if strategy.get("type") else {},
        "type": "RollingUpdate",
    },
    "apps.RollingUpdateStatefulSetStrategy": {"partition": 0},
    "apps.StatefulSetPersistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    "apps.ReplicaSetSpec": {"replicas": 1},
    "batch.CronJobSpec": {
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    },
    "batch.PodFailurePolicyOnPodConditionsPattern": {"status": "True"},
    "autoscaling.v2.HorizontalPodAutoscalerSpec": {"minReplicas": 1, "metrics": _metrics},
    "autoscaling.v2.HorizontalPodAutoscalerBehavior": _RULES,
    "networking.NetworkPolicyPort": {"protocol": "TCP"},
    "networking.NetworkPolicySpec": {"policyTypes": _policy_types},
    "networking.IngressClassParametersReference": {"scope": "Cluster"},
    "rbac.RoleRef": {"apiGroup": _RBAC},
    "rbac.Subject": {"apiGroup": _subject_group},
    "storage.StorageClass": {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
    "storage.CSIDriverSpec": {
        "attachRequired": True,
        "podInfoOnMount": False,
        "storageCapacity": False,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "volumeLifecycleModes": ["Persistent"],
        "requiresRepublish": False,
        "seLinuxMount": False,
    },
    "admissionregistration.ValidatingWebhook": _WEBHOOK,
    "admissionregistration.MutatingWebhook": {**_WEBHOOK, "reinvocationPolicy": "Never"},
    "admissionregistration.RuleWithOperations": {"scope": "*"},
    "admissionregistration.NamedRuleWithOperations": {"scope": "*"},
    "admissionregistration.ServiceReference": {"port": 443},
    "admissionregistration.ValidatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
    "admissionregistration.MatchResources": _SELECTORS,
    "admissionregistration.v1beta1.MutatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
    "admissionregistration.v1beta1.MatchResources": _SELECTORS,
    "admissionregistration.v1beta1.NamedRuleWithOperations": {"scope": "*"},
    "scheduling.PriorityClass": {"preemptionPolicy": "PreemptLowerPriority"},
    "discovery.EndpointPort": {"name": "", "protocol": "TCP"},
    "apiextensions.CustomResourceDefinitionSpec": {"conversion": {"strategy": "None"}},
    "apiextensions.CustomResourceDefinitionNames": {"singular": _singular, "listKind": _list_kind},
    "apiextensions.ServiceReference": {"port": 443},
    "apiregistration.ServiceReference": {"port": 443},
    "flowcontrol.FlowSchemaSpec": {"matchingPrecedence": 1000},
    "flowcontrol.LimitedPriorityLevelConfiguration": {"nominalConcurrencyShares": 30, "lendablePercent": 0},
    "flowcontrol.ExemptPriorityLevelConfiguration": {"nominalConcurrencyShares": 0, "lendablePercent": 0},
    "flowcontrol.QueuingConfiguration": {"handSize": 8, "queues": 64, "queueLengthLimit": 50},
}

OF_KIND: Mapping[str, Mapping[str, Mapping[str, Default]]] = {
    "Job": {
        "batch.JobSpec": {
            "completions": _completions,
            "parallelism": 1,
            "backoffLimit": _backoff,
            "completionMode": "NonIndexed",
            "suspend": False,
            "podReplacementPolicy": _replacement,
            "manualSelector": False,
        },
    },
    "Pod": {"core.PodSpec": {"enableServiceLinks": True}},
    "StatefulSet": {
        "core.PersistentVolumeClaim": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "status": {"phase": "Pending"},
        },
    },
}
"""Defaults that a type has in objects of one kind only: a Job's, and not those of a CronJob's template."""


def defaults_of(type_name: str, kind: str) -> Mapping[str, Default]:
    """The defaults of a type inside an object of a kind."""
    own = OF_KIND.get(kind, _NONE).get(type_name)
    return {**DEFAULTS.get(type_name, {}), **own} if own else DEFAULTS.get(type_name, _NO_DEFAULTS)


_NONE: Mapping[str, Mapping[str, Default]] = {}
_NO_DEFAULTS: Mapping[str, Default] = {}


def _limits(item: JsonObject) -> JsonObject:
    """A container's default is its maximum; its default request is the default, else the minimum."""
    if item.get("type") != "Container":
        return item
    limit = _both(item.get("max"), item.get("default"))
    request = _both(item.get("min"), _both(limit, item.get("defaultRequest")))
    return item | {"default": limit, "defaultRequest": request}


def _both(base: Json, over: Json) -> JsonObject:
    return (base if isinstance(base, dict) else {}) | (over if isinstance(over, dict) else {})


def _requests(pod: JsonObject) -> JsonObject:
    """A container's requests are its limits, where only those are given; in a Pod, and not in a template of Pods."""
    spec = pod.get("spec")
    if not isinstance(spec, dict):
        return pod
    filled: JsonObject = dict(spec)
    for key in ("containers", "initContainers"):
        containers = spec.get(key)
        if isinstance(containers, list):
            filled[key] = [_with_requests(container) for container in containers]
    return pod | {"spec": filled}


def _with_requests(container: Json) -> Json:
    resources = container.get("resources") if isinstance(container, dict) else None
    if not isinstance(container, dict) or not isinstance(resources, dict) or not resources.get("limits"):
        return container
    requests = _both(resources["limits"], resources.get("requests"))
    return container | {"resources": resources | {"requests": requests}}


def _behavior(behavior: JsonObject) -> JsonObject:
    """Rules for one direction keep what the other defaults of that direction are."""
    return behavior | {key: _both(rules, behavior.get(key)) for key, rules in _RULES.items()}


COMPLETED: Mapping[str, Callable[[JsonObject], JsonObject]] = {
    "core.LimitRangeItem": _limits,
    "core.Pod": _requests,
    "autoscaling.v2.HorizontalPodAutoscalerBehavior": _behavior,
}
"""Types whose defaults are more than a value for an absent field."""
