"""Running SDK clients that stream, poll or ask for changes, and what they must have in the end."""

import http.client
import json
import random
import threading
from typing import Any

import pytest
from UnleashClient import UnleashClient
from yggdrasil_engine.engine import UnleashEngine

from tests.server.process import Client
from tests.waiting import until

STREAMING = {"type": "streaming"}
DELTA = {"type": "polling", "format": "delta"}
PROJECTS = ("default", "shop")


class Admin:
    """Writes to a service that may be replaced by another one (`client`)."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        return self.client.request(method, f"/api/admin/{path}", body)

    def must(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = self.send(method, path, body)
        assert status < 300, (path, status, answer)
        return answer

    def create_flag(self, name: str, project: str = "default", **more: Any) -> None:
        self.must("POST", f"projects/{project}/features", {"name": name, **more})

    def switch(self, name: str, is_on: bool, project: str = "default") -> None:
        path = f"projects/{project}/features/{name}/environments/development"
        self.must("POST", f"{path}/{'on' if is_on else 'off'}")

    def create_token(self, *projects: str) -> str:
        body = {"tokenName": "t", "type": "client", "environment": "development"}
        return str(
            self.must("POST", "api-tokens", body | {"projects": projects or ["*"]})["secret"]
        )

    def create_flags(self, count: int = 8) -> list[str]:
        """Flags of both projects that a segment, variants and dependencies can be added to."""
        self.must("POST", "projects", {"id": "shop", "name": "shop"})
        for number in range(3):
            self.must("POST", "segments", make_segment(f"s{number}", number))
        names = [f"f{number}" for number in range(count)]
        for number, name in enumerate(names):
            self.create_flag(name, PROJECTS[number % 2])
        return names

    def change_at_random(self, choose: random.Random, names: list[str]) -> None:
        """One write, which may be refused."""
        name, project = choose.choice(names), choose.choice(PROJECTS)
        flag = f"projects/{project}/features/{name}"
        environment = f"{flag}/environments/development"
        segments = [row["id"] for row in self.must("GET", "segments")["segments"]]
        variant = {"name": "v", "weight": 1000, "weightType": "variable", "stickiness": "default"}
        strategy = {
            "name": "flexibleRollout",
            "parameters": {"rollout": str(choose.randrange(101)), "stickiness": "default"},
            "segments": choose.sample(segments, choose.randrange(3)),
            "variants": choose.choice([[], [variant]]),
        }
        segment = make_segment(str(choose.random()), choose.randrange(9))
        writes: list[tuple[str, str, Any]] = [
            ("POST", f"{environment}/on", None),
            ("POST", f"{environment}/off", None),
            ("POST", f"{environment}/strategies", strategy),
            ("POST", f"{flag}/changeProject", {"newProjectId": choose.choice(PROJECTS)}),
            ("DELETE", flag, None),
            ("POST", f"archive/revive/{name}", None),
            ("DELETE", f"archive/{name}", None),
            ("POST", f"projects/{project}/features", {"name": name}),
            ("POST", f"{flag}/dependencies", {"feature": choose.choice(names)}),
            ("DELETE", f"{flag}/dependencies", None),
            ("PUT", f"{flag}", {"name": name, "description": str(choose.random())}),
            (
                "PUT",
                f"segments/{choose.choice(segments)}",
                segment | {"name": str(choose.random())},
            ),
        ]
        self.send(*choose.choice(writes))


def make_segment(name: str, user: int) -> dict[str, Any]:
    constraint = {"contextName": "userId", "operator": "IN", "values": [str(user)]}
    return {"name": name, "constraints": [constraint]}


def fetch_full(client: Client, secret: str) -> dict[str, Any]:
    """The flags and segments of GET /api/client/features."""
    conn = http.client.HTTPConnection("127.0.0.1", client.port, timeout=10)
    headers = {"Authorization": secret, "Unleash-Client-Spec": "5.2.0", "Connection": "close"}
    conn.request("GET", "/api/client/features", headers=headers)
    answer = conn.getresponse()
    body = json.loads(answer.read())
    conn.close()
    assert answer.status == 200, body
    return {"features": body["features"], "segments": body["segments"]}


def normalize(state: dict[str, Any]) -> dict[str, Any]:
    """The Python SDK has no member `segments` before its first answer."""
    return {
        "features": {flag["name"]: flag for flag in state["features"]},
        "segments": {segment["id"]: segment for segment in state.get("segments", [])},
    }


class Fleet:
    """Clients of one Node process and of this one."""

    def __init__(self, node: Any, tmp_path: Any) -> None:
        self._node = node("stream_sdk.cjs")
        self._tmp_path = tmp_path
        self._tokens: dict[str, str] = {}
        self.python: dict[str, UnleashClient] = {}

    def open_node(self, id: str, url: str, token: str, **more: Any) -> None:
        """`more` are `mode`, `interval` in ms, `isTokenFromFunction` and `readTimeout`, the ms
        after which the SDK gives up a stream on which nothing arrives."""
        self._node.ask(do="open", id=id, url=url, token=token, **more)
        self._tokens[id] = token

    def open_python(
        self, id: str, url: str, token: str, mode: Any = STREAMING, **more: Any
    ) -> None:
        self._tokens[id] = token
        folder = self._tmp_path / id
        folder.mkdir()
        client = UnleashClient(
            url=f"{url}/api",
            app_name=id,
            custom_headers={"Authorization": token},
            cache_directory=str(folder),
            disable_metrics=True,
            disable_registration=True,
            experimental_mode=mode,
            **more,
        )
        self.python[id] = client
        client.initialize_client()

    def state(self, id: str) -> dict[str, Any]:
        if id in self.python:
            return json.loads(self.python[id]._store._engine.get_state())
        return self._node.ask(do="state", id=id)

    def mode(self, id: str) -> str:
        return str(self.state(id)["mode"])

    def is_enabled(self, id: str, flag: str, context: dict[str, Any] | None = None) -> bool:
        if id in self.python:
            return bool(self.python[id].is_enabled(flag, context or {}))
        return bool(self._node.ask(do="enabled", id=id, flag=flag, context=context))

    def close_client(self, id: str) -> None:
        del self._tokens[id]
        if id in self.python:
            self.python.pop(id).destroy()
        else:
            self._node.ask(do="close", id=id)

    def close(self) -> None:
        """The Python SDK waits for its thread, which ends with the service."""
        for client in self.python.values():
            threading.Thread(target=client.destroy, daemon=True).start()

    def is_current(self, id: str, client: Client) -> bool:
        full = fetch_full(client, self._tokens[id])
        if id in self.python:
            engine = UnleashEngine()
            engine.take_state(json.dumps({"version": 2, **full}))
            full = json.loads(engine.get_state())
        return normalize(self.state(id)) == normalize(full)

    def await_current(self, client: Client, seconds: float = 5.0) -> None:
        """Fails if a client doesn't have the state of the service within this time."""
        for id in self._tokens:
            try:
                until(lambda id=id: self.is_current(id, client), f"the state of {id}", seconds)
            except AssertionError:
                full = normalize(fetch_full(client, self._tokens[id]))
                state = normalize(self.state(id))
                pytest.fail(f"{id} has {json.dumps(state)} instead of {json.dumps(full)}")
