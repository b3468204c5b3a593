"""From audit events to writes and changes: the story of each object, and whose field a difference is."""
