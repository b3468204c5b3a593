from dataclasses import replace
from typing import Any

import pytest

from auditor.correlate.cluster.prospect import outlook
from auditor.model.change import AppKey, Change
from auditor.model.desired import Undeterminable
from auditor.model.resource import JsonObject, Path
from auditor.model.verdict import ClusterVerdict, FieldVerdict, GitVerdict
from tests.factories import app_state, change, field, freeze
from tests.scenario import deployment

LACKING = GitVerdict("not-reflected")
STANDING = ClusterVerdict("standing")
RESPECTED = "RespectIgnoreDifferences=true"
HIDING: JsonObject = {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}


def of(
    change: Change,
    git: GitVerdict = LACKING,
    cluster: ClusterVerdict = STANDING,
    declared: Any = ...,
    rules: tuple[JsonObject, ...] = (),
    freezes: tuple[Any, ...] = (),
    otherwise: tuple[Path, ...] = (),
    **state: Any,
) -> tuple[str, str]:
    verdicts = tuple(FieldVerdict(git, cluster) for _ in change.write.fields)
    manifest = deployment() if declared is ... else declared
    return outlook(change, git, cluster, verdicts, app_state(1, **state), manifest, rules, freezes, otherwise)


@pytest.fixture
def raised() -> Change:
    return change("c", 1, field("spec.replicas", 3, 6))


def test_self_heal_undoes_it_at_the_next_sync(raised: Change) -> None:
    assert of(raised) == ("undone-at-next-sync", "Self-heal is on: the next sync puts git's value back.")


def test_without_self_heal_any_commit_undoes_it(raised: Change) -> None:
    prospect, words = of(raised, self_heal=False)
    assert prospect == "undone-at-next-revision"
    assert "any commit in the repository" in words


def test_without_auto_sync_somebody_must_press_the_button(raised: Change) -> None:
    assert of(raised, automated=False, self_heal=False)[0] == "undone-at-manual-sync"


def test_what_an_application_set_rolls_out_it_undoes_once_something_moved(raised: Change) -> None:
    rolled = {"automated": False, "self_heal": False, "rolled_out_by": "shops"}
    prospect, words = of(raised, **rolled)
    assert prospect == "undone-at-next-revision"
    assert words.startswith("The ApplicationSet shops starts the syncs, step by step: the next one puts git's value")
    assert of(raised, freezes=(freeze(0, None, form="sync-window"),), **rolled)[0] == "undone-at-manual-sync"


def test_respected_rules_keep_it_and_others_only_hide_it(raised: Change) -> None:
    assert of(raised, rules=(HIDING,), sync_options=("RespectIgnoreDifferences=true",))[0] == "kept"
    prospect, words = of(raised, rules=(HIDING,))
    assert prospect == "undone-at-next-revision"
    assert "RespectIgnoreDifferences is off" in words


def test_what_git_does_not_declare_no_sync_undoes() -> None:
    assert of(change("c", 1, field("spec.paused", ..., True)), GitVerdict("not-declared"))[0] == "invisible"


def test_what_flux_does_with_an_addition_depends_on_who_made_it_and_helm_leaves_it() -> None:
    added = change("c", 1, field("spec.paused", ..., True))
    by_kustomization = AppKey("flux", "flux-system", "shop", "Kustomization")
    prospect, words = of(added, GitVerdict("not-declared"), key=by_kustomization)
    assert prospect == "unknown"
    assert "Flux takes out what kubectl set" in words
    prospect, words = of(added, GitVerdict("not-declared"), key=replace(by_kustomization, kind="HelmRelease"))
    assert (prospect, "upgrades leave it" in words) == ("kept", True)


def test_what_is_gone_or_in_git_is_settled(raised: Change) -> None:
    assert of(raised, cluster=ClusterVerdict("reverted"))[0] == "settled"
    assert of(raised, git=GitVerdict("reflected"))[0] == "settled"


def test_what_was_undone_is_not_called_gone_where_git_has_it(raised: Change) -> None:
    undone = ClusterVerdict("reverted-by-gitops")
    assert "git has it" in of(raised, GitVerdict("reflected"), undone)[1]
    assert "Nothing of it is left" in of(raised, LACKING, undone)[1]


