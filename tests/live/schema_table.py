"""Writes `auditor/objects/built_in.json`: what the built-in kinds are made of, from the Kubernetes sources.

    python -m tests.live.schema_table

The Go types tell pointers, quantities and patch tags (printed by `schema/main.go`), `api/openapi-spec/v3` of the module
k8s.io/kubernetes tells list types and list-map keys. Its codes are explained in `auditor/objects/schema.py`.
"""

import json
import re
from pathlib import Path
from typing import Any

from tests.live.servers import KUBERNETES, go, kubernetes_module, kubernetes_sources

TABLE = Path(__file__).parents[2] / "auditor" / "objects" / "built_in.json"
_COLLECTION = re.compile(r"/(?:api|apis/[^/]+)/[^/]+/(?:namespaces/\{namespace\}/)?[a-z]+")
_STRUCT = re.compile(r":([\w.-]+)")


def main() -> None:
    """Builds the table from the sources and writes it."""
    TABLE.write_text(table())


def table() -> str:
    """The text of the table, from the Go types and the OpenAPI documents of Kubernetes."""
    types = json.loads(go(kubernetes_module(), "run", "./schema"))
    folder = kubernetes_sources() / "api" / "openapi-spec" / "v3"
    documents = [json.loads(path.read_text()) for path in sorted(folder.glob("*_openapi.json"))]
    schemas: dict[str, Any] = {}
    for document in documents:
        schemas |= document.get("components", {}).get("schemas", {})
    kinds = served_kinds(documents)
    built = {
        "origin": f"Go types and OpenAPI of Kubernetes {KUBERNETES}, by tests/live/schema_table.py",
        "kinds": {name: short(kind) for name, kind in sorted(kinds.items())},
        "types": reachable(kinds, types, schemas),
    }
    return json.dumps(built, separators=(",", ":")).replace('},"', '},\n"') + "\n"


def served_kinds(documents: list[Any]) -> dict[str, str]:
    """By `group/Kind`: the full type name in the version that matters, the stable one where there is one."""
    found: dict[str, list[str]] = {}
    for document in documents:
        for path, operations in document.get("paths", {}).items():
            if not _COLLECTION.fullmatch(path) or "post" not in operations:
                continue
            named = operations["post"]["x-kubernetes-group-version-kind"]
            reference = operations["post"]["requestBody"]["content"]["*/*"]["schema"]["$ref"]
            if not named["kind"].endswith("Review"):
                found.setdefault(f"{named['group']}/{named['kind']}", []).append(reference.rpartition("/")[2])
    return {kind: max(names, key=_stability) for kind, names in found.items()}


def _stability(name: str) -> tuple[int, int, int]:
    major, level, minor = re.fullmatch(r"v(\d+)(alpha|beta)?(\d*)", name.split(".")[-2]).groups()  # type: ignore[union-attr]
    return {None: 2, "beta": 1, "alpha": 0}[level], int(major), int(minor or 0)


def short(name: str) -> str:
    """`core.Container` for `io.k8s.api.core.v1.Container`, `autoscaling.v2.MetricSpec` for another version."""
    *_, group, version, kind = name.split(".")
    return f"{group}.{kind}" if version == "v1" else f"{group}.{version}.{kind}"


def reachable(kinds: dict[str, str], types: Any, schemas: Any) -> dict[str, dict[str, str]]:
    """The types that the kinds are made of, without their `status`."""
    table: dict[str, dict[str, str]] = {}
    origin: dict[str, str] = {}
    pending = sorted(kinds.values())
    tops = set(pending)
    while pending:
        name = pending.pop(0)
        if origin.setdefault(short(name), name) != name:
            raise SystemExit(f"{name} and {origin[short(name)]} have one short name")
        if short(name) in table:
            continue
        table[short(name)] = fields = {}
        for key, field in sorted(types[name].items()):
            if name in tops and key in ("status", "apiVersion", "kind"):
                continue
            fields[key] = _code(field, schemas.get(name, {}).get("properties", {}).get(key, {}))
            fields[key] = _mark_atomic(fields[key], schemas)
            pending += _STRUCT.findall(fields[key])
            fields[key] = _STRUCT.sub(lambda match: ":" + short(match[1]), fields[key])
    return dict(sorted(table.items()))


def _code(field: Any, schema: Any) -> str:
    code: str = field["code"]
    strategies = field.get("strategy", "").split(",")
    if "retainKeys" in strategies:
        code += "%"
    if schema.get("x-kubernetes-map-type") == "atomic":
        code += "!"
    if "merge" in strategies:
        code += "~" + field.get("mergeKey", "")
    if schema.get("x-kubernetes-list-type") == "map":
        code += "^" + ",".join(schema["x-kubernetes-list-map-keys"])
    if schema.get("x-kubernetes-list-type") == "set":
        code += "^"
    return code


def _mark_atomic(code: str, schemas: Any) -> str:
    """Adds `!` after a struct whose own type is atomic."""

    def mark(match: re.Match[str]) -> str:
        atomic = schemas.get(match[1], {}).get("x-kubernetes-map-type") == "atomic"
        return match[0] + "!" * atomic

    return _STRUCT.sub(mark, code)


if __name__ == "__main__":
    main()
