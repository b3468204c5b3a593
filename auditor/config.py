"""What auditor.toml says, as frozen values; `auditor.config_file` reads it."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Access:
    """How an API server is reached: by a context of a kubeconfig, or from inside of the cluster."""

    context: str
    """"" for the current one of the kubeconfig."""
    kubeconfig: str
    """Relative to the configuration's folder; "" for `KUBECONFIG`, else `~/.kube/config`."""
    in_cluster: bool
    """By the service account of the pod that auditor runs in."""

    @property
    def name(self) -> str:
        """What it is called in sources: its context, its kubeconfig or `in-cluster`."""
        return "in-cluster" if self.in_cluster else self.context or self.kubeconfig


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """A cluster and where its records lie."""

    name: str
    server: tuple[str, ...] = ()
    """URLs or names by which Applications' destinations call the cluster."""
    audit: tuple[str, ...] = ()
    """Files, directories, globs, `-` or URLs."""
    objects: tuple[str, ...] = ()
    """`kubectl get -o yaml --show-managed-fields` exports."""
    max_lag: str = ""
    """How late its audit log may be before that is worth a line, as `2h`."""
    context: str = ""
    """Of a kubeconfig, to read the objects that Applications manage live."""
    kubeconfig: str = ""
    in_cluster: bool = False

    @property
    def access(self) -> Access | None:
        """How its API server is reached; None where it is not to be asked."""
        return _access(self.context, self.kubeconfig, self.in_cluster)


@dataclass(frozen=True, slots=True)
class ArgoCDConfig:
    """An Argo CD and what was exported of it."""

    name: str
    cluster: str
    """Where it runs: its freezes are in that cluster's audit log."""
    exports: tuple[str, ...] = ()
    namespace: str = "argocd"
    context: str = ""
    """Of a kubeconfig, to read its Applications, settings and Events live instead of from exports."""
    kubeconfig: str = ""
    in_cluster: bool = False

    @property
    def access(self) -> Access | None:
        """How the API server of its cluster is reached; None where it is not to be asked."""
        return _access(self.context, self.kubeconfig, self.in_cluster)


def _access(context: str, kubeconfig: str, in_cluster: bool) -> Access | None:
    return Access(context, kubeconfig, in_cluster) if context or kubeconfig or in_cluster else None


@dataclass(frozen=True, slots=True)
class RepositoryConfig:
    """A repository that Applications name, and where it can be read."""

    url: str
    """As the Applications' repoURL has it. It may hold credentials: only git is given it."""
    path: str = ""
    """A clone, a bare repository or a bundle; "" to mirror the URL."""
    charts: bool = False
    """The URL is a chart repository's: the charts that Applications name are fetched from there."""

    @property
    def name(self) -> str:
        """The URL without a password or token: what the repository is called in the store and to readers."""
        scheme, separator, rest = self.url.partition("://")
        authority, slash, place = rest.partition("/")
        user, at, host = authority.rpartition("@")
        if not (separator and at):
            return self.url
        kept = "" if scheme.lower() in ("http", "https") else user.partition(":")[0] + at
        return f"{scheme}{separator}{kept}{host}{slash}{place}"


@dataclass(frozen=True, slots=True)
class AnnouncementsConfig:
    """Where people said what they did."""

    path: str
    zone: str = ""
    """Of times that carry none; without it such rows are skipped."""


@dataclass(frozen=True, slots=True)
class EnvironmentPair:
    """Two applications that should agree but for their overlays."""

    staging: str
    production: str


@dataclass(frozen=True, slots=True)
class ActorRule:
    """A user's own rule, tried before the shipped ones. Patterns are globs; all that are given must match."""

    ident: str
    kind: str
    user: str = ""
    group: str = ""
    user_agent: str = ""
    field_manager: str = ""
    impersonated_user: str = ""


@dataclass(frozen=True, slots=True)
class Person:
    """Identities that are one person: the audit user, git mails, Argo CD and Slack names."""

    name: str
    identities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AcceptedFinding:
    """A finding that somebody answers for."""

    ident: str
    reason: str
    owner: str
    expires: str = ""
    """ISO date; "" for never."""
    application: str = ""
    object: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Goals:
    """What the team holds itself to, in minutes."""

    announce_minutes: int = 15
    git_minutes: int = 60
    quiet_minutes: int = 30
    """An episode without an unfreeze ends after so many quiet minutes."""


@dataclass(frozen=True, slots=True)
class ReportConfig:
    """For whom reports are set."""

    zone: str = "UTC"
    """IANA name of the reader's zone."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Redaction:
    """What is never stored, beside what is known to be secret."""

    key_file: str = ""
    """Where the key of the keyed hash lies; "" for the default place outside the store."""
    fields: tuple[str, ...] = ()
    """Further field names (globs) whose values are never stored."""


@dataclass(frozen=True, slots=True)
class NotifyConfig:
    """Where `auditor run` and `auditor notify` say what is new."""

    webhook: str = field(default="", repr=False)
    """A Slack-compatible URL; "" to post nowhere. Whoever has it can post, so it is told to nobody."""


@dataclass(frozen=True, slots=True)
class Config:
    """All that auditor.toml says."""

    folder: Path
    """The folder of auditor.toml: relative paths are relative to it."""
    store: str = "sqlite:///auditor.db"
    cache: str = ""
    """Folder of mirrors and rendered states, relative to `folder`; "" for the user's cache folder."""
    clusters: tuple[ClusterConfig, ...] = ()
    argocds: tuple[ArgoCDConfig, ...] = ()
    repositories: tuple[RepositoryConfig, ...] = ()
    announcements: tuple[AnnouncementsConfig, ...] = ()
    environments: tuple[EnvironmentPair, ...] = ()
    actor_rules: tuple[ActorRule, ...] = ()
    people: tuple[Person, ...] = ()
    accepted: tuple[AcceptedFinding, ...] = ()
    goals: Goals = field(default_factory=Goals)
    report: ReportConfig = field(default_factory=ReportConfig)
    redaction: Redaction = field(default_factory=Redaction)
    notify: NotifyConfig = field(default_factory=NotifyConfig)
