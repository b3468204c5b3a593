"""What applications are called of which another has the same name: in another namespace, another Argo CD, or of another
kind of Flux."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from auditor.model.change import AppKey

_FORMS: tuple[Callable[[AppKey], str], ...] = (
    lambda key: f"{key.namespace}/{key.name}",
    lambda key: f"{key.argocd}/{key.name}",
    lambda key: f"{key.kind} {key.name}",
    lambda key: f"{key.argocd}/{key.namespace}/{key.name}",
    lambda key: f"{key.kind} {key.argocd}/{key.namespace}/{key.name}",
)
"""The shortest first; the last tells any two apart."""


def namesakes(applications: Iterable[AppKey]) -> Iterator[tuple[AppKey, str]]:
    """Each that has a namesake, with the shortest form that tells all of its name apart."""
    alike: dict[str, list[AppKey]] = defaultdict(list)
    for key in applications:
        alike[key.name].append(key)
    for keys in alike.values():
        if len(keys) > 1:
            yield from zip(keys, _apart(keys), strict=True)


def _apart(keys: list[AppKey]) -> list[str]:
    told = ([form(key) for key in keys] for form in _FORMS)
    return next(names for names in told if len(set(names)) == len(keys))
