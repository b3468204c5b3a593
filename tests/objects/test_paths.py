import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.model.resource import ABSENT, UNKNOWN, ListItem, Path, leaf
from auditor.objects.paths import from_pointer, lookup, parse, pointer, same_segment, text

DEPLOYMENT = {
    "metadata": {"annotations": {"a.b/c": "d"}},
    "spec": {
        "template": {
            "spec": {
                "containers": [
                    {"name": "web", "args": ["a", "b"], "env": [{"name": "A", "value": "1"}]},
                    {"name": "log", "ports": [{"containerPort": 53, "protocol": "UDP"}, {"containerPort": 53}]},
                ]
            }
        }
    },
}


@pytest.mark.parametrize(
    "written",
    [
        "spec.replicas",
        'metadata.annotations["a.b/c"]',
        "spec.template.spec.containers[name=web].env[name=DB_POOL].value",
        "spec.ports[port=53,protocol=UDP].targetPort",
        "spec.template.spec.containers[name=web].args",
        'data["app.yaml"]',
        "args[0]",
        '["a.b"].c',
        'x[k="a,b]"]',
        "volumeMounts[mountPath=/var/run/secrets/kubernetes.io].name",
        'data[""]',
        'data["quote\\"d"]',
    ],
)
def test_paths_are_written_as_people_write_them_and_read_back(written: str) -> None:
    assert text(parse(written)) == written


SEGMENTS = st.one_of(
    st.text(max_size=12),
    st.integers(0, 99),
    st.lists(st.tuples(st.text("abc.-", min_size=1, max_size=4), st.text(max_size=8)), min_size=1, max_size=2).map(
        lambda keys: ListItem(tuple(keys))
    ),
)


@given(st.lists(SEGMENTS, max_size=6).map(tuple))
def test_every_path_is_read_back_as_it_was(path: Path) -> None:
    assert parse(text(path)) == path


@pytest.mark.parametrize("written", ["a..b", "a[", "a[b]", "a[b=", 'a["b]', "[k=v", "a b"])
def test_what_is_no_path_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="no path"):
        parse(written)


def test_items_are_found_by_their_keys() -> None:
    assert lookup(DEPLOYMENT, parse("spec.template.spec.containers[name=web].env[name=A].value")) == leaf("1")
    assert lookup(DEPLOYMENT, parse("spec.template.spec.containers[name=db].image")) == ABSENT
    assert lookup(DEPLOYMENT, parse('metadata.annotations["a.b/c"]')) == leaf("d")
    assert lookup(DEPLOYMENT, parse("metadata.labels.x.y")) == ABSENT


def test_a_key_that_is_left_out_has_the_servers_default() -> None:
    ports = "spec.template.spec.containers[name=log].ports"
    assert lookup(DEPLOYMENT, parse(f"{ports}[containerPort=53,protocol=TCP].containerPort")) == leaf(53)


def test_two_items_with_the_same_keys_make_the_value_unknown() -> None:
    path = parse("spec.template.spec.containers[name=log].ports[containerPort=53].protocol")
    assert lookup(DEPLOYMENT, path) == UNKNOWN
    assert pointer(path, DEPLOYMENT) is None


def test_a_path_and_its_pointer_are_one_place() -> None:
    path = parse("spec.template.spec.containers[name=web].env[name=A].value")
    assert pointer(path, DEPLOYMENT) == "/spec/template/spec/containers/0/env/0/value"
    assert from_pointer(DEPLOYMENT, "/spec/template/spec/containers/0/env/0/value", "apps", "Deployment") == path
    assert pointer(parse('metadata.annotations["a.b/c"]'), DEPLOYMENT) == "/metadata/annotations/a.b~1c"


def test_a_pointer_into_an_atomic_list_ends_at_the_list() -> None:
    found = from_pointer(DEPLOYMENT, "/spec/template/spec/containers/0/args/1", "apps", "Deployment")
    assert text(found) == "spec.template.spec.containers[name=web].args"
    assert from_pointer({"spec": {"parts": [{"name": "a"}]}}, "/spec/parts/0/name", "acme.example", "Widget") == (
        "spec",
        "parts",
    )


def test_a_pointer_names_all_keys_where_the_first_is_not_unique() -> None:
    found = from_pointer(DEPLOYMENT, "/spec/template/spec/containers/1/ports/0/name", "apps", "Deployment")
    assert text(found) == "spec.template.spec.containers[name=log].ports[containerPort=53,protocol=UDP].name"


def test_a_position_that_cannot_be_looked_up_stays_one() -> None:
    found = from_pointer(None, "/spec/template/spec/containers/0/image", "apps", "Deployment")
    assert text(found) == "spec.template.spec.containers[0].image"


def test_an_item_named_by_fewer_keys_is_the_one_named_by_more() -> None:
    few, more = ListItem((("port", "53"),)), ListItem((("port", "53"), ("protocol", "UDP")))
    assert same_segment(few, more)
    assert not same_segment(more, ListItem((("port", "53"), ("protocol", "TCP"))))
    assert not same_segment("a", "b")
