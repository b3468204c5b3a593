"""What rendered manifests say of one object of the cluster."""

from auditor.model.change import Write
from auditor.model.desired import DesiredState, ManifestKey, Undeterminable
from auditor.model.resource import ABSENT, Json, JsonObject, Leaf, ObjectId, Path
from auditor.objects.bare_items import as_leaf
from auditor.objects.defaults import is_defaultable
from auditor.objects.kinds import canonical_group
from auditor.objects.leaves import differences, equal, fold_string_data
from auditor.objects.paths import lookup
from auditor.objects.versions import common_version

ENCRYPTED = "the value is encrypted in git"
NOT_DETERMINISTIC = "not deterministic: two renders of one revision differ in this field"


def manifest_of(desired: DesiredState, of: ObjectId, namespace: str) -> JsonObject | None:
    """The manifest that declares an object; `namespace` is the application's destination."""
    key = _key(desired, of, namespace)
    return None if key is None else desired.objects[key]


def _key(desired: DesiredState, of: ObjectId, namespace: str) -> ManifestKey | None:
    """The key of its manifest: a cluster-scoped object of a kind that is not known has got the destination's."""
    places = (of.namespace,) if of.namespace else ("", namespace)
    for place in places:
        key = ManifestKey(of.group, of.kind, place, of.name)
        if key in desired.objects:
            return key
    group = canonical_group(of.group, of.kind)
    alike = (key for key in desired.objects if key.name == of.name and key.kind == of.kind and key.namespace in places)
    return next((key for key in alike if canonical_group(key.group, key.kind) == group), None)


def value_in(desired: DesiredState, of: ObjectId, namespace: str, path: Path) -> Leaf | Undeterminable | None:
    """What the manifests say of a field; None where they do not declare the object."""
    key = _key(desired, of, namespace)
    if key is None:
        return None
    found = as_leaf(path, lookup(_comparable(desired.objects[key], of), path), of)
    if key in desired.second:
        again = as_leaf(path, lookup(_comparable(desired.second[key], of), path), of)
        if not equal(of.group, of.kind, path, found, again):
            return Undeterminable(NOT_DETERMINISTIC)
    if _is_encrypted(desired.objects[key], found):
        return Undeterminable(ENCRYPTED)
    if not found.known:
        return Undeterminable("several items of a list in the manifest have the same key")
    return ABSENT if equal(of.group, of.kind, path, found, ABSENT) else found


def otherwise(manifest: JsonObject, create: Write) -> tuple[Path, ...]:
    """The fields that a manifest declares with other values than the object was created with; () where the record does
    not hold what it was created with. What the object has besides is not declared otherwise."""
    if create.operation != "create" or not create.asked:
        return ()
    of, made = create.object, {field.path: field.after for field in create.asked}
    declared = differences(None, _comparable(manifest, of), of.group, of.kind)
    return tuple(
        field.path for field in declared if not _is_as(made.get(field.path, ABSENT), field.path, field.after, of)
    )


def _is_as(made: Leaf, path: Path, declared: Leaf, of: ObjectId) -> bool:
    """Whether a field was made as it is declared; what was left out has its default, also within a list."""
    if made == ABSENT and is_defaultable(of.group, of.kind, path, declared.value):
        return True
    return equal(of.group, of.kind, path, made, declared) or _holds(made.value, declared.value)


def _holds(made: Json, declared: Json) -> bool:
    """Whether a value has all that another has, and at most more fields of the same things."""
    if isinstance(made, dict) and isinstance(declared, dict):
        return all(key in made and _holds(made[key], value) for key, value in declared.items())
    if isinstance(made, list) and isinstance(declared, list):
        return len(made) == len(declared) and all(map(_holds, made, declared))
    return made == declared


def _is_encrypted(manifest: JsonObject, found: Leaf) -> bool:
    """Whether git holds only what SOPS made of the value. Of Secrets not even that is kept, but for its own block."""
    if isinstance(found.value, str) and found.value.startswith("ENC["):
        return True
    return "sops" in manifest and manifest.get("kind") == "Secret" and found.state == "value"


def _comparable(manifest: JsonObject, of: ObjectId) -> JsonObject:
    """In the version that its kind is compared in, a Secret's `stringData` folded into `data`."""
    document = common_version(manifest, of.group, of.kind)
    if of.kind == "Secret" and not of.group and isinstance(document.get("stringData"), dict):
        return fold_string_data(document)
    return document
