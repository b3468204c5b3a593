"""A repository of 200 applications and 100,000 commits: how long its history takes, and 1,000 verdicts on it.

    python -m tests.benchmarks.git_history [--commits 100000] [--applications 200] [--keep FOLDER]

Prints seconds beside those of `git log --raw --first-parent` over the same range in the same run, the peak memory of
this process, and how many renders the verdicts took for how many distinct contents. Most applications are plain
directories, a tenth are Kustomize overlays on a base; two changes of three are in the last tenth of the history.
"""

import argparse
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from auditor.collectors import Reading
from auditor.collectors.git.collect import COLLECTOR
from auditor.config import Config, RepositoryConfig
from auditor.correlate.git.verdict import GitJudge
from auditor.desired.reader import open_reader
from auditor.desired.tools import find_tools
from auditor.model.application import ApplicationHistory, AppSource, RevisionSeen
from auditor.model.change import AppKey, Change
from auditor.model.facts import SourceMark
from auditor.model.resource import ObjectId
from auditor.objects.redaction import Redactor
from auditor.progress import SILENT
from auditor.store import open_store
from tests.factories import app_state, change, evidence, field, minute

URL = "http://git.acme.example/platform/deploy.git"
BEGAN = datetime(2020, 1, 1, tzinfo=UTC)
BETWEEN = timedelta(minutes=30)
MANIFEST = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  labels: {{app: {name}, team: t{team}}}
spec:
  replicas: {replicas}
  selector:
    matchLabels: {{app: {name}}}
  template:
    metadata:
      labels: {{app: {name}}}
    spec:
      containers:
        - name: app
          image: registry.acme.example/{name}:{tag}
          ports:
            - containerPort: 8080
          resources:
            requests: {{cpu: 100m, memory: 128Mi}}
            limits: {{cpu: "1", memory: 512Mi}}
"""
SERVICE = (
    "apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\n"
    "spec:\n  selector: {{app: {name}}}\n  ports: [{{port: 80}}]\n"
)
OVERLAY = """resources: [../../base/{name}]
images:
  - name: registry.acme.example/{name}
    newTag: '{tag}'
replicas:
  - name: {name}
    count: {replicas}
"""


class Generator:
    """The history, as `git fast-import` reads it."""

    def __init__(self, applications: int, seed: int = 7) -> None:
        self.random = random.Random(seed)
        self.names = [f"app-{number:03}" for number in range(applications)]
        self.replicas = dict.fromkeys(self.names, 2)
        self.tags = dict.fromkeys(self.names, 0)

    def is_overlay(self, name: str) -> bool:
        return self.names.index(name) % 10 == 0

    def files(self, name: str) -> dict[str, str]:
        """What an application's commit writes."""
        values = {"name": name, "team": len(name), "replicas": self.replicas[name], "tag": self.tags[name]}
        if self.is_overlay(name):
            return {f"apps/{name}/kustomization.yaml": OVERLAY.format(**values)}
        return {f"apps/{name}/deployment.yaml": MANIFEST.format(**values)}

    def start(self) -> dict[str, str]:
        found: dict[str, str] = {"README.md": "The deploy repository.\n"}
        for name in self.names:
            found.update(self.files(name))
            folder = f"base/{name}" if self.is_overlay(name) else f"apps/{name}"
            found[f"{folder}/service.yaml"] = SERVICE.format(name=name)
            if self.is_overlay(name):
                found[f"{folder}/kustomization.yaml"] = "resources: [deployment.yaml, service.yaml]\n"
                found[f"{folder}/deployment.yaml"] = MANIFEST.format(name=name, team=1, replicas=1, tag="none")
        return found

    def stream(self, commits: int) -> Iterator[bytes]:
        """All commits; every twentieth is a merge of a branch with one commit."""
        yield self.commit(1, "main", "Start of the deploy repository", self.start(), None, None)
        mark = 1
        while mark < commits:
            name = self.random.choice(self.names)
            if self.random.random() < 0.8:
                self.tags[name] += 1
            else:
                self.replicas[name] = self.random.randint(1, 9)
            if mark % 20 == 0 and mark + 2 <= commits:
                yield self.commit(mark + 1, f"change-{mark}", f"On change-{mark}", self.files(name), mark, None)
                subject = f"Merge pull request #{mark} from acme/change"
                yield self.commit(mark + 2, "main", subject, self.files(name), mark, mark + 1)
                yield f"reset refs/heads/change-{mark}\nfrom {'0' * 40}\n\n".encode()
                mark += 2
            else:
                yield self.commit(mark + 1, "main", f"Change {name} (#{mark})", self.files(name), mark, None)
                mark += 1

    def commit(
        self, mark: int, branch: str, subject: str, files: dict[str, str], parent: int | None, merge: int | None
    ) -> bytes:
        at = int((BEGAN + mark * BETWEEN).timestamp())
        who = f"Author {mark % 40} <author{mark % 40}@acme.example>"
        text = [f"commit refs/heads/{branch}\nmark :{mark}\nauthor {who} {at} +0000\ncommitter {who} {at} +0000\n"]
        text.append(f"data {len(subject)}\n{subject}\n")
        text += [f"from :{parent}\n"] if parent else []
        text += [f"merge :{merge}\n"] if merge else []
        text += [f"M 100644 inline {path}\ndata {len(body)}\n{body}\n" for path, body in files.items()]
        return "".join([*text, "\n"]).encode()


