"""The acts of the recording, in their order: who, by which command, and what of it is whose.

For every act it is written by hand which objects it changes and which paths its request names. The values come from
the cluster, read before and after.
"""

import json
from dataclasses import dataclass
from typing import Any

import yaml

from tests.live.reconstruction_truth import Expected, created, deleted, updated

Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Raw:
    """A request that no command line tool sends."""

    method: str
    path: str
    body: Any
    content_type: str = "application/json"
    read_first: bool = False
    """Send what the server has, with `body` merged into it, as a client does that reads, modifies and writes."""


@dataclass(frozen=True, slots=True)
class Act:
    who: str
    does: str | Raw
    expected: tuple[Expected, ...] = ()
    """Nothing: no change, be it refused, a dry run or a write that changed nothing."""
    stdin: Any = None
    """Text, a manifest or a list of manifests."""
    editor: str = ""
    fails: bool = False
    channel: str = ""
    """Where it is not kubectl and the first word of the command."""

    @property
    def text(self) -> str:
        if self.stdin is None or isinstance(self.stdin, str):
            return self.stdin or ""
        manifests = self.stdin if isinstance(self.stdin, list) else [self.stdin]
        return yaml.safe_dump_all(manifests, sort_keys=False)

    @property
    def sent_by(self) -> str:
        if self.channel or not isinstance(self.does, str):
            return self.channel or "unknown"  # the client does not say what it is
        program, word = self.does.split()[:2]
        return f"kubectl {word}" if program == "kubectl" else program


