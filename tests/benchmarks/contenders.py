"""One run of one reader over one file, in a process of its own: `python -m tests.benchmarks.contenders NAME FILE`.

All readers do the same: find the events that are writes, and have these columns of each at hand in the program:
auditID, stage, verb, requestURI, user.username, userAgent, objectRef (apiGroup, resource, namespace, name,
subresource), responseStatus.code, requestReceivedTimestamp, requestObject, responseObject. Of a Cloud Logging export:
insertId, methodName, resourceName, principalEmail, callerSuppliedUserAgent, status.code, timestamp, request, response.
Prints the seconds (imports not counted) and the rows found.
"""

import gzip
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from auditor.collectors.files.sources import Source, open_raw, open_stream
from auditor.collectors.files.streams import Section, Stream
from auditor.collectors.kube_audit.events import Event
from auditor.collectors.kube_audit.parallel import PART, processes
from auditor.collectors.kube_audit.places import Found
from auditor.collectors.kube_audit.prefilter import Reads
from auditor.collectors.kube_audit.records import State
from auditor.collectors.kube_audit.scan import Scanner

WRITES = ("create", "update", "patch", "delete", "deletecollection")


class Rows:
    """A sink that has the columns of each write at hand, and keeps none."""

    def __init__(self) -> None:
        self.count = 0
        self.reads_seen = 0

    def event(self, event: Event, offset: int, record: bytes) -> None:
        if event.is_write:
            self.count += 1
            self.row = columns(event)
        else:
            self.reads_seen += 1

    def found(self, found: Found, offset: int, record: bytes) -> None:
        if found.event is not None:
            self.event(found.event, offset, record)

    def reads(self, reads: Reads) -> None:
        self.reads_seen += reads.count

    def undecodable(self, offset: int, length: int, reason: str) -> None:
        raise AssertionError(reason)

    def wrapping(self, length: int) -> None:
        pass


def columns(event: Event) -> tuple[Any, ...]:
    reference = event.reference
    assert reference is not None
    return (
        event.audit_id, event.stage, event.verb, event.uri, event.user.username, event.user_agent, reference.group,
        reference.resource, reference.namespace, reference.name, reference.subresource, event.code, event.received,
        event.request, event.response,
    )  # fmt: skip


def _scanned(stream: Stream, offset: int = 0) -> int:
    rows = Rows()
    for _ in Scanner(stream, rows, State(offset)).run():
        pass
    return rows.count


def scan(path: Path) -> int:
    """Ours: scan and decode."""
    return _scanned(open_stream(Source(path.name, str(path))))


def _scan_part(path: str, start: int, end: int) -> int:
    section = Section(open_raw(Source(path, path)), start, end)
    return _scanned(section, section.start)


def scan_in_two(path: Path) -> int:
    """Ours, with two workers."""
    size = path.stat().st_size
    edges = [*range(0, size, PART), size]
    with processes(2) as executor:
        assert executor is not None
        waiting = [executor.submit(_scan_part, str(path), *span) for span in pairwise(edges)]
        return sum(future.result() for future in waiting)


def _batches(path: Path, folder: Path, workers: int, known: Any = None) -> Iterator[Any]:
    from auditor.collectors import Reading
    from auditor.collectors.kube_audit import COLLECTOR
    from auditor.config import ClusterConfig, Config
    from auditor.objects.redaction import Redactor
    from auditor.progress import SILENT

    config = Config(path.parent, clusters=(ClusterConfig("prod", audit=(path.name,)),))
    known = known or (lambda kind, name: ())
    yield from COLLECTOR.collect(Reading(config, Redactor(b"k" * 32), known, folder, SILENT, workers=workers))


def facts(path: Path, workers: int = 1) -> int:
    """Ours: facts, with redaction, identity and SHA-256 of each record."""
    return sum(len(batch.facts) for batch in _batches(path, path.parent, workers))


def facts_in_two(path: Path) -> int:
    """The same with two workers."""
    return facts(path, 2)


def store(path: Path, workers: int = 1) -> int:
    """Ours: the whole, into a new SQLite store."""
    from auditor.store import open_store

    with tempfile.TemporaryDirectory() as folder, open_store(f"sqlite:///{folder}/auditor.db") as opened:
        return sum(opened.write(batch).facts for batch in _batches(path, Path(folder), workers, opened.marks))


def store_in_two(path: Path) -> int:
    """The same with two workers."""
    return store(path, 2)


def _lines(path: Path) -> Iterator[bytes]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        yield from file


def orjson_loop(path: Path) -> int:
    """A plain loop: every line through orjson."""
    import orjson

    count = 0
    for line in _lines(path):
        event = orjson.loads(line)
        if "protoPayload" in event:
            payload = event["protoPayload"]
            if payload["methodName"].rpartition(".")[2] in WRITES:
                count += 1
                row = (event["insertId"], payload["methodName"], payload["resourceName"], payload.get("request"))
                row += (payload["authenticationInfo"]["principalEmail"], payload["status"]["code"], event["timestamp"])
        elif event["verb"] in WRITES:
            count += 1
            reference = event["objectRef"]
            row = tuple(map(event.get, ("auditID", "stage", "verb", "requestURI", "userAgent", "requestObject")))
            row += tuple(map(reference.get, ("apiGroup", "resource", "namespace", "name", "subresource")))
            row += (event["user"]["username"], event["responseStatus"]["code"], event["requestReceivedTimestamp"])
    return count


