"""Version ranges over tags."""

import pytest

from auditor.desired import semver


@pytest.mark.parametrize(
    ("text", "version", "matches"),
    [
        ("1.x", "v1.9.3", True),
        ("1.x", "2.0.0", False),
        ("1.2.*", "1.2.7", True),
        ("1.2.*", "1.3.0", False),
        ("*", "0.0.1", True),
        ("^1.2", "1.9.0", True),
        ("^1.2", "1.1.9", False),
        ("^1.2", "2.0.0-rc.1", False),
        ("^0.2.3", "0.2.9", True),
        ("^0.2.3", "0.3.0", False),
        ("~1.2.3", "1.2.9", True),
        ("~1.2.3", "1.3.0", False),
        ("~1", "1.9.0", True),
        (">=1.0 <2", "1.5.0", True),
        (">=1.0, <2", "2.0.0", False),
        ("1.0 - 1.4", "1.4.0", True),
        ("<1 || >=3", "3.1.0", True),
        ("<1 || >=3", "2.0.0", False),
        ("!=1.0.0", "1.0.1", True),
        (">=1.0.0", "1.1.0-beta", False),
        (">=1.0.0-0", "1.1.0-beta", True),
        ("1.x", "release-1", False),
    ],
)
def test_a_range_takes_what_masterminds_semver_takes(text: str, version: str, matches: bool) -> None:
    wanted = semver.parse_range(text)
    assert wanted is not None
    assert semver.matches(version, wanted) is matches


@pytest.mark.parametrize("text", ["main", "release/1.x", "v1.2.3", "1.2.3", "", "feature-1", "HEAD"])
def test_names_and_full_versions_are_no_ranges(text: str) -> None:
    assert not semver.is_range(text)


def test_versions_are_ordered_by_their_numbers_and_prereleases_come_first() -> None:
    names = ["1.10.0", "1.9.0", "1.10.0-rc.2", "1.10.0-rc.10", "1.10.0-alpha", "v2.0.0"]
    ordered = sorted(names, key=lambda name: semver.version_key(name) or (0, 0, 0, ()))
    assert ordered == ["1.9.0", "1.10.0-alpha", "1.10.0-rc.2", "1.10.0-rc.10", "1.10.0", "v2.0.0"]
