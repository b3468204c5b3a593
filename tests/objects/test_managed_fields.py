from datetime import UTC, datetime

from auditor.objects.managed_fields import owners, read, write
from auditor.objects.paths import parse

DOCUMENT = {
    "metadata": {
        "name": "web",
        "managedFields": [
            {
                "manager": "argocd-controller",
                "operation": "Apply",
                "apiVersion": "apps/v1",
                "time": "2026-11-30T07:00:00Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {
                    "f:metadata": {"f:finalizers": {'v:"a.b/c"': {}}, "f:annotations": {"f:a.b/c": {}}},
                    "f:spec": {
                        "f:ports": {'k:{"port":53,"protocol":"UDP"}': {".": {}, "f:targetPort": {}}},
                        "f:selector": {},
                    },
                },
            },
            {
                "manager": "kubectl-edit",
                "operation": "Update",
                "apiVersion": "apps/v1",
                "time": "2026-11-30T08:00:00Z",
                "subresource": "scale",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {"f:replicas": {}, "f:selector": {}}},
            },
            "no entry",
            {"manager": 1, "fieldsV1": {"x:y": {}, "k:{": {}, "i:0": {}, "f:a": 1}, "time": "yesterday"},
        ],
    }
}


def test_owners_are_read_with_manager_operation_and_time() -> None:
    argocd, kubectl, broken = read(DOCUMENT)
    assert (argocd.manager, argocd.operation, argocd.subresource) == ("argocd-controller", "Apply", "")
    assert argocd.at == datetime(2026, 11, 30, 7, tzinfo=UTC)
    assert kubectl.subresource == "scale"
    assert (broken.manager, broken.at) == ("", None)


def test_fields_are_found_under_keyed_items_and_quoted_keys() -> None:
    argocd = read(DOCUMENT)[0]
    assert argocd.owns(parse("spec.ports[port=53].targetPort"))
    assert argocd.owns(parse("spec.ports[port=53,protocol=UDP].targetPort"))
    assert not argocd.owns(parse("spec.ports[port=53,protocol=TCP].targetPort"))
    assert argocd.owns(parse('metadata.annotations["a.b/c"]'))
    assert not argocd.owns(parse("spec.replicas"))


def test_the_latest_owner_of_a_field_comes_first() -> None:
    assert [owner.manager for owner in owners(DOCUMENT, ("spec", "selector"))] == ["kubectl-edit", "argocd-controller"]
    assert owners({"metadata": None}, ("spec",)) == ()


def test_what_is_written_is_read_back() -> None:
    known = read(DOCUMENT)[:2]
    assert read(write(DOCUMENT, known)) == known
