"""Names that a question gives, and those that the records hold."""

import pytest
import typer

from auditor.console.names import near, recorded
from auditor.store import Named


class Many:
    """Ten thousand objects and one."""

    def has(self, what: Named, name: str) -> bool:
        return name in self.all(what)

    def all(self, what: Named) -> frozenset[str]:
        return frozenset(f"{what}-{number}" for number in range(10_001))


def test_a_name_is_looked_for_in_each_place() -> None:
    assert recorded(["object-7", "object-1000?"], "object", (Many(), Many())) == ("object-7", "object-10000")


def test_a_glob_that_is_more_than_a_statement_takes_is_refused() -> None:
    with pytest.raises(typer.BadParameter, match="10,001 names"):
        recorded(["*"], "object", (Many(),))


def test_what_holds_the_name_comes_before_what_is_written_like_it() -> None:
    assert near("shop", ["shot", "web-shop", "other"]) == ["web-shop", "shot"]
