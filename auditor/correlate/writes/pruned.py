"""What `kubectl apply --prune` deletes: byte for byte what `kubectl delete` sends, and sent right behind the apply."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from auditor.correlate.identity.channels import KUBECTL
from auditor.correlate.writes.commands_sent import LONGEST_PAUSE
from auditor.model.change import Write

EITHER = "deleted right behind an apply of the same client: by kubectl delete, or by kubectl apply --prune"


def maybe_pruned(writes: Iterable[Write]) -> Iterator[Write]:
    """The writes, which come oldest first, with the channel `kubectl` for each delete that may have been either."""
    applied: dict[tuple[str, ...], datetime] = {}
    for write in writes:
        if write.channel not in ("kubectl apply", "kubectl delete"):
            yield write
            continue
        client = (write.object.cluster, write.actor.name, write.actor.acting_as or "", write.user_agent)
        last = applied.get(client)
        follows = last is not None and write.at - last <= LONGEST_PAUSE
        if write.channel == "kubectl apply" or follows:
            applied[client] = write.at
        if write.channel == "kubectl delete" and follows:
            yield replace(write, channel=KUBECTL, notes=(*write.notes, EITHER))
        else:
            yield write
