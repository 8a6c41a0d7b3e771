"""What `sigservice demo` creates does what its shop promises."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import webtest

from sigservice.clock import format_iso
from sigservice.commands import demo
from sigservice.jobs import actions, alert_rules
from tests.conftest import ADMIN

FLAG = f"/api/admin/projects/default/features/{demo.FLAG}/environments/production"


class Shop:
    """The shop without its browser, which reports a minute of orders."""

    def __init__(self, service: Any, clock: Any) -> None:
        self.web, self.service, self.clock = webtest.TestApp(service.app), service, clock
        self.token = demo.create_rows(self.call)

    def call(self, path: str, body: dict[str, Any]) -> Any:
        response = self.web.post_json(path, body, headers=ADMIN)
        return response.json if response.body else None

    def report_minute(self, *, orders: int, failed: int) -> None:
        start = self.clock.now()
        self.clock.advance(60)
        stop = start + timedelta(seconds=60)
        bucket = {"start": format_iso(start), "stop": format_iso(stop), "toggles": {}}
        metrics = [
            {"name": name, "type": "counter", "samples": [{"value": value}]}
            for name, value in (("orders", orders), ("failed_orders", failed))
        ]
        body = {"appName": "shop", "bucket": bucket, "impactMetrics": metrics}
        headers = {"Authorization": self.token}
        path = "/api/frontend/client/metrics"
        self.web.post_json(path, body, headers=headers, status=200)
        alert_rules.run_once(self.service.context)
        actions.run_once(self.service.context)

    def is_new(self) -> bool:
        return bool(self.web.get(FLAG, headers=ADMIN).json["enabled"])


def test_the_new_checkout_goes_off_while_its_orders_fail_and_comes_back(
    service: Any, clock: Any
) -> None:
    shop = Shop(service, clock)
    shop.report_minute(orders=120, failed=0)
    assert shop.is_new()
    shop.report_minute(orders=120, failed=40)
    assert not shop.is_new()
    shop.report_minute(orders=120, failed=0)
    assert shop.is_new()
