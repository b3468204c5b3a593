"""Records the acts: an audit log as a real API server writes it, and beside it what each act did.

python -m tests.live.reconstruction_record      writes tests/recordings/acts.* anew
"""

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

from tests.live.reconstruction_acts import ACTS, Act, Raw, hook, merged
from tests.live.reconstruction_place import ACTORS, Place, now, place
from tests.live.reconstruction_truth import UnexpectedError, told
from tests.live.servers import KUBERNETES

FOLDER = Path(__file__).parents[1] / "recordings"


def record(folder: Path, acts: list[Act]) -> tuple[list[str], list[dict[str, Any]]]:
    """The lines of the audit log, and one entry an act."""
    problems, entries = [], []
    with place(folder) as here:
        world = here.world()
        for act in acts:
            begin = now()
            said = _perform(here, act)
            end = now()
            earlier, world = world, here.world()
            try:
                changes = told(act.expected, earlier, world)
                if "UNFORESEEN" in said:
                    raise UnexpectedError("another exit status")
            except UnexpectedError as problem:
                problems.append(f"{act.who}: {act.does}: {problem}\n    {said.strip()}")
                continue
            for change in changes:
                change["channel"] = change["channel"] or act.sent_by
            entries.append(
                {"begin": begin, "end": end, "act": _shown(act), "actor": ACTORS[act.who], "changes": changes}
            )
        lines = here.audit_lines()
    if problems:
        raise UnexpectedError("\n".join(problems))
    return lines, entries


def _shown(act: Act) -> str:
    return act.does if isinstance(act.does, str) else f"{act.does.method} {act.does.path}"


def _perform(here: Place, act: Act) -> str:
    """Do it; a failure that was not foreseen is one of the recording."""
    if isinstance(act.does, Raw):
        return _send(here, act.who, act.does)
    stdin = act.text
    if stdin == "HOOK":
        stdin = json.dumps(hook(here.webhook, here.webhook_ca))
    done = here.run(act.who, act.does, stdin, act.editor)
    if bool(done.returncode) != act.fails:
        return f"UNFORESEEN {done.returncode}: {done.stderr or done.stdout}"
    return done.stderr or done.stdout


def _send(here: Place, who: str, raw: Raw) -> str:
    client = here.client(who)
    body = raw.body
    if raw.read_first:
        body = merged(client.send("GET", raw.path).body, body)
    answer = client.send(raw.method, raw.path, body, raw.content_type)
    return f"{answer.code} {answer.body.get('message', '')}"


def main() -> None:
    """Records all acts and writes audit log and truth."""
    with tempfile.TemporaryDirectory() as folder:
        lines, entries = record(Path(folder), ACTS)
    origin = {"origin": f"kube-apiserver {KUBERNETES}, by tests/live/reconstruction_record.py", "acts": len(entries)}
    told_lines = [json.dumps(each, separators=(",", ":")) for each in (origin, *entries)]
    FOLDER.mkdir(exist_ok=True)
    for name, written in (("acts.audit.jsonl.gz", lines), ("acts.truth.jsonl.gz", told_lines)):
        (FOLDER / name).write_bytes(gzip.compress("\n".join(written).encode() + b"\n", mtime=0))
    print(f"{len(entries)} acts, {sum(len(each['changes']) for each in entries)} changes, {len(lines)} events")


if __name__ == "__main__":
    main()