_AUDIT_SQL = """
SELECT auditID, stage, verb, requestURI, "user".username, userAgent, objectRef.apiGroup, objectRef.resource,
       objectRef.namespace, objectRef.name, objectRef.subresource, responseStatus.code, requestReceivedTimestamp,
       requestObject, responseObject
FROM read_json('{path}', format = 'newline_delimited', maximum_object_size = 16777216, columns = {{
    auditID: 'VARCHAR', stage: 'VARCHAR', verb: 'VARCHAR', requestURI: 'VARCHAR', user: 'STRUCT(username VARCHAR)',
    userAgent: 'VARCHAR', responseStatus: 'STRUCT(code INTEGER)', requestReceivedTimestamp: 'VARCHAR',
    objectRef: 'STRUCT(apiGroup VARCHAR, resource VARCHAR, namespace VARCHAR, name VARCHAR, subresource VARCHAR)',
    requestObject: 'JSON', responseObject: 'JSON'}})
WHERE verb IN {writes}
"""
_GKE_SQL = """
SELECT insertId, protoPayload.methodName, protoPayload.resourceName, protoPayload.authenticationInfo.principalEmail,
       protoPayload.requestMetadata.callerSuppliedUserAgent, protoPayload.status.code, "timestamp",
       protoPayload.request, protoPayload.response
FROM read_json('{path}', format = 'newline_delimited', maximum_object_size = 16777216, columns = {{
    insertId: 'VARCHAR', timestamp: 'VARCHAR', protoPayload: 'STRUCT(methodName VARCHAR, resourceName VARCHAR,
    authenticationInfo STRUCT(principalEmail VARCHAR), requestMetadata STRUCT(callerSuppliedUserAgent VARCHAR),
    status STRUCT(code INTEGER), request JSON, response JSON)'}})
WHERE regexp_extract(protoPayload.methodName, '[a-z]+$') IN {writes}
"""


def _sql(path: Path) -> str:
    return (_GKE_SQL if "gke" in path.name else _AUDIT_SQL).format(path=path, writes=WRITES)


def duckdb(path: Path, threads: int = 1) -> int:
    """DuckDB: the rows as Python tuples."""
    import duckdb as engine

    connection = engine.connect(config={"threads": threads})
    cursor = connection.execute(_sql(path))
    return sum(map(len, iter(lambda: cursor.fetchmany(2048), [])))


def duckdb_in_two(path: Path) -> int:
    """DuckDB with two threads."""
    return duckdb(path, 2)


def duckdb_scan(path: Path, threads: int = 1) -> int:
    """DuckDB: the columns read and thrown away inside the engine (a sum of their lengths)."""
    import duckdb as engine

    connection = engine.connect(config={"threads": threads})
    lengths = "count(*), sum(length(requestURI)), sum(length(requestObject)), sum(length(responseObject)), sum(code)"
    if "gke" in path.name:
        lengths = "count(*), sum(length(methodName)), sum(length(request)), sum(length(response)), sum(code)"
    found = connection.execute(f"SELECT {lengths} FROM ({_sql(path)})").fetchone()
    assert found is not None
    return int(found[0])


def duckdb_table(path: Path, threads: int = 1) -> int:
    """DuckDB: the rows written to a table of a new database."""
    import duckdb as engine

    with tempfile.TemporaryDirectory() as folder:
        connection = engine.connect(f"{folder}/audit.duckdb", config={"threads": threads})
        connection.execute(f"CREATE TABLE event AS {_sql(path)}")
        found = connection.execute("SELECT count(*) FROM event").fetchone()
        connection.close()
    assert found is not None
    return int(found[0])


def duckdb_table_in_two(path: Path) -> int:
    """The same with two threads."""
    return duckdb_table(path, 2)


_JQ_AUDIT = """select(.verb | IN("create", "update", "patch", "delete", "deletecollection")) | [.auditID, .stage, .verb,
.requestURI, .user.username, .userAgent, .objectRef.apiGroup, .objectRef.resource, .objectRef.namespace,
.objectRef.name, .objectRef.subresource, .responseStatus.code, .requestReceivedTimestamp, .requestObject,
.responseObject]"""
_JQ_GKE = """select(.protoPayload.methodName | test("[.](create|update|patch|delete|deletecollection)$")) | [.insertId,
.timestamp, (.protoPayload | .methodName, .resourceName, .authenticationInfo.principalEmail,
.requestMetadata.callerSuppliedUserAgent, .status.code, .request, .response)]"""


def jq(path: Path) -> int:
    """jq: the rows as lines of JSON."""
    import subprocess

    reader = "gzip -dc" if path.suffix == ".gz" else "cat"
    program = _JQ_GKE if "gke" in path.name else _JQ_AUDIT
    command = f"{reader} '{path}' | jq -c '{program}' | wc -l"
    return int(subprocess.run(command, shell=True, check=True, capture_output=True).stdout)


CONTENDERS: dict[str, Callable[[Path], int]] = {
    "scan": scan,
    "scan, 2 workers": scan_in_two,
    "facts": facts,
    "facts, 2 workers": facts_in_two,
    "store": store,
    "store, 2 workers": store_in_two,
    "orjson": orjson_loop,
    "duckdb": duckdb,
    "duckdb, 2 threads": duckdb_in_two,
    "duckdb inside": duckdb_scan,
    "duckdb table": duckdb_table,
    "duckdb table, 2 threads": duckdb_table_in_two,
    **({"jq": jq} if shutil.which("jq") else {}),
}


def main(name: str, path: str) -> None:
    contender = CONTENDERS[name]
    if name.startswith("duckdb"):
        import duckdb as engine  # noqa: F401
    if name.startswith("store"):
        import auditor.store.tables  # noqa: F401
    begun = time.perf_counter()
    rows = contender(Path(path))
    print(json.dumps({"seconds": time.perf_counter() - begun, "rows": rows}))


if __name__ == "__main__":
    main(*sys.argv[1:])
