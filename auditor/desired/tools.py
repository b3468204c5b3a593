"""The programs that render, and how they are run: apart from the network, the home, the clock of patience and the disk.

What is rendered is hostile until shown otherwise. A program gets an empty home, no search path (so that nothing can be
executed), no network where the machine can take it away, and limits on time, memory and output.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from auditor.collectors.files.programs import ComplainedError, ProgramError, TimedOutError, printed
from auditor.desired.scratch import scratch

SECONDS = 60.0
_MEMORY = 8 << 30
"""Bytes of address space: Go reserves far more than it uses."""
_OUTPUT = 64 << 20
_BLOCK = 512
_LIMITED = (
    "/bin/sh",
    "-c",
    f"{{ ulimit -v {_MEMORY >> 10}; ulimit -t {SECONDS:.0f}; ulimit -f {_OUTPUT // _BLOCK}; ulimit -c 0; }}"
    ' 2>/dev/null; exec "$@"',
    "sh",
)
"""What runs a command under limits, in the units of POSIX's shell. It has them from its first instruction on: set from
outside they may come too late, and code that runs in the child before the program is not safe beside threads."""
_HEAP = "1GiB"
_MESSAGE = 400
"""Characters of a program's complaint that a reader gets to see."""


class RenderFailedError(Exception):
    """The program did not render; the text says why in its own words."""


@dataclass(frozen=True, slots=True)
class Tools:
    """Paths of the programs, None for what this machine has not got."""

    kustomize: Path | None = None
    kubectl: Path | None = None
    helm: Path | None = None

    def kustomize_build(self) -> tuple[str, ...] | None:
        """The command that builds a kustomization, without its arguments."""
        if self.kustomize is not None:
            return (str(self.kustomize), "build")
        return None if self.kubectl is None else (str(self.kubectl), "kustomize")


def find_tools(folders: Sequence[Path] = ()) -> Tools:
    """The programs in these folders, else on the search path."""
    search = os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")])
    found = {name: shutil.which(name, path=search) for name in ("kustomize", "kubectl", "helm")}
    return Tools(**{name: Path(path).absolute() if path else None for name, path in found.items()})


def run(command: Sequence[str], folder: Path, seconds: float = SECONDS) -> bytes:
    """What the command prints. Raises RenderFailedError for a failure, a passed limit or too much output."""
    try:
        with scratch() as home:
            confined = [*_LIMITED, *_without_network(), *command]
            return printed(confined, seconds, _OUTPUT, folder, _environment(home))
    except ComplainedError as error:
        raise RenderFailedError(_said(str(error), folder)) from error
    except TimedOutError as error:
        raise RenderFailedError(str(error)) from error
    except ProgramError as error:
        raise RenderFailedError(f"{command[0]} {error}") from error


def _environment(home: str) -> dict[str, str]:
    folders = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "HELM_PLUGINS", "KUSTOMIZE_PLUGIN_HOME", "TMPDIR")
    return {
        "HOME": home,
        "PATH": "",
        "LC_ALL": "C",
        "GOMEMLIMIT": _HEAP,
        "GOMAXPROCS": "2",
        "KUBECONFIG": os.devnull,
        **dict.fromkeys(folders, home),
    }


@cache
def _without_network() -> tuple[str, ...]:
    """What runs a command in a network of its own with nobody in it; () where the machine does not allow that."""
    unshare = shutil.which("unshare")
    for options in (("--net",), ("--net", "--map-root-user")):
        if unshare and _works([unshare, *options, "--", unshare, "--version"]):
            return (unshare, *options, "--")
    return ()


def _works(command: Sequence[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _said(complaint: str, folder: Path) -> str:
    text = " ".join(complaint.replace(f"{folder}/", "").split())
    return text[:_MESSAGE] or "it failed without a word"
