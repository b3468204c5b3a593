"""The manifests of an ordinary estate, and what the API server makes of them."""

import copy
from dataclasses import dataclass
from typing import Any

import orjson
import yaml

Body = dict[str, Any]
REPOSITORY = "http://git.acme.example/platform/deploy.git"


@dataclass
class App:
    """One application. Its number decides what runs beside it."""

    number: int
    version: int = 0
    overridden: int = 0
    """By how many versions an override in the Application is ahead of git."""
    preview: bool = False

    @property
    def name(self) -> str:
        return f"preview-pr-{self.number}" if self.preview else f"team{self.number % 12:02}-svc{self.number:03}"

    @property
    def folder(self) -> str:
        return f"previews/{self.number}" if self.preview else f"apps/{self.name}"

    def has(self, feature: str) -> bool:
        """Whether it has one of the things that run beside an application; the number decides."""
        places = ("hpa", "keda", "vpa", "image-updater", "overrides", "external-secret", "sealed-secret", "certificate")
        if self.preview:
            return False
        if feature == "webhook":
            return self.number % 10 == 0
        if feature == "declared-replicas":
            return self.number % 16 == 8
        if feature == "manual":
            return self.number % 7 == 3
        return places[self.number % len(places)] == feature

    @property
    def image(self) -> str:
        return f"registry.acme.example/{self.name}:1.{self.version}.0"

    @property
    def running(self) -> str:
        """The image that Argo CD renders: git's, or what the Application has instead."""
        return f"registry.acme.example/{self.name}:1.{self.version + self.overridden}.0"

    def manifests(self) -> list[Body]:
        """As git declares them."""
        made = [self._deployment(), self._service(), self._config()]
        if self.has("hpa"):
            made.append(self._of("autoscaling/v2", "HorizontalPodAutoscaler", spec=self._scaling()))
        made += [
            self._of(version, kind, spec=spec) for feature, version, kind, spec in self._beside() if self.has(feature)
        ]
        if self.has("webhook"):
            made.append(self._webhook())
        return made

    def rendered(self) -> list[Body]:
        """As Argo CD applies them, an override in the Application included."""
        made = self.manifests()
        made[0]["spec"]["template"]["spec"]["containers"][0]["image"] = self.running
        return made

    def files(self) -> dict[str, str | None]:
        """What git holds of it."""
        return {f"{self.folder}/all.yaml": yaml.safe_dump_all(self.manifests(), sort_keys=False)}

    def _beside(self) -> list[tuple[str, str, str, Body]]:
        """What only some have: the feature, the kind, the spec."""
        cron = {"start": "0 6 * * *", "end": "0 20 * * *", "timezone": "UTC"}
        scaled = {"scaleTargetRef": {"name": self.name}, "triggers": [{"type": "cron", "metadata": cron}]}
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": self.name}
        external = {"refreshInterval": "1h", "target": {"name": f"{self.name}-db"}, "dataFrom": []}
        dns = {"secretName": f"{self.name}-tls", "dnsNames": [f"{self.name}.acme.example"], "issuerRef": {"name": "ca"}}
        return [
            ("keda", "keda.sh/v1alpha1", "ScaledObject", scaled),
            ("vpa", "autoscaling.k8s.io/v1", "VerticalPodAutoscaler", {"targetRef": target}),
            ("external-secret", "external-secrets.io/v1", "ExternalSecret", external),
            ("sealed-secret", "bitnami.com/v1alpha1", "SealedSecret", {"encryptedData": {"token": "AgBy3i4OJSWK"}}),
            ("certificate", "cert-manager.io/v1", "Certificate", dns),
        ]

    def application(self, revision: str = "main") -> Body:
        """Its Application, as the root application or an ApplicationSet declares it."""
        policy: Body = {"syncOptions": ["CreateNamespace=true"]}
        if not self.has("manual"):
            policy["automated"] = {"prune": True, "selfHeal": self.number % 3 != 0}
        spec: Body = {
            "project": "default",
            "source": {"repoURL": REPOSITORY, "path": self.folder, "targetRevision": revision},
            "destination": {"server": "https://kubernetes.default.svc", "namespace": self.name},
            "syncPolicy": policy,
        }
        if self.has("declared-replicas"):
            policy["syncOptions"] = [*policy["syncOptions"], "RespectIgnoreDifferences=true"]
            rule = {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}
            spec["ignoreDifferences"] = [rule]
        return {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {"name": self.name, "namespace": "argocd"},
            "spec": spec,
        }

    def _of(self, version: str, kind: str, **rest: Any) -> Body:
        return {"apiVersion": version, "kind": kind, "metadata": {"name": self.name, "namespace": self.name}, **rest}

    def _deployment(self) -> Body:
        container = {
            "name": "app",
            "image": self.image,
            "ports": [{"containerPort": 8080}],
            "env": [{"name": "LEVEL", "value": "info"}],
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
        }
        spec: Body = {
            "selector": {"matchLabels": {"app": self.name}},
            "template": {"metadata": {"labels": {"app": self.name}}, "spec": {"containers": [container]}},
        }
        if self.has("declared-replicas") or not (self.has("hpa") or self.has("keda")):
            spec["replicas"] = 2
        return self._of("apps/v1", "Deployment", spec=spec)

    def _service(self) -> Body:
        return self._of(
            "v1", "Service", spec={"selector": {"app": self.name}, "ports": [{"port": 80, "targetPort": 8080}]}
        )

    def _config(self) -> Body:
        return self._of("v1", "ConfigMap", data={"release": f"1.{self.version}.0", "greeting": "hello"})

    def _scaling(self) -> Body:
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": self.name}
        return {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 10}

    def _webhook(self) -> Body:
        hook = {
            "name": f"check.{self.name}.acme.example",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "clientConfig": {"service": {"name": self.name, "namespace": self.name, "path": "/check"}},
        }
        annotations = {"cert-manager.io/inject-ca-from": f"{self.name}/{self.name}"}
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": self.name, "annotations": annotations},
            "webhooks": [hook],
        }


