"""Helm: which files a chart reads, and rendering it with `helm template`, as Argo CD calls it."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import orjson

from auditor.desired.blobs import Contents
from auditor.desired.manifests import documents
from auditor.desired.reads import Reads
from auditor.desired.source import Destination, Effective, deciding_files, join
from auditor.desired.tools import Tools, run
from auditor.desired.trees import Files
from auditor.model.resource import Json, JsonObject

_CHART_FILES = ("Chart.yaml", "Chart.lock", "requirements.yaml", "requirements.lock", "values.yaml", ".helmignore")
_SCHEMA = "values.schema.json"
_CHART_FOLDERS = ("templates", "charts", "crds")
_READS_FILES = re.compile(rb"\.Files\b")
_RANDOM = re.compile(rb"\b(?:rand[A-Z]\w*|randInt|uuidv4|gen[A-Z]\w*|bcrypt|htpasswd|shuffle|encryptAES)\b")
_DATED = re.compile(rb"\{\{[^}]*\b(?:now|ago)\b")
_LOOKUP = re.compile(rb"\{\{[^}]*\blookup\s+\"")
_USES = {"files": _READS_FILES, "random": _RANDOM, "dated": _DATED, "lookup": _LOOKUP}
_MAX_CHARTS = 50
_UNESCAPED_COMMA = re.compile(r"(?<!\\),")

ValueFile = Callable[[str], str | None]


def helm_reads(effective: Effective, application: str, tree: Files, blobs: Contents, refs: Mapping[str, str]) -> Reads:
    """The chart with its local dependencies and its values files. Raises UnreadableError.

    `refs` are the names by which values files of the same repository may be called (`$values/...`).
    """
    path = effective.path
    paths: set[str] = set()
    folders: set[str] = set()
    problem = _chart(path, tree, blobs, paths, folders, 0)
    for name in value_files(effective, application):
        file = value_path(path, name, refs)
        if file is None:
            problem = problem or _foreign(name)
        else:
            paths.add(file)
    for item in _items(effective.options.get("fileParameters")):
        paths.update(filter(None, [join(path, str(item.get("path", "")))]))
    links = (*deciding_files(path, application), *sorted(name for name in paths if name.endswith("/Chart.yaml")))
    return Reads(tuple(sorted(paths)), tuple(sorted(folders)), None, links, tuple(sorted(folders)), problem)


def _foreign(name: str) -> str:
    return f"the values file {name} lies in another repository or outside of this one"


def _chart(path: str, tree: Files, blobs: Contents, paths: set[str], folders: set[str], depth: int) -> str:
    """Add what a chart reads; the reason why it cannot be rendered, or ""."""
    prefix = f"{path}/" if path else ""
    paths.update(prefix + name for name in (*_CHART_FILES, _SCHEMA))
    own = [prefix + name for name in _CHART_FOLDERS]
    uses = chart_uses(own, tree, blobs)
    # Templates that read files of the chart may read any: then a values file of another environment counts as well.
    folders.update([path] if uses["files"] else own)
    problem = ""
    for name in ("Chart.yaml", "requirements.yaml"):
        entry = tree.get(prefix + name)
        if entry is None:
            continue
        for local in blobs.fact("chart", entry.blob, prefix + name, local_dependencies):
            target = join(path, local)
            if target is None or depth >= _MAX_CHARTS:
                problem = problem or f"the chart depends on {local}, which leads out of the repository"
            else:
                problem = problem or _chart(target, tree, blobs, paths, folders, depth + 1)
    return problem


def chart_uses(folders: list[str], tree: Files, blobs: Contents) -> dict[str, bool]:
    """Whether the chart's templates read files, make random or dated values, or ask the cluster."""
    uses = dict.fromkeys(_USES, False)
    for folder in folders:
        for path, entry in tree.under(folder):
            for kind in blobs.fact("template", entry.blob, path, _template_uses):
                uses[kind] = True
    return uses


def _template_uses(content: bytes) -> list[str]:
    return [kind for kind, pattern in _USES.items() if pattern.search(content)]


def local_dependencies(content: bytes) -> list[str]:
    """Paths of the charts that a chart takes from beside it (`repository: file://../lib`)."""
    first = next(documents(content), None)
    listed = first.get("dependencies") if isinstance(first, dict) else None
    found = []
    for item in listed if isinstance(listed, list) else []:
        where = item.get("repository") if isinstance(item, dict) else None
        if isinstance(where, str) and where.startswith("file://"):
            found.append(where.removeprefix("file://"))
    return found


