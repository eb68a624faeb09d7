"""The webhook: one POST an alert, bounded in time and size, that tells nobody its address."""

from __future__ import annotations

import json
import os
import time
from typing import Any
from urllib.parse import urlsplit

from rltui import __version__
from rltui.alerts.finding_alert import Alert, ReceiverError
from rltui.alerts.secrets import MissingVariableError, expand
from rltui.common.worker_thread import in_thread
from rltui.config.model import WEBHOOK, AlertConfig

BODY_CAP = 64 << 10  # bytes; chats refuse more anyway
LOCAL = ("localhost", "127.0.0.1", "::1")


class WebhookReceiver:
    """Posts the alert as JSON over HTTPS; plain HTTP only to this machine. Follows no redirect.

    The timeout bounds connecting and everything together: a server that drips its answer byte by byte, or
    a name server that is silent, cannot hold the next alert. The answer's body is not read. Messages name
    the kind of an error only: what libraries say may quote the address, which often is the secret.
    """

    name = WEBHOOK

    def __init__(self, config: AlertConfig) -> None:
        self.config = config

    def send(self, alert: Alert) -> None:
        """See Receiver."""
        try:
            url = expand(self.config.webhook).strip()
            headers = {name: expand(value) for name, value in self.config.headers.items()}
        except MissingVariableError as error:
            raise ReceiverError(str(error)) from None
        local = _check(url)
        until = time.monotonic() + self.config.timeout
        posted = in_thread("webhook", lambda: _post(url, headers, alert, local, until))
        try:
            status = posted.result(self.config.timeout)
        except TimeoutError:
            raise ReceiverError("cannot deliver: timed out", retry=True) from None
        if 300 <= status < 400:
            raise ReceiverError(f"the server answers with a redirect ({status}), which is not followed")
        if status >= 400:
            raise ReceiverError(f"the server answers {status}", retry=status == 429 or status >= 500)


def _check(url: str) -> bool:
    """Whether the address is on this machine. Raises ReceiverError for what may not be used."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ReceiverError("the address is not a valid one") from None
    local = host in LOCAL
    if (parts.scheme == "https" and host) or (parts.scheme == "http" and local):
        return local
    raise ReceiverError("the address must start with https:// (http:// on localhost only)")


def body_of(alert: Alert) -> bytes:
    """The payload within the cap: fewer findings, then a shorter text."""
    data = alert.as_json()
    body = json.dumps(data).encode()
    if len(body) > BODY_CAP:
        data["findings"] = data["findings"][:1]
        body = json.dumps(data).encode()
    if len(body) > BODY_CAP:
        body = json.dumps(
            {**data, "findings": [], "run": data["run"][:200], "text": data["text"][:2000]}
        ).encode()
    return body


def _post(url: str, headers: dict[str, str], alert: Alert, local: bool, until: float) -> int:
    """POST; returns the status. Raises ReceiverError."""
    import http.client
    import ssl
    import urllib.error
    import urllib.request

    class NoRedirects(urllib.request.HTTPRedirectHandler):
        """Redirects are answers like others."""

        def redirect_request(self, *_: object, **__: object) -> None:
            """None: do not follow."""

    own = {"Content-Type": "application/json", "User-Agent": f"rltui/{__version__}", "X-Alert-Id": alert.id}
    handlers: list[Any] = [NoRedirects(), urllib.request.HTTPSHandler(context=ssl.create_default_context())]
    if local:
        handlers.append(urllib.request.ProxyHandler({}))
    try:
        request = urllib.request.Request(url, body_of(alert), {**own, **headers}, method="POST")
        left = max(until - time.monotonic(), 0.05)
        with urllib.request.build_opener(*handlers).open(request, timeout=left) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise ReceiverError(
            f"cannot deliver: {_kind(reason)}", retry=not isinstance(error, ValueError)
        ) from None


def _kind(error: object) -> str:
    import socket
    import ssl

    if isinstance(error, TimeoutError):
        return "timed out"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason or 'failed'}"
    if isinstance(error, socket.gaierror):
        return "the host's name is not known"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return type(error).__name__