class Root(App):
    """The application of applications. Image Updater may write an image into each of them."""

    name = "root"
    folder = "root"

    def __init__(self, apps: list[App]) -> None:
        App.__init__(self, -1)
        self.apps = apps

    def has(self, feature: str) -> bool:
        """Nothing runs beside it."""
        return False

    def manifests(self) -> list[Body]:
        """The Applications."""
        return [app.application() for app in self.apps]

    rendered = manifests

    def files(self) -> dict[str, str | None]:
        """One file an application."""
        return {f"root/{app.name}.yaml": yaml.safe_dump(app.application()) for app in self.apps}

    def application(self, revision: str = "main") -> Body:
        """It lies beside the others, and leaves to Image Updater what is Image Updater's."""
        made = App.application(self, revision)
        made["spec"]["destination"]["namespace"] = "argocd"
        made["spec"]["syncPolicy"]["syncOptions"] = ["RespectIgnoreDifferences=true"]
        rule = {"group": "argoproj.io", "kind": "Application", "jsonPointers": ["/spec/source/kustomize"]}
        made["spec"]["ignoreDifferences"] = [rule]
        return made


def applied(app: str, manifest: Body, namespace: str) -> Body:
    """A manifest as Argo CD sends it: with its tracking-id and last-applied."""
    group = manifest["apiVersion"].rpartition("/")[0]
    metadata = manifest["metadata"]
    tracking = f"{app}:{group}/{manifest['kind']}:{metadata.get('namespace', namespace)}/{metadata['name']}"
    sent = copy.deepcopy(manifest)
    annotations = sent["metadata"].setdefault("annotations", {})
    annotations["argocd.argoproj.io/tracking-id"] = tracking
    annotations["kubectl.kubernetes.io/last-applied-configuration"] = orjson.dumps(sent).decode() + "\n"
    return sent


def defaulted(sent: Body) -> Body:
    """What the API server adds to a Deployment or a Service of its own accord."""
    stored = copy.deepcopy(sent)
    if stored["kind"] == "Deployment":
        spec = stored["spec"]
        spec.setdefault("replicas", 1)
        spec |= {"progressDeadlineSeconds": 600, "revisionHistoryLimit": 10}
        spec["strategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
        pod = spec["template"]["spec"]
        pod |= {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler"}
        pod |= {"securityContext": {}, "terminationGracePeriodSeconds": 30}
        for container in pod["containers"]:
            container |= {"imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log"}
            container["terminationMessagePolicy"] = "File"
            container["ports"] = [port | {"protocol": "TCP"} for port in container["ports"]]
    if stored["kind"] == "Service":
        spec = stored["spec"]
        spec |= {"type": "ClusterIP", "clusterIP": "10.96.0.12", "sessionAffinity": "None", "ipFamilies": ["IPv4"]}
        spec["ports"] = [port | {"protocol": "TCP"} for port in spec["ports"]]
    if stored["kind"] == "ValidatingWebhookConfiguration":
        stored["webhooks"] = [hook | {"failurePolicy": "Fail", "timeoutSeconds": 10} for hook in stored["webhooks"]]
    return stored
