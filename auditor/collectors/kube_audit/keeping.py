"""Which events become facts. All are counted; what would only fill the store is counted and no more.

| event | kept |
|---|---|
| reads | counted |
| reads of a sub-resource in `ACCESSES` (`exec` …), and by impersonation | yes: they are accesses |
| writes, at their last stage, refused ones too | with both bodies |
| writes to Applications and other `argoproj.io` objects | always, with both bodies |
| `status`, by a machine | with the response (it holds the whole object), without the request |
| `status` of pods and nodes, `binding`, `token`, Events, Leases, endpoints, by a machine | counted |
| reviews (nothing is stored), by anybody | counted |
| dry runs by a machine (controllers compare so, all day) | counted |
| `token` by a person | without bodies: they are the secret |
| RequestReceived; ResponseStarted of what is no access | counted: the last stage says more |

A machine is a `system:` account that impersonates nobody. An exec that still ran when the records end has nothing but
its ResponseStarted: that stage is kept for accesses, so that one access may have two events with the same audit ID.
"""

from enum import Enum

from auditor.collectors.kube_audit.events import Event

ACCESSES = frozenset({"exec", "attach", "portforward", "proxy", "ephemeralcontainers", "eviction", "token"})
REVIEWS = frozenset(
    {
        "tokenreviews",
        "subjectaccessreviews",
        "localsubjectaccessreviews",
        "selfsubjectaccessreviews",
        "selfsubjectrulesreviews",
        "selfsubjectreviews",
    }
)
_CHATTER = frozenset({"events", "leases", "endpoints", "endpointslices", "bindings", "componentstatuses"})
_HEARTBEATS = frozenset({"pods", "nodes"})
_MACHINE = "system:"
_PEOPLE = frozenset({"system:admin", "system:anonymous"})


class Keep(Enum):
    """What of an event goes into the store."""

    NOTHING = 0
    BARE = 1
    RESPONSE = 2
    ALL = 3


def keep(event: Event, dry_run: bool) -> Keep:
    """Decide by verb, stage, resource and who asked; see the table above."""
    reference = event.reference
    subresource = reference.subresource if reference else ""
    access = subresource in ACCESSES
    if event.stage == "RequestReceived" or (event.stage == "ResponseStarted" and not access):
        return Keep.NOTHING
    machine = is_machine(event)
    if not event.is_write:
        wanted = event.impersonated is not None or (access and not (machine and subresource == "proxy"))
        return Keep.BARE if wanted else Keep.NOTHING
    if reference is None:
        return Keep.ALL
    if reference.group == "argoproj.io" and not dry_run:
        return Keep.ALL
    return _kept_write(reference.resource, subresource, machine, dry_run)


def _kept_write(resource: str, subresource: str, machine: bool, dry_run: bool) -> Keep:
    if resource in REVIEWS:
        return Keep.NOTHING
    if subresource == "token":
        return Keep.NOTHING if machine else Keep.BARE
    if not machine:
        return Keep.ALL
    if dry_run or resource in _CHATTER or subresource == "binding":
        return Keep.NOTHING
    if subresource == "status":
        return Keep.NOTHING if resource in _HEARTBEATS else Keep.RESPONSE
    return Keep.ALL


def is_machine(event: Event) -> bool:
    """Whether an account of the cluster itself asked, for itself."""
    name = event.user.username
    return name.startswith(_MACHINE) and name not in _PEOPLE and event.impersonated is None