def value_files(effective: Effective, application: str) -> list[str]:
    """The names of values files in their order, Argo CD's build variables replaced."""
    listed = effective.options.get("valueFiles")
    names = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    return [build_variables(name, effective, application) for name in names]


def build_variables(text: str, effective: Effective, application: str) -> str:
    """The text with the variables that do not depend on a revision replaced."""
    for name, value in (
        ("ARGOCD_APP_NAME", application),
        ("ARGOCD_APP_SOURCE_PATH", effective.path),
        ("ARGOCD_APP_SOURCE_REPO_URL", effective.source.repo_url),
        ("ARGOCD_APP_SOURCE_TARGET_REVISION", effective.source.target_revision),
    ):
        text = text.replace(f"${{{name}}}", value).replace(f"${name}", value)
    return text


def value_path(chart: str, name: str, refs: Mapping[str, str]) -> str | None:
    """Where a values file lies in the repository; None for one that lies elsewhere."""
    if name.startswith("$"):
        ref, _, rest = name[1:].partition("/")
        return None if ref not in refs else join("", f"{refs[ref]}/{rest}")
    if "://" in name:
        return None
    return join(chart, name)


def template(
    tools: Tools, root: Path, effective: Effective, destination: Destination, refs: Mapping[str, str], version: str
) -> bytes:
    """The rendered manifests as YAML. Raises RenderFailedError; LookupError where there is no helm.

    `root` holds the exported files; `version` is the cluster's Kubernetes version, "" where it is not recorded.
    """
    if tools.helm is None:
        raise LookupError("helm")
    options = effective.options
    release = _text(options, "releaseName") or destination.application
    namespace = _text(options, "namespace") or destination.namespace or "default"
    command = [str(tools.helm), "template", f"--namespace={namespace}"]
    command += _cluster_flags(options, version)
    command += _value_flags(root, effective, destination.application, refs)
    command += _parameter_flags(root, effective, destination.application)
    return run([*command, "--", release, str(root / effective.path)], root)


def _text(options: JsonObject, key: str) -> str:
    value = options.get(key)
    return value if isinstance(value, str) else ""


def _cluster_flags(options: JsonObject, version: str) -> Iterator[str]:
    kube_version = _text(options, "kubeVersion") or version
    if kube_version:
        yield f"--kube-version={kube_version}"
    listed = options.get("apiVersions")
    yield from (
        (f"--api-versions={name}" for name in listed or [] if isinstance(name, str)) if isinstance(listed, list) else ()
    )
    if options.get("skipCrds") is not True:
        yield "--include-crds"
    if options.get("skipTests") is True:
        yield "--skip-tests"
    if options.get("skipSchemaValidation") is True:
        yield "--skip-schema-validation"


def _value_flags(root: Path, effective: Effective, application: str, refs: Mapping[str, str]) -> Iterator[str]:
    options = effective.options
    for name in value_files(effective, application):
        path = value_path(effective.path, name, refs)
        file = root / path if path is not None else None
        if file is not None and (file.is_file() or options.get("ignoreMissingValueFiles") is not True):
            yield f"--values={file}"
    inline = options.get("valuesObject") or options.get("values")
    if inline:
        extra = root / "auditor-inline-values.yaml"
        text = inline if isinstance(inline, str) else orjson.dumps(inline).decode()
        extra.write_text(build_variables(text, effective, application))
        yield f"--values={extra}"


def _parameter_flags(root: Path, effective: Effective, application: str) -> Iterator[str]:
    for item in _items(effective.options.get("parameters")):
        name, value = str(item.get("name", "")), item.get("value")
        text = build_variables("" if value is None else str(value), effective, application)
        option = "--set-string" if item.get("forceString") is True else "--set"
        yield f"{option}={name}={_set_value(text)}"
    for item in _items(effective.options.get("fileParameters")):
        path = join(effective.path, str(item.get("path", "")))
        if path is not None:
            yield f"--set-file={item.get('name', '')}={root / path}"


def _items(value: Json) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _set_value(text: str) -> str:
    """A comma ends a value of `--set` unless it is escaped or stands in a list."""
    return text if text.startswith("{") and text.endswith("}") else _UNESCAPED_COMMA.sub(r"\,", text)
