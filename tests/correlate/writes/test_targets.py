import orjson

from auditor.correlate.writes.packed import pack
from auditor.correlate.writes.targets import KindNames, is_of_an_object, targets
from tests.factories import audit_event, replace


def test_a_subresource_is_a_request_on_its_parent() -> None:
    [target] = targets(audit_event(subresource="scale"))
    found = KindNames().object(target.place)
    assert (found.group, found.kind, found.namespace, found.name) == ("apps", "Deployment", "shop-prod", "web")


def test_a_namespace_is_in_no_namespace() -> None:
    [target] = targets(audit_event(api_group="", resource="namespaces", namespace="shop-prod", name="shop-prod"))
    assert target.place.namespace == ""


def test_a_kind_that_has_moved_is_the_same_object_by_either_name() -> None:
    old, new = (targets(audit_event(api_group=group))[0].place for group in ("extensions", "apps"))
    assert old == new


def test_a_custom_kind_that_other_records_name_is_meant_by_its_plural_where_no_body_tells_it() -> None:
    names = KindNames()
    for kind in ("Route", "Policy", "Ingress"):
        names.suppose("acme.example", kind)
    for resource, kind in (("routes", "Route"), ("policies", "Policy"), ("ingresses", "Ingress"), ("rules", "rules")):
        [target] = targets(audit_event(api_group="acme.example", resource=resource))
        assert names.object(target.place).kind == kind
    [foreign] = targets(audit_event(api_group="other.example", resource="routes"))
    assert names.object(foreign.place).kind == "routes"
    event = audit_event(api_group="acme.example", resource="routes", verb="create", request=b'{"kind":"HTTPRoute"}')
    names.learn(event)
    assert names.object(targets(event)[0].place).kind == "HTTPRoute"


def test_a_custom_kind_is_learned_from_any_body() -> None:
    names = KindNames()
    event = audit_event(api_group="acme.example", resource="widgets")
    [target] = targets(event)
    assert names.object(target.place).kind == "widgets"
    names.learn(replace(event, request=b'{"kind":"DeleteOptions"}', verb="delete"))
    assert names.object(target.place).kind == "widgets"
    names.learn(replace(event, request=b'{"kind":"Widget","metadata":{"name":"w"}}', verb="create"))
    assert names.object(target.place).kind == "Widget"


def test_a_deletecollection_means_the_items_of_its_answer() -> None:
    items = [{"metadata": {"name": "a"}}, {"metadata": {"name": "b", "namespace": "other"}}, {"metadata": 7}, "x"]
    event = audit_event(verb="deletecollection", name="", response=orjson.dumps({"items": items}))
    found = [(target.place.namespace, target.place.name, target.item) for target in targets(event)]
    assert found == [("shop-prod", "a", 0), ("other", "b", 1)]
    [unnamed] = targets(replace(event, response=None))
    assert (unnamed.place.name, unnamed.item) == ("", None)


def test_reviews_and_events_are_no_objects() -> None:
    for group, resource in (
        ("authorization.k8s.io", "subjectaccessreviews"),
        ("", "events"),
        ("events.k8s.io", "events"),
    ):
        assert not is_of_an_object(audit_event(api_group=group, resource=resource))
    assert is_of_an_object(audit_event(api_group="acme.example", resource="events"))


def test_a_packed_event_opens_as_it_was() -> None:
    event = audit_event(request=b'{"a":1}', response=b'{"metadata":{"uid":"u","resourceVersion":"7"}}')
    packed = pack(event, 3)
    assert (packed.event.request, packed.head.meta.resourceVersion) == (None, "7")
    opened = packed.opened()
    assert (opened.event, opened.item) == (event, 3)
    assert pack(event).bodies() == packed.bodies()
