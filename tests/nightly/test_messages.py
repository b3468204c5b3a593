"""A night as others read it: a Slack message and a comment of a pull request."""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from auditor.detectors.conclusion import conclude
from auditor.model.change import AppKey
from auditor.model.finding import Finding
from auditor.model.night import Night, NightEntry, NightState
from auditor.nightly.comment import comment
from auditor.nightly.news import has_news
from auditor.nightly.slack import message
from tests.factories import minute

HOSTILE = "<!channel> @here *b* _i_ `c` [x](http://evil.example) <b>&amp; \x1b[31m\u202e :tada: ](x) # h\n- item"


def finding(number: int = 0, text: str = "Deployment web changed.", application: str = "shop-prod") -> Finding:
    return conclude(
        "out-of-band-change", "high", text, "Commit it.", key=("n", str(number)),
        application=AppKey("main", "argocd", application), subject=None, first_at=minute(1),
    )  # fmt: skip


def night(entries: Iterable[tuple[NightState, Finding]] = (), **other: Any) -> Night:
    told = tuple(NightEntry(one, state) for state, one in entries)
    return replace(Night(minute(60), minute(0), told, 0, (), True), **other)


def blocks(payload: Any) -> list[str]:
    return [block["text"]["text"] for block in payload["blocks"]]


def test_only_what_is_new_or_over_is_told_unless_all_is_asked_for() -> None:
    states: tuple[NightState, ...] = ("new", "known", "resolved", "not-checked", "accepted")
    told = night((state, finding(place, f"message {place}")) for place, state in enumerate(states))
    for some, everything in (
        (str(blocks(message(told, "t"))), str(blocks(message(told, "t", everything=True)))),
        (comment(told, "t"), comment(told, "t", everything=True)),
    ):
        assert re.findall(r"message \d", some) == ["message 0", "message 2"]
        assert sorted(re.findall(r"message \d", everything)) == [f"message {place}" for place in range(5)]
        assert "1 known" in some, "the heading counts them all"


def test_applications_of_one_name_have_a_title_each_that_tells_them_apart() -> None:
    there = replace(finding(1), application=AppKey("main", "team", "shop-prod"), namesake="team/shop-prod")
    told = night([("new", replace(finding(), namesake="argocd/shop-prod")), ("new", there)])
    for said in (str(blocks(message(told, "t"))), comment(told, "t").replace("\\", "")):
        assert re.findall(r"application ([\w/-]+)", said) == ["argocd/shop-prod", "team/shop-prod"]
    assert "application shop-prod" in str(blocks(message(night([("new", finding())]), "t")))


def test_a_night_without_news_has_none() -> None:
    assert not has_news(night([("known", finding()), ("accepted", finding(1))]))
    assert has_news(night([("resolved", finding())]))
    assert has_news(night(failures=("audit.log is missing",)))
    assert has_news(night(checked=False))


def test_a_message_has_at_most_fifty_blocks_and_counts_what_it_leaves_out() -> None:
    many = [("new", finding(n, application=f"app-{n % 40}")) for n in range(400)]
    payload = message(night(many, failures=("f",) * 20), "t")  # type: ignore[arg-type]
    told = blocks(payload)
    assert len(told) == 50
    shown = sum(text.startswith("new, high") for text in told)
    folded = sum(int(count) for count in re.findall(r"and (\d+) more", "\n".join(told)))
    [left] = re.findall(r"(\d+) more are not shown here", "\n".join(told))
    assert shown + folded + int(left) == 400


def test_the_text_of_a_message_holds_whole_entries_and_counts_the_rest() -> None:
    many: list[tuple[NightState, Finding]] = [("new", finding(n, f"{n} " + "x" * 400)) for n in range(30)]
    text = str(message(night(many), "t")["text"])
    shown = re.findall(r"new, high: out-of-band-change: \d+ x{400}$", text, re.M)
    assert 0 < len(shown) <= 5
    assert text.endswith(f"\nand {30 - len(shown)} more")
    assert len(text) <= 3000


def test_no_block_is_longer_than_slack_takes() -> None:
    payload: Any = message(night([("new", finding(0, "x" * 9000, "a" * 500))]), "t" * 500)
    for block in payload["blocks"]:
        limit = 150 if block["type"] == "header" else 3000
        assert len(block["text"]["text"]) <= limit
    assert len(payload["text"]) <= 3000
    assert json.dumps(payload)


def test_nothing_in_a_record_formats_links_or_mentions() -> None:
    payload: Any = message(night([("new", finding(0, HOSTILE, HOSTILE))]), HOSTILE)
    assert {(block["text"]["type"], block["text"]["emoji"]) for block in payload["blocks"]} == {("plain_text", False)}
    for text in (*blocks(payload), payload["text"]):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<!channel>" not in payload["text"]
    assert " @here" not in payload["text"]
    body = comment(night([("new", finding(0, HOSTILE, HOSTILE))]), HOSTILE)
    assert "<!channel>" not in body
    assert " @here" not in body
    assert not re.search(r"(?<!\\)\]\(", body)
    assert "<b>" not in body
    assert "\x1b" not in body
    assert "\n- item" not in body


def test_a_comment_fits_whatever_was_found() -> None:
    many = [("new", finding(n, f"{n} " + "[x]" * 400, f"app-{n}")) for n in range(400)]
    body = comment(night(many, failures=("f" * 3000,) * 20), "t")  # type: ignore[arg-type]
    assert len(body) <= 65_536
    shown = body.count("**new**")
    [left] = re.findall(r"_(\d+) more do not fit", body)
    assert shown + int(left) == 400
    assert not re.search(r"^### .*\n+_", body, re.M), "no heading without a finding below it"


def test_a_comment_of_a_quiet_night_says_so() -> None:
    assert comment(night([("known", finding())]), "auditor").splitlines()[2].startswith("Findings as of ")
