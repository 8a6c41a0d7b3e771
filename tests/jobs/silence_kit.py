"""Rules on the silence of an endpoint, and the job that a test calls instead of waiting."""

from __future__ import annotations

from typing import Any

import webtest

from sigservice.jobs import alert_rules
from tests.conftest import ADMIN, Make

ENDPOINTS = "/api/admin/signal-endpoints"
RULES = "/api/admin/alert-rules"


class Silence:
    """A service with an endpoint; `services` are all processes on its database."""

    def __init__(self, service: Any, clock: Any) -> None:
        self.services, self.clock = [service], clock
        self.web = webtest.TestApp(service.app)
        self.make = Make(self.web)
        self.tokens: dict[str, str] = {}

    def endpoint(self, name: str = "backup") -> dict[str, Any]:
        """An endpoint with a token."""
        endpoint = self.make.endpoint(name)
        self.tokens[name] = self.make.token(endpoint)["token"]
        return endpoint

    def rule(self, name: str = "backup", **source: Any) -> dict[str, Any]:
        """A rule on the silence of a new endpoint, after the first evaluation."""
        rule = self.add(self.endpoint(name), **source)
        self.look()
        return rule

    def add(self, endpoint: dict[str, Any], **source: Any) -> dict[str, Any]:
        source = {"kind": "silence", "endpointId": endpoint["id"], **source}
        body = {"name": f"{endpoint['name']}-silence", "source": source}
        return self.web.post_json(RULES, body, headers=ADMIN, status=201).json

    def send(self, name: str = "backup") -> None:
        """A sender's signal."""
        self.clock.advance(2)  # past the limit of one a second
        headers = {"Authorization": f"Bearer {self.tokens[name]}"}
        self.web.post_json(f"/api/signal-endpoint/{name}", {}, headers=headers, status=200)

    def look(self) -> None:
        for service in self.services:
            alert_rules.run_once(service.context)

    def wait(self, seconds: float) -> None:
        """Looks every five seconds."""
        end = self.clock.monotonic() + seconds
        while self.clock.monotonic() < end:
            self.clock.advance(min(5, end - self.clock.monotonic()))
            self.look()

    def put(self, rule: dict[str, Any], **changes: Any) -> dict[str, Any]:
        path = f"{RULES}/{rule['id']}"
        return self.web.put_json(path, rule | changes, headers=ADMIN, status=200).json

    def switch(self, path: str, state: str) -> None:
        self.web.post(f"{path}/{state}", headers=ADMIN)

    def read(self, rule: dict[str, Any]) -> dict[str, Any]:
        return self.web.get(f"{RULES}/{rule['id']}", headers=ADMIN).json

    def state(self, rule: dict[str, Any]) -> str:
        return self.read(rule)["state"]

    def own_signals(self, rule: dict[str, Any]) -> list[dict[str, Any]]:
        """Oldest first."""
        path = f"{ENDPOINTS}/{rule['endpointId']}/signals"
        rows = self.web.get(path, headers=ADMIN).json["signalEndpointSignals"]
        return [row["payload"] for row in rows[::-1] if row["sentBy"] == "sigservice"]

    def statuses(self, rule: dict[str, Any]) -> list[str]:
        return [payload["status"] for payload in self.own_signals(rule)]
