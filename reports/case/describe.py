"""Objects, changes and people in few words."""

from collections.abc import Sequence
from datetime import datetime

from auditor.model.change import Actor, Change, FieldChange
from auditor.model.resource import ABSENT, ObjectId
from reports.case.dossier import Dossier, Numbered, is_left
from reports.words.rich import BECOMES, Span, Text, words
from reports.words.wording import count, cut, dense_pair, differing, duration, field_name, middle_cut, value_span

VALUE_LIMIT = 24
SERVICE_ACCOUNT = "system:serviceaccount:"
RESTART = "a restart leaves no more than its time"
"""Why nothing is asked for a restart."""


def short_object(one: ObjectId, clusters: Sequence[str] = ()) -> str:
    """The object for a line that must stay short: long names lose their middle."""
    place = f"{middle_cut(one.namespace, 20)}/" if one.namespace and one.namespace != one.name else ""
    where = f"{middle_cut(one.cluster, 16)}: " if len(clusters) > 1 else ""
    return f"{where}{middle_cut(one.kind, 24)} {place}{middle_cut(one.name, 26)}"


def person(actor: Actor) -> str:
    """Who the record names, service accounts without their prefix."""
    return actor.name.removeprefix(SERVICE_ACCOUNT) or "nobody named"


def whole(change: Change) -> bool:
    """Whether a change is of a whole object: its verdicts stand on the change."""
    return change.write.operation in ("create", "delete")


def before_after(field: FieldChange, limit: int = VALUE_LIMIT) -> Text:
    """`500m → 750m`, for a dense place."""
    first, second = differing(*dense_pair(field.before, field.after), limit)
    return words(value_span(field.before, first, limit), " ", BECOMES, " ", value_span(field.after, second, limit))


def whole_change(change: Change) -> Text:
    """`absent → created`, `present → deleted`."""
    known = "" if change.write.fields_known else ", contents unknown"
    if change.write.operation == "create":
        return words(Span("absent", ABSENT.state), " ", BECOMES, " ", Span("value", f"created{known}"))
    return words(Span("value", "present"), " ", BECOMES, " ", Span("value", "deleted"))


def what(change: Change, limit: int = VALUE_LIMIT) -> Text:
    """The change in a few words: its first field, and how many more."""
    return _of_fields(change, change.write.fields, limit)


def what_is_left(one: Numbered, limit: int = VALUE_LIMIT) -> Text:
    """As `what`, of the fields that stand in the cluster and that git has not; of all where none does."""
    return _of_fields(one.change, open_fields(one), limit)


def open_fields(one: Numbered) -> tuple[FieldChange, ...]:
    """The fields of a change that something is left to do about, all where that can be said of none."""
    fields, verdicts = one.write.fields, one.verdict.fields
    left = tuple(field for field, both in zip(fields, verdicts, strict=False) if is_left(both.git, both.cluster))
    return left or fields


def _of_fields(change: Change, fields: Sequence[FieldChange], limit: int) -> Text:
    if whole(change):
        return words("created" if change.write.operation == "create" else "deleted")
    if not fields:
        return words("patched, fields not recorded")
    restart = _restart(fields)
    if restart:
        return words(restart)
    rest = f" and {count(len(fields) - 1, 'more field')}" if len(fields) > 1 else ""
    return words(cut(field_name(fields[0].path), 26), " ", before_after(fields[0], limit), rest)


def what_briefly(one: Numbered) -> str:
    """The name of a field without its values, for a row that folds several changes."""
    if whole(one.change):
        return "created" if one.write.operation == "create" else "deleted"
    fields = open_fields(one)
    if not fields:
        return "patched"
    return _restart(fields) or cut(field_name(fields[0].path), 26)


def is_restart(one: Numbered) -> bool:
    """Whether a change left no more than the time of a restart, which git should never hold."""
    return bool(one.write.fields) and bool(_restart(open_fields(one)))


def told(dossier: Dossier, one: Numbered) -> Text:
    """`Deployment payments-prod, limits.cpu 500m → 750m`; of what a sync undoes no field that it leaves."""
    found = _undone_fields(one) if one.state == "act" else open_fields(one)
    return words(short_object(one.write.object, dossier.clusters), ", ", _of_fields(one.change, found, VALUE_LIMIT))


def _undone_fields(one: Numbered) -> tuple[FieldChange, ...]:
    both = zip(one.write.fields, one.verdict.fields, strict=False)
    kept = [field for field, own in both if own.prospect is not None and not own.prospect.startswith("undone-")]
    return tuple(field for field in open_fields(one) if field not in kept) or open_fields(one)


def when_after(at: datetime | None, since: datetime) -> str:
    """`after 1 min 8 s`, "" where that cannot be told."""
    if at is None or at < since:
        return ""
    return f"after {duration((at - since).total_seconds())}"


def named(actors: Sequence[str], limit: int = 3) -> Text:
    """People in a row, service accounts without their prefix."""
    unique = list(dict.fromkeys(name.removeprefix(SERVICE_ACCOUNT) or "nobody named" for name in actors))
    shown = [middle_cut(name, 40) for name in unique[:limit]]
    rest = len(unique) - limit
    return words(", ".join(shown), f" and {rest} more" if rest > 0 else "")


def _restart(fields: Sequence[FieldChange]) -> str:
    only = fields[0].path[-1] if len(fields) == 1 and fields[0].path else ""
    return "a restart" if only == "kubectl.kubernetes.io/restartedAt" else ""
