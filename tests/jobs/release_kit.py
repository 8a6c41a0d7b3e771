"""Releases of a flag, and the jobs that a test calls instead of waiting."""

from __future__ import annotations

from typing import Any

import webtest

from sigservice.jobs import actions, alert_rules, releases
from tests.conftest import ADMIN, Make

FLAGS = "/api/admin/projects/default/features"
STEPS = [{"rollout": 1, "minutes": 10}, {"rollout": 50, "minutes": 20}, {"rollout": 100}]
RESOLVED = {"path": "status", "values": ["resolved"], "key": "groupKey"}


class Releases:
    """A service with the flag `checkout`, on in production with a gradual rollout at 0%, and an
    endpoint for alerts. `services` are all processes on its database."""

    def __init__(self, service: Any, clock: Any, environment: str = "production") -> None:
        self.services, self.clock, feature = [service], clock, "checkout"
        self.web = webtest.TestApp(service.app)
        self.make = Make(self.web)
        self.post(FLAGS, {"name": feature}, 201)
        self.place = f"{FLAGS}/{feature}/environments/{environment}"
        self.strategy = self.add_strategy(rollout=0)
        self.post(f"{self.place}/on")

    def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        if body is None:
            response = self.web.post(path, headers=ADMIN, status=status)
            return response.json if response.body else None
        return self.web.post_json(path, body, headers=ADMIN, status=status).json

    def get(self, path: str, status: int = 200) -> Any:
        return self.web.get(path, headers=ADMIN, status=status).json

    def delete(self, path: str) -> Any:
        return self.web.delete(path, headers=ADMIN, status=200).json

    def put(self, path: str, body: Any, status: int = 200) -> Any:
        return self.web.put_json(path, body, headers=ADMIN, status=status).json

    def add_strategy(self, name: str = "flexibleRollout", **parameters: Any) -> dict[str, Any]:
        body = {"name": name, "parameters": parameters}
        return self.post(f"{self.place}/strategies", body)

    def edit_strategy(self, **parameters: Any) -> None:
        strategy = self.read_strategy()
        path = f"{self.place}/strategies/{strategy['id']}"
        body = {
            "name": strategy["name"],
            "constraints": strategy["constraints"],
            "parameters": strategy["parameters"] | parameters,
        }
        self.put(path, body)

    def read_strategy(self) -> dict[str, Any]:
        return self.get(f"{self.place}/strategies/{self.strategy['id']}")

    def rollout(self) -> int:
        return int(self.read_strategy()["parameters"]["rollout"])

    def endpoint(self, name: str = "alerts", **more: Any) -> dict[str, Any]:
        options = {"rateLimit": {"perSecond": 1000, "burst": 10_000}}
        endpoint = self.make.endpoint(name, **{"options": options} | more)
        self.token = self.make.token(endpoint)["token"]
        self.endpoint_name = name
        return endpoint

    def alert(self, status: str = "firing", key: str = "checkout", **more: Any) -> None:
        """A sender's signal, without its evaluation."""
        body = {"status": status, "groupKey": key, **more}
        headers = {"Authorization": f"Bearer {self.token}"}
        path = f"/api/signal-endpoint/{self.endpoint_name}"
        self.web.post_json(path, body, headers=headers, status=200)

    def evaluate(self) -> None:
        for service in self.services:
            actions.run_once(service.context)

    def signal(self, status: str = "firing", key: str = "checkout", **more: Any) -> None:
        self.alert(status, key, **more)
        self.evaluate()

    def guard(self, endpoint: dict[str, Any], effect: str = "rollBack", **more: Any) -> Any:
        filters = [{"path": "status", "operator": "IN", "values": ["firing"]}]
        guard = {"kind": "signal", "endpointId": endpoint["id"], "effect": effect}
        return guard | {"filters": filters, "resolved": RESOLVED} | more

    def create(self, status: int = 201, **body: Any) -> dict[str, Any]:
        return self.post(f"{self.place}/releases", {"steps": STEPS} | body, status)

    def command(
        self, release: dict[str, Any], name: str, status: int = 200, **body: Any
    ) -> dict[str, Any]:
        return self.post(f"{self.place}/releases/{release['id']}/{name}", body, status)

    def read(self, release: dict[str, Any]) -> dict[str, Any]:
        return self.get(f"{self.place}/releases/{release['id']}")

    def state(self, release: dict[str, Any]) -> tuple[str, str | None, int]:
        """(state, heldBy, percentage of the strategy)."""
        now = self.read(release)
        return now["state"], now["heldBy"], self.rollout()

    def events(self, release: dict[str, Any]) -> list[dict[str, Any]]:
        return self.get(f"{self.place}/releases/{release['id']}/events")["events"]

    def event_types(self, release: dict[str, Any]) -> list[str]:
        return [event["type"] for event in self.events(release)]

    def progress(self) -> None:
        for service in self.services:
            alert_rules.run_once(service.context)
            releases.run_once(service.context)

    def wait(self, minutes: float) -> None:
        """Runs the job each half a minute."""
        for _ in range(int(minutes * 2)):
            self.clock.advance(30)
            self.progress()

    def jump(self, minutes: float) -> None:
        """The service is down meanwhile."""
        self.clock.advance(minutes * 60)
