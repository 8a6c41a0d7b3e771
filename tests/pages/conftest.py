"""Users with a session, an endpoint with a token, signals, and the state that pages can change."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
import webtest

from sigservice.application.service import Service
from sigservice.testing import FakeClock, TemporaryDatabase
from tests.conftest import ADMIN, Cast, Make, sign_in_by_json
from tests.pages.actions import Actions
from tests.pages.flags import Flags
from tests.repository.kit import run
from tests.saved_rows import SavedRows

Send = Callable[..., dict[str, Any]]


@pytest.fixture
def ed(cast: Cast) -> webtest.TestApp:
    return cast.signed_in("ed")


@pytest.fixture
def ada(service: Service) -> webtest.TestApp:
    return sign_in_by_json(service, "ada")


@pytest.fixture
def vera(cast: Cast) -> webtest.TestApp:
    return cast.signed_in("vera")


@pytest.fixture(scope="module")
def prepared(temporary_database: TemporaryDatabase) -> Iterator[tuple[Any, set[str]]]:
    """A connection for the tests of a file, and what it has prepared: planning the checksums of all
    tables takes longer than reading them."""
    with closing(temporary_database.connect()) as conn:
        run(conn, "SET max_parallel_workers_per_gather = 0")
        yield conn, set()


@pytest.fixture
def read_state(
    database: TemporaryDatabase, prepared: tuple[Any, set[str]]
) -> Callable[[], dict[str, Any]]:
    """`read_state()`: a checksum of each table that pages can change. Sessions know when they were
    used last, and results of forms are in `once_pages`."""
    conn, names = prepared

    def read() -> dict[str, Any]:
        tables = run(
            conn,
            "SELECT tablename FROM pg_tables "
            "WHERE schemaname = 'public' AND tablename NOT IN ('sessions', 'once_pages') "
            "ORDER BY tablename",
        )
        one = "SELECT '{0}', md5(string_agg(x::text, ',' ORDER BY x::text)) FROM {0} x"
        statement = " UNION ALL ".join(one.format(table) for (table,) in tables)
        name = f"state_{zlib.crc32(statement.encode())}"
        if name not in names:
            run(conn, f"PREPARE {name} AS {statement}")
            names.add(name)
        return dict(run(conn, f"EXECUTE {name}"))

    return read


@pytest.fixture
def read_api(web: webtest.TestApp) -> Callable[[str], Any]:
    """`read_api("signals")`: what the admin API answers."""
    return lambda path: web.get(f"/api/admin/{path}", headers=ADMIN).json


@pytest.fixture
def endpoint(make: Make) -> dict[str, Any]:
    return make.endpoint(description="What the platform team ships")


@pytest.fixture
def token(make: Make, endpoint: dict[str, Any]) -> dict[str, Any]:
    return make.token(endpoint)


@pytest.fixture
def send(web: webtest.TestApp, clock: Any) -> Send:
    """`send(endpoint, token, payload)` returns the signal; a second passes before each."""

    def post(endpoint: dict[str, Any], token: dict[str, Any], payload: Any) -> dict[str, Any]:
        clock.advance(1)
        answer = web.post(
            f"/api/signal-endpoint/{endpoint['name']}",
            json.dumps(payload),
            headers={"Authorization": f"Bearer {token['token']}"},
            content_type="application/json",
        )
        return answer.json["signals"][0]

    return post


@pytest.fixture
def sets(service: Service, web: webtest.TestApp, flags: Flags, endpoint: dict[str, Any]) -> Actions:
    return Actions(service, web, flags, endpoint)


@pytest.fixture
def flags(web: webtest.TestApp) -> Flags:
    return Flags(web)


@pytest.fixture(scope="session")
def saved_place() -> dict[str, Any]:
    """Rows and values of `place`, once a test has made them."""
    return {}


@pytest.fixture
def place(
    service: Service, database: TemporaryDatabase, clock: FakeClock, saved_place: dict[str, Any]
) -> dict[str, Any]:
    """Fills the braces of addresses in guards.py. The environment is the last but one, and off.
    It replaces all rows: fixtures that make some come after it."""
    clock.advance(1)
    if service.was_started:
        return _make_place(service, clock)
    if saved_place:
        database.use_connection(saved_place["rows"].restore)
        service.reset(clock)
    else:
        saved_place["values"] = _make_place(service, clock)
        saved_place["rows"] = database.use_connection(SavedRows)
    return dict(saved_place["values"])


def _make_place(service: Service, clock: FakeClock) -> dict[str, Any]:
    web = webtest.TestApp(service.app)
    flags, make = Flags(web), Make(web)
    endpoint = make.endpoint(description="What the platform team ships")
    token = make.token(endpoint)

    def create(path: str, **body: Any) -> Any:
        response = web.post_json(f"/api/admin/{path}", body, headers=ADMIN)
        return response.json.get("id") if response.body else None

    create("projects", name="Shop", id="shop")
    create("environments", name="staging", type="test", enabled=False)
    create("environments", name="zone", type="test")
    create("context", name="plan")
    create("tag-types", name="owner")
    create("strategies", name="byRegion", parameters=[])
    account = create("service-account", username="robot", rootRole="Editor")
    flags.create_flag("parent")
    name = flags.create_flag("checkout", tags=[{"type": "simple", "value": "shop"}])
    flags.add_strategy(name, "production")
    strategy_id = flags.add_strategy(name, "production")
    flags.switch(name, "production")
    flags.set_parent(name, "parent")
    sets = Actions(service, web, flags, endpoint)
    resolved = {"path": "status", "values": ["resolved"], "key": "n"}
    set_id = sets.set(options={"restoreAfterMinutes": 5, "restoreWhenResolved": resolved})
    clock.advance(1)
    signal = web.post_json(
        f"/api/signal-endpoint/{endpoint['name']}",
        {"n": 1},
        headers={"Authorization": f"Bearer {token['token']}"},
    )
    sets.work()
    run_id = sets.runs(set_id)[0]["id"]
    later = {"source": "schedule", "at": "2999-12-01T08:00:00Z"}
    scheduled_id = sets.set(name="later", match=later)
    create(f"projects/default/actions/{set_id}/events/{run_id}/ignore-alert")
    flags.switch(name, "production")
    addon = {"provider": "webhook", "enabled": True, "events": ["segment-created"]}
    integration_id = create("addons", **addon, parameters={"url": "http://localhost:9999/"})
    segment_id = flags.create_segment()
    path = f"/api/admin/addons/{integration_id}/deliveries"
    source = {"kind": "impactMetric", "metric": "errors", "measure": "rate"}
    source |= {"environment": "production"}
    create("metric-sources", name="prom", url="https://prometheus.example")
    rule = {"name": "errors", "endpointId": endpoint["id"], "source": source, "above": 5}
    releases = f"projects/default/features/{name}/environments/production/releases"
    release_id = create(releases, steps=[{"rollout": 100}], strategyId=strategy_id)
    create(f"{releases}/{release_id}/rollback")
    running_id = create(releases.replace("production", "development"), steps=[{"rollout": 100}])
    return {
        "integration_id": integration_id,
        "delivery_id": web.get(path, headers=ADMIN).json["deliveries"][0]["id"],
        "provider": "webhook",
        "release_id": release_id,
        "running_id": running_id,
        "step": 1,
        "command": "stop",
        "set_id": set_id,
        "scheduled_id": scheduled_id,
        "source": "prom",
        "rule_id": create("alert-rules", **rule),
        "run_id": run_id,
        "id": endpoint["id"],
        "token_id": token["id"],
        "signal_id": signal.json["signals"][0]["id"],
        "sample": "firing",
        "api_token_id": create("api-tokens", tokenName="shop", type="client"),
        "user_id": create("user-admin", username="bo"),
        "account_id": account,
        "personal_token_id": create(
            f"service-account/{account}/token", description="ci", expiresAt="2999-01-01"
        ),
        "project": "shop",
        "environment": "staging",
        "field": "plan",
        "tag_type": "owner",
        "strategy_type": "byRegion",
        "feature_type": "release",
        "name": name,
        "strategy_id": strategy_id,
        "segment_id": segment_id,
    }
