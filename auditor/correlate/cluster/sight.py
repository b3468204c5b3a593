"""Whether Argo CD's own comparison shows a change.

By default Argo CD compares the live object with what a three-way merge of last-applied, the manifest and the live
object would make of it (gitops-engine `pkg/diff`): what somebody added beside the manifest stays, so it is invisible.

Flux compares otherwise. kustomize-controller asks the API server what a server-side apply would change, having taken
from kubectl the fields that it set: an addition by kubectl is seen and undone, one by another client is not (its FAQ:
"Why are kubectl edits rolled back by Flux?"). helm-controller compares nothing unless `driftDetection` says so.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import orjson

from auditor.correlate.git.manifest import otherwise
from auditor.model.application import ApplicationState
from auditor.model.change import AppKey, Change, FieldChange, Write
from auditor.model.desired import Undeterminable
from auditor.model.facts import ArgoSettings
from auditor.model.resource import ABSENT, Json, JsonObject, ListItem, ObjectId, Path
from auditor.objects import ignore, leaves, paths, schema
from auditor.objects.bare_items import BARE, as_leaf, is_filled_in
from auditor.objects.document import object_in
from auditor.objects.versions import common_version

_REMOVED_TRACKING = "removed argocd.argoproj.io/tracking-id"
_CUSTOMIZATION = "resource.customizations.ignoreDifferences."


def argocd_sees(
    change: Change, declared: JsonObject | Undeterminable | None, rules: Sequence[JsonObject] = ()
) -> bool | None:
    """True, false, or None where it cannot be told.

    `declared` is the manifest that Argo CD compared with at the time, its own overrides included; None where the
    application's source has no such object. `rules` are the ignoreDifferences that apply, see `ignore_rules`.
    """
    write = change.write
    if change.application is None:
        return False
    if change.application.is_flux:
        return _flux_sees(change.application, write, declared)
    if write.operation == "delete":
        return declared is not None
    if write.operation == "create":
        return _created_otherwise(write, declared, rules)
    if _REMOVED_TRACKING in write.notes and declared is not None:
        return True
    if declared is None:
        return False
    if isinstance(declared, Undeterminable) or not write.fields_known:
        return None
    manifest = comparable(declared, write.object)
    return _any_seen([_sees(write, field, manifest, rules) for field in write.fields])


def _created_otherwise(
    write: Write, declared: JsonObject | Undeterminable | None, rules: Sequence[JsonObject]
) -> bool | None:
    """Whether Argo CD sees an object that was created: one too many, or one with other values. An object as git
    declares it may still lack Argo CD's own mark."""
    if not isinstance(declared, dict):
        return True if declared is None else None
    hidden = [is_ignored(write, path, declared, rules) for path in otherwise(declared, write)]
    return True if False in hidden else None


def ignore_rules(state: ApplicationState, settings: Iterable[ArgoSettings]) -> tuple[JsonObject, ...]:
    """The Application's own ignoreDifferences, then those that `argocd-cm` has for all applications."""
    return (*state.ignore_differences, *(rule for each in settings for rule in _customizations(each)))


def _flux_sees(application: AppKey, write: Write, declared: JsonObject | Undeterminable | None) -> bool | None:
    """True only of what a Kustomization's manifest has otherwise; None where more than the records hold decides."""
    if declared is None and write.operation != "create":
        return False
    if application.kind != "Kustomization" or not isinstance(declared, dict) or write.operation == "create":
        return None
    if write.operation == "delete":
        return True
    if not write.fields_known:
        return None
    manifest = comparable(declared, write.object)
    seen = [None if is_beside(field, manifest) else differs(write, field, manifest) for field in write.fields]
    return _any_seen(seen)


def is_beside(field: FieldChange, manifest: JsonObject) -> bool:
    """Whether the change left a value that the manifest does not have."""
    return field.after.state == "value" and paths.lookup(manifest, field.path).state != "value"


def _any_seen(seen: Sequence[bool | None]) -> bool | None:
    if any(seen):
        return True
    return None if None in seen else False


def _sees(write: Write, field: FieldChange, manifest: JsonObject, rules: Sequence[JsonObject]) -> bool | None:
    different = differs(write, field, manifest)
    if not different:
        return different
    hidden = is_ignored(write, field.path, manifest, rules)
    return None if hidden is None else not hidden


def is_ignored(write: Write, path: Path, manifest: JsonObject, rules: Sequence[JsonObject]) -> bool | None:
    """Whether a rule hides the field; None where a rule has an expression that is not understood here."""
    if any(_ignores(rule, write, path, manifest) for rule in rules):
        return True
    return None if any(_may_ignore(rule, write.object) for rule in rules) else False


