"""Posting to a webhook: one request, one answer, no redirect."""

import json
from typing import TYPE_CHECKING, Any

from auditor.errors import DeliveryError

if TYPE_CHECKING:
    from auditor.model.resource import JsonObject

SECONDS = 10.0
_SAID = 200
"""Bytes of a refusal that are shown."""


def post(url: str, payload: "JsonObject", seconds: float = SECONDS) -> str:
    """Post `payload` as JSON; the host that took it. Raises `DeliveryError`, which never shows the URL: it is a key."""
    import urllib.error
    import urllib.request
    from http.client import HTTPException
    from urllib.parse import urlsplit

    host = urlsplit(url).hostname or ""
    body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
    headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "auditor"}
    request = urllib.request.Request(url, body, headers)  # noqa: S310 - the configuration takes http and https only
    try:
        with urllib.request.build_opener(_no_redirect()).open(request, timeout=seconds):
            return host
    except urllib.error.HTTPError as error:
        with error:
            raise DeliveryError(_refused(host, error), _hint(error.code)) from None
    except TimeoutError:
        raise DeliveryError(f"{host} did not answer within {seconds:g} seconds.", _AGAIN) from None
    except (urllib.error.URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            raise DeliveryError(f"{host} did not answer within {seconds:g} seconds.", _AGAIN) from None
        raise DeliveryError(f"{host} cannot be reached: {type(reason).__name__}.", _AGAIN) from None


_AGAIN = "What was found is in the store: `auditor notify` posts it."


def _refused(host: str, error: Any) -> str:
    try:
        said = error.fp.read1(_SAID).decode("utf-8", "replace").strip()
    except (AttributeError, OSError, ValueError):
        said = ""
    return f"{host} refused the digest with status {error.code}{f': {said}' if said else ''}."


def _hint(code: int) -> str:
    if code == 429:
        return f"It takes no more for the moment. {_AGAIN}"
    if code in (301, 302, 303, 307, 308):
        return "A webhook is not followed elsewhere: give its final address in [notify]."
    if code >= 500:
        return _AGAIN
    return "Check webhook in [notify], or AUDITOR_NOTIFY_WEBHOOK."


def _no_redirect() -> Any:
    import urllib.request

    class Stay(urllib.request.HTTPRedirectHandler):
        """A redirect is a refusal: the digest is for the address that was configured."""

        def redirect_request(self, *_: Any) -> None:
            """Nowhere."""

    return Stay
