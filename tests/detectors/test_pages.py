"""Every rule has its page, and what a page shows is what the program says."""

import re
from functools import cache
from pathlib import Path

import pytest
import yaml

from auditor import registry
from auditor.config import Config
from auditor.detectors import Detector
from auditor.model.finding import Finding
from auditor.store import Query, open_store
from tests.conftest import ROOT, Demo
from tests.detectors.examples import EXAMPLES

PAGES = ROOT / "docs" / "findings"
SECTIONS = ("What it means", "What to do", "When it is not raised")
each_rule = pytest.mark.parametrize("detector", registry.detectors(), ids=lambda detector: detector.ident)


@cache
def page(ident: str) -> str:
    return (PAGES / f"{ident}.md").read_text(encoding="utf-8")


def shown(ident: str, kind: str) -> str:
    """The block of a page, its lines joined where it is prose."""
    block = re.search(rf"```{kind}\n(.*?)```", page(ident), re.DOTALL)
    assert block is not None, ident
    return " ".join(block[1].split()) if kind == "text" else block[1]


def of_the_incident(demo: Demo, ident: str) -> list[Finding]:
    with open_store(f"sqlite:///{demo.folder}/auditor.db", create=False) as store:
        return list(store.results.findings(Query(idents=(ident,))))


def test_the_rules_are_these() -> None:
    assert [detector.ident for detector in registry.detectors()] == [
        "break-glass-access", "drift-not-watched", "freeze-did-not-hold", "freeze-not-lifted", "identity-mismatch",
        "late-detection", "not-from-branch", "not-in-git", "out-of-band-change", "phantom-diff", "records-gap",
        "second-writer", "shared-ownership", "staging-drift", "sync-loop", "unfinished-sync", "useless-ignore",
    ]  # fmt: skip


@each_rule
def test_each_rule_has_a_page_with_its_sections(detector: Detector) -> None:
    assert page(detector.ident).startswith(
        f"# `{detector.ident}`\n\n{detector.summary[0].upper()}{detector.summary[1:]}"
    )
    assert re.findall(r"^## (.+)$", page(detector.ident), re.MULTILINE) == [*SECTIONS]


def test_there_is_no_page_without_a_rule_and_the_index_names_all() -> None:
    idents = {detector.ident for detector in registry.detectors()}
    assert {path.stem for path in PAGES.glob("*.md")} == idents | {"README"}
    assert set(re.findall(r"\]\(([a-z-]+)\.md\)", page("README"))) == idents


@each_rule
def test_the_example_is_what_the_rule_says(detector: Detector, demo: Demo) -> None:
    if detector.ident in EXAMPLES:
        found = list(detector.detect(EXAMPLES[detector.ident](), Config(Path())))
    else:
        found = of_the_incident(demo, detector.ident)
    assert shown(detector.ident, "text") in [" ".join(finding.message.split()) for finding in found]


@pytest.mark.parametrize("ident", ["sync-loop", "phantom-diff"])
def test_the_block_to_paste_is_what_the_rule_prints(ident: str, demo: Demo) -> None:
    rule = next(detector for detector in registry.detectors() if detector.ident == ident)
    story = EXAMPLES.get(ident)
    found = list(rule.detect(story(), Config(Path()))) if story else of_the_incident(demo, ident)
    assert yaml.safe_load(shown(ident, "yaml")) in [yaml.safe_load(one.snippet) for one in found if one.snippet]


def test_links_between_pages_lead_somewhere() -> None:
    for path in PAGES.glob("*.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
            assert (PAGES / target).exists(), (path.name, target)


def test_examples_are_only_for_what_the_incident_does_not_have(demo: Demo) -> None:
    assert [ident for ident in EXAMPLES if of_the_incident(demo, ident)] == []
