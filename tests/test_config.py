"""auditor.toml: what it may say, and how a mistake in it is told."""

import textwrap
from pathlib import Path

import pytest

from auditor.config import ActorRule, ClusterConfig, Config, EnvironmentPair, Person, RepositoryConfig
from auditor.config_file import line_of, load, parse
from auditor.errors import ConfigError

WHOLE = """
[store]
url = "postgresql://host/db"
cache = "cache/"

[[cluster]]
name = "prod"
server = ["https://kubernetes.default.svc", "prod"]
audit = ["audit/", "more/*.gz"]
objects = ["live/"]
max_lag = "2h"

[[cluster]]
name = "dev"

[[argocd]]
name = "main"
cluster = "prod"
exports = ["argocd/"]

[[repository]]
url = "http://git.acme.example/platform/deploy.git"
path = "deploy.bundle"

[[announcements]]
path = "slack/"
zone = "Europe/Berlin"

[[environments]]
staging = "shop-staging"
production = "shop-prod"

[[actor]]
ident = "our-pipeline"
kind = "ci"
user = "system:serviceaccount:ci:*"

[[person]]
name = "Alice"
identities = ["alice@acme.example", "alice"]

[[accept]]
ident = "second-writer"
reason = "until March"
owner = "team"

[goals]
announce_minutes = 5

[report]
zone = "Europe/Berlin"

[redaction]
fields = ["*Dsn"]
"""


def read(text: str, **environment: str) -> Config:
    return parse(textwrap.dedent(text), Path("auditor.toml"), environment)


def test_a_whole_configuration_is_read() -> None:
    config = read(WHOLE)
    assert config.store == "postgresql://host/db"
    assert config.clusters[0] == ClusterConfig(
        "prod", ("https://kubernetes.default.svc", "prod"), ("audit/", "more/*.gz"), ("live/",), "2h"
    )
    assert [cluster.name for cluster in config.clusters] == ["prod", "dev"]
    assert config.argocds[0].cluster == "prod"
    assert config.repositories[0].path == "deploy.bundle"
    assert config.environments == (EnvironmentPair("shop-staging", "shop-prod"),)
    assert config.actor_rules == (ActorRule("our-pipeline", "ci", user="system:serviceaccount:ci:*"),)
    assert config.people == (Person("Alice", ("alice@acme.example", "alice")),)
    assert config.accepted[0].owner == "team"
    assert (config.goals.announce_minutes, config.goals.git_minutes) == (5, 60)
    assert config.redaction.fields == ("*Dsn",)


