"""The ids that a page prints are short, and each is of one change alone."""

from reports.case.idents import short_idents


def test_eight_characters_tell_a_change_from_the_others() -> None:
    assert short_idents(["8493c5ae0706", "dff73c5c63cc"]) == {
        "8493c5ae0706": "8493c5ae",
        "dff73c5c63cc": "dff73c5c",
    }


def test_ids_that_begin_alike_are_shown_as_far_as_they_differ() -> None:
    shown = short_idents(["aaaaaaaa11", "aaaaaaaa12", "aaaaaaaa2x", "b"])
    assert shown == {
        "aaaaaaaa11": "aaaaaaaa11",
        "aaaaaaaa12": "aaaaaaaa12",
        "aaaaaaaa2x": "aaaaaaaa2",
        "b": "b",
    }


def test_an_id_that_another_begins_with_is_shown_whole() -> None:
    assert short_idents(["aaaaaaaaaa", "aaaaaaaaaab"]) == {"aaaaaaaaaa": "aaaaaaaaaa", "aaaaaaaaaab": "aaaaaaaaaab"}
    assert short_idents(["one", "one"]) == {"one": "one"}
