"""What bears on an application, where commits and messages of several are in one place."""

from auditor.correlate.bearing import landings, messages, names
from auditor.model.case import Scope
from auditor.model.change import AppKey, Evidence
from auditor.model.desired import Landing
from auditor.model.episode import STEP_NAMES, Episode, Step
from auditor.model.facts import Announcement
from tests.factories import SHOP, message, minute, verdict

OTHER = AppKey("main", "argocd", "payments")


def landing(sha: str) -> Landing:
    return Landing(sha, minute(0), "Alice <alice@acme.example>", sha, None, (), "N")


def episode(*cited: Announcement, ended: float | None = 20) -> Episode:
    evidence = tuple(Evidence("announcement", "", one.origin) for one in cited)
    steps = tuple(Step(name, "done", None, None, "", evidence) for name in STEP_NAMES)
    end = None if ended is None else minute(ended)
    return Episode("e", SHOP, ("alice",), minute(10), end, steps, (), None, None, None, None)


def kept(*found: Announcement, of: Episode | None = None) -> list[str]:
    episodes = [of] if of else []
    return [one.text for one in messages(found, episodes, {"shop-prod"}, {"payments", "web"})]


def test_commits_are_those_of_the_application_and_those_that_its_verdicts_name() -> None:
    found = {SHOP: (landing("mine"),), OTHER: (landing("named"), landing("foreign"))}
    told = verdict("c", ("reflected", "standing"), commit="named")
    assert landings(found, {SHOP}, [told]) == {SHOP: (landing("mine"),), OTHER: (landing("named"),)}


def test_a_message_that_names_another_application_alone_is_not_told() -> None:
    assert kept(message(12, "payments is down"), message(12, "shop-prod and payments are down"), of=episode()) == [
        "shop-prod and payments are down"
    ]


def test_a_message_that_names_no_application_is_told_in_the_time_of_an_episode() -> None:
    near, late = message(6, "it is slow"), message(26, "lunch?")
    assert kept(near, late, of=episode()) == ["it is slow"]
    assert kept(near, late, of=episode(ended=None)) == ["it is slow", "lunch?"]
    assert kept(near, late) == []


def test_a_message_that_an_episode_rests_on_is_told_whatever_it_names() -> None:
    cited = message(12, "web scaled to 6")
    assert kept(cited, of=episode(cited)) == ["web scaled to 6"]


def test_an_application_is_named_without_its_namespace() -> None:
    assert names(Scope(applications=("argocd/shop-prod", "web"))) == {"shop-prod", "web"}
