"""Liveness, readiness and metrics."""

from __future__ import annotations

import pytest
import webtest

METRICS = "/internal-backstage/prometheus"


def test_health_and_ready_respond(web):
    assert web.get("/health").json == {"health": "GOOD"}
    assert web.get("/ready").json == {"health": "GOOD"}


def test_only_ready_requires_the_database(service, web):
    service.context.database.close()
    web.get("/health")
    answer = web.get("/ready", status=503)
    assert answer.json["name"] == "UnavailableError"
    assert answer.headers["Retry-After"] == "1"


def test_neither_healthy_nor_ready_while_stopping(service, web):
    service.context.draining.set()
    web.get("/ready", status=503)
    web.get("/health", status=503)


def test_metrics_are_labeled_by_route(web, make):
    make.endpoint("first")
    web.get("/api/admin/signal-endpoints/1234", expect_errors=True)
    web.get("/made-up/by/a/client", expect_errors=True)
    answer = web.get(METRICS)
    assert answer.content_type == "text/plain"
    assert 'path="/api/admin/signal-endpoints",status="201"' in answer.text
    assert "made-up" not in answer.text
    assert 'path="(hidden)",status="404"' in answer.text


def test_signals_are_counted_by_endpoint_and_result(web, make):
    token = make.token(make.endpoint())
    url = "/api/signal-endpoint/deploys"
    web.post(url, headers={"Authorization": token["token"]})
    web.post(url, headers={"Authorization": token["token"]}, status=429)
    web.post(url, headers={"Authorization": "x"}, status=401)
    web.post("/api/signal-endpoint/made-up", headers={"Authorization": "x"}, status=401)
    text = web.get(METRICS).text
    assert 'signals_received_total{endpoint="deploys",result="accepted"} 1.0' in text
    assert 'signals_received_total{endpoint="deploys",result="RateLimitError"} 1.0' in text
    assert 'signals_received_total{endpoint="",result="UnauthorizedError"} 2.0' in text
    assert "made-up" not in text


def test_metrics_have_limits_and_the_pool(web):
    text = web.get(METRICS).text
    assert 'rate_limits{endpoint="/api/signal-endpoint/:name",method="POST"} 60.0' in text
    assert 'rate_limits{endpoint="/auth/simple",method="POST"} 10.0' in text
    assert "db_pool_max 4.0" in text


def test_metrics_can_be_disabled(make_service):
    service = make_service({"server": {"serverMetrics": False}})
    webtest.TestApp(service.app).get(METRICS, status=404)


@pytest.mark.parametrize(("header", "status"), [("Bearer m3trics", 200), ("x", 401), (None, 401)])
def test_metrics_can_require_a_token(make_service, header, status):
    service = make_service(environ={"SERVICE_METRICS_TOKEN": "m3trics"})
    headers = {"Authorization": header} if header else {}
    webtest.TestApp(service.app).get(METRICS, headers=headers, status=status)


def test_two_services_in_a_process_count_separately(make_service):
    first, second = (webtest.TestApp(make_service().app) for _ in range(2))
    first.get("/health")
    assert 'path="/health"' in first.get(METRICS).text
    assert 'path="/health"' not in second.get(METRICS).text
