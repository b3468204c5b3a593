"""Timeline, blocks, register, checklist, staging, actions: what each says of the recorded incident."""

from dataclasses import replace

from reports.case.dossier import BLOCKS, dossier
from reports.case.repeats import repeats
from reports.contract.document import ChangeBlock, Items, Paragraph, Section, Table
from reports.words.rich import plain
from tests.reports.cases import change, generated, target
from tests.reports.incident import incident
from tests.reports.rendering import BERLIN, document, section


def block(number: str) -> ChangeBlock:
    return next(
        one for one in section("changes", incident()).blocks if isinstance(one, ChangeBlock) and one.number == number
    )


def said(one: ChangeBlock) -> dict[str, str]:
    return {term: plain(text) for term, text in one.facts}


def table(one: Section) -> Table:
    return next(each for each in one.blocks if isinstance(each, Table))


def test_the_timeline_has_at_most_fifteen_rows_and_a_source_for_each() -> None:
    for case in (incident(), generated(400), generated(60, 5)):
        rows = table(section("timeline", case)).rows
        assert 0 < len(rows) <= 15
        assert all(plain(row.cells[-1]).strip() not in ("", "–") for row in rows)


def test_the_timeline_is_in_order_and_tells_each_lane() -> None:
    rows = table(section("timeline", incident())).rows
    times = [plain(row.cells[0]) for row in rows]
    assert times == sorted(times)
    assert {plain(row.cells[1]) for row in rows} == {"Cluster", "Argo CD", "Git", "Announced"}


def test_a_controller_that_was_scaled_down_is_one_moment_whatever_the_number_of_its_applications() -> None:
    case = incident()
    key, history = next((key, one) for key, one in case.applications.items() if one.freezes)
    held = replace(history.freezes[0], form="controller-scaled")
    names = [replace(key, name=name) for name in ("a", "b", "c", "d")]
    frozen = {name: replace(history, key=name, freezes=(replace(held, app=name),)) for name in names}
    rows = table(section("timeline", replace(case, applications=case.applications | frozen))).rows
    told = [plain(row.cells[2]) for row in rows]
    assert sum(one.startswith("The controller of a, b and 2 more scaled to 0") for one in told) == 1


def test_a_block_names_the_credential_and_how_it_is_known() -> None:
    assert said(block("3"))["Who"] == (
        "The credential dave@acme.example, a person’s, with kubectl set. Known by: authenticated user."
    )
    assert said(block("10"))["Who"] == (
        "carol, an account of Argo CD, through Argo CD’s UI or CLI. The API server saw only "
        "system:serviceaccount:argocd:argocd-server; the name is known by: Argo CD’s Event and server log of the same "
        "second."
    )
    assert "acting as oncall-breakglass" in said(block("11"))["Who"]


def test_who_pointed_the_application_elsewhere_with_kubectl_is_no_account_of_argo_cd() -> None:
    case = incident()
    account = "system:serviceaccount:argocd:argocd-application-controller"
    changes = tuple(
        replace(one, write=replace(one.write, actor=replace(one.write.actor, account=account), cause="bypass"))
        for one in case.changes
    )
    blocks = section("changes", replace(case, changes=changes)).blocks
    told = next(one for one in blocks if isinstance(one, ChangeBlock) and one.number == "3")
    assert said(told)["Who"].startswith("The credential dave@acme.example, a person’s, with kubectl set, by a sync")


def test_a_block_says_which_commit_by_whom_and_between_which_times() -> None:
    assert said(block("3"))["Git"] == (
        "b648bbc3f, pull request #41, 07:01:49; written in eda0b7b41 by Erin Holt, as the commit says. It landed "
        "between 07:01:49 (the committer’s clock) and 07:02:02 (the first record of it)."
    )
    assert "which is not merged" in said(block("8"))["Git"]


def test_a_block_says_what_the_next_sync_does() -> None:
    assert said(block("8"))["Next"].startswith("The next sync undoes it.")
    assert said(block("5"))["Next"] == "Argo CD reports Synced and cannot see DB_POOL, so no sync removes it."


def test_a_secret_of_which_only_the_fact_is_known_shows_unknown_and_says_why() -> None:
    one = block("14")
    assert plain(one.fields[0].short) == "unknown → unknown"
    assert "the record holds no body" in said(one)["What"]


def test_a_long_value_stands_before_above_after() -> None:
    field = block("3").fields[0]
    assert field.short == ()
    assert "".join(text for text, _ in field.before) == "registry.acme.example/shop/web:1.4.1"
    assert field.after[-1] == ("-hotfix.1", False)


