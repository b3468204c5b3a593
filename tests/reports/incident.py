"""The recorded incident as a case built by hand: twenty changes, three episodes, two loops."""

from dataclasses import replace
from datetime import timedelta

from auditor.model.application import ApplicationHistory, Freeze, SyncRecord
from auditor.model.case import Case
from auditor.model.change import Actor, AppKey, Change, Evidence, FieldChange
from auditor.model.coverage import AsOf, Coverage, Gap
from auditor.model.desired import Landing
from auditor.model.drift import DriftedField
from auditor.model.episode import Episode, Step, StepName, StepState
from auditor.model.facts import Announcement, Commit
from auditor.model.finding import Finding, Severity
from auditor.model.resource import ABSENT, ListItem, ObjectId, Path, leaf
from auditor.model.staging import StagingDifference, StagingPair
from auditor.model.verdict import Authored, ClusterVerdict, GitVerdict, Verdict
from tests.reports.cases import (
    actor,
    app,
    at,
    change,
    cluster,
    container,
    empty,
    evidence,
    git,
    mark,
    origin,
    target,
    verdict,
    write,
)

ALICE, DAVE, BOB = (actor(f"{name}@acme.example") for name in ("alice", "dave", "bob"))
CAROL = Actor(
    "carol",
    "person",
    known_by="Argo CD’s Event and server log of the same second",
    account="system:serviceaccount:argocd:argocd-server",
)
PIPELINE = actor("system:serviceaccount:ci:pipeline", "ci")
CONTROLLER = actor("system:serviceaccount:argocd:argocd-application-controller", "gitops")
AUTOSCALER = actor("system:serviceaccount:kube-system:horizontal-pod-autoscaler", "autoscaler")
ERIN, ITO = "Erin Holt <erin@acme.example>", "Bob Ito <bob@acme.example>"
MERGE, IMAGE, SCALE = (
    "b648bbc3fa5957504aed75de6e9a01af0e6ca5c2",
    "eda0b7b41d8a2866dd92df16ae648cfc437fe968",
    "00697f643b0b8423ccccadebe4624fec41bf7a81",
)
MEMORY, CPU, FIVE = (
    "383f448a5cedfe85fabbdb9037b93bf8c44831e1",
    "c792f7450173060ae963c04948b6da435670ba19",
    "f30116335407193d50af693cfb48863585813632",
)
LEDGER, DROP, TIP = (
    "85726c7a849d64c1a6efb228f86c8bd3bf56ba56",
    "625839e0768e302b51e52eb269e935afa04e6080",
    "d22c868f555aecdf5445e39b1d8fb1189fece4e9",
)
STANDING = cluster("standing")
NO_COMMIT = "no commit on main or on a branch has it"
BY_HAND = "payments-prod is synced by hand, so when somebody presses Sync"


def env(name: str, variable: str) -> Path:
    return container(name, "env", ListItem((("name", variable),)), "value")


def limits(name: str, resource: str) -> Path:
    return container(name, "resources", "limits", resource)


def put_back(time: str, after: float, by: Actor = CONTROLLER) -> ClusterVerdict:
    return cluster("reverted-by-gitops", at=at(time) + timedelta(seconds=after), by=by.name, write=f"heal-{time}")


def landed(sha: str, wrote: str, author: str, pull: int, time: str, delay: float) -> GitVerdict:
    return git(
        "reflected",
        commit=sha,
        author=author,
        at=at(time),
        landed_by=at(time) + timedelta(seconds=13),
        authored=Authored(wrote, author),
        pull_request=pull,
        delay_seconds=delay,
    )


def catalog_push(number: int, time: str) -> tuple[Change, Verdict]:
    field = FieldChange(
        container("catalog", "image"),
        leaf("registry.acme.example/catalog:4.4.0"),
        leaf("registry.acme.example/catalog:4.3.9"),
    )
    ident = f"pipeline-{number}"
    one = write(
        ident,
        at(time),
        target("Deployment", "catalog-prod", "catalog"),
        PIPELINE,
        "kubectl apply",
        [field],
        notes=("removed argocd.argoproj.io/tracking-id", "rewrote last-applied"),
    )
    return change(one, app("catalog-prod")), verdict(
        ident, [(git("not-reflected", says="4.4.0"), put_back(time, 0.4))], "settled", "Argo CD puts it back each time"
    )


