"""A local S3 server (moto) that counts requests and can be made to fail."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Literal

import pytest

Mode = Literal["well", "busy", "silent", "cut"]
_BUSY = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


class S3Server:
    """moto's S3 behind a WSGI application that can fail (`mode`). `stop` and `start` keep the port."""

    def __init__(self) -> None:
        pytest.importorskip("s3fs")
        pytest.importorskip("flask_cors")
        self._moto = _application()
        self.mode: Mode = "well"
        self.asked: list[str] = []  # `LIST` and `GET` of each request that reads
        self.port = 0
        self.released = threading.Event()  # lets silent requests go on
        self._server: Any = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Answer requests."""
        from werkzeug.serving import make_server

        self._server = make_server("127.0.0.1", self.port, self, threaded=True)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Refuse connections from now on; the objects stay."""
        self.released.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def add(self, names: Iterable[str], content: bytes) -> None:
        """Put objects there, by bucket and key, without a request for each."""
        for name in names:
            bucket, _, key = name.partition("/")
            _backend().put_object(bucket, key, content)

    def remove(self, name: str) -> None:
        """Take an object away."""
        bucket, _, key = name.partition("/")
        _backend().delete_object(bucket, key)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """One request."""
        reads = environ["REQUEST_METHOD"] == "GET"
        lists = reads and "list-type" in environ.get("QUERY_STRING", "")
        if reads:
            self.asked.append("LIST" if lists else "GET")
        if not reads or self.mode == "well":
            return self._answer(environ, start_response)
        if self.mode == "busy":
            start_response("503 Slow Down", [("Content-Length", str(len(_BUSY)))])
            return [_BUSY]
        if self.mode == "silent":
            self.released.wait(60)
            return self._answer(environ, start_response)
        whole = b"".join(self._answer(environ, start_response))
        return [whole if lists else whole[: len(whole) // 2]]

    def _answer(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        answer: Iterable[bytes] = self._moto(environ, start_response)
        return answer


@cache
def _application() -> Any:
    server = pytest.importorskip("moto.server")
    return server.DomainDispatcherApplication(server.create_backend_app)


def _backend() -> Any:
    from moto.s3.models import s3_backends

    return s3_backends["123456789012"]["aws"]


@contextlib.contextmanager
def s3_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """A server with the bucket `bucket`, as the user's environment names it; its client tries once."""
    import logging

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = S3Server()
    server.start()
    for name, value in {
        "AWS_ENDPOINT_URL": server.url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "secret-of-the-user",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "NO_PROXY": "*",
    }.items():
        monkeypatch.setenv(name, value)
    import s3fs

    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    try:
        _backend().reset()
        _backend().create_bucket("bucket", "us-east-1")
        yield server
    finally:
        server.stop()
