"""Where a command works."""

import stat
from pathlib import Path

import pytest

from auditor.config import Config, Redaction
from auditor.console.workspace import BEFORE_THE_COMMAND, GivenBefore, Workspace, workspace
from auditor.errors import ConfigError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    monkeypatch.setenv("HOME", str(place))
    for variable in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return place


def test_the_first_use_draws_a_key_that_stays(tmp_path: Path, home: Path) -> None:
    place = Workspace(Config(folder=tmp_path))
    first = place.redactor().text("password: swordfish-4711")
    key = home / ".config" / "auditor" / "redaction.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
    assert len(key.read_bytes()) > 60
    assert place.redactor().text("password: swordfish-4711") == first


def test_a_key_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "short.key").write_text("abc")
    with pytest.raises(ConfigError, match="no redaction key"):
        Workspace(Config(folder=tmp_path, redaction=Redaction("short.key"))).redactor()


def test_the_cache_is_its_owners_alone(tmp_path: Path, home: Path) -> None:
    assert Workspace(Config(folder=tmp_path)).cache() == home / ".cache" / "auditor"
    mine = Workspace(Config(folder=tmp_path, cache="cache/")).cache()
    assert mine == tmp_path / "cache"
    assert stat.S_IMODE(mine.stat().st_mode) == 0o700


def test_a_store_of_the_command_line_starts_where_the_person_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "auditor.toml").write_text("")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert workspace(Path("../auditor.toml"), "sqlite:///x.db").config.store == f"sqlite:///{tmp_path}/here/x.db"
    assert workspace(Path("../auditor.toml"), None).config.store == "sqlite:///auditor.db"


def test_what_was_given_before_the_command_counts_where_nothing_was_given_after(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("")
    before = BEFORE_THE_COMMAND.set(GivenBefore(tmp_path / "a.toml", "sqlite:////b.db"))
    try:
        assert workspace(None, None).config.store == "sqlite:////b.db"
        assert workspace(None, "sqlite:////c.db").config.store == "sqlite:////c.db"
    finally:
        BEFORE_THE_COMMAND.reset(before)


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ('ident = "all"\nkind = "ci"', "no pattern"),
        ('ident = "bot"\nkind = "gitops"\nuser_agent = "argocd*"', "what clients say of themselves"),
    ],
)
def test_an_actor_rule_that_would_never_match_is_refused_with_its_line(tmp_path: Path, rule: str, problem: str) -> None:
    path = tmp_path / "auditor.toml"
    path.write_text(
        f'[report]\nzone = "UTC"\n\n[[actor]]\nident = "own"\nkind = "ci"\nuser = "ci"\n\n[[actor]]\n{rule}\n'
    )
    with pytest.raises(ConfigError, match=problem) as error:
        workspace(path, None)
    assert "auditor.toml, line 9: " in error.value.message
    assert ".." not in error.value.message