def differs(write: Write, field: FieldChange, manifest: JsonObject) -> bool | None:
    """Whether the live value after the change is not what the merge of manifest and live object would make it."""
    subject = write.object
    if field.after == ABSENT and is_filled_in(field, subject):
        return as_leaf(field.path[:-1], paths.lookup(manifest, field.path[:-1]), subject) == BARE
    wanted = as_leaf(field.path, paths.lookup(manifest, field.path), subject)
    if not field.after.known:
        return None
    if wanted.state == "value":
        return not leaves.equal(subject.group, subject.kind, field.path, wanted, field.after)
    if field.after.state == "absent":
        return False
    return _was_applied(write, field.path) or _is_in_replaced_list(subject, field.path, manifest)


def _was_applied(write: Write, path: Path) -> bool:
    """Whether the write put the field into last-applied: the merge takes out what is there and not in the manifest."""
    applied = object_in(write.last_applied)
    return applied is not None and paths.lookup(applied, path).state == "value"


def _is_in_replaced_list(subject: ObjectId, path: Path, manifest: JsonObject) -> bool:
    """Whether the field is in an added item of a list that the manifest has and that a merge replaces as a whole."""
    for place, segment in enumerate(path):
        if isinstance(segment, ListItem) and paths.lookup(manifest, path[:place]).state == "value":
            merges = schema.at(subject.group, subject.kind, path[:place]).merge_key is not None
            if not merges and paths.lookup(manifest, path[: place + 1]).state != "value":
                return True
    return False


def _ignores(rule: JsonObject, write: Write, path: Path, manifest: JsonObject) -> bool:
    if not ignore.applies(rule, write.object):
        return False
    managers = _texts(rule.get("managedFieldsManagers"))
    manager = write.field_manager or write.user_agent.partition("/")[0]
    place = paths.pointer(path, manifest)
    by_position = place is not None and any(
        place == pointer or place.startswith(f"{pointer}/") for pointer in _texts(rule.get("jsonPointers"))
    )
    return by_position or manager in managers or ignore.covers(rule, write.object, path)


def _may_ignore(rule: JsonObject, subject: ObjectId) -> bool:
    """Whether a rule has an expression that is not understood here."""
    expressions = _texts(rule.get("jqPathExpressions"))
    return ignore.applies(rule, subject) and any(ignore.jq_steps(each) is None for each in expressions)


def comparable(manifest: JsonObject, subject: ObjectId) -> JsonObject:
    """A manifest in the shape in which the API server has the object."""
    if subject.group_kind == "/Secret":
        return leaves.fold_string_data(manifest)
    return common_version(manifest, subject.group, subject.kind)


@lru_cache(maxsize=64)
def _customizations(settings: ArgoSettings) -> tuple[JsonObject, ...]:
    """`resource.customizations.ignoreDifferences.<group>_<kind>` (or `all`) of `argocd-cm`, and the older map.

    Asked twice for every change, and its YAML is the same each time.
    """
    if settings.kind != "ConfigMap":
        return ()
    document: Json = orjson.loads(settings.body)
    data = document.get("data") if isinstance(document, dict) else None
    found: list[JsonObject] = []
    for key, text in sorted(data.items()) if isinstance(data, dict) else ():
        if key.startswith(_CUSTOMIZATION) and isinstance(text, str):
            found += _rule(key.removeprefix(_CUSTOMIZATION), "_", _yaml(text))
        elif key == "resource.customizations" and isinstance(text, str):
            found += _older_rules(_yaml(text))
    return tuple(found)


def _older_rules(value: Json) -> list[JsonObject]:
    found: list[JsonObject] = []
    for group_kind, customization in sorted(value.items()) if isinstance(value, dict) else ():
        text = customization.get("ignoreDifferences") if isinstance(customization, dict) else None
        if isinstance(text, str):
            found += _rule(group_kind, "/", _yaml(text))
    return found


def _rule(group_kind: str, separator: str, value: Json) -> list[JsonObject]:
    """A customization as an Application would have it; core kinds stand without a group."""
    if not isinstance(value, dict):
        return []
    group, _, kind = group_kind.rpartition(separator)
    place: JsonObject = {"group": "*", "kind": "*"} if group_kind == "all" else {"group": group, "kind": kind}
    return [place | {key: value[key] for key in ignore.SELECTING_KEYS if key in value}]


def _yaml(text: str) -> Json:
    """YAML of a setting; what is none sets nothing."""
    from auditor.collectors.files.bounded_yaml import MalformedYamlError, load

    try:
        return load(text.encode())
    except MalformedYamlError:
        return None


def _texts(value: Json) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
