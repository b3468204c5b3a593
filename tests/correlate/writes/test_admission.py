import orjson

from auditor.correlate.writes.admission import Admission, mutations, names
from auditor.objects import paths
from tests.scenario import deployment

PREFIX = "patch.webhook.admission.k8s.io/"
IMAGE = paths.parse("spec.template.spec.containers[name=app].image")


def noted(webhook: str, *pointers: str) -> str:
    patch = [{"op": "add", "path": pointer, "value": "x"} for pointer in pointers]
    return orjson.dumps({"configuration": "c", "webhook": webhook, "patch": patch, "patchType": "JSONPatch"}).decode()


def test_rounds_and_indexes_are_numbers() -> None:
    annotations = {
        f"{PREFIX}round_0_index_10": noted("last"),
        f"{PREFIX}round_0_index_9": noted("second"),
        f"{PREFIX}round_0_index_0": noted("first"),
    }
    assert [each.webhook for each in mutations(annotations)] == ["first", "second", "last"]


def test_the_last_webhook_that_set_a_path_is_its_author() -> None:
    pointer = "/spec/template/spec/containers/0/image"
    annotations = {f"{PREFIX}round_0_index_0": noted("a", pointer), f"{PREFIX}round_1_index_0": noted("b", pointer)}
    admission = Admission(annotations, deployment(), "apps", "Deployment")
    assert admission.author(IMAGE) == "admission webhook b"
    assert admission.author(paths.parse("spec.replicas")) is None


def test_a_webhook_without_its_patch_is_a_suspect_where_it_is_the_only_one() -> None:
    key = "mutation.webhook.admission.k8s.io/round_0_index_"
    one = {f"{key}0": '{"webhook":"a","mutated":true}', f"{key}1": '{"webhook":"b","mutated":false}'}
    assert Admission(one, None, "apps", "Deployment").suspect() == "admission webhook a"
    two = one | {f"{key}2": '{"webhook":"c","mutated":true}'}
    assert Admission(two, None, "apps", "Deployment").suspect() is None
    assert names(two) == ("admission webhook a", "admission webhook c")


def test_annotations_that_cannot_be_read_say_nothing() -> None:
    for text in ("", "[]", "{", '{"webhook":7,"patch":[1,{"path":2}]}', '{"patch":null,"webhook":"w"}'):
        admission = Admission({f"{PREFIX}round_0_index_0": text}, None, "apps", "Deployment")
        assert admission.author(IMAGE) is None
