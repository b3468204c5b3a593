"""What of a night is worth telling to people who did not ask."""

from dataclasses import replace

from auditor.model.night import Night


def news(night: Night) -> Night:
    """The night without what an earlier run has shown and what somebody answers for."""
    return replace(night, entries=tuple(entry for entry in night.entries if entry.state in ("new", "resolved")))


def has_news(night: Night) -> bool:
    """Whether anything began or ended, or could not be checked."""
    return bool(news(night).entries or night.failures or not night.checked)
