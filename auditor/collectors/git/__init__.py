"""The history of repositories, through git and without obeying them."""

from auditor.collectors.git.collect import COLLECTOR

__all__ = ["COLLECTOR"]