def one_field(
    ident: str,
    time: str,
    thing: ObjectId,
    who: Actor,
    channel: str,
    owner: AppKey | None,
    path: Path,
    before: object,
    after: object,
    answers: tuple[GitVerdict, ClusterVerdict],
    prospect: str,
    following: str = "",
    **more: object,
) -> tuple[Change, Verdict]:
    field = FieldChange(path, ABSENT if before is None else leaf(before), leaf(after))  # type: ignore[arg-type]
    return (
        change(write(ident, at(time), thing, who, channel, [field], **more), owner),
        verdict(ident, [answers], prospect, following),  # type: ignore[arg-type]
    )


def told() -> list[tuple[Change, Verdict]]:
    """The twenty changes with their verdicts, oldest first."""
    shop, payments, catalog = app("shop-prod"), app("payments-prod"), app("catalog-prod")
    deployment = target("Deployment", "payments-prod", "payments-prod")
    secret = target("Secret", "shop-prod", "db-credentials", group="")
    staging = target("Deployment", "payments-staging", "payments-staging")
    api = target("Deployment", "shop-prod", "api")
    created = write(
        "secret-created", at("06:58:07.849"), secret, ALICE, "kubectl create", operation="create", fields_known=False
    )
    patched = write("secret", at("07:05:47.859"), secret, ALICE, "kubectl patch", fields_known=False)
    deleted = write(
        "deleted-flags",
        at("07:05:27.635"),
        target("ConfigMap", "shop-prod", "feature-flags", group=""),
        ALICE,
        "kubectl delete",
        operation="delete",
    )
    policy = write(
        "created-policy",
        at("07:05:47.776"),
        target("NetworkPolicy", "shop-prod", "block-bots", group="networking.k8s.io"),
        DAVE,
        "kubectl apply",
        operation="create",
    )
    both = write(
        "hotfix-env",
        at("07:00:54.713"),
        api,
        DAVE,
        "kubectl set",
        [
            FieldChange(env("api", "DB_POOL"), ABSENT, leaf("50")),
            FieldChange(env("api", "LOG_LEVEL"), leaf("info"), leaf("debug")),
        ],
    )
    unowned = "no sync touches it"
    return [
        (
            change(created, None),
            verdict("secret-created", [(git("not-in-git"), STANDING)], "kept", unowned, whole=True),
        ),
        one_field(
            "staging-probe",
            "06:59:49.228",
            target("Deployment", "shop-staging", "api"),
            BOB,
            "kubectl patch",
            app("shop-staging"),
            container("api", "readinessProbe", "periodSeconds"),
            10,
            3,
            (git("not-reflected", says="10 throughout"), put_back("06:59:49.228", 0.3)),
            "settled",
        ),
        one_field(
            "hotfix-image",
            "07:00:40.566",
            target("Deployment", "shop-prod", "web"),
            DAVE,
            "kubectl set",
            shop,
            container("web", "image"),
            "registry.acme.example/shop/web:1.4.1",
            "registry.acme.example/shop/web:1.4.1-hotfix.1",
            (landed(MERGE, IMAGE, ERIN, 41, "07:01:49", 68), STANDING),
            "settled",
        ),
        one_field(
            "hotfix-scale",
            "07:00:48.644",
            target("Deployment", "shop-prod", "worker"),
            DAVE,
            "kubectl scale",
            shop,
            ("spec", "replicas"),
            3,
            6,
            (landed(MERGE, SCALE, ERIN, 41, "07:01:49", 60), STANDING),
            "settled",
        ),
        (
            change(both, shop),
            verdict(
                "hotfix-env",
                [
                    (git("not-declared", reason="no commit on main or on a branch declares DB_POOL"), STANDING),
                    (git("not-reflected", says="info throughout"), put_back("07:00:54.713", 68)),
                ],
                "invisible",
                "Argo CD reports Synced and cannot see DB_POOL, so no sync removes it",
            ),
        ),
        one_field(
            "timeout-edit",
            "07:02:28.352",
            target("ConfigMap", "payments-prod", "payments-prod-config", group=""),
            ALICE,
            "kubectl edit",
            payments,
            ("data", "TIMEOUT_SECONDS"),
            "30",
            "90",
            (git("not-reflected", says="30 throughout"), put_back("07:02:28.352", 57.7)),
            "settled",
        ),
        one_field(
            "memory-limit",
            "07:02:35.467",
            deployment,
            ALICE,
            "kubectl set",
            payments,
            limits("payments", "memory"),
            "256Mi",
            "512Mi",
            (
                git(
                    "superseded",
                    commit=MEMORY,
                    author=ITO,
                    at=at("07:02:55"),
                    pull_request=43,
                    says="1Gi",
                    delay_seconds=20,
                ),
                cluster("overwritten", at=at("07:03:26.113"), by=CONTROLLER.name, reason="sync by hand, carol"),
            ),
            "settled",
        ),
        one_field(
            "cpu-limit",
            "07:03:46.787",
            deployment,
            ALICE,
            "kubectl patch",
            payments,
            limits("payments", "cpu"),
            "500m",
            "750m",
            (
                git("on-branch", commit=CPU, author=ERIN, at=at("07:04:01"), branch="fix/payments-cpu", says="500m"),
                STANDING,
            ),
            "undone-at-manual-sync",
            BY_HAND,
        ),
        one_field(
            "replicas-already",
            "07:04:21.969",
            deployment,
            DAVE,
            "kubectl scale",
            payments,
            ("spec", "replicas"),
            3,
            5,
            (git("already", commit=FIVE, author=ERIN, at=at("07:04:11"), pull_request=44), STANDING),
            "settled",
        ),
        one_field(
            "ui-patch",
            "07:04:32.081",
            target("Service", "payments-prod", "payments-prod", group=""),
            CAROL,
            "Argo CD UI or CLI",
            payments,
            ("spec", "ports", ListItem((("port", "80"),)), "targetPort"),
            8080,
            9090,
            (git("not-reflected", says="8080 throughout"), STANDING),
            "undone-at-manual-sync",
            BY_HAND,
        ),
        one_field(
            "impersonated-restart",
            "07:04:42.182",
            deployment,
            replace(DAVE, acting_as="oncall-breakglass"),
            "kubectl rollout",
            payments,
            ("spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt"),
            None,
            "2026-11-30T07:04:42Z",
            (git("not-declared"), STANDING),
            "invisible",
        ),
        (
            change(deleted, shop),
            verdict("deleted-flags", [(git("not-reflected"), put_back("07:05:27.635", 0.24))], "settled", whole=True),
        ),
        (change(policy, None), verdict("created-policy", [(git("not-in-git"), STANDING)], "kept", unowned, whole=True)),
        (change(patched, None), verdict("secret", [(git("not-in-git"), STANDING)], "kept", unowned, whole=True)),
        catalog_push(0, "07:05:58.153"),
        catalog_push(1, "07:06:23.271"),
        catalog_push(2, "07:06:48.393"),
        one_field(
            "page-size",
            "07:07:25.560",
            target("ConfigMap", "catalog-prod", "catalog-config", group=""),
            ALICE,
            "kubectl patch",
            catalog,
            ("data", "PAGE_SIZE"),
            "20",
            "100",
            (git("not-reflected", says="20 throughout"), put_back("07:07:25.560", 0.36)),
            "settled",
        ),
        one_field(
            "staging-trace",
            "07:11:42.860",
            staging,
            BOB,
            "kubectl set",
            app("payments-staging"),
            env("payments", "TRACE"),
            None,
            "on",
            (git("not-declared"), STANDING),
            "invisible",
        ),
        one_field(
            "override",
            "07:11:43.165",
            staging,
            CAROL,
            "Argo CD UI or CLI",
            app("payments-staging"),
            ("spec", "replicas"),
            1,
            2,
            (git("not-reflected", says="1 throughout"), STANDING),
            "kept",
            cause="bypass",
        ),
    ]


