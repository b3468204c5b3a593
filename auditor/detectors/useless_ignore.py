"""An ignoreDifferences rule that does nothing, and the one who wrote it thinks that it does."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

import orjson

from auditor.config import Config
from auditor.detectors import Detector, suggestion
from auditor.detectors.conclusion import conclude
from auditor.model.application import ApplicationHistory, ApplicationState
from auditor.model.case import Case
from auditor.model.change import AppKey, Evidence, Write
from auditor.model.finding import Confidence, Finding, Severity
from auditor.model.resource import Json, JsonObject, ObjectId
from auditor.objects import ignore, managed_fields, paths, schema

_CONTENT = frozenset({"spec", "data", "rules", "subsets", "webhooks"})
"""Where the objects of built-in kinds have their fields: of other kinds nothing is known there."""


class _Rule(NamedTuple):
    body: JsonObject
    first_at: datetime
    actor: str
    evidence: tuple[Evidence, ...]


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """Unknown keys as somebody sent them; rules that select nothing; rules that match no object of the application.

    What the API server stored of a rule with an unknown key is told with the request, not once more.
    """
    for key, history in case.applications.items():
        if history.removed_at is not None:
            continue
        asked = _asked(case, key)
        sent = {_digest(_known(rule.body)) for rule in asked if set(rule.body) - ignore.KNOWN_KEYS}
        held = [rule for rule in _held(history) if _digest(rule.body) not in sent]
        reported: set[str] = set()
        for rule in (*asked, *held):
            said = _complaint(rule.body, history, case)
            place = orjson.dumps(_place(rule.body), option=orjson.OPT_SORT_KEYS).decode()
            if said is not None and place + said[0] not in reported:
                reported.add(place + said[0])
                yield _finding(case, key, rule, *said, _gone(rule, history))


def _known(rule: JsonObject) -> JsonObject:
    """A rule as the API server keeps it."""
    return {key: value for key, value in rule.items() if key in ignore.KNOWN_KEYS}


def _digest(rule: JsonObject) -> bytes:
    return orjson.dumps(rule, option=orjson.OPT_SORT_KEYS)


def _gone(rule: _Rule, history: ApplicationHistory) -> datetime | None:
    """Since when a later state of the Application has the rule no more."""
    later = [state for state in history.states if state.at > rule.first_at]
    wanted = _digest(_known(rule.body))
    if not later or any(_digest(each) == wanted for each in later[-1].ignore_differences):
        return None
    return next(state.at for state in later if all(_digest(each) != wanted for each in state.ignore_differences))


def _asked(case: Case, key: AppKey) -> list[_Rule]:
    """Rules as the requests had them: the API server has dropped unknown keys from what it stored."""
    rules = []
    for write in case.writes:
        if write.object.kind == "Application" and (write.object.namespace, write.object.name) == (
            key.namespace,
            key.name,
        ):
            rules += [_Rule(rule, write.at, write.actor.name, write.evidence) for rule in _in_request(write)]
    return rules


def _in_request(write: Write) -> list[JsonObject]:
    if write.outcome in ("refused", "dry-run"):
        return []
    found = [field.after.value for field in write.asked if field.path[:2] == ("spec", "ignoreDifferences")]
    return [rule for value in found if isinstance(value, list) for rule in value if isinstance(rule, dict)]


def _held(history: ApplicationHistory) -> list[_Rule]:
    """Rules that were in force, from the first state on that has them."""
    rules: dict[bytes, _Rule] = {}
    for state in history.states:
        for rule in state.ignore_differences:
            rules.setdefault(_digest(rule), _Rule(rule, state.at, "", (state.evidence,)))
    return list(rules.values())


def _place(rule: JsonObject) -> list[Json]:
    return [rule.get(name) for name in ("group", "kind", "name", "namespace")]


def _complaint(rule: JsonObject, history: ApplicationHistory, case: Case) -> tuple[str, str, Confidence] | None:
    """What is wrong with a rule, what to do, and how sure that is; None for a rule that works."""
    unknown = sorted(set(rule) - ignore.KNOWN_KEYS)
    if unknown:
        return (
            f"has a key that Argo CD does not know: {', '.join(unknown)}; the API server drops it",
            "Use jsonPointers, jqPathExpressions or managedFieldsManagers.",
            "high",
        )
    if not any(rule.get(name) for name in ignore.SELECTING_KEYS):
        return (
            "names no field, so that it matches none",
            "Add jsonPointers, jqPathExpressions or managedFieldsManagers.",
            "high",
        )
    subjects = _subjects(rule, history)
    if history.states and history.states[-1].resources and not subjects:
        return ("matches no object of the application", "Compare group, kind, name and namespace.", "medium")
    return _without_field(rule, subjects, case) or _overwritten(rule, subjects, history, case)


def _subjects(rule: JsonObject, history: ApplicationHistory) -> list[ObjectId]:
    return [subject for state in history.states[-1:] for subject in _resources(state) if ignore.applies(rule, subject)]


def _resources(state: ApplicationState) -> list[ObjectId]:
    return [ObjectId(state.cluster, *place) for *place, _ in state.resources]


def _without_field(rule: JsonObject, subjects: list[ObjectId], case: Case) -> tuple[str, str, Confidence] | None:
    """What leads nowhere in any object that the rule is about, as far as all of them are known whole."""
    known = [(subject, body) for subject in subjects if (body := _whole(case, subject)) is not None]
    if not known or len(known) < len(subjects):
        return None
    for pointer in _texts(rule, "jsonPointers"):
        if not any(_leads_somewhere(pointer, *each) for each in known):
            sure: Confidence = "medium" if any(_is_wrong(pointer, *each) for each in known) else "low"
            return _nowhere(f"points at {pointer}", sure)
    for expression in _texts(rule, "jqPathExpressions"):
        steps = ignore.jq_steps(expression)
        if steps is not None and not any(suggestion.leads_somewhere(body, steps) for _, body in known):
            return _nowhere(f"has the expression {expression}", "low")
    owners = [managed_fields.read(body) for _, body in known]
    for manager in _texts(rule, "managedFieldsManagers"):
        if all(owners) and not any(owner.manager == manager for each in owners for owner in each):
            said = f"trusts the manager {manager}, which owns no field of its objects"
            return said, "Compare the name with metadata.managedFields of the live object.", "medium"
    return None


def _nowhere(said: str, confidence: Confidence) -> tuple[str, str, Confidence]:
    return f"{said}, which none of its objects has", "Compare the path with the live object.", confidence


def _texts(rule: JsonObject, key: str) -> list[str]:
    value = rule.get(key)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _is_wrong(pointer: str, subject: ObjectId, body: JsonObject) -> bool:
    """Whether the kind has no such field at all; one that is merely not set now may be set tomorrow."""
    path = paths.from_pointer(body, pointer, subject.group, subject.kind)
    built_in = any(schema.at(subject.group, subject.kind, (key,)) is not schema.ANY for key in body if key in _CONTENT)
    return built_in and schema.at(subject.group, subject.kind, path) is schema.ANY


def _whole(case: Case, subject: ObjectId) -> JsonObject | None:
    state = case.live.get(subject)
    return state.body if state is not None and state.complete else None


def _leads_somewhere(pointer: str, subject: ObjectId, body: JsonObject) -> bool:
    path = paths.from_pointer(body, pointer, subject.group, subject.kind)
    return paths.lookup(body, path).state == "value"


def _overwritten(
    rule: JsonObject, subjects: list[ObjectId], history: ApplicationHistory, case: Case
) -> tuple[str, str, Confidence] | None:
    """Hidden from the comparison, and written all the same by a sync."""
    state = history.states[-1] if history.states else None
    if state is None or "RespectIgnoreDifferences=true" in state.sync_options:
        return None
    for write in case.writes:
        mine = write.actor.kind == "gitops" and write.object in subjects and write.outcome == "changed"
        if mine and any(ignore.covers(rule, write.object, field.path) for field in write.fields):
            return (
                "hides a field that a sync overwrites all the same",
                "Add the sync option RespectIgnoreDifferences=true.",
                "high",
            )
    return None


def _finding(
    case: Case, key: AppKey, rule: _Rule, said: str, remedy: str, confidence: Confidence, gone: datetime | None
) -> Finding:
    severity: Severity = "info" if confidence == "low" else "low" if gone else "medium"
    since = f" It is gone since {gone:%Y-%m-%d %H:%M:%S} UTC." if gone else ""
    subject = "/".join(str(part) for part in _place(rule.body)[:2] if part)
    return conclude(
        "useless-ignore",
        severity,
        f"An ignoreDifferences rule of {case.called(key)} for {subject or 'no kind'} {said}.{since}",
        remedy,
        key=(said, subject, rule.first_at.isoformat()),
        confidence=confidence,
        application=key,
        path="spec.ignoreDifferences",
        actors=filter(None, (rule.actor,)),
        values=(rule.body,),
        first_at=rule.first_at,
        last_at=gone,
        evidence=rule.evidence,
    )


DETECTOR = Detector("useless-ignore", "an ignoreDifferences rule does nothing", detect)
