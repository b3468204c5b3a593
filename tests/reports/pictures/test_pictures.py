"""The drawings of the timeline and of a loop: what they show, and that it stays on the sheet."""

from reports.contract.document import Picture
from tests.reports.cases import generated
from tests.reports.incident import incident
from tests.reports.rendering import section


def test_the_picture_numbers_few_changes_shrinks_many_and_draws_bars_for_very_many() -> None:
    def picture(case) -> Picture:
        return next(one for one in section("timeline", case).blocks if isinstance(one, Picture))

    assert "20" in {shape.text for shape in picture(incident()).shapes}
    assert "41" not in {shape.text for shape in picture(generated(60)).shapes}
    assert len(picture(generated(400)).shapes) < 500
    for drawn in (picture(incident()), picture(generated(60)), picture(generated(400))):
        for shape in drawn.shapes:
            attributes = dict(shape.attributes)
            assert -1 <= float(attributes.get("x", 0)) <= 721
            assert -1 <= float(attributes.get("y", 0)) <= drawn.height


def test_a_loop_is_drawn_with_a_mark_a_write() -> None:
    pictures = [one for one in section("findings", incident()).blocks if isinstance(one, Picture)]
    assert [one.title for one in pictures] == ["spec.replicas, 20 writes"]
    assert sum(shape.tag == "circle" for shape in pictures[0].shapes) == 10
