"""Files of objects, object by object, each with the bytes that it was read from."""

import json
from pathlib import Path

import pytest
import yaml

from auditor.collectors.files.documents import Document, Malformed, as_utf8, documents, recognise
from tests.collectors.configured import CORPUS

LIST = b"""apiVersion: v1
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: a
  data:
    text: |
      items:
      - not an item
      --- not a document
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: b}
kind: List
metadata:
  resourceVersion: ""
"""


def values(content: bytes) -> list[object]:
    return [found.value for found in documents(content) if isinstance(found, Document)]


def broken(content: bytes) -> list[Malformed]:
    return [found for found in documents(content) if isinstance(found, Malformed)]


def test_the_items_of_a_list_are_its_own_bytes() -> None:
    found = [each for each in documents(LIST) if isinstance(each, Document)]
    assert [each.value for each in found] == yaml.safe_load(LIST)["items"]
    assert LIST[found[1].start : found[1].end].startswith(b"- apiVersion")
    assert LIST[found[1].end :].startswith(b"kind: List")
    assert found[0].list_number == found[1].list_number is not None


def test_an_indented_list_is_read_alike() -> None:
    indented = b"kind: List\nitems:\n  # two\n  - kind: A\n    x: 1\n  -\n    kind: B\nother: 1\n"
    assert values(indented) == [{"kind": "A", "x": 1}, {"kind": "B"}]


def test_documents_are_split_at_their_markers() -> None:
    content = b"--- # first\nkind: A\n---\n# nothing\n---\nkind: B\n...\n---\nkind: C\n"
    assert values(content) == [{"kind": "A"}, {"kind": "B"}, {"kind": "C"}]
    assert {found.list_number for found in documents(content) if isinstance(found, Document)} == {None}


def test_a_broken_item_does_not_take_the_others_with_it() -> None:
    content = b"kind: List\nitems:\n- kind: A\n- kind: [\n- kind: C\n"
    assert values(content) == [{"kind": "A"}, {"kind": "C"}]
    (bad,) = broken(content)
    assert content[bad.start : bad.end] == b"- kind: [\n"


def test_json_objects_lists_and_arrays_are_read() -> None:
    assert values(b'{"kind": "A"}') == [{"kind": "A"}]
    assert values(b'{"kind": "List", "items": [{"kind": "A"}, {"kind": "B"}]}') == [{"kind": "A"}, {"kind": "B"}]
    assert values(b'[{"kind": "A"},\n {"kind": "B"}]') == [{"kind": "A"}, {"kind": "B"}]
    assert values(b'{"kind": "A"}\n{"kind": "B"}{"kind": "C"}') == [{"kind": "A"}, {"kind": "B"}, {"kind": "C"}]


def test_json_places_are_bytes_though_the_text_is_not_ascii() -> None:
    content = '\ufeff{"kind":"List","items":[{"name":"münchen"},{"name":"b"}]}'.encode()
    second = [each for each in documents(content) if isinstance(each, Document)][1]
    assert json.loads(content[second.start : second.end]) == {"name": "b"}


def test_equal_items_have_their_own_places() -> None:
    content = b'{"kind":"List","items":[{"a":1},{"a":1}]}'
    first, second = (each for each in documents(content) if isinstance(each, Document))
    assert first.start < second.start


def test_json_that_ends_early_is_told_with_its_place() -> None:
    content = b'{"kind": "A"}\n{"kind": '
    assert values(content) == [{"kind": "A"}]
    assert broken(content)[0].start == 14


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b'{"a":' * 100_000, b'{"kind":"A","x":' + b"[" * 500 + b"]" * 500 + b"}"]
)
def test_deep_json_is_no_object(content: bytes) -> None:
    assert values(content) == []
    assert broken(content)


def test_what_holds_no_objects_is_recognised() -> None:
    assert recognise(b"\n  {}") == "json"
    assert recognise(b"# c\napiVersion: v1\n") == "yaml"
    assert recognise(b"kind: List\r\n") == "yaml"
    assert recognise(b"# Read me\n\nkind words\n") == ""
    assert recognise(b"") == ""


def test_utf_16_is_read_as_utf_8() -> None:
    assert as_utf8("kind: A\n".encode("utf-16")) == b"kind: A\n"
    assert as_utf8(b"kind: A\n") is None


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not there")
@pytest.mark.parametrize("name", ["incident-a", "matrix", "argo"])
def test_real_exports_are_what_a_plain_reader_says(name: str) -> None:
    for path in sorted(Path(CORPUS, name).rglob("*.yaml")):
        content = path.read_bytes()
        if path.stat().st_size > 150_000:
            continue
        plain = [each for each in yaml.load_all(content, yaml.CSafeLoader) if each]
        wanted = [item for each in plain for item in (each["items"] if each.get("kind") == "List" else [each])]
        assert values(content) == wanted, path
        assert not broken(content)
