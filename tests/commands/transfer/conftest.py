"""Two services, one with flags of every kind and one empty, and the commands that connect them."""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
import pytest
import webtest

import sigservice
from sigservice.application.service import Service
from sigservice.commands.transfer import import_export
from sigservice.services.flags import client_features
from sigservice.services.identity import SYSTEM
from sigservice.services.transfer import snapshot_import, snapshots
from sigservice.services.transfer.snapshot_import import ImportLimits
from sigservice.testing import QuickPasswords
from tests.conftest import ADMIN, ADMIN_TOKEN

SECOND = "second"


@pytest.fixture(scope="session")
def second_database(temporary_database: Any) -> dict[str, Any]:
    """With the tables of a service."""
    options = temporary_database.create_database(SECOND)
    sigservice.create({"db": options, "logLevel": "error"}, {}, passwords=QuickPasswords()).stop()
    return options


@pytest.fixture
def empty(make_service: Any, temporary_database: Any, second_database: Any) -> Service:
    """A service on a separate database with only the built-in rows."""
    temporary_database.empty(SECOND)
    return make_service({"db": second_database})


@pytest.fixture(scope="session")
def flags_text(temporary_database: Any) -> bytes:
    """An export of flags of every kind, which the admin API created."""
    token = {"type": "admin", "secret": ADMIN_TOKEN, "environment": "*", "project": "*"}
    service = sigservice.create(
        {
            "db": temporary_database.create_database("third"),
            "logLevel": "error",
            "authentication": {"initApiTokens": [token]},
        },
        {},
        passwords=QuickPasswords(),
    )
    create_flags(webtest.TestApp(service.app))
    with service.context.database.transaction() as conn:
        text = msgspec.json.encode(snapshots.read_snapshot(conn))
    service.stop()
    return text


@pytest.fixture
def full(make_service: Any, flags_text: bytes) -> Service:
    """A service with flags of every kind; it listens on 127.0.0.1."""
    server = {"host": "127.0.0.1", "port": 0, "gracefulShutdownEnable": False}
    service = make_service({"server": server})
    snapshot = msgspec.json.decode(flags_text, type=snapshots.Snapshot)
    with service.context.database.transaction() as conn:
        snapshot_import.import_snapshot(conn, snapshot, SYSTEM, ImportLimits(1000, 5))
    service.start()
    return service


def create_flags(web: webtest.TestApp) -> None:
    def post(path: str, body: Any = None) -> Any:
        answer = web.post_json(f"/api/admin/{path}", body or {}, headers=ADMIN)
        return answer.json if answer.body else None

    post("environments", {"name": "staging", "type": "preproduction", "sortOrder": 150})
    shop = {"id": "shop", "name": "Shop", "description": "Sells", "defaultStickiness": "region"}
    post("projects", shop | {"environments": ["staging", "production"]})
    legal = [{"value": "eu", "description": "Europe"}, {"value": "us"}]
    post("context", {"name": "region", "stickiness": True, "legalValues": legal})
    post("tag-types", {"name": "team", "description": "Who", "icon": "T", "color": "#112233"})
    post("tags", {"type": "team", "value": "unused"})
    number = {"name": "n", "type": "number", "description": "", "required": True}
    post("strategies", {"name": "robots", "title": "Robots", "parameters": [number]})
    eu = {"contextName": "region", "operator": "IN", "values": ["eu"], "inverted": False}
    old = {"contextName": "age", "operator": "NUM_GT", "value": "65"}
    ids = [
        post("segments", {"name": "gone first", "constraints": [old]})["id"],
        post("segments", {"name": "europe", "description": "EU", "constraints": [eu, old]})["id"],
        post("segments", {"name": "a shop's", "project": "shop", "constraints": [eu]})["id"],
    ]
    web.delete(f"/api/admin/segments/{ids[0]}", headers=ADMIN)
    path = "/api/admin/projects/shop/environments/staging/default-strategy"
    strategy = {"name": "flexibleRollout", "parameters": {"rollout": "20"}, "segments": [ids[1]]}
    web.post_json(path, strategy, headers=ADMIN)
    types = ("release", "experiment", "operational", "kill-switch", "permission")
    for n in range(50):
        project = "shop" if n % 3 else "default"
        name, flags = f"flag-{n:02}", f"projects/{project}/features"
        about = None if n % 4 else f"About {n} „é“"
        body = {"name": name, "type": types[n % 5], "description": about}
        post(flags, body | {"impressionData": n % 2 == 0, "permanent": n % 2 == 1})
        for environment in ("staging", "production") if n % 3 else ("development", "production"):
            place = f"{flags}/{name}/environments/{environment}"
            for k in range(n % 4):
                post(f"{place}/strategies", build_strategy(n, k, ids, eu, old))
            if n % 2:
                post(f"{place}/on")
        if n % 6 == 0:
            post(f"features/{name}/tags", {"type": "team", "value": f"core-{n % 4}"})
    post("projects/shop/features/flag-04/dependencies", {"feature": "flag-05"})
    post("projects/shop/features/flag-07/dependencies", {"feature": "flag-05", "enabled": False})
    parent = {"feature": "flag-08", "variants": ["a"]}
    post("projects/shop/features/flag-10/dependencies", parent)
    web.post_json(
        "/api/admin/projects/shop/stale", {"features": ["flag-11"], "stale": True}, headers=ADMIN
    )
    web.delete("/api/admin/projects/shop/features/flag-13", headers=ADMIN)
    web.delete("/api/admin/projects/default/features/flag-15", headers=ADMIN)


