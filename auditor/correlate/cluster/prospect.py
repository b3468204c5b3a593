"""What happens next to a change that still stands, in words: which sync undoes it, or why none does."""

from collections.abc import Sequence

from auditor.correlate.cluster.sight import comparable, differs, is_beside, is_ignored
from auditor.model.application import ApplicationState, Freeze
from auditor.model.change import Change, FieldChange
from auditor.model.desired import Undeterminable
from auditor.model.resource import JsonObject, Path
from auditor.model.verdict import ClusterVerdict, FieldVerdict, GitVerdict, Prospect
from auditor.objects import paths

Outlook = tuple[Prospect, str]

_IN_GIT = ("reflected", "already")
_LEFT = ("standing", "unknown")


def outlook(
    change: Change,
    git: GitVerdict,
    cluster: ClusterVerdict,
    fields: Sequence[FieldVerdict],
    state: ApplicationState | None,
    declared: JsonObject | Undeterminable | None,
    rules: Sequence[JsonObject] = (),
    freezes: Sequence[Freeze] = (),
    otherwise: Sequence[Path] = (),
    keeper: str = "",
) -> Outlook:
    """The prospect of a change at the moment of its verdicts, and the sentence that says it.

    `state` is the Application then; `declared` the manifest that its next sync would apply, None where its source has
    no such object; `rules` the ignoreDifferences; `freezes` those that are not lifted; `otherwise` the fields that a
    created object has and git declares with other values; `keeper` the Application whose syncs set the metadata of a
    namespace that none owns.
    """
    verdicts = [(each.git, each.cluster) for each in fields] or [(git, cluster)]
    left = [on_git.verdict in _IN_GIT for on_git, in_cluster in verdicts if in_cluster.verdict in _LEFT]
    if not left and all(on_git.verdict in _IN_GIT for on_git, _ in verdicts):
        return "settled", "It was undone, but git has it: syncs bring it."
    if not left:
        return "settled", "Nothing of it is left in the cluster."
    if all(left) and not otherwise:
        return "settled", "Git has it too: no sync undoes it."
    if change.write.persisted == "unproven":
        return "unknown", "The record does not show whether it was stored at all."
    if change.application is None and keeper:
        return "undone-at-next-revision", f"Each sync of {keeper} sets what its managedNamespaceMetadata says."
    if change.application is None:
        return "invisible", "No application owns the object: no sync touches it."
    if state is None or isinstance(declared, Undeterminable):
        return "unknown", _why_unknown(declared)
    if change.write.operation != "update":
        return _of_object(change, state, declared, rules, freezes, otherwise)
    return _of_fields(change, fields, state, declared, rules, freezes)


def _why_unknown(declared: JsonObject | Undeterminable | None) -> str:
    if isinstance(declared, Undeterminable):
        return f"What the next sync would apply cannot be told: {declared.reason}"
    return "The records do not hold the application, so what its next sync does cannot be told."


def _of_object(
    change: Change,
    state: ApplicationState,
    declared: JsonObject | None,
    rules: Sequence[JsonObject],
    freezes: Sequence[Freeze],
    otherwise: Sequence[Path],
) -> Outlook:
    if change.write.operation == "delete":
        if declared is None:
            return "settled", "Git does not declare the object: no sync brings it back."
        return _when_synced(state, freezes, "creates the object again")
    if declared is not None and otherwise:
        hidden = all(is_ignored(change.write, path, declared, rules) for path in otherwise)
        return _hidden(state) if hidden else _when_synced(state, freezes, "puts git's values back")
    if declared is not None:
        return "unknown", "Git declares the object; whether it has the same content, the record does not tell."
    if state.prune:
        return _when_synced(state, freezes, "removes the object, as pruning is on")
    if state.key.is_flux:
        return "kept", "Git does not declare the object, and pruning is off: it stays."
    return "kept", "Argo CD lists the object as one to prune, and pruning is off: it stays."


