"""Sources that are left unopened for the date in their names."""

from datetime import UTC, datetime

import pytest

from auditor.collectors.files.dated import may_hold


@pytest.mark.parametrize(
    ("name", "may"),
    [
        ("audit-2026-11-28T05-31-00.000.log", False),
        ("audit-2026-11-30T05-31-00.000.log", True),
        ("2026/11/27/05/audit.log", False),
        ("2026/11/30/05/audit.log", True),
        ("audit.log", True),
        ("audit-2026-13-45T99-00-00.000.log", True),
        ("2026-13-45.log", True),
        ("9999-12-31.log", True),
        ("0001-01-01.log", False),
    ],
)
def test_a_name_decides_only_where_its_date_is_clear(name: str, may: bool) -> None:
    window = (datetime(2026, 11, 30, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC))
    assert may_hold(name, *window) is may
    assert may_hold(name, None, None)