def landings() -> tuple[Landing, ...]:
    rows = (
        ("8850035ad4a6d211733167e3f587e4b9c9ed2431", "06:58:04", ERIN, "Start of the deploy repository", None),
        ("1" * 40, "06:58:28", ERIN, "Release web 1.4.0", 31),
        ("2" * 40, "06:59:23", ITO, "Release web 1.4.1", 32),
        (MERGE, "07:01:49", ERIN, "Merge hotfix/inc-2041", 41),
        (MEMORY, "07:02:55", ITO, "Raise the memory limit of payments", 43),
        (FIVE, "07:04:11", ERIN, "Five replicas of payments", 44),
        (LEDGER, "07:07:45", ITO, "Label ledger", 47),
        (DROP, "07:08:55", ERIN, "Leave replicas of search to the autoscaler", 48),
        (TIP, "07:10:52", ITO, "Release web 1.5.0 to staging", 49),
    )
    return tuple(
        Landing(sha, at(time), author, subject, pull, (IMAGE, SCALE) if sha == MERGE else (), "N")
        for sha, time, author, subject, pull in rows
    )


def commits() -> tuple[Commit, ...]:
    extra = (
        Landing(IMAGE, at("07:01:36"), ERIN, "web 1.4.1-hotfix.1", None, (), "N"),
        Landing(CPU, at("07:04:01"), ERIN, "CPU limit of payments", None, (), "N"),
    )
    return tuple(
        Commit(
            "http://git.acme.example/platform/deploy.git",
            one.sha,
            (),
            "",
            one.author.split(" <")[0],
            "mail",
            one.at,
            one.author.split(" <")[0],
            "mail",
            one.at,
            one.subject,
            "",
            "N",
            (),
        )
        for one in (*landings(), *extra)
    )


