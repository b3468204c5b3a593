"""A running Argo CD read through its API server: what is kept, what is told of what is missing, what is never asked."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from auditor.collectors import Reading
from auditor.collectors.live import access as live_access
from auditor.collectors.live import collect as live
from auditor.collectors.live import connection as live_connection
from auditor.collectors.live import lists as live_lists
from auditor.collectors.live import objects as live_objects
from auditor.collectors.live import source as live_source
from auditor.config import Access, ArgoCDConfig, ClusterConfig, Config
from auditor.config_file import parse
from auditor.errors import ConfigError
from auditor.model.facts import (
    ApplicationSnapshot,
    ArgoEvent,
    ArgoSettings,
    Batch,
    ObjectSnapshot,
    RecordKind,
    Skipped,
    SourceMark,
)
from auditor.objects.redaction import Redactor
from auditor.progress import SILENT
from auditor.store import open_store
from tests.collectors.api_server import FakeApi, Reply, fake_api, kubeconfig
from tests.collectors.configured import facts, reasons

ARGO = "/apis/argoproj.io/v1alpha1"
CM = "/api/v1/namespaces/argocd/configmaps"
EVENTS = "/api/v1/namespaces/argocd/events"
DEPLOYMENTS = "/apis/apps/v1/namespaces/shop/deployments"


def managed(kind: str, name: str, namespace: str = "shop", group: str = "", version: str = "v1") -> dict[str, str]:
    return {"group": group, "version": version, "kind": kind, "namespace": namespace, "name": name, "status": "Synced"}


def meta(name: str, namespace: str, version: str) -> dict[str, str]:
    return {"name": name, "namespace": namespace, "resourceVersion": version}


def application(name: str, version: str = "10", namespace: str = "argocd", resources: Any = ()) -> dict[str, Any]:
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": meta(name, namespace, version),
        "spec": {
            "destination": {"server": "https://kubernetes.default.svc", "namespace": "shop"},
            "source": {"repoURL": "https://git.acme.example/r.git", "path": "."},
        },
        "status": {"reconciledAt": "2026-11-30T06:00:00Z", "resources": list(resources)},
    }


def deployment(name: str, version: str = "20", password: str = "hunter22") -> dict[str, Any]:
    container = {"name": "app", "image": "app:1", "env": [{"name": "DB_PASSWORD", "value": password}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": f"uid-{name}",
            "resourceVersion": version,
            "managedFields": [{"manager": "kubectl-edit", "operation": "Update", "time": "2026-11-30T05:00:00Z"}],
        },
        "spec": {"replicas": 1, "template": {"spec": {"containers": [container]}}},
    }


def event(name: str = "web.18ecc0bda0996bf5", namespace: str = "argocd") -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": namespace, "resourceVersion": "30"},
        "involvedObject": {"kind": "Application", "name": "web", "namespace": namespace},
        "reason": "ResourceUpdated",
        "message": "carol patched resource /Service 'payments'",
        "source": {"component": "argocd-server"},
        "firstTimestamp": "2026-11-30T07:04:32Z",
        "type": "Normal",
    }


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    """An Argo CD with one application of two objects, and nothing forbidden."""
    for variable in ("KUBECONFIG", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(variable, raising=False)
    with fake_api() as running:
        web = [managed("Deployment", "web", group="apps"), managed("ConfigMap", "settings")]
        running.put(f"{ARGO}/applications", application("web", resources=web))
        running.put(f"{ARGO}/applicationsets")
        running.put(
            f"{ARGO}/namespaces/argocd/appprojects",
            {"kind": "AppProject", "metadata": {"name": "default", "resourceVersion": "8"}, "spec": {}},
        )
        running.put(CM, {"kind": "ConfigMap", "metadata": meta("argocd-cm", "argocd", "9"), "data": {}})
        running.put(EVENTS, event())
        running.put(DEPLOYMENTS, deployment("web"))
        running.put(
            "/api/v1/namespaces/shop/configmaps",
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("settings", "shop", "7")},
        )
        yield running


def reading(folder: Path, config: Config, marks: Iterable[SourceMark] = ()) -> Reading:
    earlier = tuple(marks)

    def known(kind: RecordKind, name: str) -> tuple[SourceMark, ...]:
        return tuple(mark for mark in earlier if (mark.kind, mark.cluster) == (kind, name))

    return Reading(config, Redactor(b"k" * 32), known, folder, SILENT)


def configured(folder: Path, api: FakeApi, **given: Any) -> Config:
    kubeconfig(folder, api.address)
    argocd = ArgoCDConfig("main", "prod", context="prod", kubeconfig="kubeconfig")
    return replace(Config(folder, clusters=(ClusterConfig("prod"),), argocds=(argocd,)), **given)


def collect(folder: Path, api: FakeApi, earlier: Iterable[Batch] = (), **given: Any) -> list[Batch]:
    config = configured(folder, api, **given)
    return list(live.collect(reading(folder, config, marks(earlier).values())))


def marks(batches: Iterable[Batch]) -> dict[tuple[str, str], SourceMark]:
    return {(batch.mark.kind, batch.mark.source): batch.mark for batch in batches}


def problem(batches: Iterable[Batch], source: str, kind: str = "argocd") -> str:
    return marks(batches)[kind, f"live:prod/{source}" if source else "live:prod"].problem


def test_a_run_is_a_snapshot_of_argocd_and_of_what_it_manages(api: FakeApi, tmp_path: Path) -> None:
    batches = collect(tmp_path, api)
    (snapshot,) = facts(batches, ApplicationSnapshot)
    assert (snapshot.argocd, snapshot.namespace, snapshot.name) == ("main", "argocd", "web")
    assert [each.kind for each in facts(batches, ArgoSettings)] == ["AppProject", "ConfigMap"]
    (said,) = facts(batches, ArgoEvent)
    assert (said.user, said.application, said.component) == ("carol", "argocd/web", "server")
    assert [(each.cluster, each.kind, each.name) for each in facts(batches, ObjectSnapshot)] == [
        ("prod", "ConfigMap", "settings"),
        ("prod", "Deployment", "web"),
    ]
    assert b"managedFields" in facts(batches, ObjectSnapshot)[1].body
    assert all(mark.complete and not mark.problem for mark in marks(batches).values())
    assert api.authorizations == {"Bearer abc"}


def test_nothing_but_get_is_ever_sent_and_nothing_for_a_secret(api: FakeApi, tmp_path: Path) -> None:
    listed = [managed("Secret", "db"), managed("Secret", "tls"), managed("Deployment", "web", group="apps")]
    api.put(f"{ARGO}/applications", application("web", resources=listed))
    batches = collect(tmp_path, api)
    assert {method for method, _, _ in api.requests} == {"GET"}
    assert not [path for path in api.asked() if "secret" in path.lower()]
    mark = marks(batches)["objects", "live:prod/secrets"]
    assert (mark.format, mark.foreign, mark.events) == ("never read", 2, 0)


def test_without_a_context_nobody_is_asked(api: FakeApi, tmp_path: Path) -> None:
    assert collect(tmp_path, api, argocds=(ArgoCDConfig("main", "prod", ("argocd/",)),)) == []
    assert api.requests == []


def test_a_snapshot_is_dated_by_the_servers_clock(api: FakeApi, tmp_path: Path) -> None:
    batches = collect(tmp_path, api)
    assert facts(batches, ApplicationSnapshot)[0].at == datetime(2026, 11, 30, 6, 30, tzinfo=UTC)
    mark = marks(batches)["argocd", "live:prod/applications.argoproj.io"]
    assert (mark.first_at, mark.last_at) == (datetime(2026, 11, 30, 6, 30, tzinfo=UTC),) * 2


def test_a_server_without_a_clock_leaves_the_time_that_the_document_holds(api: FakeApi, tmp_path: Path) -> None:
    api.dated = False
    assert facts(collect(tmp_path, api), ApplicationSnapshot)[0].at == datetime(2026, 11, 30, 6, tzinfo=UTC)


def test_an_object_leads_back_to_the_bytes_of_the_answer(api: FakeApi, tmp_path: Path) -> None:
    sent = json.dumps(deployment("web")).encode()
    origin = facts(collect(tmp_path, api), ObjectSnapshot)[1].origin
    assert (origin.source, origin.offset, origin.length) == ("live:prod/deployments.apps", 0, len(sent))
    assert origin.sha256 == hashlib.sha256(sent).hexdigest()


def test_secrets_are_gone_before_anything_is_yielded(api: FakeApi, tmp_path: Path) -> None:
    assert "hunter22" not in repr(collect(tmp_path, api))


def test_the_same_version_twice_adds_nothing(api: FakeApi, tmp_path: Path) -> None:
    first = collect(tmp_path, api)
    second = collect(tmp_path, api, first)
    assert facts(second, ApplicationSnapshot) == facts(second, ObjectSnapshot) == []
    api.put(DEPLOYMENTS, deployment("web", "21"))
    third = collect(tmp_path, api, [*first, *second])
    assert [each.resource_version for each in facts(third, ObjectSnapshot)] == ["21"]
    mark = marks(third)["objects", "live:prod/deployments.apps"]
    assert mark.events == 2
    assert mark.first_at is not None
    assert mark.last_at is not None
    assert mark.first_at < mark.last_at


def test_a_store_that_has_it_all_stays_as_it_is(api: FakeApi, tmp_path: Path) -> None:
    config = configured(tmp_path, api)
    with open_store("sqlite:///a.db", folder=tmp_path) as store:
        given = replace(reading(tmp_path, config), known=store.marks)
        added = [sum(store.write(batch).facts for batch in live.collect(given)) for _ in range(2)]
        assert added == [6, 0]
        assert {mark.source for mark in store.marks("argocd", "main")} == {
            "live:prod/applications.argoproj.io",
            "live:prod/appprojects.argoproj.io",
            "live:prod/applicationsets.argoproj.io",
            "live:prod/argocd-cm",
            "live:prod/events",
        }


def test_history_outlives_what_argocd_keeps(api: FakeApi, tmp_path: Path) -> None:
    first = collect(tmp_path, api)
    api.put(EVENTS)
    api.put(f"{ARGO}/applications", application("web", "11"))
    second = collect(tmp_path, api, first)
    assert [each.resource_version for each in facts([*first, *second], ApplicationSnapshot)] == ["10", "11"]
    assert len(facts(first, ArgoEvent)) == 1
    assert facts(second, ArgoEvent) == []


def test_an_object_that_comes_back_is_new(api: FakeApi, tmp_path: Path) -> None:
    first = collect(tmp_path, api)
    api.put(DEPLOYMENTS)
    gone = collect(tmp_path, api, first)
    assert reasons(gone) == []
    api.put(DEPLOYMENTS, deployment("web"))
    assert len(facts(collect(tmp_path, api, [*first, *gone]), ObjectSnapshot)) == 1


# Pages


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_lists, "PAGE", 2)
    monkeypatch.setattr(live_source, "BATCH", 2)


@pytest.mark.usefixtures("small_pages")
def test_a_long_list_comes_in_pages_that_show_one_moment(api: FakeApi, tmp_path: Path) -> None:
    api.put(f"{ARGO}/applications", *(application(f"app-{number}") for number in range(5)))
    batches = collect(tmp_path, api)
    found = facts(batches, ApplicationSnapshot)
    assert [each.name for each in found] == [f"app-{number}" for number in range(5)]
    assert {each.at for each in found} == {datetime(2026, 11, 30, 6, 30, tzinfo=UTC)}
    asked = [parameters for _, path, parameters in api.requests if path.endswith("/applications")]
    assert asked == [{"limit": "2"}, {"limit": "2", "continue": "t2"}, {"limit": "2", "continue": "t4"}]
    own = [batch for batch in batches if batch.mark.source.endswith("/applications.argoproj.io")]
    assert [(len(batch.facts), batch.mark.complete, batch.reread_from) for batch in own] == [
        (2, False, 0),
        (2, False, None),
        (1, True, None),
    ]


@pytest.mark.usefixtures("small_pages")
def test_a_killed_run_goes_on_where_its_last_batch_ended(api: FakeApi, tmp_path: Path) -> None:
    api.put(f"{ARGO}/applications", *(application(f"app-{number}") for number in range(5)))
    config = configured(tmp_path, api)
    first = next(live.collect(reading(tmp_path, config)))
    rest = collect(tmp_path, api, [first])
    assert [each.name for each in facts(rest, ApplicationSnapshot)] == ["app-2", "app-3", "app-4"]
    assert marks(rest)["argocd", "live:prod/applications.argoproj.io"].events == 5


@pytest.mark.usefixtures("small_pages")
def test_an_expired_token_is_replaced_by_the_servers_own(api: FakeApi, tmp_path: Path) -> None:
    api.put(f"{ARGO}/applications", *(application(f"app-{number}") for number in range(5)))
    api.expired["t2"] = Reply(410, "The provided continue parameter is too old", token="t2")
    found = facts(collect(tmp_path, api), ApplicationSnapshot)
    assert [each.name for each in found] == [f"app-{number}" for number in range(5)]
    times = [each.at.minute for each in found if each.at]
    assert times == [30, 30, 32, 32, 32]


@pytest.mark.usefixtures("small_pages")
def test_without_another_token_the_list_begins_anew_and_doubles_nothing(api: FakeApi, tmp_path: Path) -> None:
    api.put(f"{ARGO}/applications", *(application(f"app-{number}") for number in range(5)))
    api.expired["t4"] = Reply(410, "The provided continue parameter is too old")
    batches = collect(tmp_path, api)
    assert [each.name for each in facts(batches, ApplicationSnapshot)] == [f"app-{number}" for number in range(5)]
    assert not problem(batches, "applications.argoproj.io")


@pytest.mark.usefixtures("small_pages")
def test_a_list_that_expires_again_and_again_is_told(api: FakeApi, tmp_path: Path) -> None:
    api.put(f"{ARGO}/applications", *(application(f"app-{number}") for number in range(5)))
    api.refuse(f"{ARGO}/applications", 410, "The resourceVersion is too old")
    assert "410: The resourceVersion is too old" in problem(collect(tmp_path, api), "applications.argoproj.io")


def test_a_list_without_an_end_is_given_up(api: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_lists, "_MOST_PAGES", 3)
    monkeypatch.setattr(live_lists, "PAGE", 1)
    api.put(f"{ARGO}/applications", *(application(f"app-{number}") for number in range(5)))
    assert "has no end" in problem(collect(tmp_path, api), "applications.argoproj.io")


# What is missing


def test_a_missing_permission_says_what_is_then_unknown(api: FakeApi, tmp_path: Path) -> None:
    api.refuse(EVENTS, 403, 'events is forbidden: User "nightly" cannot list resource "events"')
    batches = collect(tmp_path, api)
    assert problem(batches, "events") == (
        'Permission is missing: events is forbidden: User "nightly" cannot list resource "events". Unknown is then '
        "who used Argo CD's UI and command line, and what it did in the last hour to applications in argocd."
    )
    assert len(facts(batches, ApplicationSnapshot)) == 1
    assert len(facts(batches, ObjectSnapshot)) == 2


@pytest.mark.parametrize(
    ("path", "source", "unknown"),
    [
        (f"{ARGO}/namespaces/argocd/appprojects", "appprojects.argoproj.io", "whether a sync window froze"),
        (f"{CM}/argocd-cm", "argocd-cm", "which differences it ignores"),
    ],
)
def test_each_kind_of_record_has_its_own_sentence(
    api: FakeApi, tmp_path: Path, path: str, source: str, unknown: str
) -> None:
    api.refuse(path, 403, "no")
    assert unknown in problem(collect(tmp_path, api), source)


def test_a_role_in_one_namespace_is_enough_for_that_one(api: FakeApi, tmp_path: Path) -> None:
    api.refuse(f"{ARGO}/applications", 403, "applications is forbidden at the cluster scope")
    api.put(f"{ARGO}/namespaces/argocd/applications", application("web"))
    batches = collect(tmp_path, api)
    assert len(facts(batches, ApplicationSnapshot)) == 1
    assert not problem(batches, "applications.argoproj.io")
    assert reasons(batches) == [
        "Permission is missing: applications is forbidden at the cluster scope. Only the namespace argocd was read: "
        "whether there are applications.argoproj.io elsewhere is unknown."
    ]


def test_no_permission_at_all_for_applications_leaves_the_objects_unknown(api: FakeApi, tmp_path: Path) -> None:
    for path in (f"{ARGO}/applications", f"{ARGO}/namespaces/argocd/applications"):
        api.refuse(path, 403, "no")
    batches = collect(tmp_path, api)
    assert "which objects it manages" in problem(batches, "applications.argoproj.io")
    assert problem(batches, "", "objects").startswith("No Application was read")


def test_one_forbidden_namespace_does_not_hide_the_others(api: FakeApi, tmp_path: Path) -> None:
    listed = [managed("Deployment", "web", group="apps"), managed("Deployment", "pay", "payments", "apps")]
    api.put(f"{ARGO}/applications", application("web", resources=listed))
    api.refuse("/apis/apps/v1/namespaces/payments/deployments/pay", 403, "no")
    batches = collect(tmp_path, api)
    assert [each.name for each in facts(batches, ObjectSnapshot)] == ["web"]
    assert reasons(batches) == [
        "Permission is missing: no. Unknown is then the live state of 1 deployments.apps in payments."
    ]


def test_a_permission_that_is_given_again_ends_the_problem_and_doubles_nothing(api: FakeApi, tmp_path: Path) -> None:
    first = collect(tmp_path, api)
    api.refuse(f"{DEPLOYMENTS}/web", 403, "no")
    second = collect(tmp_path, api, first)
    assert problem(second, "deployments.apps", "objects")
    api.replies.clear()
    third = collect(tmp_path, api, [*first, *second])
    assert not problem(third, "deployments.apps", "objects")
    assert facts(third, ObjectSnapshot) == []


def test_what_is_not_managed_any_more_is_no_open_question(api: FakeApi, tmp_path: Path) -> None:
    api.refuse(f"{DEPLOYMENTS}/web", 403, "no")
    first = collect(tmp_path, api)
    api.put(f"{ARGO}/applications", application("web", "11", resources=[managed("ConfigMap", "settings")]))
    second = collect(tmp_path, api, first)
    assert not problem(second, "deployments.apps", "objects")


def test_a_cluster_without_argocd_is_told(api: FakeApi, tmp_path: Path) -> None:
    del api.lists[f"{ARGO}/applications"]
    assert problem(collect(tmp_path, api), "applications.argoproj.io").startswith("The API server does not have it")


def test_a_kind_that_is_not_served_is_told(api: FakeApi, tmp_path: Path) -> None:
    listed = [managed("Widget", "w", group="acme.example"), managed("Deployment", "web", group="apps")]
    api.put(f"{ARGO}/applications", application("web", resources=listed))
    batches = collect(tmp_path, api)
    assert problem(batches, "Widget.acme.example", "objects") == (
        "The API server serves no Widget of acme.example. Unknown is then the live state of 1 Widget."
    )
    assert [each.name for each in facts(batches, ObjectSnapshot)] == ["web"]


def test_an_old_version_is_read_in_the_one_that_the_server_prefers(api: FakeApi, tmp_path: Path) -> None:
    api.put(
        f"{ARGO}/applications",
        application("web", resources=[managed("Deployment", "web", group="apps", version="v1beta1")]),
    )
    assert [each.version for each in facts(collect(tmp_path, api), ObjectSnapshot)] == ["v1"]


# Where there is no talking


def test_expired_credentials_are_one_problem_and_no_traceback(api: FakeApi, tmp_path: Path) -> None:
    api.refuse(f"{ARGO}/applications", 401, "Unauthorized")
    batches = collect(tmp_path, api)
    assert problem(batches, "") == (
        "The API server does not accept the credentials (401 Unauthorized): they have expired or were revoked."
    )
    assert api.asked() == [f"{ARGO}/applications"]
    api.replies.clear()
    assert not problem(collect(tmp_path, api, batches), "")


def test_a_server_that_is_not_there_is_told(api: FakeApi, tmp_path: Path) -> None:
    config = configured(tmp_path, api)
    kubeconfig(tmp_path, "http://127.0.0.1:1")
    batches = list(live.collect(reading(tmp_path, config)))
    assert problem(batches, "").startswith("No connection to http://127.0.0.1:1: ")


def test_a_server_without_tls_is_not_taken_for_one_with(api: FakeApi, tmp_path: Path) -> None:
    config = configured(tmp_path, api)
    kubeconfig(tmp_path, api.address.replace("http:", "https:"))
    assert problem(list(live.collect(reading(tmp_path, config))), "").startswith("No trusted connection to https://")


def test_a_slow_answer_has_its_limit(api: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_connection, "SILENCE_SECONDS", 0.2)
    api.refuse(f"{ARGO}/applications", 200, wait=0.6)
    assert "sent nothing for 0.2 seconds" in problem(collect(tmp_path, api), "")


def test_a_huge_answer_is_not_read_to_its_end(api: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_connection, "MAX_ANSWER", 1 << 20)
    api.refuse(f"{ARGO}/applications", 200, content=b" " * (2 << 20))
    assert "larger than 1 MiB" in problem(collect(tmp_path, api), "applications.argoproj.io")


def test_a_busy_server_is_asked_again_when_it_says(api: FakeApi, tmp_path: Path) -> None:
    again = Reply(429, "too many requests", {"Retry-After": "0"})
    usual = api.reply(f"{ARGO}/applications", {})
    api.replies[f"{ARGO}/applications"] = [again, again, usual]
    assert len(facts(collect(tmp_path, api), ApplicationSnapshot)) == 1
    api.replies[f"{ARGO}/applications"] = [again]
    assert "answered 429: too many requests" in problem(collect(tmp_path, api), "applications.argoproj.io")


def test_a_connection_that_breaks_is_made_again(api: FakeApi, tmp_path: Path) -> None:
    usual = api.reply(f"{ARGO}/applications", {})
    api.replies[f"{ARGO}/applications"] = [Reply(0, hangs_up=True), usual]
    assert len(facts(collect(tmp_path, api), ApplicationSnapshot)) == 1
    api.replies[f"{ARGO}/applications"] = [Reply(0, hangs_up=True)]
    assert problem(collect(tmp_path, api), "").startswith(f"The connection to {api.address} broke: ")


@pytest.mark.parametrize(
    "content", [b"<html>log in</html>", b"{", b"[]", b'{"items": 1}', b'{"a":' * 5000, b"\xff\xfe", b""]
)
def test_an_answer_of_another_kind_is_no_list(api: FakeApi, tmp_path: Path, content: bytes) -> None:
    api.refuse(f"{ARGO}/applications", 200, content=content)
    batches = collect(tmp_path, api)
    assert facts(batches, ApplicationSnapshot) == []
    assert "is no list of objects" in problem(batches, "applications.argoproj.io")


def test_a_redirect_is_not_followed(api: FakeApi, tmp_path: Path) -> None:
    api.refuse(f"{ARGO}/applications", 302, headers={"Location": f"{api.address}/elsewhere"})
    assert "answered 302" in problem(collect(tmp_path, api), "applications.argoproj.io")
    assert "/elsewhere" not in api.asked()


@pytest.mark.parametrize("name", ["../../secrets/db", "..", "a/b", "a%2Fb", "x\n"])
def test_a_name_that_leads_elsewhere_is_not_asked_for(api: FakeApi, tmp_path: Path, name: str) -> None:
    api.put(f"{ARGO}/applications", application("web", resources=[managed("ConfigMap", name)]))
    batches = collect(tmp_path, api)
    assert "is no name of an object" in problem(batches, "configmaps", "objects")
    assert not [path for path in api.asked() if "secrets" in path or ".." in path]


def test_a_namespace_that_leads_elsewhere_is_not_asked_for(api: FakeApi, tmp_path: Path) -> None:
    listed = [managed("ConfigMap", f"map-{number}", "../secrets") for number in range(live_objects.FEW + 1)]
    api.put(f"{ARGO}/applications", application("web", namespace="a/b", resources=listed))
    batches = collect(tmp_path, api)
    assert "is no name of an object" in problem(batches, "configmaps", "objects")
    assert [reason for reason in reasons(batches) if "'a/b' is no name" in reason]
    assert not [path for path in api.asked() if "/secrets" in path or ".." in path]


@pytest.mark.parametrize("group", ["..", "a/b", "api/v1/secrets?"])
def test_a_group_that_leads_elsewhere_is_not_asked_for(api: FakeApi, tmp_path: Path, group: str) -> None:
    api.put(f"{ARGO}/applications", application("web", resources=[managed("Deployment", "web", group=group)]))
    batches = collect(tmp_path, api)
    assert any("is no name" in mark.problem or "serves no" in mark.problem for mark in marks(batches).values())
    assert not [path for path in api.asked() if "/secrets" in path]


# Kubeconfigs


def test_the_configuration_names_a_context_or_the_pod(tmp_path: Path) -> None:
    def access(lines: str) -> Access | None:
        text = f'[[cluster]]\nname = "prod"\n[[argocd]]\nname = "main"\ncluster = "prod"\n{lines}\n'
        return parse(text, tmp_path / "auditor.toml", {}).argocds[0].access

    assert access("") is None
    assert access('context = "read"') == Access("read", "", False)
    assert access('kubeconfig = "file"') == Access("", "file", False)
    assert access("in_cluster = true") == Access("", "", True)
    with pytest.raises(ConfigError, match="line 7: in_cluster and context exclude each other"):
        access('context = "read"\nin_cluster = true')
    with pytest.raises(ConfigError, match="in_cluster must be true or false"):
        access('in_cluster = "yes"')


def test_a_context_that_is_not_there_is_told(api: FakeApi, tmp_path: Path) -> None:
    argocd = ArgoCDConfig("main", "prod", context="nowhere", kubeconfig="kubeconfig")
    batches = collect(tmp_path, api, argocds=(argocd,))
    said = marks(batches)["argocd", "live:nowhere"].problem
    assert said.startswith("The context nowhere cannot be used: Invalid kube-config file. Expected object with name")


def test_a_kubeconfig_that_is_not_there_is_told(api: FakeApi, tmp_path: Path) -> None:
    argocd = ArgoCDConfig("main", "prod", kubeconfig="elsewhere")
    batches = collect(tmp_path, api, argocds=(argocd,))
    assert marks(batches)["argocd", "live:elsewhere"].problem.startswith("The kubeconfig elsewhere cannot be used")


def test_a_kubeconfig_of_another_shape_is_told(api: FakeApi, tmp_path: Path) -> None:
    config = configured(tmp_path, api)
    (tmp_path / "kubeconfig").write_text("contexts: 7\n")
    assert "cannot be" in problem(list(live.collect(reading(tmp_path, config))), "")


def test_no_token_of_a_kubeconfig_is_told(api: FakeApi, tmp_path: Path) -> None:
    config = configured(tmp_path, api)
    path = kubeconfig(tmp_path, api.address, "{token: zq81sesame}")
    path.write_text(path.read_text().replace("user: {token", "usr: {token"))
    batches = list(live.collect(reading(tmp_path, config)))
    assert "cannot be used" in problem(batches, "")
    assert "zq81sesame" not in repr(batches)


def test_a_token_in_an_answer_is_not_told(api: FakeApi, tmp_path: Path) -> None:
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    api.refuse(EVENTS, 403, f"no: token {token}")
    assert token not in repr(collect(tmp_path, api))


def test_outside_of_a_pod_there_is_no_service_account(
    api: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    batches = collect(tmp_path, api, argocds=(ArgoCDConfig("main", "prod", in_cluster=True),))
    said = marks(batches)["argocd", "live:in-cluster"].problem
    assert said == "The service account of this pod cannot be used: Service host/port is not set."


PLUGIN = """\
{{exec: {{apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never, args: ["-c", '{script}']}}}}
"""
CREDENTIAL = '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"from-plugin"}}'


def with_plugin(folder: Path, api: FakeApi, script: str) -> list[Batch]:
    config = configured(folder, api)
    kubeconfig(folder, api.address, PLUGIN.format(script=script).strip())
    return list(live.collect(reading(folder, config)))


def test_the_credential_plugin_of_the_kubeconfig_is_run(api: FakeApi, tmp_path: Path) -> None:
    (tmp_path / "credential.json").write_text(CREDENTIAL)
    assert len(facts(with_plugin(tmp_path, api, "cat credential.json"), ApplicationSnapshot)) == 1
    assert api.authorizations == {"Bearer from-plugin"}


def test_a_credential_plugin_that_fails_is_told_in_its_own_words(api: FakeApi, tmp_path: Path) -> None:
    batches = with_plugin(tmp_path, api, "echo log in first >&2; exit 3")
    assert problem(batches, "") == ("The context prod gives no credentials (exec: process returned 3. log in first).")
    assert api.requests == []


def test_a_credential_plugin_has_a_time_limit(api: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_access, "LOGIN_SECONDS", 0.2)
    assert "gave no answer within 0.2 seconds" in problem(with_plugin(tmp_path, api, "sleep 1"), "")


# Which objects, and where


def test_many_objects_of_one_namespace_come_as_a_list(
    api: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_objects, "FEW", 2)
    listed = [managed("Deployment", name, group="apps") for name in ("a", "b", "c")]
    api.put(f"{ARGO}/applications", application("web", resources=listed))
    api.put(DEPLOYMENTS, *(deployment(name) for name in ("a", "b", "c", "not-managed")))
    batches = collect(tmp_path, api)
    assert [each.name for each in facts(batches, ObjectSnapshot)] == ["a", "b", "c"]
    assert DEPLOYMENTS in api.asked()
    assert facts(batches, Skipped) == []


def test_objects_of_another_cluster_are_read_there(api: FakeApi, tmp_path: Path) -> None:
    web = application("web", resources=[managed("Deployment", "web", group="apps")])
    web["spec"]["destination"] = {"server": "https://edge.acme.example/"}
    api.put(f"{ARGO}/applications", web)
    edge = ClusterConfig("edge", ("https://edge.acme.example",), context="prod", kubeconfig="kubeconfig")
    batches = collect(tmp_path, api, clusters=(ClusterConfig("prod"), edge))
    assert [(each.cluster, each.name) for each in facts(batches, ObjectSnapshot)] == [("edge", "web")]


def test_a_destination_that_nobody_claims_is_not_guessed(api: FakeApi, tmp_path: Path) -> None:
    web = application("web", resources=[managed("Deployment", "web", group="apps")])
    web["spec"]["destination"] = {"server": "https://unknown.example"}
    api.put(f"{ARGO}/applications", web)
    assert facts(collect(tmp_path, api), ObjectSnapshot) == []


def test_exported_applications_say_which_objects_to_read(api: FakeApi, tmp_path: Path) -> None:
    exported = application("web", resources=[managed("Deployment", "web", group="apps")])
    (tmp_path / "argocd").mkdir()
    (tmp_path / "argocd" / "apps.json").write_text(json.dumps({"kind": "List", "items": [exported]}))
    (tmp_path / "argocd" / "server.log").write_text('time="2026-11-30T07:04:32Z" level=info msg="hello"\n')
    clusters = (ClusterConfig("prod", context="prod", kubeconfig="kubeconfig"),)
    batches = collect(tmp_path, api, clusters=clusters, argocds=(ArgoCDConfig("main", "prod", ("argocd/",)),))
    assert [each.name for each in facts(batches, ObjectSnapshot)] == ["web"]
    assert {batch.mark.kind for batch in batches} == {"objects"}


def test_events_are_read_where_applications_are(api: FakeApi, tmp_path: Path) -> None:
    api.put(f"{ARGO}/applications", application("web"), application("web", namespace="team-a"))
    api.put("/api/v1/namespaces/team-a/events", event("web.18ecc0bda0996bf6", "team-a"))
    found = facts(collect(tmp_path, api), ArgoEvent)
    assert [each.application for each in found] == ["argocd/web", "team-a/web"]


def test_events_of_others_are_counted_and_left(api: FakeApi, tmp_path: Path) -> None:
    other = event("pod.1") | {"involvedObject": {"kind": "Pod", "name": "x"}, "source": {"component": "kubelet"}}
    api.put(EVENTS, event(), other)
    batches = collect(tmp_path, api)
    assert len(facts(batches, ArgoEvent)) == 1
    assert marks(batches)["argocd", "live:prod/events"].foreign == 1
    assert reasons(batches) == []


def test_of_two_argocds_in_a_cluster_each_has_its_own_namespace(api: FakeApi, tmp_path: Path) -> None:
    argocds = tuple(
        ArgoCDConfig(name, "prod", namespace=name, context="prod", kubeconfig="kubeconfig") for name in ("one", "two")
    )
    for name in ("one", "two"):
        api.put(f"{ARGO}/namespaces/{name}/applications", application(f"of-{name}", namespace=name))
    found = facts(collect(tmp_path, api, argocds=argocds), ApplicationSnapshot)
    assert [(each.argocd, each.name) for each in found] == [("one", "of-one"), ("two", "of-two")]
    assert f"{ARGO}/applications" not in api.asked()


def test_a_damaged_object_does_not_hide_its_neighbours(api: FakeApi, tmp_path: Path) -> None:
    deep = '{"a":' * 400 + "1" + "}" * 400
    listed = ", ".join([json.dumps(application("a")), deep, json.dumps(application("b"))])
    api.refuse(f"{ARGO}/applications", 200, content=f'{{"kind": "ApplicationList", "items": [{listed}]}}'.encode())
    batches = collect(tmp_path, api)
    assert [each.name for each in facts(batches, ApplicationSnapshot)] == ["a", "b"]
    assert reasons(batches) == ["nested too deep"]
    assert marks(batches)["argocd", "live:prod/applications.argoproj.io"].undecodable == 1
