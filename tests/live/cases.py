"""Cases of (object, patch, result), as a real API server answers them.

    python -m tests.live.cases          writes tests/objects/patch_cases.jsonl.gz anew

The requests are those of `requests.yaml`, and random ones from a fixed seed; what the server refuses is no case.
"""

import copy
import gzip
import json
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from auditor.objects import kinds, schema
from tests.live.servers import KUBERNETES, Api, api_server

FIXTURE = Path(__file__).parents[1] / "objects" / "patch_cases.jsonl.gz"
HERE = Path(__file__).parent
RANDOM_CASES = 14
"""Random requests for each object; about two of three are accepted."""

_TYPES = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
    "scale": "application/merge-patch+json",
    "put": "application/json",
}
_NAMES = {"json": "json-patch", "scale": "merge"}
"""What the program calls a type, where it is not the key of `requests.yaml`."""
_FIXED = ("apiVersion", "kind", "status", "metadata", "selector", "serviceName", "volumeClaimTemplates", "roleRef")


@dataclass(frozen=True, slots=True)
class Case:
    """One request that the server accepted."""

    note: str
    group: str
    kind: str
    patch_type: str
    subresource: str
    manager: str
    before: Any
    request: Any
    after: Any


def objects() -> dict[str, Any]:
    """By KIND/NAME: what is patched."""
    found = yaml.safe_load_all((HERE / "objects.yaml").read_text())
    return {f"{each['kind']}/{each['metadata']['name']}": each for each in found}


def record(api: Api, seed: int = 1) -> Iterator[Case]:
    """All cases; each object is made anew in a namespace of its own."""
    known = objects()
    api.send(
        "POST",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        yaml.safe_load((HERE / "widgets.yaml").read_text()),
    )
    _await_widgets(api)
    for number, entry in enumerate(yaml.safe_load((HERE / "requests.yaml").read_text())):
        patches = entry["patches"] if "patches" in entry else [{k: v for k, v in entry.items() if k != "object"}]
        yield from _story(api, known[entry["object"]], patches, f"case-{number}", strict=True)
    generator = random.Random(seed)
    for name, manifest in known.items():
        for number in range(RANDOM_CASES):
            patches = [random_patch(manifest, generator)]
            note = f"random-{name.lower().replace('/', '-')}-{number}"
            yield from _story(api, manifest, patches, note, strict=False)


def _story(api: Api, manifest: Any, patches: list[Any], note: str, strict: bool) -> Iterator[Case]:
    collection, path = _paths(manifest, note)
    api.send("POST", "/api/v1/namespaces", {"metadata": {"name": note}})
    made = api.send("POST", collection + "?fieldManager=tester", manifest)
    if made.code != 201:
        raise RuntimeError(f"{note}: {made.body.get('message')}")
    before = made.body
    for patch in patches:
        manager = patch.get("as", "tester")
        ((form, body),) = ((key, value) for key, value in patch.items() if key != "as")
        request = _request(form, body, manifest, before)
        query = f"?fieldManager={manager}" + ("&force=true" if form == "apply" else "")
        place = path + ("/scale" if form == "scale" else "")
        answer = api.send("PUT" if form == "put" else "PATCH", place + query, request, _TYPES[form])
        if answer.code != 200:
            if strict:
                raise RuntimeError(f"{note}: {answer.body.get('message')}")
            break
        after = api.send("GET", path).body
        names = (kinds.group_of(manifest["apiVersion"]), manifest["kind"], _NAMES.get(form, form))
        yield Case(
            note, *names, "scale" if form == "scale" else "", manager, _kept(before, form), request, _kept(after, form)
        )
        before = after
    if (
        not kinds.is_namespaced(kinds.group_of(manifest["apiVersion"]), manifest["kind"])
        and manifest["kind"] != "Widget"
    ):
        api.send("DELETE", path)


def _paths(manifest: Any, namespace: str) -> tuple[str, str]:
    group = kinds.group_of(manifest["apiVersion"])
    root = f"/apis/{manifest['apiVersion']}" if group else f"/api/{manifest['apiVersion']}"
    resource = kinds.resource_of(group, manifest["kind"]) or manifest["kind"].lower() + "s"
    scoped = kinds.is_namespaced(group, manifest["kind"])
    collection = f"{root}/{resource}" if scoped is False else f"{root}/namespaces/{namespace}/{resource}"
    return collection, f"{collection}/{manifest['metadata']['name']}"


