"""ApplicationSets that roll out step by step: they switch auto-sync off in their Applications and start the syncs.

Of `strategy.type: RollingSync`, as Argo CD's ApplicationSet controller reads it: an Application belongs to the first
step whose `matchExpressions` all hold for its labels, and one that no step selects waits for a person.
"""

from collections.abc import Iterable
from dataclasses import replace

from auditor.correlate.writes.sequence import version_number
from auditor.model.application import ApplicationState
from auditor.model.facts import ArgoSettings
from auditor.model.resource import JsonObject
from auditor.objects.document import child, items, maps, object_in, text

_NONE = (0, "0", "0%")
"""`maxUpdate` of a step whose Applications a person must sync."""


class Rollouts:
    """The sets of which an export says that they roll out."""

    def __init__(self, settings: Iterable[ArgoSettings]) -> None:
        self._sets: dict[tuple[str, str, str], JsonObject] = {}
        for each in sorted(settings, key=_version):
            document = object_in(each.body) if each.kind == "ApplicationSet" else None
            if document is not None:
                self._sets[each.argocd, each.namespace, each.name] = document

    def marked(self, state: ApplicationState) -> ApplicationState:
        """The state with the set that starts its syncs, where one does, and whether those prune."""
        owner = self._sets.get((state.key.argocd, state.key.namespace, state.owner_set)) if state.owner_set else None
        if owner is None or not _starts_syncs(owner, state):
            return state if not state.rolled_out_by else replace(state, rolled_out_by="")
        return replace(state, rolled_out_by=state.owner_set, prune=state.prune or _prunes(owner, state))


def _version(settings: ArgoSettings) -> int:
    return version_number(settings.resource_version) or 0


def _starts_syncs(owner: JsonObject, state: ApplicationState) -> bool:
    """Whether the set's controller rolls it out: progressive syncs are an option, and it lists what it watches."""
    strategy = child(child(owner, "spec"), "strategy")
    watched = any(
        text(each, "application") == state.key.name for each in maps(child(owner, "status"), "applicationStatus")
    )
    if text(strategy, "type") != "RollingSync" or not watched:
        return False
    steps = maps(child(strategy, "rollingSync"), "steps")
    step = next((each for each in steps if all(_holds(said, state) for said in maps(each, "matchExpressions"))), None)
    return step is not None and step.get("maxUpdate") not in _NONE


def _holds(expression: JsonObject, state: ApplicationState) -> bool:
    operator, value = text(expression, "operator"), state.labels.get(text(expression, "key"))
    listed = value is not None and value in items(expression, "values")
    return listed if operator == "In" else operator == "NotIn" and not listed


def _prunes(owner: JsonObject, state: ApplicationState) -> bool:
    """Whether the syncs prune: as auto-sync would, which older versions take out of the Application altogether."""
    spec = child(owner, "spec")
    own, template = (
        child(child(of, "syncPolicy"), "automated").get("prune")
        for of in (child(state.document, "spec"), child(child(spec, "template"), "spec"))
    )
    said = own if isinstance(own, bool) else template
    return said if isinstance(said, bool) else child(child(spec, "strategy"), "rollingSync").get("defaultPrune") is True
