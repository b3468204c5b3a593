"""The auditor.toml that `auditor init` writes: commented, and filled in with what was recognised."""

import json
from collections.abc import Iterable, Sequence

from auditor.config import AnnouncementsConfig, ArgoCDConfig, ClusterConfig, Config, EnvironmentPair, RepositoryConfig

_HEAD = """\
# auditor: where the records lie. Paths are relative to this file; `auditor sources` says what is missing.

[store]
url = "sqlite:///auditor.db"            # or "postgresql://user@host/database"

[report]
zone = {zone}                            # the readers' time zone; records are always told in UTC too
"""
_CLUSTER = "# A cluster: its audit logs (files, folders, globs, s3:// gs:// abfs:// URLs), and how Argo CD calls it."
_ARGOCD = "# An Argo CD: where it runs, and what was exported of it (Applications, settings, Events, logs)."
_REPOSITORY = "# A repository, called as the Applications' repoURL has it; without a path the URL is mirrored."
_ANNOUNCEMENTS = "# Where people say what they do: a Slack export, or a timeline as CSV, JSON or Markdown."
_ENVIRONMENTS = "# Two applications that should agree but for their overlays."
_MORE = """\
# Identities that are one person, so that an announcement or a commit is found to be by whoever made a change.
# [[person]]
# name = "Alice Hill"
# identities = ["alice@acme.example", "alice", "alice.hill@home.example"]

# A finding that somebody answers for.
# [[accept]]
# ident = "second-writer"
# application = "catalog-prod"
# reason = "the pipeline moves to Argo CD in March"
# owner = "team-catalog"
# expires = "2027-03-31"

# What the team holds itself to.
# [goals]
# announce_minutes = 15
# git_minutes = 60

# Further field names whose values are never stored; Secrets and what looks like a credential never are.
# [redaction]
# fields = ["*Dsn"]
"""


def config_text(config: Config) -> str:
    """A file that reads back as `config`; sections that it lacks stand there as comments."""
    parts = [
        _HEAD.format(zone=_value(config.report.zone)),
        *_sections(_CLUSTER, config.clusters, ClusterConfig("prod", ("https://kubernetes.default.svc",), ("audit/",))),
        *_sections(_ARGOCD, config.argocds, ArgoCDConfig("main", "prod", ("argocd/",))),
        *_sections(
            _REPOSITORY, config.repositories, RepositoryConfig("https://git.acme.example/deploy.git", "deploy.bundle")
        ),
        *_sections(_ANNOUNCEMENTS, config.announcements, AnnouncementsConfig("slack/")),
        *_sections(_ENVIRONMENTS, config.environments, EnvironmentPair("shop-staging", "shop-prod")),
        _MORE,
    ]
    return "\n".join(parts)


def _sections(comment: str, found: Sequence[object], example: object) -> Iterable[str]:
    if found:
        return [f"{comment}\n" + "\n".join(_section(one) for one in found)]
    commented = "".join(f"# {line}\n" for line in _section(example).splitlines())
    return [f"{comment}\n{commented}"]


_NAMES = {
    ClusterConfig: "cluster",
    ArgoCDConfig: "argocd",
    RepositoryConfig: "repository",
    AnnouncementsConfig: "announcements",
    EnvironmentPair: "environments",
}


def _section(value: object) -> str:
    kind = type(value)
    given = {name: getattr(value, name) for name in kind.__slots__ if getattr(value, name)}  # type: ignore[attr-defined]
    if given.get("namespace") == "argocd":
        del given["namespace"]
    return f"[[{_NAMES[kind]}]]\n" + "".join(f"{name} = {_value(item)}\n" for name, item in given.items())


def _value(value: str | Sequence[str]) -> str:
    """As TOML: its basic strings are JSON's, but for the delete character."""
    items = value if isinstance(value, str) else list(value)
    return json.dumps(items, ensure_ascii=False).replace("\x7f", "\\u007f")
