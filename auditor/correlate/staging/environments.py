"""One environment's names in terms of the other's, so that what only differs by environment does not count."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from auditor.model.application import ApplicationState
from auditor.model.resource import Json, JsonObject, ListItem, ObjectId, Path, Segment

_NAMES = frozenset({"name", "namespace", "host", "serviceAccount"})
_NAMED_MAPS = frozenset({"labels", "matchLabels", "selector"})
_CONTENT_HASH = re.compile(r"-[2456789bcdfghkmt]{10}$")
"""What Kustomize's generators append to a ConfigMap's or Secret's name (its alphabet leaves letters out)."""


@dataclass(frozen=True)
class Renaming:
    """Turns the names of one environment (`source`) into those of another."""

    tokens: tuple[tuple[str, str], ...]
    """Pairs of names, the longest first."""

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        known = "|".join(re.escape(source) for source, _ in self.tokens)
        return re.compile(rf"(?<![A-Za-z0-9])({known})(?![A-Za-z0-9])" if known else r"(?!)")

    @property
    def back(self) -> "Renaming":
        """The other way round."""
        pairs = ((target, source) for source, target in self.tokens)
        return Renaming(tuple(sorted(pairs, key=lambda pair: (-len(pair[0]), pair[0]))))

    def name(self, text: str) -> str:
        """A name as the other environment would have it."""
        names = dict(self.tokens)
        return self._pattern.sub(lambda found: names[found[1]], text)

    def body(self, body: JsonObject) -> JsonObject:
        """A copy of an object in which all that names things is renamed; other values stay."""
        renamed = self._renamed(body, False)
        return renamed if isinstance(renamed, dict) else body

    def _renamed(self, value: Json, is_name: bool) -> Json:
        if isinstance(value, str):
            return self.name(value) if is_name else value
        if isinstance(value, list):
            return [self._renamed(item, is_name) for item in value]
        if isinstance(value, dict):
            return {key: self._renamed(item, is_name or names_things(key)) for key, item in value.items()}
        return value

    def path(self, path: Path) -> Path:
        """A path whose list items the other environment calls by its own names."""
        return tuple(self._segment(segment) for segment in path)

    def _segment(self, segment: Segment) -> Segment:
        if not isinstance(segment, ListItem):
            return segment
        return ListItem(tuple((key, self.name(of) if names_things(key) else of) for key, of in segment.keys))

    def object(self, subject: ObjectId, namespaces: Mapping[str, str]) -> ObjectId:
        """The object that the other environment has in this one's place."""
        namespace = namespaces.get(subject.namespace, self.name(subject.namespace))
        return ObjectId("", subject.group, subject.kind, namespace, self.name(without_hash(subject)))


def names_things(key: str) -> bool:
    """Whether a field of this name holds the name of something, directly or below it."""
    return key in _NAMES or key in _NAMED_MAPS or key.endswith(("Name", "Names", "Namespace"))


def without_hash(subject: ObjectId) -> str:
    """The name, for a ConfigMap or Secret without the hash of its content."""
    return _CONTENT_HASH.sub("", subject.name) if subject.kind in ("ConfigMap", "Secret") else subject.name


def renaming(source: ApplicationState, target: ApplicationState) -> Renaming:
    """By the two applications' names and namespaces, and by the words in which these differ."""
    names = (
        (source.key.name, target.key.name),
        (source.destination_namespace, target.destination_namespace),
    )
    pairs = {one: other for one, other in [*names, *_words(names)] if one and other and one != other}
    return Renaming(tuple(sorted(pairs.items(), key=lambda pair: (-len(pair[0]), pair[0]))))


def _words(names: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """`shop-staging` and `shop-prod` differ in `staging` and `prod`."""
    found: list[tuple[str, str]] = []
    for one, other in names:
        words = list(zip(one.split("-"), other.split("-"), strict=False))
        different = [pair for pair in words if pair[0] != pair[1]]
        if one.count("-") == other.count("-") and len(different) == 1:
            found += different
    return found