def sync(
    name: str, time: str, origin_: str = "automated", phase: str = "Succeeded", by: str = "", message: str = ""
) -> SyncRecord:
    return SyncRecord(
        app(name),
        at(time),
        at(time) + timedelta(seconds=1),
        phase,
        (MERGE,),
        (),
        origin_,
        "full",
        by,
        None,  # type: ignore[arg-type]
        False,
        False,
        None,
        0,
        message,
        (),
        (),
        (
            Evidence(
                "application", f"{name}@{time}", origin("argocd/end/applications.yaml", len(time) + int(time[6:8]))
            ),
        ),
    )


def applications() -> dict[AppKey, ApplicationHistory]:
    freezes = {
        "shop-prod": (
            Freeze(
                app("shop-prod"),
                "automated-removed",
                at("07:00:34.476"),
                DAVE,
                at("07:02:01.979"),
                DAVE,
                False,
                "",
                "",
                (evidence("freeze-shop"), evidence("unfreeze-shop")),
            ),
        ),
        "catalog-prod": (
            Freeze(
                app("catalog-prod"),
                "automated-removed",
                at("07:07:13.483"),
                ALICE,
                at("07:07:13.925"),
                CONTROLLER,
                True,
                "root",
                "",
                (evidence("freeze-catalog"), evidence("undone-catalog")),
            ),
        ),
    }
    syncs = {
        "shop-prod": (
            sync("shop-prod", "06:58:10"),
            sync("shop-prod", "06:58:58"),
            sync("shop-prod", "07:02:02.300"),
            sync("shop-prod", "07:05:27.800", "self-heal"),
        ),
        "payments-prod": (sync("payments-prod", "07:03:26.059", "manual", by="carol"),),
        "ledger-prod": (
            sync(
                "ledger-prod",
                "07:07:58.300",
                phase="Failed",
                message="selector is immutable",
            ),
        ),
        "payments-staging": (sync("payments-staging", "07:11:43"), sync("payments-staging", "07:11:55")),
        "search-prod": tuple(sync("search-prod", time, "self-heal") for time in SEARCH),
        "edge-prod": tuple(
            sync("edge-prod", time, "self-heal")
            for time in (
                "07:04:58",
                "07:05:02",
                "07:05:14",
                "07:05:50",
                "07:07:58",
                "07:08:02",
                "07:08:14",
                "07:08:50",
                "07:09:18",
                "07:09:44",
            )
        ),
        "catalog-prod": tuple(
            sync("catalog-prod", time, "self-heal") for time in ("07:05:58.5", "07:06:23.6", "07:06:48.8", "07:07:25.9")
        ),
        "shop-staging": (),
        "root": (),
    }
    return {app(name): ApplicationHistory(app(name), (), found, freezes.get(name, ())) for name, found in syncs.items()}


