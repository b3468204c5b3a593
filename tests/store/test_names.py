"""The names that the records of a store hold."""

from pathlib import Path

import pytest

from auditor.store import Named, open_store
from tests.store.test_results import STAMP, STORY, case


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("application", {"shop-prod", "pay-prod"}),
        ("cluster", {"prod"}),
        ("namespace", {"shop-prod", "pay-prod"}),
        ("kind", {"deployment"}),
        ("object", {"web", "api"}),
        ("actor", {"alice@acme.example", "bob", "argocd"}),
    ],
)
def test_each_name_of_a_change_is_known_once(tmp_path: Path, what: Named, names: set[str]) -> None:
    with open_store("sqlite:///auditor.db", folder=tmp_path) as store:
        assert store.names.all(what) == frozenset()
        store.results.save(case(*STORY), STAMP)
        assert store.names.all(what) == names
        assert all(store.names.has(what, name) for name in names)
        assert not store.names.has(what, "nosuch")
