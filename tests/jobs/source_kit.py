"""Alert rules on queries of a metric source that answers what a test says."""

from __future__ import annotations

from typing import Any

from sigservice.jobs import metric_sources
from tests.conftest import ADMIN
from tests.jobs.rules_kit import Rules
from tests.prometheus_script import ScriptedPrometheus, vector
from tests.routes.sdk import Sdk

SOURCES = "/api/admin/metric-sources"
QUERY = {"kind": "prometheus", "source": "main", "query": "errors / requests"}


def make_rules(
    make_service: Any, database: Any, clock: Any, prometheus: ScriptedPrometheus
) -> Rules:
    """With the source `main`."""
    sdk = Sdk(make_service, database, SERVICE_WEBHOOK_ALLOWED_HOSTS="127.0.0.1")
    rules = Rules(sdk, clock)
    add_source(rules, prometheus)
    return rules


def add_source(
    rules: Rules,
    prometheus: ScriptedPrometheus,
    name: str = "main",
    status: int = 201,
    **more: Any,
) -> Any:
    body = {"name": name, "url": f"{prometheus.url}/prom/"} | more
    return rules.web.post_json(SOURCES, body, headers=ADMIN, status=status).json


def look(rules: Rules) -> None:
    rules.clock.advance(60)
    metric_sources.run_once(rules.sdk.service.context)


def sample(rules: Rules, value: str, age: float = 0, **more: Any) -> dict[str, Any]:
    return vector((rules.clock.now().timestamp() + 60 - age, value), **more)


def create(rules: Rules, prometheus: ScriptedPrometheus, **changes: Any) -> dict[str, Any]:
    prometheus.answer = sample(rules, "0.01")
    return rules.create(source=QUERY, minSamples=1, **changes)
