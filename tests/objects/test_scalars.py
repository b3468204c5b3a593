from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.objects.scalars import quantity, same


@pytest.mark.parametrize(
    ("letter", "one", "other"),
    [
        ("q", "1", 1),
        ("q", "1000m", "1"),
        ("q", "0.5", "500m"),
        ("q", "1Gi", "1024Mi"),
        ("q", "1e3", "1k"),
        ("q", "1E3", "1000"),
        ("q", ".5", "0.5"),
        ("s", "8080", 8080),
        ("s", "true", True),
        ("x", 80, "80"),
        ("t", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00"),
        ("y", "YQ==", "YQ==\n"),
        ("i", 1, 1.0),
        ("?", 1, 1.0),
    ],
)
def test_values_that_are_one_to_the_server(letter: str, one: object, other: object) -> None:
    assert same(letter, one, other)


@pytest.mark.parametrize(
    ("letter", "one", "other"),
    [
        ("q", "1", "1m"),
        ("q", "1M", "1Mi"),
        ("q", "x", "y"),
        ("s", "a", "b"),
        ("i", 1, True),
        ("?", "1", 1),
        ("b", True, False),
        ("x", "25%", 25),
    ],
)
def test_values_that_are_two(letter: str, one: object, other: object) -> None:
    assert not same(letter, one, other)


@pytest.mark.parametrize("written", ["", "one", "1 Gi", "--1", "1ki", "1" * 99, "1e999", None, True, [], "0x10"])
def test_what_is_no_quantity_is_none(written: object) -> None:
    assert quantity(written) is None


@given(st.integers(0, 10**9), st.sampled_from(["", "m", "k", "Ki", "M", "Mi", "G"]))
def test_a_quantity_is_its_number_times_its_suffix(number: int, suffix: str) -> None:
    factor = {"": 1, "m": Decimal("0.001"), "k": 1000, "Ki": 1024, "M": 10**6, "Mi": 2**20, "G": 10**9}[suffix]
    assert quantity(f"{number}{suffix}") == number * Decimal(factor)