def generate(folder: Path, applications: int, commits: int) -> Generator:
    """Write the repository and pack it."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True)
    generator = Generator(applications)
    importing = subprocess.Popen(
        ["git", f"--git-dir={folder}", "fast-import", "--quiet", "--force"], stdin=subprocess.PIPE
    )
    assert importing.stdin is not None
    for piece in generator.stream(commits):
        importing.stdin.write(piece)
    importing.stdin.close()
    assert importing.wait() == 0
    return generator


def timed(what: Callable[[], object]) -> tuple[float, object]:
    began = time.perf_counter()
    result = what()
    return time.perf_counter() - began, result


def spent() -> float:
    """Seconds of processor time of this process and of those that it waited for."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def log(folder: Path) -> None:
    git = [
        "git",
        f"--git-dir={folder}",
        "log",
        "--raw",
        "--no-abbrev",
        "--first-parent",
        "--diff-merges=first-parent",
        "main",
    ]
    subprocess.run(git, stdout=subprocess.DEVNULL, check=True)


def reading(folder: Path, cache: Path, marks: Iterable[SourceMark] = ()) -> Reading:
    known = tuple(marks)
    config = Config(folder=folder.parent, repositories=(RepositoryConfig(URL, folder.name),))
    return Reading(config, Redactor(b"k" * 32), lambda kind, name: known, cache, SILENT)


def count(folder: Path, cache: Path) -> int:
    """Collect without keeping anything."""
    return sum(len(batch.facts) for batch in COLLECTOR.collect(reading(folder, cache)))


def store_all(folder: Path, cache: Path, url: str) -> None:
    with open_store(url) as store:
        for batch in COLLECTOR.collect(reading(folder, cache, store.marks("git"))):
            store.write(batch)


def add_ten(folder: Path, generator: Generator, commits: int) -> None:
    stream = b"".join(
        generator.commit(commits + number, "main", "Ten more", {"README.md": f"{number}\n"}, None, None).replace(
            b"data 8\n", b"data 8\n", 1
        )
        for number in range(10)
    )
    first = b"from refs/heads/main^0\nM 100644"
    stream = stream.replace(b"M 100644", first, 1)
    subprocess.run(["git", f"--git-dir={folder}", "fast-import", "--quiet", "--force"], input=stream, check=True)


