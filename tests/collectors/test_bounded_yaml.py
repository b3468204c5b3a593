"""YAML as Kubernetes reads it, and hostile YAML as nothing at all."""

from typing import Any

import pytest

from auditor.collectors.files.bounded_yaml import MAX_DEPTH, MalformedYamlError, load


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1", {"a": 1}),
        ("a: '1'", {"a": "1"}),
        ("a: yes", {"a": True}),
        ("a: 'yes'", {"a": "yes"}),
        ("a: y", {"a": True}),
        ("a: N", {"a": False}),
        ("a: ~", {"a": None}),
        ("a:", {"a": None}),
        ("a: 1.5e3", {"a": 1500.0}),
        ("a: 0x1F", {"a": 31}),
        ("a: 0644", {"a": 420}),
        ("a: 2026-11-30T07:00:00Z", {"a": "2026-11-30T07:00:00Z"}),
        ("a: 100m", {"a": "100m"}),
        ("a: 1_000", {"a": 1000}),
        ("a: 1_000m", {"a": "1_000m"}),
        ("a: 12:30:45", {"a": "12:30:45"}),
        ("a: .inf", {"a": ".inf"}),
        ("a: 1e999", {"a": "1e999"}),
        ("a: 123456789012345678901234567890", {"a": 1.2345678901234568e29}),
        ("1: x", {"1": "x"}),
        ("true: x", {"true": "x"}),
        ("y: 10", {"true": 10}),
        ("off: x", {"false": "x"}),
        ("'y': 10", {"y": 10}),
        ("017: x", {"15": "x"}),
        ("1.10: x", {"1.1": "x"}),
        ("100.0: x", {"100": "x"}),
        ("1e6: x", {"1e+06": "x"}),
        ("1e99: x", {"1e+99": "x"}),
        ("12:30: x", {"12:30": "x"}),
        ("'': x", {"": "x"}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("a: !!str 5", {"a": "5"}),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ("# nothing", None),
    ],
)
def test_a_scalar_is_what_kubernetes_makes_of_it(text: str, value: Any) -> None:
    assert load(text.encode()) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: !!python/object/apply:os.system ['id']", "tag"),
        ("a: !custom x", "tag"),
        ("a: *nothing", "alias"),
        ("a: &x [*x]", "alias"),
        ("[" * (MAX_DEPTH + 1), "nested too deep"),
        ("a: [", "not YAML"),
        ("? [a]\n: b", "a key that is no text"),
        ("a: \x00", "not YAML"),
    ],
)
def test_what_is_hostile_or_broken_has_a_reason(text: str, reason: str) -> None:
    with pytest.raises(MalformedYamlError, match=reason):
        load(text.encode())


def test_a_billion_laughs_stop_at_the_bound() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(MalformedYamlError, match="nodes"):
        load("\n".join(lines).encode())


def test_bytes_that_are_no_utf_8_have_a_reason() -> None:
    with pytest.raises(MalformedYamlError):
        load(b"a: \xff\xfe\xfa")