def test_an_empty_file_means_the_defaults() -> None:
    assert read("") == Config(folder=Path.cwd())


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[stor]\nurl = "x"', 1, "unknown section [stor]"),
        ('[store]\n\n# a comment\nurll = "x"', 4, "unknown key 'urll' in [store]"),
        ("[store]\nurl = 3", 2, "url must be text in quotes"),
        ('[[cluster]]\nname = "a"\naudit = "audit/"', 3, "audit must be a list of texts"),
        ('[[cluster]]\nname = "a"\naudit = [\n  "x",\n  3,\n]', 3, "audit must be a list of texts"),
        ("[goals]\ngit_minutes = true", 2, "git_minutes must be a whole number"),
        ('[cluster]\nname = "a"', 1, "[cluster] may stand several times"),
        ("store = 3", 1, "store must be a table"),
        ('[[repository]]\npath = "x"', 1, "[[repository]] lacks url"),
        ('[[cluster]]\nname = "a"\n[[cluster]]\nname = "a"', 4, "a second [[cluster]] is called 'a'"),
        ('[[cluster]]\nname = "a"\n[[argocd]]\nname = "m"\ncluster = "b"', 5, "there is no cluster 'b'"),
        ('[report]\nzone = "Mars/Olympus"', 2, "there is no time zone 'Mars/Olympus'"),
        ('[report]\nzone = "../../etc/passwd"', 2, "there is no time zone"),
        ('[[actor]]\nident = "x"\nkind = "robot"', 3, "unknown kind of actor 'robot'"),
        ('[[accept]]\nident = "x"\nreason = "r"\nowner = "o"\nexpires = "soon"', 5, "'soon' is no day"),
        (
            '[[cluster]]\nname = "a"\nserver = ["https://x"]\n[[cluster]]\nname = "b"\nserver = ["https://x"]',
            6,
            "https://x is claimed by the clusters 'a' and 'b'",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert f"line {line}: " in caught.value.message
    assert said in caught.value.message


def test_a_file_that_is_no_toml_is_told_with_its_line() -> None:
    with pytest.raises(ConfigError, match="line 2"):
        read('[store]\nurl = "unfinished')


def test_an_argocd_may_stand_alone() -> None:
    assert read('[[argocd]]\nname = "main"\ncluster = "prod"').argocds[0].cluster == "prod"


def test_two_clusters_may_each_call_themselves_in_cluster() -> None:
    own = 'server = ["https://kubernetes.default.svc"]'
    assert len(read(f'[[cluster]]\nname = "a"\n{own}\n[[cluster]]\nname = "b"\n{own}').clusters) == 2


def test_the_environment_comes_before_the_file() -> None:
    config = read(
        WHOLE,
        AUDITOR_STORE_URL="sqlite:///other.db",
        AUDITOR_REPORT_ZONE="Asia/Tokyo",
        AUDITOR_GOALS_GIT_MINUTES="90",
        AUDITOR_REDACTION_FIELDS="*Key, pin",
        AUDITOR_CONFIG="is for the command line",
    )
    assert config.store == "sqlite:///other.db"
    assert config.report.zone == "Asia/Tokyo"
    assert config.goals.git_minutes == 90
    assert config.redaction.fields == ("*Key", "pin")


@pytest.mark.parametrize(
    ("name", "value"),
    [("AUDITOR_STORE_URI", "x"), ("AUDITOR_GOALS_GIT_MINUTES", "soon"), ("AUDITOR_REPORT_ZONE", "X/Y")],
)
def test_a_mistake_in_the_environment_is_told(name: str, value: str) -> None:
    with pytest.raises(ConfigError):
        read("", **{name: value})


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "auditor.toml")
    assert "auditor init" in caught.value.hint


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "auditor.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path / "auditor.toml")


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "auditor.toml").write_text('\ufeff[store]\nurl = "sqlite:///x.db"', "utf-8")
    assert load(tmp_path / "auditor.toml", {}).store == "sqlite:///x.db"


def test_paths_start_at_the_file(tmp_path: Path) -> None:
    (tmp_path / "auditor.toml").write_text("")
    assert load(tmp_path / "auditor.toml", {}).folder == tmp_path


def test_a_line_is_found_through_dotted_keys_and_inline_tables() -> None:
    text = 'goals.git_minutes = 3\n\nreport = {zone = "UTC",\n title = 5}\n'
    assert line_of(text, ("goals", "git_minutes")) == 1
    assert line_of(text.replace(",\n", ", "), ("report", "title")) == 3
    assert line_of(text, ("nothing",)) is None


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://bot:hunter2@git.acme.example/deploy.git", "https://git.acme.example/deploy.git"),
        ("https://hunter2@git.acme.example/deploy.git", "https://git.acme.example/deploy.git"),
        ("ssh://git:hunter2@git.acme.example/deploy.git", "ssh://git@git.acme.example/deploy.git"),
        ("git@git.acme.example:deploy.git", "git@git.acme.example:deploy.git"),
        ("https://git.acme.example/a@b.git", "https://git.acme.example/a@b.git"),
    ],
)
def test_a_repository_is_called_by_its_url_without_credentials(url: str, name: str) -> None:
    assert RepositoryConfig(url).name == name