def test_alike_repeats_share_one_row_and_one_block() -> None:
    told = dossier(incident(), BERLIN)
    runs = [run for run in repeats(told.counted) if len(run.changes) > 1]
    assert [[one.number for one in run.changes] for run in runs] == [[15, 16, 17]]
    assert runs[0].times == "3 times in 50 s"
    assert block("15, 16, 17").also == ("change-16", "change-17")


def test_the_most_urgent_twenty_have_a_block_and_all_have_a_row() -> None:
    told = document("postmortem", generated(60))
    blocks = [
        one for one in next(s for s in told.sections if s.anchor == "changes").blocks if isinstance(one, ChangeBlock)
    ]
    assert len(blocks) == BLOCKS
    rows = table(next(s for s in told.sections if s.anchor == "register-s")).rows
    assert sum(1 + len(row.also) for row in rows) == 60


def test_changes_of_argo_cds_own_objects_are_listed_apart() -> None:
    case = generated(2)
    setting = replace(
        case.changes[0].write, id="setting", object=target("Application", "argocd", "shop", group="argoproj.io")
    )
    told = document("postmortem", replace(case, changes=(*case.changes, change(setting, None))))
    assert plain(told.first.questions[0].answers[0].text).startswith("known in full: 2 fields")
    assert "1 change of the GitOps tool’s own objects" in plain(told.first.remark)
    assert plain(table(next(one for one in told.sections if one.anchor == "own")).rows[0].cells[0]) == "A1"


def test_a_block_has_the_id_that_auditor_show_takes() -> None:
    one = block("15, 16, 17")
    told = dossier(incident(), BERLIN)
    assert plain(one.idents) == ", ".join(told.idents[each.change.id] for each in told.counted[14:17])
    assert "show ID" in "".join(plain(each.text) for each in section("evidence", incident()).blocks[:1])  # type: ignore[union-attr]


def test_a_row_has_the_id_of_a_change_that_has_no_block() -> None:
    case = generated(60)
    told = dossier(case, BERLIN)
    rows = table(section("register-s", case)).rows
    for one, row in zip(told.counted, rows, strict=True):
        assert (told.idents[one.change.id] in plain(row.cells[1])) == one.href.startswith("#row-")


def test_git_that_is_done_says_for_which_changes_and_what_is_open_beside_it() -> None:
    tables = [one for one in section("checklist", incident()).blocks if isinstance(one, Table)]
    said = plain(tables[0].rows[3].cells[3])
    assert said.startswith("3 4 in git, by Erin Holt")
    assert "; open beside it: git does not declare " in said


def test_the_action_items_say_of_which_change_nothing_is_asked() -> None:
    last = section("actions", incident()).blocks[-1]
    assert isinstance(last, Paragraph)
    assert plain(last.text) == "Nothing is asked for 11: a restart leaves no more than its time."


def test_each_episode_has_its_five_steps() -> None:
    tables = [one for one in section("checklist", incident()).blocks if isinstance(one, Table)]
    assert len(tables) == 3
    assert all(len(one.rows) == 5 for one in tables)
    states = [[plain(row.cells[1]) for row in one.rows] for one in tables]
    assert states[0] == ["done"] * 5
    assert states[1] == ["not-needed", "done", "not-recorded", "missing", "not-needed"]
    assert "undone" in plain(tables[2].rows[0].cells[3])


def test_staging_leaves_out_what_the_overlay_means_and_puts_the_worst_first() -> None:
    rows = table(section("staging", incident())).rows
    assert [plain(row.cells[3]).split(" ")[0].rstrip(",") for row in rows] == [
        "hotfix-not-in-git",
        "production-hotfix",
        "production-hotfix",
    ]


def test_action_items_begin_with_what_the_next_sync_undoes() -> None:
    items = next(one for one in section("actions", incident()).blocks if isinstance(one, Items)).items
    assert plain(items[0].text).startswith("Before the next sync of payments-prod: 8 merge fix/payments-cpu")


def test_every_record_that_is_cited_stands_in_the_appendix() -> None:
    rows = [row for one in section("evidence", incident()).blocks if isinstance(one, Table) for row in one.rows]
    anchors = {row.anchor for row in rows}
    assert {f"e{number}" for number in range(1, 21)} <= anchors
    assert len(anchors) == len(rows)


def test_no_sentence_of_ours_judges_anybody() -> None:
    told = document("postmortem", incident())
    text = " ".join(plain(value) for one in told.sections for value in _texts(one)).lower()
    for word in ("failed to", "violated", "forgot", "mistake", "blame", "should have"):
        assert word not in text


def _texts(one) -> list:
    found = []
    for each in one.blocks:
        if isinstance(each, ChangeBlock):
            found += [text for _, text in each.facts]
        if isinstance(each, Table):
            found += [cell for row in each.rows for cell in row.cells]
    return found
