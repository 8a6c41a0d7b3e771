"""Endpoints that expect signals, and the job that a test calls instead of waiting."""

from __future__ import annotations

from typing import Any

import webtest

from sigservice.jobs import silence
from tests.conftest import ADMIN, Make

ENDPOINTS = "/api/admin/signal-endpoints"


class Silence:
    """A service with an endpoint; `services` are all processes on its database."""

    def __init__(self, service: Any, clock: Any) -> None:
        self.services, self.clock = [service], clock
        self.web = webtest.TestApp(service.app)
        self.make = Make(self.web)
        self.tokens: dict[str, str] = {}

    def endpoint(self, name: str = "backup", **rule: Any) -> dict[str, Any]:
        """An endpoint with a token that expects signals, after the first look."""
        endpoint = self.make.endpoint(name, options={"silence": rule or {"everySeconds": 60}})
        self.tokens[name] = self.make.token(endpoint)["token"]
        self.look()
        return endpoint

    def send(self, name: str = "backup", status: int = 200) -> None:
        """A sender's signal, and the look that sees it."""
        self.clock.advance(2)  # past the limit of one a second
        headers = {"Authorization": f"Bearer {self.tokens[name]}"}
        self.web.post_json(f"/api/signal-endpoint/{name}", {}, headers=headers, status=status)
        self.look()

    def look(self) -> None:
        for service in self.services:
            silence.run_once(service.context)

    def wait(self, seconds: float) -> None:
        """Looks every five seconds."""
        end = self.clock.monotonic() + seconds
        while self.clock.monotonic() < end:
            self.clock.advance(min(5, end - self.clock.monotonic()))
            self.look()

    def put(self, endpoint: dict[str, Any], status: int = 200, **changes: Any) -> Any:
        body = {"name": endpoint["name"], **changes}
        path = f"{ENDPOINTS}/{endpoint['id']}"
        return self.web.put_json(path, body, headers=ADMIN, status=status).json

    def switch(self, endpoint: dict[str, Any], state: str) -> None:
        self.web.post(f"{ENDPOINTS}/{endpoint['id']}/{state}", headers=ADMIN)

    def read(self, endpoint: dict[str, Any]) -> dict[str, Any]:
        return self.web.get(f"{ENDPOINTS}/{endpoint['id']}", headers=ADMIN).json["silence"]

    def state(self, endpoint: dict[str, Any]) -> str:
        return self.read(endpoint)["state"]

    def own_signals(self, endpoint: dict[str, Any]) -> list[dict[str, Any]]:
        """Oldest first."""
        path = f"{ENDPOINTS}/{endpoint['id']}/signals"
        rows = self.web.get(path, headers=ADMIN).json["signalEndpointSignals"]
        return [row for row in rows[::-1] if row["sentBy"] == "sigservice"]

    def statuses(self, endpoint: dict[str, Any]) -> list[str]:
        return [signal["payload"]["status"] for signal in self.own_signals(endpoint)]
