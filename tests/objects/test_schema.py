import pytest

from auditor.objects import schema
from auditor.objects.paths import parse


@pytest.mark.parametrize(
    ("group", "kind", "path", "keys"),
    [
        ("apps", "Deployment", "spec.template.spec.containers", ("name",)),
        ("apps", "Deployment", "spec.template.spec.containers[name=a].env", ("name",)),
        ("apps", "Deployment", "spec.template.spec.containers[name=a].ports", ("containerPort", "protocol")),
        ("apps", "Deployment", "spec.template.spec.containers[name=a].volumeMounts", ("mountPath",)),
        ("apps", "Deployment", "spec.template.spec.tolerations", ()),
        ("", "Service", "spec.ports", ("port", "protocol")),
        ("", "Pod", "metadata.ownerReferences", ("uid",)),
        ("networking.k8s.io", "Ingress", "spec.rules", ()),
        ("argoproj.io", "Rollout", "spec.template.spec.containers", ()),
    ],
)
def test_lists_have_the_merge_keys_of_the_api_server(group: str, kind: str, path: str, keys: tuple[str, ...]) -> None:
    assert schema.at(group, kind, parse(path)).keys == keys


def test_every_code_of_the_table_can_be_read() -> None:
    for name, fields in schema.types().items():
        for code in fields.values():
            node = schema.parse(code)
            assert node is not schema.ANY or code == "?", (name, code)
            assert node.shape != "struct" or node.element in schema.types()


def test_the_first_key_is_enough_where_it_is_unique() -> None:
    ports = schema.at("", "Service", ("spec", "ports"))
    assert ports.keys_for([{"port": 80}, {"port": 81}]) == ("port",)
    assert ports.keys_for([{"port": 53, "protocol": "UDP"}, {"port": 53}]) == ("port", "protocol")
    assert ports.keys_for([{"port": 53}, {"port": 53}]) == ()
    assert ports.keys_for([{"port": 80}], [{"name": "no key"}]) == ()


def test_what_the_table_does_not_know_may_be_anything() -> None:
    assert schema.at("apps", "Deployment", parse("spec.unheard.of")) is schema.ANY
    assert schema.at("acme.example", "Widget", parse("metadata.finalizers")).is_set


def test_a_kind_that_moved_has_the_schema_of_today() -> None:
    assert schema.root("extensions", "Deployment") is schema.root("apps", "Deployment")
