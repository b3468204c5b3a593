"""Names and addresses that people want to be called by."""

import pytest

from auditor.collectors.git.mailmap import Mailmap

MAP = """# people of the team
Bob Ito <bob@acme.example>
<erin@acme.example> <erin@laptop.local>
Carol Ng <carol@acme.example> <carol@old.example>  # married
Dave Oh <dave@acme.example> root <root@build.local>
nonsense
"""


@pytest.mark.parametrize(
    ("name", "mail", "proper"),
    [
        ("bob", "BOB@acme.example", ("Bob Ito", "bob@acme.example")),
        ("Erin Holt", "erin@laptop.local", ("Erin Holt", "erin@acme.example")),
        ("C. Maiden", "carol@old.example", ("Carol Ng", "carol@acme.example")),
        ("root", "root@build.local", ("Dave Oh", "dave@acme.example")),
        ("other", "root@build.local", ("other", "root@build.local")),
        ("Nobody", "nobody@acme.example", ("Nobody", "nobody@acme.example")),
    ],
)
def test_an_identity_gets_its_proper_name(name: str, mail: str, proper: tuple[str, str]) -> None:
    assert Mailmap(MAP).resolve(name, mail) == proper
