"""What people announced: Slack exports and incident timelines."""

from auditor.collectors.announcements.collect import COLLECTOR

__all__ = ["COLLECTOR"]