SEARCH = (
    "07:05:07.75",
    "07:05:17.9",
    "07:05:28",
    "07:05:45.4",
    "07:06:39.4",
    "07:07:58.3",
    "07:08:08.1",
    "07:08:18.2",
    "07:08:28.2",
    "07:08:46.2",
)


def loop_writes() -> list:
    found = []
    replicas = ("spec", "replicas")
    thing = target("Deployment", "search-prod", "search")
    for number, time in enumerate(SEARCH):
        up = at(time) - timedelta(seconds=0.3 if number not in (3, 4, 5) else 8)
        found.append(
            write(
                f"hpa-{number}",
                up,
                thing,
                AUTOSCALER,
                "API client",
                [FieldChange(replicas, leaf(1), leaf(3))],
                cause="controller",
            )
        )
        found.append(
            write(
                f"argo-{number}",
                at(time),
                thing,
                CONTROLLER,
                "API client",
                [FieldChange(replicas, leaf(3), leaf(1))],
                cause="gitops",
            )
        )
    return found


def step(name: StepName, state: StepState, time: str = "", by: str = "", detail: str = "", *cited: Evidence) -> Step:
    return Step(name, state, at(time) if time else None, by or None, detail, cited)


def episodes() -> tuple[Episode, ...]:
    said = Evidence("announcement", "inc-2041-checkout", origin("slack/inc-2041-checkout/2026-11-30.json", 140, 180))
    alice = Evidence("announcement", "inc-2042-catalog", origin("slack/inc-2042-catalog/2026-11-30.json", 2, 140))
    return (
        Episode(
            "e1",
            app("shop-prod"),
            ("dave@acme.example",),
            at("07:00:34.476"),
            at("07:02:01.979"),
            (
                step(
                    "freeze",
                    "done",
                    "07:00:34.476",
                    "dave@acme.example",
                    "auto-sync was removed, 6 s before the first change",
                    evidence("freeze-shop"),
                ),
                step("change", "done", "07:00:40.566", "dave@acme.example"),
                step(
                    "announce",
                    "done",
                    "07:01:04.730",
                    "dave",
                    "in inc-2041-checkout: what, why, which application",
                    said,
                ),
                step(
                    "git",
                    "done",
                    "07:01:49",
                    "Erin Holt",
                    "git does not declare spec.template.spec.containers[name=api].env[name=DB_POOL].value",
                ),
                step(
                    "unfreeze",
                    "done",
                    "07:02:01.979",
                    "dave@acme.example",
                    "Synced at b648bbc3f",
                    evidence("unfreeze-shop"),
                ),
            ),
            ("hotfix-image", "hotfix-scale", "hotfix-env"),
            24,
            68,
            88,
            None,
        ),
        Episode(
            "e2",
            app("payments-prod"),
            ("alice@acme.example", "dave@acme.example", "carol"),
            at("07:02:28.352"),
            at("07:04:42.182"),
            (
                step("freeze", "not-needed", detail="auto-sync was off throughout"),
                step("change", "done", "07:02:28.352", "alice@acme.example"),
                step(
                    "announce",
                    "not-recorded",
                    detail="the Slack export holds inc-2041-checkout and inc-2042-catalog only",
                ),
                step(
                    "git",
                    "missing",
                    detail="git was read to its tip: 90 and 9090 are in no commit, 750m is on a branch",
                ),
                step("unfreeze", "not-needed", detail="auto-sync was off throughout; OutOfSync at 07:12:56"),
            ),
            ("timeout-edit", "memory-limit", "cpu-limit", "replicas-already", "ui-patch", "impersonated-restart"),
            None,
            None,
            None,
            600,
        ),
        Episode(
            "e3",
            app("catalog-prod"),
            ("alice@acme.example",),
            at("07:07:13.483"),
            at("07:07:25.560"),
            (
                step(
                    "freeze",
                    "done",
                    "07:07:13.483",
                    "alice@acme.example",
                    "auto-sync was removed; undone by root at 07:07:13 UTC",
                    evidence("freeze-catalog"),
                    evidence("undone-catalog"),
                ),
                step("change", "done", "07:07:25.560", "alice@acme.example"),
                step("announce", "done", "07:07:25.500", "alice", "in inc-2042-catalog: why, which application", alice),
                step("git", "missing", detail="git was read to its tip: PAGE_SIZE 100 is in no commit"),
                step("unfreeze", "not-needed", detail="on since 07:07:13; Synced, and no field differs"),
            ),
            ("page-size",),
            0,
            None,
            0.44,
            0.4,
        ),
    )


