"""Writes of the GitOps controller that went through a bypass: put under the person who asked for them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from auditor.correlate.applications.bypass import OVERRIDES, Bypass, Bypasses
from auditor.correlate.applications.declared import Declared
from auditor.correlate.applications.owners import Owners
from auditor.correlate.git.manifest import manifest_of, value_in
from auditor.model.change import AppKey, FieldChange, Write
from auditor.model.desired import DesiredState
from auditor.model.resource import Leaf
from auditor.objects import leaves


def through_argo(writes: Iterable[Write], owners: Owners, bypasses: Bypasses, declared: Declared) -> Iterator[Write]:
    """The writes, those of a bypass with its cause, person, channel and evidence."""
    return (_slim(_placed(write, owners, bypasses, declared)) for write in writes)


def _slim(write: Write) -> Write:
    """A write from the tracked branch without what it applied: that is asked of none of these, and most are."""
    return replace(write, last_applied="") if write.cause == "gitops" and write.last_applied else write


def _placed(write: Write, owners: Owners, bypasses: Bypasses, declared: Declared) -> Write:
    if write.cause != "gitops" or write.outcome not in ("changed", "unproven"):
        return write
    owner = owners.of(write.object, dict(write.marks), write.at).application
    bypass = bypasses.of(owner, write.object, write.at) if owner else None
    if owner is None or bypass is None:
        return write
    fields = _asked_for(write, owner, bypass, bypasses, declared)
    if write.fields and not fields:
        return write
    if not (write.fields_known or bypass.form not in OVERRIDES or _concerns(write, owner, bypass, declared)):
        return write
    account = write.actor.account or write.actor.name
    return replace(
        write,
        cause="bypass",
        actor=replace(bypass.actor, account=bypass.actor.account or account),
        channel=bypass.channel,
        fields=_with_before(fields, write, owner, bypass, declared),
        notes=(*write.notes, f"through {'Flux' if owner.is_flux else 'Argo CD'}: {bypass.reason}"),
        evidence=tuple(dict.fromkeys((*write.evidence, *bypass.evidence))),
    )


def _asked_for(
    write: Write, owner: AppKey, bypass: Bypass, bypasses: Bypasses, declared: Declared
) -> tuple[FieldChange, ...]:
    """All fields; where the same sync brought new commits too, without those that git has at its revision."""
    revision = next((each for each in bypass.sync.revisions if each), "")
    if not bypass.mixed or not revision:
        return write.fields
    desired = declared.of_sources(owner, write.at, bypass.declared, revision)
    if not isinstance(desired, DesiredState):
        return write.fields
    return tuple(field for field in write.fields if not _is_gits(write, field, desired))


def _with_before(
    fields: tuple[FieldChange, ...], write: Write, owner: AppKey, bypass: Bypass, declared: Declared
) -> tuple[FieldChange, ...]:
    """The fields, with what git had given to those whose value before is not recorded."""
    if all(field.before.known for field in fields):
        return fields
    given = declared.synced_before(owner, write.object, bypass.sync.started_at, bypass.declared)
    if not isinstance(given, DesiredState):
        return fields
    told = [field if field.before.known else _given_before(field, write, given) for field in fields]
    subject = write.object
    differing = (f for f in told if not leaves.equal(subject.group, subject.kind, f.path, f.before, f.after))
    return tuple(differing) or fields


def _given_before(field: FieldChange, write: Write, given: DesiredState) -> FieldChange:
    said = value_in(given, write.object, write.object.namespace, field.path)
    return replace(field, before=said) if isinstance(said, Leaf) and said.state == "value" else field


def _concerns(write: Write, owner: AppKey, bypass: Bypass, declared: Declared) -> bool:
    """Whether what was put into the application makes another manifest of an object than git declares: then a sync
    that wrote the object wrote that, whatever else it brought."""
    subject = write.object
    revision = next((each for each in bypass.sync.revisions if each), "")
    both = [declared.of_sources(owner, write.at, sources, revision) for sources in (bypass.declared, bypass.used)]
    manifests = [
        manifest_of(each, subject, subject.namespace) for each in both if revision and isinstance(each, DesiredState)
    ]
    return len(manifests) == 2 and manifests[0] != manifests[1]


def _is_gits(write: Write, field: FieldChange, desired: DesiredState) -> bool:
    subject = write.object
    said = value_in(desired, subject, subject.namespace, field.path)
    return isinstance(said, Leaf) and leaves.equal(subject.group, subject.kind, field.path, said, field.after)
