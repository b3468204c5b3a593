"""Announcements that people write onto the object itself."""

from auditor.correlate.episodes.annotated import annotated
from tests.factories import actor, field, minute, write

REASON = 'metadata.annotations["acme.example/break-glass"]'


def test_an_annotation_is_announced_by_who_wrote_it() -> None:
    (said,) = annotated([write("w", 3, field(REASON, ..., "INC-2041, pool exhausted"))], {"w": "shop-prod"})
    assert (said.at, said.author, said.author_email) == (minute(3), "alice@acme.example", "alice@acme.example")
    assert said.text == "shop-prod: INC-2041, pool exhausted"


def test_without_an_application_the_object_is_named() -> None:
    (said,) = annotated([write("w", 3, field(REASON, ..., "why"))], {})
    assert said.text == "web: why"


def test_other_annotations_removals_and_machines_announce_nothing() -> None:
    writes = [
        write("a", 1, field('metadata.annotations["acme.example/owner"]', ..., "team-a")),
        write("b", 2, field(REASON, "why", ...)),
        write("c", 3, field(REASON, ..., "why"), actor=actor("controller", "gitops")),
        write("d", 4, field("spec.replicas", 1, 2)),
        write("e", 5, field(REASON, ..., "why"), outcome="refused"),
    ]
    assert annotated(writes, {}) == ()
