"""Drawings over one scale of time: the timeline with its lanes, and a sync loop."""
