"""Plain directories of YAML and JSON: `directory.recurse`, `include`, `exclude`."""

import re
from functools import lru_cache

from auditor.collectors.files.bounded_yaml import MalformedYamlError
from auditor.desired.blobs import Contents, UnreadableError
from auditor.desired.history import SUBMODULE, SYMLINK, Entry
from auditor.desired.manifests import manifests
from auditor.desired.reads import Reads
from auditor.desired.source import Effective, deciding_files
from auditor.model.resource import Json, JsonObject

_MANIFEST = re.compile(r".*\.(?:yaml|yml|json|jsonnet)\Z")
_SKIP = b"+argocd:skip-file-rendering"


def directory_reads(effective: Effective, application: str) -> Reads:
    """All manifest files of the folder that the options take."""
    path, options = effective.path, effective.options
    prefix = len(path) + 1 if path else 0
    recurse = options.get("recurse") is True
    include, exclude = _glob(options.get("include")), _glob(options.get("exclude"))
    deciding = deciding_files(path, application)

    def takes(file: str) -> bool:
        relative = file[prefix:]
        return (
            _MANIFEST.match(relative) is not None
            and (recurse or "/" not in relative)
            and (include is None or include.match(relative) is not None)
            and (exclude is None or exclude.match(relative) is None)
            and file not in deciding
        )

    return Reads(folders=(path,), takes=takes, links=deciding)


def _glob(pattern: Json) -> re.Pattern[str] | None:
    return _compiled(pattern) if isinstance(pattern, str) and pattern else None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    """A glob as Argo CD reads it: `*` also crosses slashes, `{a,b}` are alternatives."""
    parts: list[str] = []
    depth = 0
    for letter in pattern:
        if letter == "*":
            parts.append(".*")
        elif letter == "?":
            parts.append(".")
        elif letter == "{":
            depth += 1
            parts.append("(?:")
        elif letter == "}" and depth:
            depth -= 1
            parts.append(")")
        elif letter == "," and depth:
            parts.append("|")
        else:
            parts.append(re.escape(letter))
    return re.compile("".join(parts) + ")" * depth + r"\Z", re.DOTALL)


def file_manifests(path: str, entry: Entry, blobs: Contents) -> list[JsonObject]:
    """What one file declares. Raises UnreadableError with the reason for a reader."""
    if entry.mode == SUBMODULE:
        return []
    if entry.mode == SYMLINK:
        raise UnreadableError(f"{path} is a symbolic link")
    if path.endswith(".jsonnet"):
        raise UnreadableError(f"{path} is Jsonnet, which is not evaluated")
    content = blobs.content(entry.blob, path)
    if _SKIP in content:
        return []
    try:
        return manifests(content)
    except MalformedYamlError as error:
        raise UnreadableError(f"{path} does not parse: {error}") from error
