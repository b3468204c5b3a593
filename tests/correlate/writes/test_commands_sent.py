from auditor.correlate.writes.commands_sent import commands
from tests.factories import actor, thing, write

SECOND = 1 / 60


def test_writes_of_one_client_within_a_second_are_one_command() -> None:
    sent = [write(f"w{place}", place * SECOND / 2, object=thing(f"web-{place}")) for place in range(4)]
    assert commands(sent) == dict.fromkeys(("w0", "w1", "w2", "w3"), "w0")


def test_a_pause_begins_another_command() -> None:
    sent = [write("w0", 0, object=thing("a")), write("w1", 2 * SECOND, object=thing("b"))]
    assert commands(sent) == {"w0": "w0", "w1": "w1"}


def test_the_same_object_again_begins_another_command() -> None:
    assert commands([write("w0", 0), write("w1", SECOND / 4)]) == {"w0": "w0", "w1": "w1"}


def test_other_people_channels_and_clusters_are_other_commands() -> None:
    sent = [
        write("w0", 0, object=thing("a")),
        write("w1", 0, object=thing("b"), actor=actor("bob@acme.example")),
        write("w2", 0, object=thing("c"), channel="kubectl apply"),
        write("w3", 0, object=thing("d"), actor=actor(acting_as="oncall")),
        write("w4", 0, object=thing("e")),
    ]
    assert commands(sent) == {"w0": "w0", "w1": "w1", "w2": "w2", "w3": "w3", "w4": "w0"}


def test_a_server_side_apply_that_takes_over_ownership_applies_twice_and_is_one_command() -> None:
    applied = [write(f"w{place}", place * SECOND / 10, patch_type="apply", channel="kubectl apply") for place in (0, 1)]
    third = write("w2", SECOND / 4, patch_type="apply", channel="kubectl apply")
    assert commands([*applied, third]) == {"w0": "w0", "w1": "w0", "w2": "w2"}
