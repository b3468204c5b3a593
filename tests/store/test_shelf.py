"""Stories are kept by object, and found by what they were told from."""

from dataclasses import replace
from pathlib import Path

import pytest

from auditor.model.facts import Batch
from auditor.store import Store, open_store
from tests.store.test_carry import EVENT, MARK
from tests.store.test_pruning import full, prune, write


def keep(store: Store, **told: str) -> None:
    with store.shelf() as shelf:
        for subject, inputs in told.items():
            shelf.find(subject, inputs)
            shelf.keep(subject, inputs, f"{subject} from {inputs}".encode())


def find(store: Store, subject: str, inputs: str) -> bytes | None:
    with store.shelf() as opened:
        opened.find("web", "")
        opened.find("db", "")
        return opened.find(subject, inputs)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/auditor.db"


def test_a_story_is_found_by_its_object_and_inputs(url: str) -> None:
    with open_store(url) as store:
        assert find(store, "web", "1") is None
        keep(store, web="1", db="1")
        assert find(store, "web", "1") == b"web from 1"
        assert find(store, "web", "2") is None


def test_the_last_story_of_an_object_takes_the_place_of_the_one_before(url: str) -> None:
    with open_store(url) as store:
        keep(store, web="1")
        keep(store, web="2")
        assert find(store, "web", "1") is None
        assert find(store, "web", "2") == b"web from 2"


def test_many_stories_are_kept_while_the_work_goes_on(url: str) -> None:
    with open_store(url) as store:
        with store.shelf() as shelf:
            for number in range(450):
                shelf.find(f"config-{number}", "1")
                shelf.keep(f"config-{number}", "1", b"")
        with store.shelf() as shelf:
            assert all(shelf.find(f"config-{number}", "1") == b"" for number in range(450))


def test_an_object_that_nobody_asks_for_any_more_is_let_go(url: str) -> None:
    with open_store(url) as store:
        keep(store, web="1", gone="1")
        keep(store, web="1")
        with store.shelf() as shelf:
            assert shelf.find("gone", "1") is None


def test_work_that_fails_lets_go_of_nothing(url: str) -> None:
    with open_store(url) as store:
        keep(store, web="1", db="1")
        with pytest.raises(ZeroDivisionError), store.shelf():
            raise ZeroDivisionError
        assert find(store, "db", "1") == b"db from 1"


def test_who_only_reads_keeps_nothing_and_lets_go_of_nothing(url: str) -> None:
    with open_store(url) as store:
        keep(store, web="1", db="1")
        with store.shelf(keeping=False) as shelf:
            assert shelf.find("web", "1") == b"web from 1"
            shelf.keep("web", "2", b"")
        assert find(store, "web", "1") == b"web from 1"
        assert find(store, "db", "1") == b"db from 1"


def test_stories_go_with_the_name_of_a_source(url: str) -> None:
    with open_store(url) as store:
        store.write(Batch((EVENT,), MARK))
        keep(store, web="1")
        store.write(Batch((), replace(MARK, source="audit.log.1"), formerly="audit.log"))
        assert find(store, "web", "1") is None


def test_stories_go_with_what_is_pruned(url: str) -> None:
    with open_store(url) as store:
        write(store, *(full(number) for number in range(4)))
        keep(store, web="1")
        prune(store)
        assert find(store, "web", "1") is None
