"""Comparisons that found nothing new are left out before they are decoded, and no state is lost by that."""

from auditor.correlate.applications.courses import courses
from auditor.correlate.applications.histories import own_requests
from auditor.correlate.applications.repeats import without_repeats
from auditor.correlate.identity.actors import identify
from auditor.correlate.identity.channels import channel
from auditor.correlate.writes.bodies import Bodies
from auditor.correlate.writes.histories import histories, objects_in
from auditor.correlate.writes.sequence import Entry, Request
from tests.correlate.applications.argo_story import CONFIG, Story
from tests.factories import minute, replace


def requests(story: Story) -> list[Entry]:
    return [Request(event, Bodies(event)) for event in story.events]


def minutes(entries: list[Entry]) -> list[float]:
    return [(entry.event.at - minute(0)).total_seconds() / 60 for entry in entries if isinstance(entry, Request)]


def compared_often() -> Story:
    story = Story().created(0)
    for at in range(1, 7):
        story.compared(at, "c1")
    return story


def test_of_comparisons_that_say_the_same_the_first_two_and_the_last_stay() -> None:
    assert minutes(without_repeats(requests(compared_often()))) == [0, 1, 2, 6]


def test_a_comparison_that_finds_something_stays_with_its_neighbours() -> None:
    story = compared_often().compared(7, "c2")
    for at in range(8, 12):
        story.compared(at, "c2")
    assert minutes(without_repeats(requests(story))) == [0, 1, 2, 6, 7, 8, 11]


def reports(story: Story) -> set[float]:
    """The minutes of the requests that the story of the Application itself may pass over."""
    (course,) = courses((), own_requests(story.events), CONFIG)
    return {float(ident.removeprefix("patch-")) for ident in course.reports}


def test_the_story_of_an_application_may_pass_over_what_lies_between_comparisons_that_say_the_same() -> None:
    assert reports(compared_often()) == {3, 4, 5}


def test_a_story_passes_over_nothing_where_versions_do_not_tell_the_order() -> None:
    story = compared_often()
    story.events.append(replace(story.events[-1], id="delete", verb="delete", at=minute(7), response=None))
    assert reports(story) == set()


def test_a_story_passes_over_nothing_where_a_request_was_refused() -> None:
    story = compared_often()
    story.events[3] = replace(story.events[3], code=409)
    assert reports(story) == set()


def test_a_story_does_not_pass_over_a_patch_of_more_than_the_status() -> None:
    story = compared_often()
    story.events[4] = replace(story.events[4], request=b'{"metadata":{"labels":{}},"status":{}}')
    assert reports(story) == {3, 5}


def test_the_writes_and_the_live_state_are_the_same_without_what_is_passed_over() -> None:
    story = compared_often().patched(6.5, "alice@acme.example", {"spec": {"project": "other"}})
    for at in range(7, 12):
        story.compared(at, "c2")
    (course,) = courses((), own_requests(story.events), CONFIG)
    assert course.reports
    left = [event for event in story.events if event.id not in course.reports]
    one, other = (
        list(histories(objects_in(events, identify, channel), (), identify, channel)) for events in (story.events, left)
    )
    assert one == other


def test_an_edit_that_is_taken_back_at_once_stays() -> None:
    story = compared_often()
    story.patched(6.5, "alice@acme.example", {"spec": {"project": "other"}})
    story.patched(6.6, "alice@acme.example", {"spec": {"project": "default"}}).compared(7, "c1").compared(8, "c1")
    assert minutes(without_repeats(requests(story))) == [0, 1, 2, 6, 6.5, 6.6, 7, 8]


def test_an_answer_without_a_body_stays() -> None:
    story = compared_often()
    story.events[4] = replace(story.events[4], response=None)
    assert minutes(without_repeats(requests(story))) == [0, 1, 2, 3, 4, 5, 6]


def test_the_states_are_those_of_the_first_and_the_last_comparison_after_a_change() -> None:
    (course,) = courses((), own_requests(compared_often().events), CONFIG)
    states = [step.state for step in course.steps]
    assert [state.at for state in states] == [minute(0), minute(1), minute(6)]
    assert states[-1].reconciled_at == minute(6)
    assert states[-1].resource_version == str(compared_often().version)
