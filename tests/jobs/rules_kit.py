"""Alert rules, the reports of a program, and the job that a test calls instead of waiting."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sigservice.clock import format_iso
from sigservice.jobs import alert_rules
from tests.conftest import ADMIN, Make
from tests.routes.sdk import CLIENT, Sdk

PATH = "/api/admin/alert-rules"
ENDPOINTS = "/api/admin/signal-endpoints"
RATIO = {
    "kind": "impactMetric",
    "metric": "errors",
    "per": "requests",
    "measure": "ratio",
    "environment": "development",
}


class Rules:
    """`services` are all processes on the database."""

    def __init__(self, sdk: Sdk, clock: Any) -> None:
        self.sdk, self.web, self.clock = sdk, sdk.web, clock
        self.services = [sdk.service]
        self.endpoint = Make(sdk.web).endpoint("rules")

    def body(self, **changes: Any) -> dict[str, Any]:
        rule = {"name": "checkout-errors", "endpointId": self.endpoint["id"], "source": RATIO}
        rule |= {"above": 0.05, "windowMinutes": 5, "minSamples": 50, "breaches": 1}
        return {name: value for name, value in (rule | changes).items() if value is not None}

    def create(self, **changes: Any) -> dict[str, Any]:
        return self.web.post_json(PATH, self.body(**changes), headers=ADMIN, status=201).json

    def list_events(self) -> list[str]:
        """The types of the changes of states in the audit log, oldest first."""
        events = self.web.get("/api/admin/events", headers=ADMIN).json["events"][::-1]
        states = ("alert-rule-firing", "alert-rule-resolved", "alert-rule-unknown")
        return [event["type"] for event in events if event["type"] in states]

    def report(
        self, *, ago: float = 0, seconds: float = 60, headers: Any = CLIENT, **counters: float
    ) -> None:
        """Counters of the time that ended `ago` seconds ago."""
        metrics = [
            {"name": name, "type": "counter", "samples": [{"value": value}]}
            for name, value in counters.items()
        ]
        self.send(metrics, ago=ago, seconds=seconds, headers=headers)

    def send(
        self, metrics: Any, *, ago: float = 0, seconds: float = 60, headers: Any = CLIENT
    ) -> None:
        stop = self.clock.now() - timedelta(seconds=ago)
        start = stop - timedelta(seconds=seconds)
        bucket = {"start": format_iso(start), "stop": format_iso(stop), "toggles": {}}
        body = {"appName": "shop", "bucket": bucket, "impactMetrics": metrics}
        self.web.post_json("/api/client/metrics", body, headers=headers, status=202)

    def look(self) -> None:
        for service in self.services:
            alert_rules.run_once(service.context)

    def minute(self, **counters: float) -> None:
        """A report of the minute that passes, then an evaluation."""
        self.clock.advance(60)
        if counters:
            self.report(**counters)
        self.look()

    def read(self, rule: dict[str, Any]) -> dict[str, Any]:
        return self.web.get(f"{PATH}/{rule['id']}", headers=ADMIN).json

    def state(self, rule: dict[str, Any]) -> str:
        return self.read(rule)["state"]

    def signals(self) -> list[dict[str, Any]]:
        """The payloads, oldest first."""
        path = f"{ENDPOINTS}/{self.endpoint['id']}/signals"
        rows = self.web.get(path, headers=ADMIN).json["signalEndpointSignals"]
        return [row["payload"] for row in rows[::-1]]

    def statuses(self) -> list[str]:
        return [payload["status"] for payload in self.signals()]

    def preview(self, **changes: Any) -> dict[str, Any]:
        body = self.body(name=None, endpointId=None, **changes)
        return self.web.post_json(f"{PATH}/preview", body, headers=ADMIN).json
