from auditor.correlate.cluster.live_states import LiveStates
from auditor.model.case import LiveState
from auditor.model.resource import JsonObject
from tests.factories import minute, thing
from tests.scenario import deployment


def test_bodies_come_back_as_they_were() -> None:
    live = LiveStates()
    states = [LiveState(thing(f"web-{number}"), deployment(f"web-{number}"), minute(1), True) for number in range(70)]
    for state in [*states, LiveState(thing("gone"), None, minute(2), True)]:
        live.add(state)
    assert [live[state.object] for state in states] == states
    assert live[thing("gone")].body is None
    assert len(live) == len(list(live)) == 71
    assert live.get(thing("unheard")) is None


def test_a_body_nested_deeper_than_the_encoder_goes_is_kept() -> None:
    body: JsonObject = {}
    for _ in range(600):
        body = {"in": body}
    live = LiveStates()
    live.add(LiveState(thing("deep"), body, minute(1), True))
    assert live[thing("deep")].body == body
