"""A server with the API of Prometheus that answers what a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class ScriptedPrometheus:
    """`answer` is the body of a response, or a function of the request handler that writes one.
    `requests` are (path, query or form, headers)."""

    def __init__(self) -> None:
        self.answer: Any = vector()
        self.status = 200
        self.requests: list[tuple[str, dict[str, list[str]], dict[str, str]]] = []
        self.url = ""

    def answer_with(self, handler: BaseHTTPRequestHandler, body: Any) -> None:
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(self.status)
        handler.send_header("Content-Length", str(len(body)))
        if self.status == 302:
            handler.send_header("Location", f"{self.url}/elsewhere")
        handler.end_headers()
        handler.wfile.write(body)


def success(kind: str, result: Any, **more: Any) -> dict[str, Any]:
    return {"status": "success", "data": {"resultType": kind, "result": result}, **more}


def vector(*samples: tuple[float, str], **more: Any) -> dict[str, Any]:
    """Samples (timestamp, value) with different labels."""
    result = [
        {"metric": {"job": f"job-{number}"}, "value": [at, value]}
        for number, (at, value) in enumerate(samples)
    ]
    return success("vector", result, **more)


@contextmanager
def serve_prometheus() -> Iterator[ScriptedPrometheus]:
    script = ScriptedPrometheus()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            form = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            script.requests.append((parts.path, parse_qs(parts.query or form), dict(self.headers)))
            if callable(script.answer):
                script.answer(self)
                return
            script.answer_with(self, script.answer)

        do_POST = do_GET

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
