"""By whom and with what a value came to the tracked branch."""

from collections.abc import Callable
from datetime import datetime
from typing import cast

from auditor.correlate.git.course import NO_COMMIT, Step
from auditor.model.desired import GitReader, Landing, Undeterminable
from auditor.model.verdict import Authored, GitVerdict, GitWord

_IN_APPLICATION = "the value comes from the Application, and no commit of a configured repository declares it"
_UNSEEN = "committed before the change, first seen after it: how long it took is not known"
_NEVER_SEEN = "committed before the change, and no record shows when it landed: how long it took is not known"


def authored_in(landing: Landing, has: Callable[[str], bool], git: GitReader) -> Landing:
    """The commit in which the value was written: the last of those that a merge brought which has it while its first
    parent has not; the merge itself where it appears nowhere else (a conflict resolved by hand)."""
    for sha in reversed(landing.merged):
        if has(sha) and not has(git.first_parent(landing.repo_url, sha)):
            return git.commit(landing.repo_url, sha) or landing
    return landing


def written_since(step: Step, at: datetime, has: Callable[[str], bool], git: GitReader) -> Landing:
    """The commit on the followed branch that wrote a value after a moment. Where a step is another source that an
    application was told to follow, the value was written there by an earlier commit; what had stood there all along
    came with the step."""
    landings = git.landings(step.state)
    shas = [] if isinstance(landings, Undeterminable) else [landing.sha for landing in landings]
    if isinstance(landings, Undeterminable) or step.sha not in shas:
        return step.landing
    place = shas.index(step.sha)
    written = step.landing
    while place >= 0 and has(shas[place]):
        if landings[place].at <= at:
            return step.landing
        written = landings[place]
        place -= 1
    return written


def landed_verdict(word: str, step: Step, authored: Landing, at: datetime, says: str, doubt: str) -> GitVerdict:
    """The verdict that a commit on the tracked branch decides. `at` is the time of the change."""
    landing = step.landing
    if landing.sha == NO_COMMIT:
        reason = "; ".join(filter(None, (_IN_APPLICATION, doubt)))
        return GitVerdict(cast(GitWord, word), reason, confidence="low" if doubt else "high")
    delay = (step.earliest - at).total_seconds() if step.earliest > at else None
    reasons = [doubt]
    if word == "reflected" and delay is None:
        reasons.append(_UNSEEN if step.latest is not None else _NEVER_SEEN)
    return GitVerdict(
        verdict=cast(GitWord, word),
        reason="; ".join(reason for reason in reasons if reason),
        commit=landing.sha,
        author=authored.author,
        at=landing.at,
        landed_by=step.latest,
        authored=Authored(authored.sha, authored.author),
        pull_request=landing.pull_request if landing.pull_request is not None else authored.pull_request,
        delay_seconds=delay,
        confidence="low" if doubt else "high",
        says=says if word == "superseded" else "",
        signature=authored.signature,
    )