def _request(form: str, body: Any, manifest: Any, before: Any) -> Any:
    if form == "put":
        return _merged(before, body)
    if form == "apply":
        head = {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"]}
        named = {"metadata": {"name": manifest["metadata"]["name"]}}
        return head | _merged(named, body)
    return body


def _merged(base: Any, change: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(change, dict):
        return change
    merged = {key: value for key, value in base.items() if change.get(key, "") is not None}
    return merged | {key: _merged(base.get(key), value) for key, value in change.items() if value is not None}


def _kept(document: Any, form: str) -> Any:
    """The object without what differs from run to run; managedFields stay where a case is about them."""
    document = copy.deepcopy(document)
    for key in ("uid", "creationTimestamp", "resourceVersion"):
        document["metadata"].pop(key, None)
    if form != "apply":
        document["metadata"].pop("managedFields", None)
    for entry in document["metadata"].get("managedFields", []):
        entry.pop("time", None)
    return document


def _await_widgets(api: Api) -> None:
    """A new kind is served some moments after its definition."""
    while api.send("GET", "/apis/acme.example/v1/namespaces/default/widgets").code != 200:
        time.sleep(0.1)


def random_patch(manifest: Any, generator: random.Random) -> dict[str, Any]:
    """One random request: a few changes at random places, in a random form."""
    form = generator.choice(["merge", "strategic", "json", "put", "apply"])
    if manifest["kind"] == "Widget" and form == "strategic":
        form = "merge"
    if form == "json":
        return {form: [_operation(manifest, generator) for _ in range(generator.randint(1, 3))]}
    node = schema.root(kinds.group_of(manifest["apiVersion"]), manifest["kind"])
    patch: dict[str, Any] = {}
    for _ in range(generator.randint(1, 3)):
        patch = _merged(patch, _change(manifest, node, form, generator, top=True)) or patch
    return {form: patch}


def _change(value: Any, node: schema.Node, form: str, generator: random.Random, top: bool = False) -> Any:
    """A patch of a value: of one of its entries, or another value."""
    if isinstance(value, dict):
        keys = [key for key in value if key not in _FIXED] if top else [key for key in value if key != "name"]
        if not top and (not keys or generator.random() < 0.1):
            return None if form != "apply" else value
        if not keys or (top and generator.random() < 0.2):
            return {"metadata": {"labels": {generator.choice("abc"): generator.choice(["x", "y"])}}}
        key = generator.choice(keys)
        return {key: _change(value[key], node.child(key), form, generator)}
    if isinstance(value, list):
        return _changed_list(value, node, form, generator)
    return _other(value, generator, form)


def _changed_list(items: list[Any], node: schema.Node, form: str, generator: random.Random) -> Any:
    chosen = generator.choice(items) if items else None
    key = node.merge_key
    if form == "strategic" and key and isinstance(chosen, dict):
        if generator.random() < 0.2:
            return [{key: chosen[key], "$patch": "delete"}]
        change = _change(chosen, node.items, form, generator)
        return [(change if isinstance(change, dict) else {}) | {key: chosen[key]}]
    if form == "apply" and node.map_keys and isinstance(chosen, dict):
        change = _change(chosen, node.items, form, generator)
        return [(change if isinstance(change, dict) else {}) | {k: chosen[k] for k in node.map_keys if k in chosen}]
    kept = [item for item in items if generator.random() < 0.7]
    generator.shuffle(kept)
    return kept


def _other(value: Any, generator: random.Random, form: str) -> Any:
    if form != "apply" and generator.random() < 0.25:
        return None
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + generator.randint(1, 5)
    return generator.choice([value, "other", f"{value}-2"])


def _operation(manifest: Any, generator: random.Random) -> dict[str, Any]:
    """One operation at a random place; some do not fit any more when it is their turn."""
    fixed = ("/metadata/name", "/kind", "/apiVersion")
    places = [place for place in _places(manifest, "") if place[0] and not place[0].startswith(fixed)]
    pointer, value = generator.choice([place for place in places if place[0].count("/") > 1] or places)
    match generator.choice(["add", "replace", "remove", "test", "append", "copy"]):
        case "test":
            return {"op": "test", "path": pointer, "value": value}
        case "remove":
            return {"op": "remove", "path": pointer}
        case "append" if isinstance(value, list) and value:
            return {"op": "add", "path": f"{pointer}/-", "value": generator.choice(value)}
        case "copy":
            return (
                {"op": "copy", "from": pointer, "path": "/metadata/annotations"}
                if isinstance(value, dict)
                else {
                    "op": "add",
                    "path": "/metadata/labels",
                    "value": {"copied": "yes"},
                }
            )
        case name:
            replaced = _other(value, generator, "apply") if not isinstance(value, dict | list) else value
            return {"op": "add" if name in ("add", "append") else "replace", "path": pointer, "value": replaced}


def _places(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    yield pointer, value
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from _places(inner, f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}")


def main() -> None:
    """Records all cases and writes the fixture; its first line says where it comes from."""
    with tempfile.TemporaryDirectory() as folder, api_server(Path(folder)) as api:
        cases = [asdict(case) for case in record(api)]
    origin = {"origin": f"kube-apiserver {KUBERNETES}, by tests/live/cases.py", "cases": len(cases)}
    lines = [json.dumps(each, sort_keys=True, separators=(",", ":")) for each in (origin, *cases)]
    FIXTURE.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n", mtime=0))
    print(f"{len(cases)} cases in {FIXTURE.name}")


if __name__ == "__main__":
    main()
