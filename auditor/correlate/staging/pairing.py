"""Which application on staging belongs to which in production: by hand, else by ApplicationSet, path, label or name."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from auditor.config import Config
from auditor.model.application import ApplicationHistory, ApplicationState
from auditor.model.change import AppKey

STAGING_WORDS = ("staging", "stage", "stg", "preprod", "pre-prod")
"""What an environment before production is called; the first that is found is preferred."""
PRODUCTION_WORDS = ("production", "prod", "prd", "live")

_STAGING = re.compile(rf"(?i)(?<![a-z0-9])({'|'.join(STAGING_WORDS)})(?![a-z0-9])")
_PRODUCTION = re.compile(rf"(?i)(?<![a-z0-9])(?<!pre-)({'|'.join(PRODUCTION_WORDS)})(?![a-z0-9])")
_ENVIRONMENT_LABELS = ("app.kubernetes.io/environment", "environment", "env", "stage", "tier")
_APPLICATION_LABELS = ("app.kubernetes.io/name", "app.kubernetes.io/part-of", "app", "service", "component")


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two applications that should agree but for their overlays, and how that is known."""

    staging: AppKey
    production: AppKey
    paired_by: str


def pairings(config: Config, histories: Mapping[AppKey, ApplicationHistory]) -> tuple[Pairing, ...]:
    """All pairs, those of the configuration first. A production application has one partner."""
    by_hand = list(_by_hand(config, histories))
    taken = {pair.production for pair in by_hand}
    latest = {key: history.states[-1] for key, history in sorted(histories.items(), key=_name) if history.states}
    by_rule = [
        pair
        for key, state in latest.items()
        if key not in taken
        for pair in [_by_rule(state, [other for mate, other in latest.items() if mate != key])]
        if pair is not None
    ]
    return (*by_hand, *by_rule)


def _name(item: tuple[AppKey, ApplicationHistory]) -> tuple[str, str, str]:
    return item[0].name, item[0].namespace, item[0].argocd


def _by_hand(config: Config, histories: Mapping[AppKey, ApplicationHistory]) -> Iterator[Pairing]:
    for pair in config.environments:
        staging, production = (_find(name, histories) for name in (pair.staging, pair.production))
        if staging is not None and production is not None:
            yield Pairing(staging, production, "configuration")


def _find(name: str, histories: Mapping[AppKey, ApplicationHistory]) -> AppKey | None:
    """The application called `name` or `namespace/name`; an application that does not exist is no error here."""
    found = [key for key in histories if name in (key.name, f"{key.namespace}/{key.name}")]
    return min(found, key=lambda key: (key.argocd, key.namespace), default=None)


def _by_rule(production: ApplicationState, others: list[ApplicationState]) -> Pairing | None:
    for rule, known_by in _RULES:
        base = rule(production, _PRODUCTION)
        mates = [other for other in others if base and rule(other, _STAGING) == base]
        if mates:
            mate = min(mates, key=lambda state: (_preference(state), state.key.name))
            return Pairing(mate.key, production.key, known_by)
    return None


def _preference(state: ApplicationState) -> int:
    text = " ".join((state.key.name, *(source.path for source in state.sources), *state.labels.values())).casefold()
    found = [place for place, word in enumerate(STAGING_WORDS) if re.search(rf"(?<![a-z0-9]){word}(?![a-z0-9])", text)]
    return min(found, default=len(STAGING_WORDS))


def _base(text: str, environment: re.Pattern[str]) -> str:
    """What stays of a name once its environment is taken out, "" where it has none."""
    return environment.sub("*", text) if environment.search(text) else ""


def _set_base(state: ApplicationState, environment: re.Pattern[str]) -> str:
    name = _base(state.key.name, environment)
    return f"{state.key.argocd}/{state.owner_set}/{name}" if state.owner_set and name else ""


def _path_base(state: ApplicationState, environment: re.Pattern[str]) -> str:
    paths = [_base(source.path, environment) for source in state.sources if source.path]
    known = [path for path in paths if path]
    return f"{state.sources[0].repo_url} {' '.join(known)}" if known else ""


def _label_base(state: ApplicationState, environment: re.Pattern[str]) -> str:
    here = next((state.labels[key] for key in _ENVIRONMENT_LABELS if key in state.labels), "")
    name = next((state.labels[key] for key in _APPLICATION_LABELS if key in state.labels), "")
    return name if name and environment.fullmatch(here) else ""


def _name_base(state: ApplicationState, environment: re.Pattern[str]) -> str:
    return _base(state.key.name, environment)


_RULES: tuple[tuple[Callable[[ApplicationState, re.Pattern[str]], str], str], ...] = (
    (_set_base, "ApplicationSet"),
    (_path_base, "path"),
    (_label_base, "label"),
    (_name_base, "name"),
)
