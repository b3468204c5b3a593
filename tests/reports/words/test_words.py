"""Numbers, durations, values, moments and text of records in words."""

from datetime import UTC, datetime

import pytest

from auditor.errors import RenderError
from auditor.model.resource import ABSENT, UNKNOWN, ListItem, leaf
from reports.words.clock import Clock, clock
from reports.words.rich import BECOMES, Span, plain, visible, words
from reports.words.wording import (
    count,
    cut,
    dense_pair,
    dense_path,
    differing,
    duration,
    field_name,
    fitted,
    middle_cut,
    pair_texts,
    pieces,
    value_text,
    width,
)
from tests.reports.cases import at, container


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.01, "less than 0.1 s"),
        (0.44, "0.4 s"),
        (24.2, "24 s"),
        (68, "1 min 8 s"),
        (60, "1 min"),
        (87.5, "1 min 28 s"),
        (7500, "2 h 5 min"),
        (273600, "3 d 4 h"),
    ],
)
def test_a_duration_reads_as_people_say_it(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_numbers_are_grouped_and_nouns_agree() -> None:
    assert count(1, "change") == "1 change"
    assert count(2, "repository", "repositories") == "2 repositories"
    assert count(3950568, "byte") == "3\u202f950\u202f568 bytes"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain ü 変更", "plain ü 変更"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("abc\u202edef", "abc\\u{202e}def"),
        ("zero\u200bwidth", "zero\\u{200b}width"),
        ("half\ud800", "half\\u{d800}"),
        ("\u2028", "\\u{2028}"),
        ("\x9b", "\\x9b"),
    ],
)
def test_what_has_no_shape_is_made_visible(raw: str, shown: str) -> None:
    assert visible(raw) == shown
    assert Span("text", raw).text == shown
    assert visible(shown) == shown


def test_an_empty_string_is_never_a_blank() -> None:
    assert value_text(leaf("")) == '""'
    assert value_text(leaf(None)) == "null"
    assert value_text(ABSENT) == "absent"
    assert value_text(UNKNOWN) == "unknown"


def test_values_that_differ_in_type_alone_are_told_apart() -> None:
    assert pair_texts(leaf(8080), leaf("8080")) == ("8080", '"8080"')
    assert pair_texts(leaf("a"), leaf("b")) == ("a", "b")


def test_images_of_one_registry_leave_it_out_in_dense_tables() -> None:
    first, second = leaf("registry.acme.example/shop/web:1"), leaf("registry.acme.example/shop/web:2")
    assert dense_pair(first, second) == ("…/shop/web:1", "…/shop/web:2")
    assert dense_pair(leaf("docker.io/a"), leaf("ghcr.io/a")) == ("docker.io/a", "ghcr.io/a")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (container("web", "image"), "image"),
        (container("web", "resources", "limits", "cpu"), "limits.cpu"),
        (container("api", "env", ListItem((("name", "DB_POOL"),)), "value"), "DB_POOL"),
        (("data", "PAGE_SIZE"), "PAGE_SIZE"),
        (("metadata", "annotations", "example.com/owner"), "annotation owner"),
        ((), "whole object"),
    ],
)
def test_a_field_has_a_short_name(path: tuple, name: str) -> None:
    assert field_name(path) == name


def test_a_dense_path_leaves_out_the_pod_template() -> None:
    assert dense_path(container("web", "image")) == "…[name=web].image"
    assert dense_path(("spec", "replicas")) == "spec.replicas"


def test_a_long_value_shows_where_it_differs() -> None:
    before, after = "x" * 500 + "old" + "y" * 500, "x" * 500 + "new" + "y" * 500
    shown = pieces(before, after)
    assert [same for _, same in shown] == [True, False, True]
    assert shown[1][0] == "old"
    assert sum(len(text) for text, _ in shown) < 120