def test_an_object_that_git_has_with_other_values_is_undone_by_a_sync() -> None:
    made, there = change("c", 1, operation="create"), GitVerdict("already")
    assert of(made, there)[0] == "settled"
    prospect, words = of(made, there, otherwise=(("spec", "replicas"),))
    assert (prospect, words) == ("undone-at-next-sync", "Self-heal is on: the next sync puts git's values back.")
    kept = of(made, there, otherwise=(("spec", "replicas"),), rules=(HIDING,), sync_options=(RESPECTED,))
    assert kept[0] == "kept"


def test_the_labels_that_an_application_gives_its_namespace_are_set_again_by_each_of_its_syncs() -> None:
    labelled = change("c", 1, field("metadata.labels.team", "pay", "sales"), application=None)
    lacking = (FieldVerdict(GitVerdict("not-in-git"), STANDING),)
    found = outlook(labelled, lacking[0].git, STANDING, lacking, None, None, keeper="shop")
    assert found == ("undone-at-next-revision", "Each sync of shop sets what its managedNamespaceMetadata says.")


def test_an_object_that_nobody_owns_is_touched_by_no_sync() -> None:
    assert of(change("c", 1, application=None, operation="create"))[0] == "invisible"


def test_a_deleted_object_comes_back_where_git_has_it() -> None:
    gone = change("c", 1, operation="delete")
    assert of(gone)[1] == "Self-heal is on: the next sync creates the object again."
    assert of(gone, declared=None)[0] == "settled"


def test_an_extra_object_goes_only_where_pruning_is_on() -> None:
    made = change("c", 1, operation="create")
    assert of(made, GitVerdict("not-in-git"), declared=None)[0] == "undone-at-next-sync"
    assert of(made, GitVerdict("not-in-git"), declared=None, prune=False)[0] == "kept"


@pytest.mark.parametrize("form", ["sync-window", "skip-reconcile", "controller-scaled"])
def test_a_freeze_of_another_kind_holds_the_next_sync_back(raised: Change, form: str) -> None:
    assert of(raised, freezes=(freeze(0, None, form=form),))[0] == "undone-at-manual-sync"


def test_nothing_syncs_while_manifests_cannot_be_generated(raised: Change) -> None:
    prospect, words = of(raised, conditions=(("ComparisonError", "no such file"),))
    assert prospect == "undone-at-manual-sync"
    assert "Manifests cannot be generated" in words


def test_what_the_application_itself_has_past_git_is_kept_by_every_sync(raised: Change) -> None:
    assert of(raised, declared=deployment(replicas=6))[0] == "kept"
    paused = field("spec.paused", ..., True)
    both = change("c", 1, *raised.write.fields, paused)
    lacking = (FieldVerdict(LACKING, STANDING),) * 2
    prospect, words = outlook(both, LACKING, STANDING, lacking, app_state(0), deployment(replicas=6))
    assert (prospect, words.partition(":")[2]) == ("invisible", " the Application itself has part of it, past git.")


@pytest.mark.parametrize("automated", [True, False])
def test_nothing_syncs_while_the_project_does_not_permit_the_application(raised: Change, automated: bool) -> None:
    refused = ("InvalidSpecError", "destination does not match any of the allowed destinations in project 'shop'")
    prospect, words = of(raised, conditions=(refused,), automated=automated)
    assert prospect == "undone-at-manual-sync"
    assert words == (
        "Argo CD refuses what the application or its project says, so nothing syncs until that is repaired; "
        "the first sync after that puts git's value back."
    )


def test_what_cannot_be_told_says_why(raised: Change) -> None:
    assert of(raised, declared=Undeterminable("no renderer"))[0] == "unknown"
    assert outlook(raised, LACKING, STANDING, (FieldVerdict(LACKING, STANDING),), None, deployment())[0] == "unknown"
    assert of(change("c", 1, fields_known=False))[0] == "unknown"
    assert of(change("c", 1, field("spec.replicas", 3, 6), persisted="unproven"))[0] == "unknown"
