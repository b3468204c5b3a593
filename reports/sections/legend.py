"""The closed list of words, each with its shape and what it means."""

from reports.contract.document import Column, Legend, Row, Section, Table
from reports.words.rich import sign, words

GIT = (
    ("reflected", "has the value since"),
    ("already", "had the value before"),
    ("superseded", "another, set since"),
    ("on-branch", "on a branch only"),
    ("not-declared", "not of this field"),
    ("not-reflected", "another, as before"),
    ("not-in-git", "has no manifest"),
    ("unknown", "cannot be computed"),
)
CLUSTER = (
    ("standing", "as it was left"),
    ("reverted-by-gitops", "by Argo CD"),
    ("reverted", "by another writer"),
    ("overwritten", "a third value since"),
    ("deleted", "the object is gone"),
    ("unknown", "not in the records"),
)
STEP = (
    ("done", "with its record"),
    ("missing", "read, and not there"),
    ("late", "after the limit"),
    ("out-of-order", "before its turn"),
    ("not-recorded", "no source was read"),
    ("not-needed", "nothing to do"),
)


def legend_section() -> Section:
    """The three lists side by side."""
    tables = (_table("Git says", "git", GIT), _table("The cluster says", "cluster", CLUSTER))
    return Section("words", "Words and marks", (Legend((*tables, _table("A step of the checklist", "step", STEP))),))


def _table(caption: str, family: str, entries: tuple[tuple[str, str], ...]) -> Table:
    rows = tuple(Row((words(sign(word, f"{family}-{word}")), words(meaning))) for word, meaning in entries)
    return Table(words(caption), (Column(words("Word"), "60%"), Column(words("Means"))), rows, "legend")
