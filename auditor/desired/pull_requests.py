"""Pull-request numbers in commit messages, as the hosting services write them."""

import re

_SUBJECTS = (
    re.compile(r"Merge pull request #(\d+)\b"),  # GitHub, Bitbucket Server
    re.compile(r"Merge pull request '.*' \(#(\d+)\)"),  # Gitea, Forgejo
    re.compile(r"Merged PR (\d+): "),  # Azure DevOps
    re.compile(r"Merged in .* \(pull request #(\d+)\)"),  # Bitbucket Cloud
    re.compile(r"Pull request #(\d+): "),  # Bitbucket Server
    re.compile(r".*\((?:#|!)(\d+)\)\s*\Z"),  # a squash on GitHub or Gitea
)
_BODIES = (
    re.compile(r"^See merge request \S*!(\d+)\s*$", re.M),  # GitLab
    re.compile(r"^(?:Pull-Request|PR|Merge-Request): *\S*[#!/](\d+)\s*$", re.M | re.I),
    re.compile(r"^Related work items: .*\n?^Merged PR (\d+)", re.M),
)
_LONGEST = 400
"""Characters of a subject that are looked at."""


def pull_request(subject: str, body: str) -> int | None:
    """The number, None where the message has none. A revert's number is its own, not that of what it reverts."""
    for pattern in _SUBJECTS:
        found = pattern.match(subject[:_LONGEST])
        if found:
            return int(found[1][:12])
    for pattern in _BODIES:
        found = pattern.search(body)
        if found:
            return int(found[1][:12])
    return None
