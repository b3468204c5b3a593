"""A deploy repository written through `git fast-import`: thousands of dated commits in seconds."""

import os
import subprocess
from datetime import datetime
from pathlib import Path
from types import TracebackType


class Repository:
    """A bare repository. Each commit lands on a branch at the time and under the name that it is given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
        init = ["git", "init", "-q", "--bare", "-b", "main", str(folder)]
        subprocess.run(init, check=True, env=environment, capture_output=True)
        answers, told = os.pipe()
        self._answers = os.fdopen(answers, "rb")
        command = ["git", "-C", str(folder), "fast-import", "--quiet", "--done", f"--cat-blob-fd={told}"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(told,), env=environment)
        os.close(told)
        self._marks = self._on_main = 0
        self._tips: dict[str, str] = {}

    def __enter__(self) -> "Repository":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._say(b"done\n")
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._answers.close()
        assert self._process.wait() == 0

    def commit(
        self, at: datetime, author: str, message: str, files: dict[str, str | None], branch: str = "main"
    ) -> str:
        """The sha. None removes a file, or a folder; a branch that is not there yet starts at main."""
        self._marks += 1
        who = f"{author} {int(at.timestamp())} +0000"
        said = [f"commit refs/heads/{branch}\nmark :{self._marks}\nauthor {who}\ncommitter {who}\n{_data(message)}"]
        if branch not in self._tips and "main" in self._tips:
            said.append(f"from :{self._on_main}\n")
        for path, text in files.items():
            said.append(f"D {path}\n" if text is None else f"M 100644 inline {path}\n{_data(text)}")
        self._say("".join([*said, f"\nget-mark :{self._marks}\n"]).encode())
        if branch == "main":
            self._on_main = self._marks
        self._tips[branch] = self._answers.readline().decode().strip()
        return self._tips[branch]

    def tip(self, branch: str = "main") -> str:
        """The last commit of a branch."""
        return self._tips[branch]

    def settle(self) -> None:
        """From now on readers see what was committed so far."""
        self._say(f"checkpoint\nget-mark :{self._marks}\n".encode())
        self._answers.readline()

    def _say(self, text: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text)
        self._process.stdin.flush()


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"