def _of_fields(
    change: Change,
    fields: Sequence[FieldVerdict],
    state: ApplicationState,
    declared: JsonObject | None,
    rules: Sequence[JsonObject],
    freezes: Sequence[Freeze],
) -> Outlook:
    if declared is None:
        return "invisible", "Git does not declare the object: no sync touches the field."
    if not change.write.fields_known:
        return "unknown", "The record does not hold what was changed."
    manifest = comparable(declared, change.write.object)
    left = _open(change, fields)
    undone = [field for field in left if differs(change.write, field, manifest)]
    applied = [field for field in left if paths.lookup(manifest, field.path).state == "value"]
    if not undone and (change.write.cause == "bypass" or (applied and len(applied) == len(left))):
        return "kept", "Every sync applies it from the Application itself, past git, until it is taken out there."
    if not undone and state.key.is_flux and any(is_beside(field, manifest) for field in left):
        return _beside_flux(state)
    if not undone and applied:
        return (
            "invisible",
            "Argo CD cannot see it, and no sync undoes it: the Application itself has part of it, past git.",
        )
    if not undone:
        return "invisible", "Argo CD cannot see it, and no sync undoes it: git does not declare the field."
    hidden = [is_ignored(change.write, field.path, manifest, rules) for field in undone]
    if all(hidden):
        return _hidden(state)
    return _when_synced(state, freezes, "puts git's value back")


def _open(change: Change, fields: Sequence[FieldVerdict]) -> list[FieldChange]:
    """The fields that stand in the cluster and that git has not."""
    return [
        field
        for field, verdict in zip(change.write.fields, fields, strict=True)
        if verdict.cluster.verdict in _LEFT and verdict.git.verdict not in _IN_GIT
    ]


def _beside_flux(state: ApplicationState) -> Outlook:
    if state.key.kind == "HelmRelease":
        return (
            "kept",
            "The chart does not declare the field: upgrades leave it, and drift detection, where it is on, compares "
            "what the chart declares.",
        )
    return (
        "unknown",
        "Git does not declare the field: when it next reconciles, Flux takes out what kubectl set beside the manifest, "
        "and leaves what other clients set.",
    )


def _hidden(state: ApplicationState) -> Outlook:
    if "RespectIgnoreDifferences=true" in state.sync_options:
        return "kept", "ignoreDifferences hides it, and RespectIgnoreDifferences keeps every sync from overwriting it."
    return (
        "undone-at-next-revision",
        "ignoreDifferences hides it, and yet the next sync, whatever starts it, overwrites it: "
        "RespectIgnoreDifferences is off.",
    )


def _when_synced(state: ApplicationState, freezes: Sequence[Freeze], doing: str) -> Outlook:
    """Which sync does it, by the Application's policy."""
    branch = next((source.target_revision for source in state.sources if source.target_revision), "HEAD")
    held = _held(state, freezes)
    if held:
        return "undone-at-manual-sync", f"{held}; the first sync after that {doing}."
    if state.waits_for_a_hand:
        return "undone-at-manual-sync", f"Auto-sync is off: the sync that somebody starts by hand {doing}."
    if not state.automated:
        return (
            "undone-at-next-revision",
            f"The ApplicationSet {state.rolled_out_by} starts the syncs, step by step: the next one {doing}, at its "
            f"turn after {branch} or the source moved; older versions of Argo CD do not wait for that.",
        )
    if state.self_heal:
        return "undone-at-next-sync", f"Self-heal is on: the next sync {doing}."
    return (
        "undone-at-next-revision",
        f"Self-heal is off: the next automated sync {doing}, as soon as {branch} or the source differs from the last "
        "attempted sync; any commit in the repository does that.",
    )


def _held(state: ApplicationState, freezes: Sequence[Freeze]) -> str:
    """What keeps the application from syncing by itself, beside its policy; "" for nothing."""
    if state.skip_reconcile or any(freeze.form == "skip-reconcile" for freeze in freezes):
        return "The annotation skip-reconcile holds the application until it is removed"
    if state.key.is_flux and not state.automated:
        return "Reconciling is suspended until somebody resumes it"
    if any(freeze.form == "reconcile-disabled" for freeze in freezes):
        return "An annotation tells Flux to leave the object alone until it is removed"
    if any(freeze.form == "controller-scaled" for freeze in freezes):
        return "The application controller is scaled down until somebody raises it again"
    if any(freeze.form == "sync-window" for freeze in freezes):
        return "A sync window denies syncs until it ends"
    if any(kind == "InvalidSpecError" for kind, _ in state.conditions):
        return "Argo CD refuses what the application or its project says, so nothing syncs until that is repaired"
    if not state.waits_for_a_hand and any(kind == "ComparisonError" for kind, _ in state.conditions):
        return "Manifests cannot be generated, so nothing syncs until that is repaired"
    return ""
