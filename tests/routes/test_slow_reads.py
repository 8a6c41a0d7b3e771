"""Slow reads have a share of the connections and take no lock of a change."""

from __future__ import annotations

import threading

import pytest

from sigservice.services import revisions
from sigservice.services.transfer import feature_export
from tests.routes.kit import FEATURES, Admin
from tests.table_tests import each

EXPORT = "/api/admin/features-batch/export"
OF_PROJECT = {"environment": "development", "project": "default"}
SLOW = {
    "search of events": ("GET", "/api/admin/search/events?query=x"),
    "events": ("GET", "/api/admin/events"),
    "events of a flag": ("GET", "/api/admin/events/a"),
    "signals": ("GET", "/api/admin/signals"),
    "search of signals": ("GET", "/api/admin/signal-endpoints/1/signals?query=x"),
    "search of a value": ("GET", "/api/admin/signal-endpoints/1/signals?path=x"),
    "export of signals": ("GET", "/api/admin/signal-endpoints/1/export"),
    "export": ("POST", EXPORT),
    "statistics": ("GET", "/api/admin/instance-admin/statistics"),
}


@pytest.fixture
def busy(monkeypatch, service):
    """An admin's requests while every connection for searches is in use and none may wait."""
    database = service.context.database
    monkeypatch.setattr(database, "_slow_callers", threading.BoundedSemaphore(1))
    with database.transaction(is_slow=True):
        yield Admin(service)


@each("name", SLOW)
def test_a_slow_read_over_the_share_is_refused_at_once(busy, name):
    method, path = SLOW[name]
    answer = busy.ask(method, path, OF_PROJECT if method == "POST" else None, 503)
    assert int(answer.headers["Retry-After"]) >= 1


def test_everything_else_goes_on_while_searches_use_their_share(busy):
    path = busy.flag()
    busy.post(f"{path}/environments/development/on")
    assert busy.get("/api/admin/search/features")["total"] == 1


def test_an_export_does_not_wait_for_a_change_of_flags(admin, service):
    admin.flag("before")
    with service.context.database.transaction() as conn:
        revisions.lock(conn)
        exported = admin.post(EXPORT, OF_PROJECT)
    assert [flag["name"] for flag in exported["features"]] == ["before"]


def test_a_change_of_flags_does_not_wait_for_an_export(admin, service):
    path = admin.flag("a")
    with service.context.database.transaction(snapshot=True) as conn:
        exported = feature_export.export_features(conn, "development", project="default")
        admin.post(f"{path}/environments/development/on")
        admin.post(FEATURES, {"name": "b"}, 201)
        assert feature_export.export_features(conn, "development", project="default") == exported
    after = admin.post(EXPORT, OF_PROJECT)
    assert [flag["name"] for flag in after["features"]] == ["a", "b"]
    assert len(after["featureStrategies"]) == 1