def build_strategy(n: int, k: int, ids: list[int], eu: Any, old: Any) -> dict[str, Any]:
    if k == 1:
        return {"name": "robots", "parameters": {"n": n}, "disabled": n % 3 == 0, "sortOrder": 0}
    variants = [
        {"name": "a", "weight": 300, "weightType": "fix", "stickiness": "region"},
        {"name": "b", "payload": {"type": "json", "value": '{"b": [1]}'}},
    ]
    return {
        "name": "flexibleRollout",
        "title": f"title {n}" if n % 2 else None,
        "parameters": {"rollout": n, "stickiness": "region" if n % 3 else "default"},
        "constraints": [eu, old | {"caseInsensitive": False}][: n % 3],
        "variants": variants if n % 4 == 0 or k == 2 else [],
        "segments": ids[1 : 1 + (n + k) % 3] if n % 3 else ids[1:2],
    }


FIRST_START_EVENTS = 2  # the first admin and the first token


def count_events(service: Service) -> int:
    web = webtest.TestApp(service.app)
    return web.get("/api/admin/events?limit=1", headers=ADMIN).json["totalEvents"]


def read_client_document(service: Service, environment: str) -> tuple[Any, Any]:
    """The SDK document of an environment, with segments by name, because IDs differ."""
    with service.context.database.transaction() as conn:
        reading = client_features.read_all(conn, environment)
    features = [json.loads(flag.text) for flag in reading.flags.values()]
    documents = [json.loads(text) for text in reading.segments.values()]
    names = {segment["id"]: segment["name"] for segment in documents}
    for feature in features:
        for strategy in feature["strategies"]:
            strategy["segments"] = sorted(names[id] for id in strategy.get("segments", []))
    return features, sorted((s["name"], s["constraints"]) for s in documents)


@pytest.fixture
def command(capsys: Any) -> Callable[..., tuple[int, str, str]]:
    """`command(service, "import", …)` runs in this process: (exit code, output, errors)."""

    def run(service: Service, *arguments: str) -> tuple[int, str, str]:
        parser = argparse.ArgumentParser()
        import_export.add_parsers(parser.add_subparsers(dest="command"))
        parsed = parser.parse_args(arguments)
        import_export.check_arguments(parsed)
        capsys.readouterr()
        code = import_export.run_command(parsed, service.context)
        return code, *capsys.readouterr()

    return run


class Peer:
    """A remote server. `answers[path]` is JSON, or a list of (status, headers, JSON) that are sent
    one after the other; the last repeats."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.requests: list[tuple[str, Any]] = []
        peer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 65_536  # one packet for head and body avoids delayed ACKs

            def do_GET(self) -> None:
                path = self.path.partition("?")[0].removeprefix("/api/admin/")
                peer.requests.append((self.path, self.headers))
                status, headers, body = peer.answer(path)
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in (headers | {"Content-Length": str(len(data))}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, path: str) -> tuple[int, dict[str, str], Any]:
        answer = self.answers.get(path, [(404, {}, {"message": "no"})])
        if isinstance(answer, list) and answer and isinstance(answer[0], tuple):
            return answer.pop(0) if len(answer) > 1 else answer[0]
        return 200, {}, answer

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def peer() -> Iterator[Peer]:
    peer = Peer()
    yield peer
    peer.close()
