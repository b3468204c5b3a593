"""What admission webhooks did to a request, as the API server noted it in the annotations of the audit event.

`mutation.webhook.admission.k8s.io/round_N_index_M` (level Metadata and above) says whether a webhook mutated the
object, `patch.webhook.admission.k8s.io/round_N_index_M` (Request and above) how. A MutatingAdmissionPolicy leaves none.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from auditor.model.resource import Json, JsonObject, Path
from auditor.objects import json_patch, paths
from auditor.objects.document import object_in

_ANNOTATION = re.compile(r"(mutation|patch)\.webhook\.admission\.k8s\.io/round_(\d{1,6})_index_(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Mutation:
    """One webhook's part in one request."""

    webhook: str
    patch: tuple[Json, ...] | None
    """The operations of its JSON Patch; None where the record says only that it mutated something."""

    @property
    def pointers(self) -> tuple[str, ...] | None:
        """JSON Pointers of its patch."""
        return None if self.patch is None else tuple(_pointers(self.patch))


def mutations(annotations: Mapping[str, str]) -> tuple[Mutation, ...]:
    """The webhooks that mutated the request, in the order of their calls."""
    calls: dict[tuple[int, int], dict[str, JsonObject]] = {}
    for key, text in annotations.items():
        found = _ANNOTATION.fullmatch(key)
        noted = object_in(text) if found else None
        if found and noted is not None:
            calls.setdefault((int(found[2]), int(found[3])), {})[found[1]] = noted
    return tuple(_mutations(calls[call] for call in sorted(calls)))


def names(annotations: Mapping[str, str]) -> tuple[str, ...]:
    """`admission webhook NAME`, each once, in the order of their calls."""
    return tuple(dict.fromkeys(_name(each) for each in mutations(annotations)))


def admitted(document: JsonObject, annotations: Mapping[str, str]) -> JsonObject | None:
    """What the webhooks made of a whole object that a request asked for; None where the record does not tell."""
    for mutation in mutations(annotations):
        if mutation.patch is None:
            return None
        try:
            document = json_patch.apply(document, list(mutation.patch))
        except json_patch.DoesNotFitError:
            return None
    return document


def touched(document: JsonObject, annotations: Mapping[str, str], group: str, kind: str) -> tuple[Path, ...]:
    """The paths that webhooks may have set in an object of which this much is known: () for any."""
    found: list[Path] = []
    for mutation in mutations(annotations):
        if mutation.pointers is None:
            return ((),)
        found += [paths.from_pointer(document, pointer, group, kind) for pointer in mutation.pointers]
    return tuple(found)


class Admission:
    """Who of the webhooks of one request touched a path of the stored object."""

    def __init__(self, annotations: Mapping[str, str], stored: JsonObject | None, group: str, kind: str) -> None:
        self._touched: list[tuple[Path, str]] = []
        self._silent: list[str] = []
        for mutation in mutations(annotations):
            if mutation.pointers is None:
                self._silent.append(_name(mutation))
            for pointer in mutation.pointers or ():
                self._touched.append((paths.from_pointer(stored, pointer, group, kind), _name(mutation)))

    def author(self, path: Path) -> str | None:
        """`admission webhook NAME` of the last one that set this path, what holds it, or what it holds."""
        for touched, name in reversed(self._touched):
            shared = min(len(touched), len(path))
            if touched[:shared] == path[:shared]:
                return name
        return None

    def suspect(self) -> str | None:
        """The one webhook that mutated something that the record does not tell; None for none, or several."""
        return self._silent[0] if len(set(self._silent)) == 1 else None


def _mutations(calls: Iterator[dict[str, JsonObject]]) -> Iterator[Mutation]:
    for call in calls:
        said = call.get("patch") or call.get("mutation") or {}
        webhook = said.get("webhook")
        if not isinstance(webhook, str):
            continue
        if "patch" in call:
            operations = said.get("patch")
            yield Mutation(webhook, tuple(operations) if isinstance(operations, list) else ())
        elif said.get("mutated") is True:
            yield Mutation(webhook, None)


def _pointers(patch: tuple[Json, ...]) -> Iterator[str]:
    for operation in patch:
        place = operation.get("path") if isinstance(operation, dict) else None
        if isinstance(place, str):
            yield place


def _name(mutation: Mutation) -> str:
    return f"admission webhook {mutation.webhook}"