LOOP_SNIPPET = """spec:
  ignoreDifferences:
    - group: apps
      kind: Deployment
      name: search
      jsonPointers:
        - /spec/replicas
  syncPolicy:
    syncOptions:
      - RespectIgnoreDifferences=true   # without it the next sync still writes 1
"""


def finding(
    ident: str,
    severity: Severity,
    name: str,
    message: str,
    remedy: str,
    first: str,
    last: str,
    count: int = 1,
    changes: tuple[str, ...] = (),
    thing: ObjectId | None = None,
    path: str | None = None,
    snippet: str = "",
    actors: tuple[str, ...] = (),
) -> Finding:
    return Finding(
        f"f-{ident}-{name}",
        ident,
        severity,
        "high",
        app(name),
        thing,
        path,
        actors,
        (),
        at(first),
        at(last),
        count,
        message,
        remedy,
        snippet,
        changes,
        (evidence(f"{ident}-{name}-1"), evidence(f"{ident}-{name}-2")),
    )


def findings() -> tuple[Finding, ...]:
    return (
        finding(
            "second-writer",
            "high",
            "catalog-prod",
            "ci:pipeline applies its own copy of Deployment catalog beside Argo CD and removes the tracking-id.",
            "Take the apply step for catalog-prod out of the pipeline.",
            "07:05:58.153",
            "07:06:48.393",
            3,
            ("pipeline-0", "pipeline-1", "pipeline-2"),
        ),
        finding(
            "unfinished-sync",
            "high",
            "ledger-prod",
            "Of 85726c7a8 the ConfigMap is applied; Deployment ledger was refused with 422, its selector is immutable.",
            "Revert the label, or replace the Deployment: a selector cannot be changed in place.",
            "07:07:58.300",
            "07:12:58",
            5,
        ),
        finding(
            "not-from-branch",
            "medium",
            "payments-staging",
            "Parameter replicas=2 in the Application, set by carol; no commit has it.",
            "Take the parameter out of the Application, or put it into the chart’s values.",
            "07:11:43.165",
            "07:11:43.165",
            1,
            ("override",),
        ),
        finding(
            "freeze-did-not-hold",
            "medium",
            "catalog-prod",
            "Auto-sync off by alice@acme.example, on again by a sync of root after 0.4 s.",
            "",
            "07:07:13.483",
            "07:07:13.925",
        ),
        finding(
            "sync-loop",
            "medium",
            "search-prod",
            "The autoscaler and Argo CD write spec.replicas in turn, 1 and 3, 10 rounds. The autoscaler owns it, "
            "HorizontalPodAutoscaler search targets this Deployment.",
            "Take replicas out of the manifest, as 625839e07 did; where a manifest must keep the field, paste "
            "this into the Application.",
            "07:04:57",
            "07:09:26",
            10,
            (),
            target("Deployment", "search-prod", "search"),
            "spec.replicas",
            LOOP_SNIPPET,
            ("kube-system:horizontal-pod-autoscaler", "argocd:argocd-application-controller"),
        ),
        finding(
            "sync-loop",
            "medium",
            "edge-prod",
            "Webhook pull-policy.acme.example makes imagePullPolicy Always on each write; every write was a no-op.",
            "",
            "07:04:58",
            "07:10:12",
            13,
            (),
            target("Deployment", "edge-prod", "edge"),
            "spec.template.spec.containers[name=edge].imagePullPolicy",
        ),
        finding(
            "useless-ignore",
            "low",
            "edge-prod",
            "ignoreDifferences with jsonPath, a key that Argo CD does not know.",
            "Use jqPathExpressions.",
            "07:09:27.625",
            "07:10:12.714",
        ),
        finding(
            "break-glass-access",
            "info",
            "shop-prod",
            "Debug container in a pod of web, dave@acme.example; exec request, alice@acme.example, answered 500.",
            "",
            "07:05:57.974",
            "07:05:58.046",
            2,
        ),
    )


