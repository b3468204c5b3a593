"""Whose message it is: names of one person as the configuration joins them."""

import pytest

from auditor.config import Person
from auditor.correlate.episodes.announcing import identities, wrote
from tests.factories import message

PEOPLE = (Person("Alice Ames", ("alice@acme.example", "Ali Ames", "arn:aws:sts::1:assumed-role/admin/alice")),)


@pytest.mark.parametrize(
    ("author", "mail", "actor", "expected"),
    [
        ("Ali Ames", "", "alice@acme.example", True),
        ("Ali Ames", "ali@home.example", "alice@acme.example", True),
        ("ALI AMES", "", "Alice@ACME.example", True),
        ("Alice Ames", "", "arn:aws:sts::1:assumed-role/admin/alice", True),
        ("alice", "alice@other.example", "alice@acme.example", False),
        ("Bob Boe", "bob@acme.example", "alice@acme.example", False),
        ("alice", "alice@acme.example", "oidc:alice@acme.example", True),
        ("alice", "alice@acme.example", "oidc:alice", True),
        ("alice", "alice@acme.example", "system:alice", False),
        ("alice", "alice@acme.example", "https://login.acme.example#alice@acme.example", True),
        ("Ali Ames", "", "oidc:alice@acme.example", True),
        ("alice", "alice@other.example", "oidc:alice@acme.example", False),
        ("alice", "alice@acme.example", "alice@acme.example:svc", False),
        ("Ali Ames", "", "bob@acme.example", False),
    ],
)
def test_a_display_name_and_a_mail_address_are_one_person_where_the_configuration_says_so(
    author: str, mail: str, actor: str, expected: bool
) -> None:
    assert wrote(message(0, "text", author, mail), identities(actor, PEOPLE)) is expected
