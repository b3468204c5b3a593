"""Errors for the person who must act. Everything else that is raised is a bug and shows a traceback."""


class AuditorError(Exception):
    """One sentence on what is wrong, and one on what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(AuditorError):
    """The configuration cannot be used."""


class SourceError(AuditorError):
    """A source as a whole cannot be read; what was collected before stays."""


class StoreError(AuditorError):
    """The database cannot be used: newer, not ours, full disk."""


class StatementError(StoreError):
    """A person's own statement cannot be answered: it is no SQL, writes, or names what is not there."""


class StoreLockedError(StoreError):
    """Another run is at work on the same store: one at a time."""


class RenderError(AuditorError):
    """A report cannot be rendered; no partial file is left."""


class DeliveryError(AuditorError):
    """A digest cannot be delivered; nothing that was found is lost."""


class NotFoundError(AuditorError):
    """Nothing in the records is what was asked for."""


class NotCheckedError(AuditorError):
    """No record reaches what was asked for: nothing was checked, and nothing is clear."""