def staging() -> tuple[StagingPair, ...]:
    web, worker, api = (target("Deployment", "shop-prod", name) for name in ("web", "worker", "api"))
    return (
        StagingPair(
            app("shop-staging"),
            app("shop-prod"),
            "configuration",
            (
                StagingDifference(
                    web,
                    container("web", "image"),
                    leaf("registry.acme.example/shop/web:1.5.0"),
                    leaf("registry.acme.example/shop/web:1.4.1-hotfix.1"),
                    ("production-hotfix", "promotion"),
                    "in git for production only, #41; staging has a newer commit, #49",
                    ("hotfix-image",),
                    TIP,
                    "promote",
                ),
                StagingDifference(
                    worker,
                    ("spec", "replicas"),
                    leaf(1),
                    leaf(6),
                    ("production-hotfix", "overlay"),
                    "1 and 3 at the start of the window, then the hotfix",
                    ("hotfix-scale",),
                    MERGE,
                    "decide",
                ),
                StagingDifference(
                    api,
                    env("api", "DB_POOL"),
                    ABSENT,
                    leaf("50"),
                    ("hotfix-not-in-git",),
                    "never reached git",
                    ("hotfix-env",),
                    None,
                    "revert",
                ),
                StagingDifference(
                    worker,
                    ("spec", "template", "metadata", "labels", "tier"),
                    leaf("small"),
                    leaf("large"),
                    ("overlay",),
                    "",
                    (),
                    None,
                    "nothing",
                ),
            ),
        ),
    )


def announcements() -> tuple[Announcement, ...]:
    one, two = "slack/inc-2041-checkout/2026-11-30.json", "slack/inc-2042-catalog/2026-11-30.json"
    return (
        Announcement(
            at("07:00:34.395"),
            "dave",
            "dave@acme.example",
            "checkout is timing out for everybody, error rate 40 %. I am on it.",
            "inc-2041-checkout",
            origin(one, 2, 130),
        ),
        Announcement(
            at("07:01:04.730"),
            "dave",
            "dave@acme.example",
            "shop-prod: auto-sync is off; web moved to 1.4.1-hotfix.1 and the pool is raised",
            "inc-2041-checkout",
            origin(one, 140, 180),
        ),
        Announcement(
            at("07:02:03.200"),
            "dave",
            "dave@acme.example",
            "fix is in git, auto-sync is back",
            "inc-2041-checkout",
            origin(one, 330, 110),
        ),
        Announcement(
            at("07:07:25.500"),
            "alice",
            "alice@acme.example",
            "catalog pages are slow, raising PAGE_SIZE by hand",
            "inc-2042-catalog",
            origin(two, 2, 140),
        ),
    )