def changes(generator: Generator, commits: int, number: int) -> list[Change]:
    """Out-of-band changes of image and replicas, two of three in the last tenth of the history."""
    made = []
    for ident in range(number):
        name = generator.random.choice(generator.names)
        since = commits * 9 // 10 if ident % 3 else commits // 2
        at = BEGAN + generator.random.randint(since, commits) * BETWEEN
        minutes = (at - minute(0)).total_seconds() / 60
        if ident % 2:
            tag = max(1, generator.tags[name] - generator.random.randint(0, 3))
            path, after = "spec.template.spec.containers[name=app].image", f"registry.acme.example/{name}:{tag}"
        else:
            path, after = "spec.replicas", generator.random.randint(1, 9)
        key = AppKey("argocd", "argocd", name)
        thing = ObjectId("prod", "apps", "Deployment", name, name)
        made.append(change(f"c{ident}", minutes, field(path, "?", after), application=key, object=thing))
    return sorted(made, key=lambda each: each.write.at)


def judge(folder: Path, cache: Path, url: str, made: list[Change], generator: Generator) -> str:
    """Judge all changes; how long, and with how many renders."""
    keys = [AppKey("argocd", "argocd", name) for name in generator.names]
    applications = {
        key: ApplicationHistory(
            key, (app_state(-60, key, sources=(AppSource(URL, f"apps/{key.name}", "main"),)),), (), ()
        )
        for key in keys
    }
    began = time.perf_counter()
    with open_store(url) as store:
        commits = list(store.commits(URL))
        refs = list(store.refs(URL))
    loaded = time.perf_counter()
    on_main = [commit for commit in commits if "change-" not in commit.subject]
    seen = [RevisionSeen(URL, each.sha, each.committed_at, evidence(each.sha), "main") for each in on_main[::20]]
    config = reading(folder, cache).config
    tools = find_tools([Path(__file__).parents[2] / ".tools" / "bin"])
    opened = time.perf_counter()
    reader = open_reader(config.repositories, config.folder, commits, refs, cache, Redactor(b"k" * 32), tools=tools)
    judging = GitJudge(reader, applications, seen, BEGAN + 10 * len(commits) * BETWEEN)
    words: dict[str, int] = {}
    for each in made:
        verdict = judging.judge(each)[0].verdict
        words[verdict] = words.get(verdict, 0) + 1
    ended = time.perf_counter()
    reader.close()
    return (
        f"read from the store {loaded - began:.1f} s, judged in {ended - opened:.1f} s; "
        f"{reader.counts.renders} renders, {reader.counts.contents} contents; {dict(sorted(words.items()))}"
    )


def peak() -> str:
    """Megabytes that this process has had at most."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commits", type=int, default=100_000)
    parser.add_argument("--applications", type=int, default=200)
    parser.add_argument("--changes", type=int, default=1_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder, cache = Path(scratch, "deploy.git"), Path(scratch, "cache")
        seconds, made = timed(lambda: generate(folder, arguments.applications, arguments.commits))
        generator = made if isinstance(made, Generator) else Generator(0)
        print(f"generated in {seconds:.0f} s", flush=True)
        runs = [(timed(lambda: log(folder))[0], timed(lambda: count(folder, cache))[0]) for _ in range(3)]
        ours, theirs = statistics.median(run[1] for run in runs), statistics.median(run[0] for run in runs)
        print(
            f"collected in {ours:.2f} s; git log {theirs:.2f} s; ratio {ours / theirs:.2f}; peak {peak()}", flush=True
        )
        url = f"sqlite:///{scratch}/auditor.db"
        before = spent()
        log(folder)
        between = spent()
        count(folder, cache)
        print(f"processor time: git log {between - before:.1f} s, collecting {spent() - between:.1f} s", flush=True)
        print(f"collected into the store in {timed(lambda: store_all(folder, cache, url))[0]:.2f} s", flush=True)
        add_ten(folder, generator, arguments.commits + 1)
        print(f"ten more in {timed(lambda: store_all(folder, cache, url))[0]:.2f} s; peak {peak()}", flush=True)
        asked = changes(generator, arguments.commits, arguments.changes)
        print("cold:", judge(folder, cache, url, asked, generator), f"peak {peak()}", flush=True)
        print("warm:", judge(folder, cache, url, asked, generator), f"peak {peak()}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