def test_what_is_cut_keeps_its_budget_and_says_so() -> None:
    assert cut("short", 40) == "short"
    assert width(cut("W" * 200, 40)) <= 42
    assert cut("W" * 200, 40).endswith("…")
    assert middle_cut("payments-production-eu-west-1-blue", 20).startswith("payments")
    assert middle_cut("payments-production-eu-west-1-blue", 20).endswith("-blue")
    spans = words("one ", Span("mark", "12"), " and much more text " * 9)
    assert width(plain(fitted(spans, 40))) <= 44


def test_of_two_values_none_is_left_alone_where_a_line_is_cut() -> None:
    spans = words(
        "StatefulSet controller, replicas ", Span("value", "0"), " ", BECOMES, " ", Span("value", "1"), " twice"
    )
    for room in range(12, 60):
        shown = plain(fitted(spans, room))
        assert "0" not in shown or "0 → 1" in shown
    assert plain(fitted(spans, 60)) == plain(spans)


def test_values_that_begin_alike_are_cut_where_they_differ() -> None:
    rules = '[{"verbs": ["get", "list"%s], "apiGroups": [""], "resources": ["configmaps"]}]'
    before, after = differing(rules % "", rules % ', "delete"', 30)
    assert "delete" in middle_cut(after, 30)
    assert (before[0], after[0]) == ("…", "…")
    assert differing("short", "shorter", 30) == ("short", "shorter")


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        (28, "the sync waits for a retry…"),
        (44, "the sync waits for a retry (tried 6 times)…"),
        (48, "the sync waits for a retry (tried 6 times); applied…"),
    ],
)
def test_a_sentence_is_cut_after_a_whole_word(limit: int, shown: str) -> None:
    assert cut("the sync waits for a retry (tried 6 times); applied: ConfigMap", limit) == shown


def test_a_name_longer_than_its_room_is_cut_where_the_room_ends() -> None:
    assert cut("Deployment payments-production-eu-west-1-blue", 30) == "Deployment payments-producti…"
    assert cut("変更記録" * 40, 20) == "変更記録変更記録変…"


def test_what_was_cut_before_has_one_ellipsis() -> None:
    assert cut("Deploymen… and more", 13) == "Deploymen…"


def test_a_moment_shows_its_date_only_on_another_day() -> None:
    berlin = clock("Europe/Berlin", at("07:00:00"), at("08:00:00"))
    assert plain(berlin.both(at("07:00:34.395"))) == "07:00:34 08:00:34"
    assert berlin.utc(datetime(2026, 12, 1, 7, 0, tzinfo=UTC)) == "1 Dec 07:00:00"
    assert clock("UTC", at("07:00:00"), datetime(2026, 12, 1, tzinfo=UTC)).utc(at("07:00:00")) == "30 Nov 2026 07:00:00"


def test_the_readers_zone_is_left_out_where_it_is_utc() -> None:
    assert plain(Clock("UTC", at("07:00:00").date()).span(at("07:00:00"), at("08:00:00"))) == "07:00:00–08:00:00 UTC"


def test_a_change_of_summer_time_shows_both_offsets() -> None:
    first, last = datetime(2026, 10, 24, 12, tzinfo=UTC), datetime(2026, 10, 25, 12, tzinfo=UTC)
    assert clock("Europe/Berlin", first, last).offsets((first, last)) == "UTC+2, then UTC+1"
    assert clock("Asia/Kathmandu", first, last).offsets((first, last)) == "UTC+5:45"


def test_a_zone_that_nobody_knows_is_an_error_with_a_hint() -> None:
    for name in ("Mars/Olympus", "../etc/passwd", ""):
        with pytest.raises(RenderError, match="time zone"):
            clock(name, None, None)


def test_the_zero_time_of_a_record_does_not_end_the_report() -> None:
    zero = datetime(1, 1, 1, tzinfo=UTC)
    assert clock("America/New_York", None, None).local(zero) == "1 Jan 1 00:00:00"
