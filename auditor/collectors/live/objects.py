"""The objects that Applications manage, as a cluster has them now, with their managed fields. Never a Secret."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from auditor.collectors import Reading
from auditor.collectors.live.connection import Connection, RequestError
from auditor.collectors.live.lists import Page, Resource, pages, segment, single
from auditor.collectors.live.managed import ManagedObject
from auditor.collectors.live.source import LiveSource, Part, read_parts
from auditor.collectors.object_snapshots import read_object
from auditor.model.facts import Batch, ObjectSnapshot, Origin, SourceMark
from auditor.model.resource import JsonObject

FEW = 20
"""Up to so many of a kind in a namespace are asked for by name: a list brings what no Application manages, too."""
_SECRET = ("", "Secret")
_GONE = 404


def read_objects(
    reading: Reading, cluster: str, connection: Connection, managed: Iterable[ManagedObject]
) -> Iterator[Batch]:
    """Snapshots of `managed`, one source a kind. An object that is not there leaves no record."""
    kinds: dict[tuple[str, str], list[ManagedObject]] = defaultdict(list)
    for each in managed:
        kinds[each.group, each.kind].append(each)
    served = _Served(connection)
    for (group, kind), objects in sorted(kinds.items()):
        if (group, kind) == _SECRET:
            mark = SourceMark("objects", cluster, f"{connection.name}/secrets", "", "never read", foreign=len(objects))
            yield Batch((), mark)
            continue
        try:
            resource = served.resource(group, kind, [each.version for each in objects])
        except RequestError as error:
            source = _source(reading, cluster, f"{connection.name}/{kind}.{group}".rstrip("."), "", kind)
            yield source.close(f"{error.message} Unknown is then {_state(len(objects), kind)}.")
        else:
            source = _source(reading, cluster, f"{connection.name}/{resource}", resource.api_version, kind)
            yield from read_parts(source, list(_parts(connection, resource, objects)))


def _source(reading: Reading, cluster: str, name: str, api_version: str, kind: str) -> LiveSource:
    begin = SourceMark("objects", cluster, name, "", "objects")
    earlier = next((mark for mark in reading.known("objects", cluster) if mark.source == name), None)

    def keep(document: JsonObject, origin: Origin) -> ObjectSnapshot | None:
        return read_object(cluster, document, origin, reading.redactor)

    return LiveSource(begin, earlier, api_version, kind, keep)


def _parts(connection: Connection, resource: Resource, objects: Sequence[ManagedObject]) -> Iterator[Part]:
    namespaces: dict[str, set[str]] = defaultdict(set)
    for each in objects:
        namespaces[each.namespace if resource.namespaced else ""].add(each.name)
    for namespace, names in sorted(namespaces.items()):
        unknown = _state(len(names), f"{resource} in {namespace}" if namespace else str(resource))
        if len(names) > FEW:
            yield Part(pages(connection, resource, namespace), unknown, names)
        else:
            yield Part(_each(connection, resource, namespace, sorted(names)), unknown)


def _each(connection: Connection, resource: Resource, namespace: str, names: Iterable[str]) -> Iterator[Page]:
    for name in names:
        try:
            yield single(connection, resource, namespace, name)
        except RequestError as error:
            if error.code != _GONE:
                raise


def _state(count: int, what: str) -> str:
    return f"the live state of {count} {what}"


T = TypeVar("T")


class _Entry(msgspec.Struct):
    name: str = ""
    kind: str = ""
    namespaced: bool = False


class _Resources(msgspec.Struct):
    resources: list[_Entry] = msgspec.field(default_factory=list)


class _Version(msgspec.Struct):
    version: str = ""


class _Group(msgspec.Struct):
    preferred: _Version = msgspec.field(default_factory=_Version, name="preferredVersion")


class _Served:
    """What the API server serves, asked once for each version of a group."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._versions: dict[tuple[str, str], Mapping[str, Resource]] = {}

    def resource(self, group: str, kind: str, versions: Iterable[str]) -> Resource:
        """Where a kind is served: in a version that Applications name, else in the one the server prefers."""
        for version in sorted(set(versions)):
            if found := self._kinds(group, version).get(kind):
                return found
        preferred = self._preferred(group)
        if preferred and (found := self._kinds(group, preferred).get(kind)):
            return found
        raise RequestError(f"The API server serves no {kind}{f' of {group}' if group else ''}.", _GONE)

    def _kinds(self, group: str, version: str) -> Mapping[str, Resource]:
        """By kind; empty for a version that is not served."""
        if (group, version) not in self._versions:
            answer = self._ask(f"/apis/{segment(group)}" if group else "/api", segment(version), _Resources)
            self._versions[group, version] = {
                entry.kind: Resource(group, version, entry.name, entry.namespaced)
                for entry in answer.resources
                if "/" not in entry.name
            }
        return self._versions[group, version]

    def _preferred(self, group: str) -> str:
        return self._ask("/apis", segment(group), _Group).preferred.version if group else "v1"

    def _ask(self, root: str, step: str, shape: type[T]) -> T:
        try:
            content = self._connection.get(f"{root}/{step}").content
        except RequestError as error:
            if error.code != _GONE:
                raise
            content = b"{}"
        try:
            return msgspec.json.decode(content, type=shape)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise RequestError(f"What the API server serves under {root}/{step} cannot be read.") from error