def thing(version: str, kind: str, name: str, space: str = "shop", /, **more: Any) -> Manifest:
    metadata = {"name": name} | ({"namespace": space} if space else {}) | more.pop("metadata", {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def merged(base: Any, change: Any) -> Any:
    """A manifest with a change; None takes away."""
    if not isinstance(base, dict) or not isinstance(change, dict):
        return change
    result = {key: merged(base[key], change[key]) if key in change else base[key] for key in base}
    result |= {key: value for key, value in change.items() if key not in base}
    return {key: value for key, value in result.items() if value is not None}


def container(name: str = "app", **more: Any) -> Manifest:
    return {"name": name, "image": f"registry.acme.example/{name}:1.0.0", **more}


def workload(kind: str, name: str, *containers: Manifest, **spec: Any) -> Manifest:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": list(containers) or [container()]}}
    body = {"selector": {"matchLabels": labels}, "template": template} | spec
    space = body.pop("space", "shop")
    return thing("apps/v1", kind, name, space, spec=body)


def quoted(patch: Any) -> str:
    return "'" + json.dumps(patch) + "'"


def patching(target: str, patch: Any, type_: str = "strategic", more: str = "") -> str:
    return f"kubectl patch {target} --type={type_} {more} -p {quoted(patch)}"


POD = "spec.template.spec"
APP = f"{POD}.containers[name=app]"
WEB = "Deployment/shop/web"

web = workload(
    "Deployment",
    "web",
    container(
        env=[{"name": "LEVEL", "value": "info"}, {"name": "POOL", "value": "10"}],
        ports=[{"containerPort": 8080, "name": "http"}],
        resources={"requests": {"cpu": "100m", "memory": "64Mi"}},
        volumeMounts=[{"name": "tmp", "mountPath": "/tmp"}, {"name": "conf", "mountPath": "/etc/web"}],
        args=["--serve", "--verbose"],
    ),
    replicas=2,
)
web["spec"]["template"]["spec"]["volumes"] = [
    {"name": "tmp", "emptyDir": {}},
    {"name": "conf", "configMap": {"name": "web"}},
]
worker = workload("StatefulSet", "worker", container("worker"), serviceName="worker", replicas=3)
agent = workload("DaemonSet", "agent", container("agent"))
settings = thing("v1", "ConfigMap", "settings", data={"mode": "fast", "limits.yaml": "max: 5\n", "pool": "10"})
dns = thing(
    "v1",
    "Service",
    "dns",
    spec={
        "selector": {"app": "dns"},
        "ports": [
            {"name": "udp", "port": 53, "protocol": "UDP", "targetPort": 5353},
            {"name": "tcp", "port": 53, "protocol": "TCP", "targetPort": 5353},
            {"name": "metrics", "port": 9153},
        ],
    },
)
ingress = thing(
    "networking.k8s.io/v1",
    "Ingress",
    "front",
    metadata={"annotations": {"acme.example/timeout": "30"}},
    spec={
        "rules": [
            {
                "host": "shop.acme.example",
                "http": {
                    "paths": [
                        {
                            "path": "/",
                            "pathType": "Prefix",
                            "backend": {"service": {"name": "web", "port": {"number": 80}}},
                        }
                    ]
                },
            }
        ]
    },
)
policy = thing(
    "networking.k8s.io/v1",
    "NetworkPolicy",
    "web",
    spec={
        "podSelector": {"matchLabels": {"app": "web"}},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "front"}}}], "ports": [{"port": 8080}]}],
    },
)
hpa = thing(
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    "worker",
    spec={
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "worker"},
        "minReplicas": 2,
        "maxReplicas": 6,
        "metrics": [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}},
            }
        ],
    },
)
cron = thing(
    "batch/v1",
    "CronJob",
    "nightly",
    spec={
        "schedule": "0 2 * * *",
        "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container("job")]}}}},
    },
)
budget = thing(
    "policy/v1",
    "PodDisruptionBudget",
    "web",
    spec={"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
)
role = thing(
    "rbac.authorization.k8s.io/v1",
    "Role",
    "reader",
    rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}],
)
quota = thing("v1", "ResourceQuota", "limit", spec={"hard": {"pods": "50", "requests.cpu": "10"}})
volume = thing(
    "v1",
    "PersistentVolume",
    "disk",
    "",
    spec={"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}},
)
claim = thing(
    "v1",
    "PersistentVolumeClaim",
    "data",
    spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": ""},
)
widget = thing(
    "acme.example/v1",
    "Widget",
    "gear",
    spec={"size": 3, "teeth": [{"name": "a", "len": 1}, {"name": "b", "len": 2}], "nested": {"deep": {"on": True}}},
)
definition = yaml.safe_load(
    """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.acme.example}
spec:
  group: acme.example
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-preserve-unknown-fields: true
            properties:
              colour: {type: string, default: grey}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""
)
tracked = {"argocd.argoproj.io/tracking-id": "api:apps/Deployment:shop/api"}
api = merged(
    workload("Deployment", "api", container(env=[{"name": "LEVEL", "value": "info"}]), replicas=2),
    {"metadata": {"annotations": tracked}},
)
sidecar = container("sidecar")
flux_web = merged(
    workload("Deployment", "flow", container(ports=[{"containerPort": 80}]), replicas=1, space="pay"),
    {"metadata": {"labels": {"team": "pay", "tier": "back"}}},
)
flux_config = thing("v1", "ConfigMap", "flow", "pay", data={"a": "1", "b": "2"})

KEEP = "--from-literal"


def _workloads() -> list[Act]:
    """Deployments, by every command that is made for them."""
    image = merged(web, {"spec": {"replicas": 4}})
    fewer = merged(image, {"metadata": {"labels": {"tier": "front"}}})
    return [
        Act("mara", "kubectl create namespace shop", created("Namespace//shop")),
        Act("mara", "kubectl create namespace pay --dry-run=server"),
        Act("admin", "kubectl create namespace pay", created("Namespace//pay")),
        Act("mara", "kubectl apply -f -", created(WEB), web),
        Act("mara", "kubectl apply -f -", (), web),
        Act("mara", "kubectl apply -f -", updated(WEB, "spec.replicas"), image),
        Act("mara", "kubectl apply -f -", updated(WEB, "metadata.labels.tier"), fewer),
        Act("mara", "kubectl apply -f -", updated(WEB, "metadata.labels"), image),
        Act("mara", "kubectl apply --dry-run=server -f -", (), merged(image, {"spec": {"replicas": 9}})),
        Act("mara", "kubectl diff -f -", (), merged(image, {"spec": {"replicas": 9}}), fails=True),
        Act(
            "jonas",
            "kubectl edit deploy web",
            updated(WEB, f"{APP}.image"),
            editor="sed -i s/app:1.0.0/app:1.0.1/",
        ),
        Act(
            "jonas",
            "kubectl edit deploy web",
            updated(WEB, f"{APP}.args", f"{APP}.env[name=POOL]"),
            editor="sed -i -e '/--verbose/d' -e '/- name: POOL/d' -e '/value: \"10\"/d'",
        ),
        Act("mara", "kubectl set image deploy/web app=registry.acme.example/app:1.0.2", updated(WEB, f"{APP}.image")),
        Act("mara", "kubectl set image deploy/web app=registry.acme.example/app:1.0.2"),
        Act(
            "mara",
            "kubectl set env deploy/web LEVEL=debug EXTRA=1",
            updated(WEB, f"{APP}.env[name=LEVEL]", f"{APP}.env[name=EXTRA]"),
        ),
        Act("mara", "kubectl set env deploy/web EXTRA-", updated(WEB, f"{APP}.env[name=EXTRA]")),
        Act(
            "mara",
            "kubectl set resources deploy/web --limits=cpu=500m,memory=1Gi --requests=cpu=0.1",
            updated(WEB, f"{APP}.resources.limits"),
        ),
        Act(
            "mara",
            "kubectl set serviceaccount deploy/web runner",
            updated(WEB, f"{POD}.serviceAccountName", beside=(f"{POD}.serviceAccount",)),
        ),
        Act("jonas", "kubectl scale deploy/web --replicas=5", updated(WEB, "spec.replicas")),
        Act("jonas", "kubectl scale deploy/web --replicas=5"),
        Act("jonas", "kubectl scale deploy/web --current-replicas=5 --replicas=3", updated(WEB, "spec.replicas")),
        Act("jonas", "kubectl scale deploy/web --current-replicas=7 --replicas=1", fails=True),
        Act("mara", "kubectl rollout restart deploy/web", updated(WEB, "spec.template.metadata.annotations")),
        Act("mara", "kubectl rollout pause deploy/web", updated(WEB, "spec.paused")),
        Act("mara", "kubectl rollout resume deploy/web", updated(WEB, "spec.paused")),
        Act("mara", "kubectl label deploy/web team=a release=x", updated(WEB, "metadata.labels")),
        Act("mara", "kubectl label deploy/web team=b --overwrite", updated(WEB, "metadata.labels.team")),
        Act("mara", "kubectl label deploy/web team- release-", updated(WEB, "metadata.labels")),
        Act(
            "mara",
            "kubectl annotate deploy/web acme.example/note=hello kubernetes.io/change-cause=why",
            updated(WEB, 'metadata.annotations["acme.example/note"]'),
        ),
        Act(
            "mara",
            "kubectl annotate deploy/web acme.example/note-",
            updated(WEB, 'metadata.annotations["acme.example/note"]'),
        ),
        Act("mara", "kubectl annotate deploy/web kubernetes.io/change-cause=again --overwrite"),
        *_patches(),
    ]


def _patches() -> list[Act]:
    first = "/spec/template/spec/containers/0"
    on_image = [
        {"op": "test", "path": f"{first}/name", "value": "app"},
        {"op": "replace", "path": f"{first}/image", "value": "registry.acme.example/app:2.0.0"},
        {"op": "add", "path": f"{first}/env/-", "value": {"name": "ADDED", "value": "1"}},
    ]
    both = {
        "spec": {"template": {"spec": {"containers": [container("app", image="registry.acme.example/app:3"), sidecar]}}}
    }
    whole = {"spec": {"template": {"spec": {"containers": [{**sidecar, "imagePullPolicy": "Always"}, container()]}}}}
    given_back = {"spec": {"template": {"spec": {"containers": [{"name": "sidecar", "$patch": "delete"}]}}}}
    recreate = {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}}}
    retained = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    mount = {"spec": {"template": {"spec": {"volumes": [{"name": "tmp", "$patch": "delete"}]}}}}
    unmount = {"name": "app", "volumeMounts": [{"mountPath": "/tmp", "$patch": "delete"}]}
    mount["spec"]["template"]["spec"]["containers"] = [unmount]  # type: ignore[assignment]
    side = f"{POD}.containers[name=sidecar]"
    filled = ("imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy")
    return [
        Act(
            "mara",
            patching("deploy web", on_image, "json"),
            updated(WEB, f"{APP}.image", f"{APP}.env[name=ADDED]"),
        ),
        Act(
            "mara", patching("deploy web", [{"op": "test", "path": "/spec/replicas", "value": 99}], "json"), fails=True
        ),
        Act(
            "mara",
            patching("deploy web", [{"op": "remove", "path": f"{first}/env/0"}], "json"),
            updated(WEB, f"{APP}.env[name=LEVEL]"),
        ),
        Act(
            "mara",
            patching(
                "deploy web",
                [{"op": "move", "from": "/metadata/labels", "path": "/spec/template/metadata/annotations"}],
                "json",
            ),
            fails=True,
        ),
        Act(
            "jonas",
            patching("deploy web", both),
            updated(WEB, f"{APP}.image", f"{side}.image", beside=tuple(f"{side}.{key}" for key in filled)),
        ),
        Act("jonas", patching("deploy web", given_back), updated(WEB, side)),
        Act(
            "jonas",
            patching("deploy web", whole, "merge"),
            updated(
                WEB,
                APP,
                f"{side}.image",
                f"{side}.imagePullPolicy",
                beside=(f"{side}.terminationMessagePath", f"{side}.terminationMessagePolicy"),
            ),
        ),
        Act("jonas", patching("deploy web", recreate, "merge"), updated(WEB, "spec.strategy")),
        Act(
            "jonas",
            patching("deploy web", {"spec": {"strategy": None}}, "merge"),
            updated(WEB, "spec.strategy.type", beside=("spec.strategy.rollingUpdate",)),
        ),
        Act("jonas", patching("deploy web", retained), updated(WEB, "spec.strategy")),
        Act("jonas", patching("deploy web", {"spec": {"replicas": None}}, "merge"), updated(WEB, "spec.replicas")),
        Act(
            "jonas",
            patching("deploy web", {"spec": {"replicas": 3}}, more="--subresource=scale"),
            updated(WEB, "spec.replicas"),
        ),
        Act("jonas", patching("deploy web", {"spec": {"replicas": 3}}, "merge")),
        Act("jonas", patching("deploy web", {"spec": {"replicas": 8}}, "merge", "--dry-run=server")),
        Act("jonas", patching("deploy web", {"spec": {"replicas": -1}}, "merge"), fails=True),
        Act("intern", patching("deploy web", {"spec": {"replicas": 0}}, "merge"), fails=True),
        Act("intern", "kubectl delete deploy web", fails=True),
        Act("jonas", patching("deploy web", {"status": {"observedGeneration": 1}}, "merge", "--subresource=status")),
        Act("jonas", patching("deploy web", mount), updated(WEB, f"{POD}.volumes")),
        Act(
            "mara",
            "kubectl replace -f -",
            updated(
                WEB,
                "spec.replicas",
                APP,
                POD,
                "spec.strategy",
                "spec.template.metadata.annotations",
            ),
            web,
        ),
        Act("mara", "kubectl replace -f -", (), web),
        Act(
            "mara",
            "kubectl replace --force -f -",
            (Expected("delete", WEB, channel="kubectl delete"), *created(WEB)),
            web,
        ),
        Act(
            "jonas",
            "kubectl replace -f -",
            (),
            merged(web, {"metadata": {"resourceVersion": "1"}}),
            fails=True,
        ),
    ]


def _other_workloads() -> list[Act]:
    w, a = "StatefulSet/shop/worker", "DaemonSet/shop/agent"
    c, j = "CronJob/shop/nightly", "Job/shop/by-hand"
    job = f"spec.jobTemplate.{POD}.containers[name=job]"
    return [
        Act("mara", "kubectl create -f -", (*created(w), *created(a)), [worker, agent]),
        Act("mara", "kubectl scale sts/worker --replicas=4", updated(w, "spec.replicas")),
        Act(
            "hpa",
            Raw(
                "PUT",
                "/apis/apps/v1/namespaces/shop/statefulsets/worker/scale",
                {"spec": {"replicas": 5}},
                read_first=True,
            ),
            updated(w, "spec.replicas"),
        ),
        Act(
            "hpa",
            Raw(
                "PUT",
                "/apis/apps/v1/namespaces/shop/statefulsets/worker/scale",
                {"spec": {"replicas": 5}},
                read_first=True,
            ),
        ),
        Act(
            "mara",
            "kubectl rollout restart sts/worker ds/agent",
            (*updated(w, "spec.template.metadata.annotations"), *updated(a, "spec.template.metadata.annotations")),
        ),
        Act(
            "mara",
            patching("sts worker", {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 2}}}}),
            updated(w, "spec.updateStrategy"),
        ),
        Act("mara", patching("sts worker", {"spec": {"serviceName": "other"}}), fails=True),
        Act(
            "mara",
            patching(
                "ds agent",
                {
                    "spec": {
                        "template": {"spec": {"nodeSelector": {"disk": "ssd"}, "tolerations": [{"operator": "Exists"}]}}
                    }
                },
            ),
            updated(a, f"{POD}.nodeSelector", f"{POD}.tolerations"),
        ),
        Act(
            "mara",
            patching(
                "ds agent", {"spec": {"template": {"spec": {"nodeSelector": None, "hostNetwork": True}}}}, "merge"
            ),
            updated(a, f"{POD}.nodeSelector", f"{POD}.hostNetwork"),
        ),
        Act("mara", "kubectl delete sts worker --cascade=orphan --wait=false", deleted(w)),
        Act(
            "collector",
            Raw(
                "PATCH",
                "/apis/apps/v1/namespaces/shop/statefulsets/worker",
                {"metadata": {"finalizers": None}},
                "application/merge-patch+json",
            ),
            updated(w, "metadata.finalizers"),
        ),
        Act("mara", "kubectl create -f -", created(c), cron),
        Act(
            "mara",
            patching("cronjob nightly", {"spec": {"suspend": True, "schedule": "0 3 * * *"}}),
            updated(c, "spec.suspend", "spec.schedule"),
        ),
        Act("mara", "kubectl set image cronjob/nightly job=registry.acme.example/job:2", updated(c, f"{job}.image")),
        Act("mara", "kubectl create job by-hand --from=cronjob/nightly", created(j)),
        Act(
            "mara",
            patching("job by-hand", {"spec": {"suspend": True, "backoffLimit": 2}}),
            updated(j, "spec.suspend", "spec.backoffLimit"),
        ),
        Act("mara", "kubectl delete job by-hand --wait=false", deleted(j)),
        Act(
            "mara",
            "kubectl create deployment tool --image=registry.acme.example/tool:1 --replicas=2",
            created("Deployment/shop/tool"),
        ),
        Act("mara", "kubectl create deployment tool --image=registry.acme.example/tool:1", fails=True),
        Act("mara", "kubectl run shell --image=registry.acme.example/shell:1", created("Pod/shop/shell")),
        Act("mara", "kubectl exec shell -- ls", fails=True),
        Act("mara", "kubectl label pod shell debug=yes", updated("Pod/shop/shell", "metadata.labels.debug")),
        Act(
            "mara",
            "kubectl set image pod/shell shell=registry.acme.example/shell:2",
            updated("Pod/shop/shell", "spec.containers[name=shell].image"),
        ),
        Act("mara", "kubectl expose deploy tool --port=80 --target-port=8080", created("Service/shop/tool")),
        Act(
            "mara",
            "kubectl autoscale deploy tool --min=1 --max=4 --cpu-percent=60",
            created("HorizontalPodAutoscaler/shop/tool"),
        ),
        Act("mara", "kubectl delete pod shell", deleted("Pod/shop/shell")),
        Act("mara", "kubectl delete deploy tool --dry-run=server"),
        Act(
            "mara",
            "kubectl delete deploy,svc,hpa tool",
            deleted("Deployment/shop/tool", "Service/shop/tool", "HorizontalPodAutoscaler/shop/tool"),
        ),
    ]


def _configuration() -> list[Act]:
    s, k = "ConfigMap/shop/settings", "Secret/shop/db"
    return [
        Act("jonas", "kubectl create -f -", created(s), settings),
        Act(
            "jonas",
            "kubectl edit cm settings",
            updated(s, "data.mode", 'data["limits.yaml"]'),
            editor="sed -i -e 's/mode: fast/mode: slow/' -e 's/max: 5/max: 6/'",
        ),
        Act("jonas", "kubectl edit cm settings", fails=False, editor="true", channel="kubectl edit"),
        Act(
            "jonas",
            patching("cm settings", {"data": {"pool": None, "new": "x"}}, "merge"),
            updated(s, "data.pool", "data.new"),
        ),
        Act(
            "jonas",
            patching(
                "cm settings", [{"op": "replace", "path": "/data", "value": {"mode": "slow", "only": "1"}}], "json"
            ),
            updated(s, "data"),
        ),
        Act("jonas", "kubectl replace -f -", updated(s, "data", "immutable"), merged(settings, {"immutable": True})),
        Act("jonas", patching("cm settings", {"data": {"mode": "x"}}, "merge"), fails=True),
        Act(
            "jonas",
            "kubectl create configmap made --from-literal=a=1 --from-literal=b=2",
            created("ConfigMap/shop/made"),
        ),
        Act(
            "jonas",
            "kubectl create -f -",
            created("ConfigMap/shop/job-*"),
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"generateName": "job-", "namespace": "shop"},
                "data": {"a": "b"},
            },
        ),
        Act("jonas", "kubectl create secret generic db --from-literal=password=first", created(k)),
        Act(
            "jonas",
            "kubectl apply -f -",
            updated(k, "data"),
            thing("v1", "Secret", "db", stringData={"password": "second", "user": "shop"}, type="Opaque"),
        ),
        Act("jonas", patching("secret db", {"data": {"user": None}}, "merge"), updated(k, "data.user")),
        Act("jonas", patching("secret db", {"stringData": {"password": "third"}}), updated(k, "data.password")),
        Act("jonas", "kubectl create serviceaccount runner", created("ServiceAccount/shop/runner")),
        Act(
            "jonas",
            patching("sa runner", {"imagePullSecrets": [{"name": "mirror"}], "automountServiceAccountToken": False}),
            updated("ServiceAccount/shop/runner", "imagePullSecrets", "automountServiceAccountToken"),
        ),
        Act("jonas", "kubectl create token runner"),
        Act(
            "jonas",
            "kubectl delete cm --all",
            deleted("ConfigMap/shop/settings", "ConfigMap/shop/made", "ConfigMap/shop/job-*"),
        ),
        Act("ci", "kubectl create configmap one --from-literal=a=1", created("ConfigMap/shop/one")),
        Act("ci", "kubectl create configmap two --from-literal=a=1", created("ConfigMap/shop/two")),
        Act(
            "ci",
            "kubectl label cm one two batch=1",
            (*updated("ConfigMap/shop/one", "metadata.labels"), *updated("ConfigMap/shop/two", "metadata.labels")),
        ),
        Act(
            "jonas",
            Raw(
                "DELETE",
                "/api/v1/namespaces/shop/configmaps?labelSelector=batch%3D1",
                {"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]},
            ),
        ),
        Act(
            "jonas",
            Raw("DELETE", "/api/v1/namespaces/shop/configmaps?labelSelector=batch%3D1", None),
            deleted("ConfigMap/shop/one", "ConfigMap/shop/two"),
        ),
    ]


def _networking() -> list[Act]:
    d, i, n, h, b = (
        "Service/shop/dns",
        "Ingress/shop/front",
        "NetworkPolicy/shop/web",
        "HorizontalPodAutoscaler/shop/worker",
        "PodDisruptionBudget/shop/web",
    )
    renamed = merged(
        dns,
        {
            "spec": {
                "ports": [
                    *dns["spec"]["ports"][:1],
                    {"name": "tcp", "port": 53, "protocol": "TCP", "targetPort": 5300},
                    {"name": "metrics", "port": 9153},
                ]
            }
        },
    )
    v1 = {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "worker", "namespace": "shop"},
    }
    return [
        Act("mara", "kubectl apply -f -", created(d, i, n, h, b), [dns, ingress, policy, hpa, budget]),
        Act(
            "mara",
            patching("svc dns", {"spec": {"ports": [{"port": 9153, "targetPort": 9999}]}}),
            updated(d, "spec.ports[port=9153,protocol=TCP].targetPort"),
        ),
        Act(
            "mara",
            "kubectl replace -f -",
            updated(d, "spec.ports[port=53,protocol=TCP].targetPort", "spec.ports[port=9153,protocol=TCP].targetPort"),
            renamed,
        ),
        Act("mara", "kubectl set selector svc dns app=dns,tier=net", updated(d, "spec.selector")),
        Act(
            "mara",
            patching("svc dns", {"spec": {"type": "NodePort"}}),
            updated(d, "spec.type", beside=("spec.ports", "spec.externalTrafficPolicy")),
        ),
        Act(
            "mara",
            patching("svc dns", [{"op": "remove", "path": "/spec/ports/2"}], "json"),
            updated(d, "spec.ports[port=9153]", "spec.ports[port=9153,protocol=TCP]"),
        ),
        Act(
            "mara",
            patching("svc dns", {"spec": {"type": "ClusterIP"}}),
            updated(d, "spec.type", beside=("spec.ports", "spec.externalTrafficPolicy")),
        ),
        Act(
            "mara",
            patching(
                "svc dns",
                {"spec": {"ports": [{"port": 53, "protocol": "TCP", "name": "tcp"}], "sessionAffinity": "ClientIP"}},
                "merge",
            ),
            updated(d, "spec.ports", "spec.sessionAffinity", beside=("spec.sessionAffinityConfig",)),
        ),
        Act(
            "mara",
            patching(
                "ingress front", [{"op": "replace", "path": "/spec/rules/0/host", "value": "www.acme.example"}], "json"
            ),
            updated(i, "spec.rules"),
        ),
        Act(
            "mara",
            "kubectl edit ingress front",
            updated(i, "spec.rules", 'metadata.annotations["acme.example/timeout"]'),
            editor="sed -i -e 's/number: 80/number: 8080/' -e '/timeout:/s/30/60/'",
        ),
        Act(
            "mara",
            "kubectl annotate ingress front acme.example/timeout-",
            updated(i, 'metadata.annotations["acme.example/timeout"]'),
        ),
        Act("mara", patching("netpol web", {"spec": {"ingress": [{}]}}), updated(n, "spec.ingress")),
        Act("mara", patching("netpol web", {"spec": {"ingress": None}}, "merge"), updated(n, "spec.ingress")),
        Act(
            "mara",
            patching(
                "hpa worker",
                {"spec": {"maxReplicas": 9, "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}}}},
            ),
            updated(
                h, "spec.maxReplicas", "spec.behavior.scaleDown.stabilizationWindowSeconds", beside=("spec.behavior",)
            ),
        ),
        Act(
            "mara",
            patching(
                "hpa worker",
                {
                    "spec": {
                        "metrics": [
                            {
                                "type": "Resource",
                                "resource": {
                                    "name": "cpu",
                                    "target": {"type": "Utilization", "averageUtilization": 55},
                                },
                            }
                        ]
                    }
                },
                "merge",
            ),
            updated(h, "spec.metrics"),
        ),
        Act(
            "mara",
            patching(
                "hpa.v1.autoscaling worker", {"spec": {"targetCPUUtilizationPercentage": 45, "minReplicas": 3}}, "merge"
            ),
            updated(h, "spec.metrics", "spec.minReplicas"),
        ),
        Act(
            "jonas",
            Raw(
                "PATCH",
                "/apis/autoscaling/v1/namespaces/shop/horizontalpodautoscalers/worker",
                {"spec": {"targetCPUUtilizationPercentage": 50}},
                "application/merge-patch+json",
            ),
            updated(h, "spec.metrics"),
        ),
        Act(
            "mara",
            "kubectl apply -f -",
            updated(h, "spec.minReplicas", "spec.maxReplicas", "spec.metrics"),
            merged(
                v1,
                {
                    "spec": {
                        "scaleTargetRef": hpa["spec"]["scaleTargetRef"],
                        "minReplicas": 1,
                        "maxReplicas": 5,
                        "targetCPUUtilizationPercentage": 45,
                    }
                },
            ),
        ),
        Act(
            "mara",
            patching("pdb web", {"spec": {"minAvailable": None, "maxUnavailable": "25%"}}, "merge"),
            updated(b, "spec.minAvailable", "spec.maxUnavailable"),
        ),
        Act("mara", "kubectl delete ingress --all", deleted(i)),
    ]


def _cluster() -> list[Act]:
    r, rb = "Role/shop/reader", "RoleBinding/shop/readers"
    p, q = "PersistentVolume//disk", "PersistentVolumeClaim/shop/data"
    n = "Node//node-1"
    two = [*role["rules"], {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"]}]
    return [
        Act("admin", "kubectl create -f -", created(r), role),
        Act("admin", "kubectl create rolebinding readers --role=reader --user=intern@acme.example", created(rb)),
        Act("admin", "kubectl set subject rolebinding readers --user=jonas@acme.example", updated(rb, "subjects")),
        Act("admin", "kubectl apply -f -", updated(r, "rules"), merged(role, {"rules": two})),
        Act(
            "admin",
            "kubectl auth reconcile -f -",
            updated(r, "rules"),
            merged(role, {"rules": [*two, {"apiGroups": [""], "resources": ["services"], "verbs": ["get"]}]}),
        ),
        Act(
            "admin",
            patching("role reader", [{"op": "add", "path": "/rules/0/verbs/-", "value": "watch"}], "json"),
            updated(r, "rules"),
        ),
        Act(
            "admin",
            "kubectl create clusterrole break-glass --verb=* --resource=pods",
            created("ClusterRole//break-glass"),
        ),
        Act(
            "admin",
            "kubectl create clusterrolebinding break-glass --clusterrole=break-glass --group=oncall",
            created("ClusterRoleBinding//break-glass"),
        ),
        Act("admin", "kubectl delete clusterrolebinding break-glass", deleted("ClusterRoleBinding//break-glass")),
        Act("admin", "kubectl create -f -", created("Node//node-1"), thing("v1", "Node", "node-1", "")),
        Act("admin", "kubectl taint node node-1 dedicated=shop:NoSchedule", updated(n, "spec.taints")),
        Act("admin", "kubectl cordon node-1", updated(n, "spec.unschedulable")),
        Act("admin", "kubectl cordon node-1"),
        Act("admin", "kubectl uncordon node-1", updated(n, "spec.unschedulable")),
        Act("admin", "kubectl taint node node-1 dedicated-", updated(n, "spec.taints")),
        Act("admin", "kubectl label node node-1 zone=a", updated(n, "metadata.labels.zone")),
        Act("admin", "kubectl apply -f -", created(p), volume),
        Act("admin", "kubectl apply -f -", created(q), claim),
        Act(
            "admin",
            patching("pv disk", {"spec": {"persistentVolumeReclaimPolicy": "Delete"}}),
            updated(p, "spec.persistentVolumeReclaimPolicy"),
        ),
        Act("admin", "kubectl delete pvc data --wait=false", deleted(q)),
        Act("admin", "kubectl delete pvc data --wait=false"),
        Act(
            "admin",
            patching("pvc data", {"metadata": {"finalizers": None}}, "merge"),
            updated(q, "metadata.finalizers"),
        ),
        Act("admin", "kubectl create quota limit --hard=pods=50,requests.cpu=10", created("ResourceQuota/shop/limit")),
        Act(
            "admin",
            "kubectl apply -f -",
            updated("ResourceQuota/shop/limit", "spec.hard"),
            merged(quota, {"spec": {"hard": {"requests.cpu": "10000m", "pods": "60"}}}),
        ),
        Act("admin", "kubectl create priorityclass vital --value=1000", created("PriorityClass//vital")),
        Act("admin", "kubectl label ns pay team=pay", updated("Namespace//pay", "metadata.labels.team")),
    ]


def _custom() -> list[Act]:
    w = "Widget/shop/gear"
    teeth = [{"name": "a", "len": 9}]
    applied = thing("acme.example/v1", "Widget", "wheel", spec={"size": 1, "list": [1, 2]})
    return [
        Act("mara", "kubectl create -f -", created("CustomResourceDefinition//widgets.acme.example"), definition),
        Act("mara", "kubectl apply -f -", created(w), widget),
        Act("mara", patching("widget gear", {"spec": {"teeth": teeth}}, "merge"), updated(w, "spec.teeth")),
        Act(
            "mara",
            patching("widget gear", [{"op": "add", "path": "/spec/teeth/0", "value": {"name": "z", "len": 0}}], "json"),
            updated(w, "spec.teeth"),
        ),
        Act(
            "mara",
            "kubectl apply -f -",
            updated(w, "spec.size", "spec.nested", "spec.teeth"),
            merged(widget, {"spec": {"size": 4, "nested": None}}),
        ),
        Act("mara", "kubectl edit widget gear", updated(w, "spec.colour"), editor="sed -i s/colour:.*/colour:\\ red/"),
        Act("mara", "kubectl label widget gear a=b", updated(w, "metadata.labels.a")),
        Act("mara", patching("widget gear", {"status": {"ready": True}}, "merge", "--subresource=status")),
        Act(
            "mara",
            patching("widget gear", {"metadata": {"finalizers": ["acme.example/hold"]}}, "merge"),
            updated(w, "metadata.finalizers"),
        ),
        Act("mara", "kubectl delete widget gear --wait=false", deleted(w)),
        Act(
            "jonas",
            Raw(
                "PATCH",
                "/apis/acme.example/v1/namespaces/shop/widgets/gear",
                {"metadata": {"finalizers": []}},
                "application/merge-patch+json",
            ),
            updated(w, "metadata.finalizers"),
        ),
        Act(
            "flux",
            "kubectl apply --server-side --field-manager=kustomize-controller -f -",
            created("Widget/shop/wheel"),
            applied,
            channel="API client",
        ),
        Act(
            "flux",
            "kubectl apply --server-side --field-manager=kustomize-controller -f -",
            updated("Widget/shop/wheel", "spec.list"),
            merged(applied, {"spec": {"list": [2, 3]}}),
            channel="API client",
        ),
        Act(
            "flux",
            "kubectl apply --server-side --field-manager=kustomize-controller -f -",
            updated("Widget/shop/wheel", "spec.list"),
            merged(applied, {"spec": {"list": None}}),
            channel="API client",
        ),
    ]


def _controllers() -> list[Act]:
    """What GitOps controllers apply, client-side as Argo CD and server-side as Flux, and people in between."""
    a, f, c = "Deployment/shop/api", "Deployment/pay/flow", "ConfigMap/pay/flow"
    argo = "kubectl apply --field-manager=argocd-controller -f -"
    flux = "kubectl apply --server-side --field-manager=kustomize-controller --force-conflicts -f -"
    newer = merged(
        api,
        {
            "spec": {
                "template": {
                    "spec": {
                        "containers": [
                            container(image="registry.acme.example/app:1.1.0", env=[{"name": "LEVEL", "value": "info"}])
                        ]
                    }
                }
            }
        },
    )
    unscaled = merged(newer, {"spec": {"replicas": None}})
    less = merged(flux_web, {"metadata": {"labels": {"tier": None}}})
    no_ports = merged(less, {"spec": {"template": {"spec": {"containers": [container()]}}}})
    person = thing("apps/v1", "Deployment", "flow", "pay", spec={"replicas": 7})
    return [
        Act("argocd", argo, created(a), api, channel="API client"),
        Act("argocd", argo, (), api, channel="API client"),
        Act("mara", "kubectl set env deploy/api LEVEL=debug", updated(a, f"{APP}.env[name=LEVEL]")),
        Act("argocd", argo, updated(a, f"{APP}.env[name=LEVEL]"), api, channel="API client"),
        Act("argocd", argo, updated(a, f"{APP}.image"), newer, channel="API client"),
        Act(
            "ci",
            "kubectl apply -f -",
            updated(a, "metadata.labels", f"{APP}.image"),
            merged(
                newer,
                {
                    "metadata": {"annotations": None, "labels": {"by": "ci"}},
                    "spec": {
                        "template": {
                            "spec": {
                                "containers": [
                                    container(
                                        image="registry.acme.example/app:1.2.0",
                                        env=[{"name": "LEVEL", "value": "info"}],
                                    )
                                ]
                            }
                        }
                    },
                },
            ),
        ),
        Act("argocd", argo, updated(a, "metadata.labels", f"{APP}.image"), newer, channel="API client"),
        Act("mara", "kubectl scale deploy/api --replicas=6", updated(a, "spec.replicas")),
        Act("argocd", argo, updated(a, "spec.replicas"), unscaled, channel="API client"),
        Act("flux", flux, (*created(f), *created(c)), [flux_web, flux_config], channel="API client"),
        Act("flux", flux, (), [flux_web, flux_config], channel="API client"),
        Act("flux", f"{flux} --dry-run=server", (), less, channel="API client"),
        Act("flux", flux, updated(f, "metadata.labels.tier"), less, channel="API client"),
        Act("jonas", "kubectl apply --server-side -n pay -f -", (), person, fails=True),
        Act("jonas", "kubectl apply --server-side --force-conflicts -f -", updated(f, "spec.replicas"), person),
        Act(
            "flux", flux, updated(f, "spec.replicas", f"{APP}.ports[containerPort=80]"), no_ports, channel="API client"
        ),
        Act(
            "jonas",
            "kubectl edit cm flow -n pay",
            updated(c, "data"),
            editor="sed -i -e 's/a: .*1.*/a: x/' -e '/b: .*2/d'",
        ),
        Act("flux", flux, updated(c, "data"), flux_config, channel="API client"),
        Act("flux", flux, updated(c, "data.b"), merged(flux_config, {"data": {"b": None}}), channel="API client"),
        Act("jonas", "kubectl apply --server-side -f -", (), merged(flux_config, {"data": {"b": None}})),
        Act("flux", flux, (), merged(flux_config, {"data": {"a": "1", "b": None}}), channel="API client"),
        Act(
            "jonas",
            "kubectl apply --server-side -f -",
            updated(c, "data.mine"),
            merged(flux_config, {"data": {"b": None, "mine": "1"}}),
        ),
        Act(
            "jonas",
            "kubectl apply --server-side -f -",
            updated(c, "data.mine"),
            merged(flux_config, {"data": {"b": None}}),
        ),
        Act(
            "flux",
            Raw(
                "DELETE",
                "/api/v1/namespaces/pay/configmaps/flow",
                {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"},
            ),
            deleted(c),
        ),
    ]


HOOK = "MutatingWebhookConfiguration//hook"


def hook(url: str, authority: str) -> Manifest:
    """The webhook of `reconstruction_place`."""
    rules = [
        {
            "apiGroups": ["apps"],
            "apiVersions": ["v1"],
            "resources": ["deployments"],
            "operations": ["CREATE", "UPDATE"],
        },
        {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE", "UPDATE"]},
    ]
    only = {
        "name": "hook.acme.example",
        "clientConfig": {"url": url, "caBundle": authority},
        "rules": rules,
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "namespaceSelector": {"matchLabels": {"hooked": "yes"}},
    }
    return thing("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "hook", "", webhooks=[only])


def _admission() -> list[Act]:
    w, s = "Deployment/hooked/web", "ConfigMap/hooked/settings"
    there = merged(workload("Deployment", "web", space="hooked"), {})
    config = thing("v1", "ConfigMap", "settings", "hooked", data={"a": "1"}, metadata={"labels": {"mine": "1"}})
    policy = thing(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicy",
        "few",
        "",
        spec={
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": ["apps"],
                        "apiVersions": ["v1"],
                        "resources": ["deployments"],
                        "operations": ["UPDATE"],
                    }
                ]
            },
            "validations": [{"expression": "object.spec.replicas <= 20", "message": "too many"}],
        },
    )
    return [
        Act("admin", "kubectl apply -f -", created(HOOK), "HOOK"),
        Act(
            "admin",
            "kubectl create -f -",
            created("Namespace//hooked"),
            thing("v1", "Namespace", "hooked", "", metadata={"labels": {"hooked": "yes"}}),
        ),
        Act("mara", "kubectl apply -f -", (*created(w), *created(s)), [there, config]),
        Act(
            "mara", "kubectl set image deploy/web -n hooked app=registry.acme.example/app:2", updated(w, f"{APP}.image")
        ),
        Act(
            "mara",
            patching(
                "deploy web -n hooked", {"spec": {"template": {"spec": {"imagePullSecrets": [{"name": "other"}]}}}}
            ),
        ),
        Act(
            "mara",
            patching(
                "deploy web -n hooked",
                {"spec": {"template": {"spec": {"containers": [{"name": "app", "imagePullPolicy": "Never"}]}}}},
            ),
        ),
        Act(
            "argocd",
            "kubectl apply --field-manager=argocd-controller -f -",
            (),
            merged(
                there,
                {
                    "spec": {
                        "template": {
                            "spec": {
                                "imagePullSecrets": [{"name": "other"}],
                                "containers": [container(image="registry.acme.example/app:2")],
                            }
                        }
                    }
                },
            ),
            channel="API client",
        ),
        Act("mara", "kubectl label cm settings -n hooked mine=2 --overwrite"),
        Act(
            "mara",
            patching("cm settings -n hooked", {"data": {"a": "2"}, "metadata": {"labels": {"x": "y"}}}, "merge"),
            updated(s, "data.a"),
        ),
        Act("mara", "kubectl edit cm settings -n hooked", updated(s, "data.a"), editor="sed -i 's/a: .2./a: \"3\"/'"),
        Act("admin", "kubectl apply -f -", created("ValidatingAdmissionPolicy//few"), policy),
        Act(
            "admin",
            patching(
                "validatingadmissionpolicy few",
                {"spec": {"validations": [{"expression": "object.spec.replicas <= 10"}]}},
                "merge",
            ),
            updated("ValidatingAdmissionPolicy//few", "spec.validations"),
        ),
        Act(
            "admin",
            patching(
                "mutatingwebhookconfiguration hook",
                {"webhooks": [{"name": "hook.acme.example", "failurePolicy": "Ignore", "timeoutSeconds": 3}]},
            ),
            updated(HOOK, "webhooks[name=hook.acme.example]"),
        ),
        Act("admin", "kubectl delete mutatingwebhookconfiguration hook", deleted(HOOK)),
        Act("mara", "kubectl delete deploy --all -n hooked", deleted(w)),
        Act("admin", "kubectl delete ns hooked --wait=false", deleted("Namespace//hooked")),
        Act("mara", "kubectl create configmap late -n hooked", fails=True),
    ]


ACTS = [
    *_workloads(),
    *_other_workloads(),
    *_configuration(),
    *_networking(),
    *_cluster(),
    *_custom(),
    *_controllers(),
    *_admission(),
]
