import pytest

from auditor.objects.defaults import filled_by, is_defaultable, with_defaults, with_filled_lists
from auditor.objects.leaves import differences
from auditor.objects.paths import parse, text
from tests.live.cases import objects
from tests.objects.test_patch_cases import cases


@pytest.mark.parametrize(
    ("group", "kind", "path", "value", "by"),
    [
        ("apps", "Deployment", "spec.strategy.rollingUpdate.maxSurge", "25%", "default"),
        ("apps", "Deployment", "spec.replicas", 1, "default"),
        ("apps", "Deployment", "spec.replicas", 2, None),
        ("apps", "Deployment", "spec.template.spec.containers[name=a].terminationMessagePolicy", "File", "default"),
        ("apps", "Deployment", "spec.template.spec.securityContext", {}, "default"),
        ("extensions", "Deployment", "spec.revisionHistoryLimit", 10, "default"),
        ("batch", "CronJob", "spec.jobTemplate.spec.completions", 1, None),
        ("batch", "Job", "spec.completions", 1, "default"),
        ("", "Service", "spec.sessionAffinityConfig.clientIP.timeoutSeconds", 10800, "default"),
        ("", "Service", "spec.clusterIP", "10.0.0.7", "allocation"),
        ("", "Service", "spec.ports[port=80].nodePort", 31234, "allocation"),
        ("", "Pod", "spec.nodeName", "node-1", "allocation"),
        ("", "Pod", "spec.volumes[name=kube-api-access-x1].projected.defaultMode", 420, "allocation"),
        ("batch", "Job", 'metadata.labels["batch.kubernetes.io/job-name"]', "x", "allocation"),
        ("argoproj.io", "Rollout", "spec.replicas", 1, None),
    ],
)
def test_what_the_server_fills_in_is_known(group: str, kind: str, path: str, value: object, by: str | None) -> None:
    assert filled_by(group, kind, parse(path), value) == by
    assert is_defaultable(group, kind, parse(path), value) == (by is not None)


def test_a_default_that_depends_on_its_neighbours_is_exact_with_the_document() -> None:
    path = parse("spec.template.spec.containers[name=a].imagePullPolicy")
    container = {"name": "a", "image": "app:1", "imagePullPolicy": "Always"}
    document = {"spec": {"template": {"spec": {"containers": [container]}}}}
    assert filled_by("apps", "Deployment", path, "Always") == "default"
    assert filled_by("apps", "Deployment", path, "Always", document) is None


@pytest.mark.parametrize("image", ["app", "app:latest", "registry:5000/app"])
def test_an_image_without_a_fixed_version_is_always_pulled(image: str) -> None:
    pod = with_defaults({"spec": {"containers": [{"name": "a", "image": image}]}}, "", "Pod")
    assert pod["spec"]["containers"][0]["imagePullPolicy"] == "Always"


def recorded() -> dict[str, dict[str, object]]:
    """By KIND/NAME: an object as the API server stored it at first."""
    found: dict[str, dict[str, object]] = {}
    for case in cases():
        found.setdefault(f"{case['kind']}/{case['before']['metadata']['name']}", case)
    return found


@pytest.mark.parametrize("name", sorted(recorded()))
def test_a_manifest_with_defaults_is_what_the_server_stored(name: str) -> None:
    case = recorded()[name]
    group, kind = case["group"], case["kind"]
    filled = with_defaults(objects()[name], group, kind)
    missing = [
        text(change.path)
        for change in differences(filled, case["before"], group, kind)
        if filled_by(group, kind, change.path, change.after.value) != "allocation"
    ]
    assert missing == []


def test_the_argument_stays_as_it_was() -> None:
    manifest = {"spec": {"template": {"spec": {"containers": [{"name": "a"}]}}}}
    with_defaults(manifest, "apps", "Deployment")
    assert manifest == {"spec": {"template": {"spec": {"containers": [{"name": "a"}]}}}}


def test_a_list_that_is_one_value_has_its_defaults_and_nothing_else_gets_any() -> None:
    document = {"spec": {"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]}}
    filled = with_filled_lists(document, "networking.k8s.io", "NetworkPolicy")
    assert filled == {"spec": {"podSelector": {}, "ingress": [{"ports": [{"port": 80, "protocol": "TCP"}]}]}}
    keyed = {"spec": {"template": {"spec": {"containers": [{"name": "app"}]}}}}
    assert with_filled_lists(keyed, "apps", "Deployment") == keyed
