"""From a context of a kubeconfig, or a pod's service account, to a connection.

The `kubernetes` client reads the kubeconfig, runs the credential plugin that it names, and holds credentials,
certificates and proxies. Nothing is ever written back to the kubeconfig.
"""

import logging
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from auditor.collectors.live.connection import Connection, UnreachableError, short
from auditor.config import Access

PREFIX = "live:"
"""What the names of all sources begin with that are read from a running API server."""
LOGIN_SECONDS = 60.0
"""For a credential plugin to give a token."""
_QUOTED = re.compile(r"\{.*", re.S)


@contextmanager
def connect(access: Access, folder: Path) -> Iterator[Connection]:
    """The API server that `access` means, closed afterwards; a relative kubeconfig lies below `folder`.

    UnreachableError where the kubeconfig or the pod's service account cannot be used. No request is sent yet; a
    credential plugin that the kubeconfig names is run.
    """
    import urllib3
    from kubernetes.client import Configuration
    from kubernetes.client.rest import RESTClientObject

    configuration = Configuration()
    _in_time(lambda: _log_in(access, folder, configuration), access)
    if not configuration.verify_ssl:  # the kubeconfig says so: a warning for each request tells nobody anything new
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    try:
        pool = RESTClientObject(configuration).pool_manager
    except (OSError, ValueError) as error:
        raise UnreachableError(f"The certificates of {_called(access)} cannot be used: {error}.") from error
    try:
        yield Connection(PREFIX + access.name, configuration.host.rstrip("/"), lambda: _token(configuration), pool)
    finally:
        pool.clear()


def _log_in(access: Access, folder: Path, configuration: Any) -> None:
    from kubernetes.config import ConfigException, load_incluster_config, load_kube_config

    with _told() as complaints:
        try:
            if access.in_cluster:
                load_incluster_config(configuration)  # type: ignore[no-untyped-call]
            else:
                load_kube_config(  # type: ignore[no-untyped-call]
                    str(folder / Path(access.kubeconfig).expanduser()) if access.kubeconfig else None,
                    access.context or None,
                    configuration,
                    persist_config=False,
                )
        except (ConfigException, OSError) as error:
            raise UnreachableError(f"{_called(access)} cannot be used: {_unquoted(error)}.") from error
        except Exception as error:  # whatever a kubeconfig of another shape makes the loader stumble over
            raise UnreachableError(
                f"{_called(access)} cannot be read: {type(error).__name__}: {_unquoted(error)}."
            ) from error
    if complaints and not _token(configuration) and not configuration.cert_file:
        raise UnreachableError(f"{_called(access)} gives no credentials ({complaints[0].rstrip('.')}).")


def _unquoted(error: Exception) -> str:
    """The message without the entries of the kubeconfig that the loader quotes whole, tokens and all."""
    return _QUOTED.sub("{...}", short(str(error))).rstrip(".")


def _in_time(log_in: Callable[[], None], access: Access) -> None:
    """A credential plugin has no time limit of its own, and a nightly run must not wait for it for ever."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            log_in()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True, name="log in")
    thread.start()
    thread.join(LOGIN_SECONDS)
    if thread.is_alive():
        raise UnreachableError(
            f"The credential plugin of {_called(access)} gave no answer within {LOGIN_SECONDS:g} seconds."
        )
    if failures:
        raise failures[0]


@contextmanager
def _told() -> Iterator[list[str]]:
    """What the client library logs: it tells there, and nowhere else, that a credential plugin failed."""
    messages: list[str] = []

    class _Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(short(record.getMessage()))

    listener = _Listener(logging.ERROR)
    logging.getLogger().addHandler(listener)
    try:
        yield messages
    finally:
        logging.getLogger().removeHandler(listener)


def _called(access: Access) -> str:
    if access.in_cluster:
        return "The service account of this pod"
    return f"The context {access.context}" if access.context else f"The kubeconfig {access.kubeconfig}"


def _token(configuration: Any) -> str | None:
    """What goes into the Authorization header; one that is about to expire is renewed."""
    from kubernetes.config import ConfigException

    try:
        setting = configuration.auth_settings().get("BearerToken")
    except (ConfigException, OSError) as error:
        raise UnreachableError(f"The credentials cannot be renewed: {short(str(error)).rstrip('.')}.") from error
    return setting["value"] if setting else None