def coverage() -> Coverage:
    names = ("audit/audit-2026-11-30T07-00-48.715.log.gz", "audit/audit-2026-11-30T07-08-17.850.log", "audit/audit.log")
    spans = (("06:58:04", "07:00:48.700"), ("07:00:48.715", "07:08:17.800"), ("07:08:17.850", "07:13:02"))
    sizes = ((3950568, 3021), (8384944, 6044), (3074491, 2101))
    marks = tuple(
        mark(
            "audit",
            name,
            "acme",
            *span,
            bytes=size[0],
            events=size[1],
            successful_writes=size[1] // 3,
            dry_runs=1,
            failed_writes=2,
            reads=size[1] // 2,
            levels={"RequestResponse": 900, "Metadata": 1200},
        )
        for name, span, size in zip(names, spans, sizes, strict=True)
    )
    others = (
        mark("argocd", "argocd/end/applications.yaml", "argocd", "06:58:04", "07:12:58", bytes=91023),
        mark("argocd", "argocd/argocd-server.log", "argocd", "06:57:56", "07:13:02", bytes=23972, format="logfmt"),
        mark("git", "deploy.bundle", "deploy", "06:58:04", "07:10:52", bytes=10199),
        mark("announcements", "slack/inc-2041-checkout/2026-11-30.json", "slack", "07:00:34", "07:02:03", bytes=521),
        mark("announcements", "slack/inc-2042-catalog/2026-11-30.json", "slack", "07:07:25", "07:07:25.500", bytes=147),
        mark("objects", "live/shop-prod.yaml", "acme", "07:12:50", "07:12:59", bytes=4211),
    )
    ends = AsOf({"acme": at("07:13:02")}, at("07:12:58"), at("07:10:52"), at("07:07:25"), at("07:12:59"))
    gaps = (
        Gap(
            "announcements",
            "",
            None,
            None,
            "Announcements about payments-prod: no channel for it in the Slack export.",
            "",
        ),
        Gap(
            "audit",
            "acme",
            None,
            None,
            "Inside exec and debug sessions: an audit log holds the request, not what was typed.",
            "",
        ),
    )
    return Coverage((*marks, *others), (), ends, gaps)


def drift(pairs: list[tuple[Change, Verdict]]) -> tuple[DriftedField, ...]:
    """What stands without git, field by field, and one field that a sync did not bring."""
    found = []
    for one, judged in pairs:
        fields = [
            (field, sides.git, sides.cluster) for field, sides in zip(one.write.fields, judged.fields, strict=False)
        ]
        for field, said, became in fields:
            if became.verdict == "standing" and said.verdict not in ("reflected", "already"):
                found.append(
                    DriftedField(
                        one.application,
                        one.write.object,
                        field.path,
                        field.before,
                        field.after,
                        "a hand",
                        one.write.actor.name,
                        one.write.at,
                        "",
                        judged.next,
                        one.id,
                    )
                )
    ledger = target("Deployment", "ledger-prod", "ledger")
    selector = ("spec", "selector", "matchLabels", "app")
    because = "the sync that would bring it did not succeed"
    unfinished = DriftedField(
        app("ledger-prod"),
        ledger,
        selector,
        leaf("ledger-v2"),
        leaf("ledger"),
        "an unfinished sync",
        "",
        None,
        because,
        "",
        None,
    )
    return (*found, unfinished)


def incident() -> Case:
    """The case of the recorded incident."""
    pairs = told()
    healed = [
        write(
            f"heal-{one.write.at:%H:%M:%S}.{one.write.at.microsecond // 1000:03d}",
            verdict_.cluster.at or one.write.at,
            one.write.object,
            CONTROLLER,
            "API client",
            one.write.fields,
            cause="gitops",
        )
        for one, verdict_ in pairs
        if verdict_.cluster.verdict == "reverted-by-gitops"
    ]
    writes = sorted([*(one.write for one, _ in pairs), *healed, *loop_writes()], key=lambda one: one.at)
    rows = landings()
    return empty(
        coverage=coverage(),
        changes=tuple(one for one, _ in pairs),
        writes=tuple(writes),
        verdicts={one.id: verdict_ for one, verdict_ in pairs},
        applications=applications(),
        episodes=episodes(),
        findings=findings(),
        drift=drift(pairs),
        staging=staging(),
        announcements=announcements(),
        landings={app("shop-prod"): rows, app("payments-prod"): rows},
        commits=commits(),
    )
