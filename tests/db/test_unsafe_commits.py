"""A database that acknowledges what may be lost, or that takes no writes: 503, never success."""

from __future__ import annotations

import threading
from contextlib import closing, contextmanager

import pytest
import webtest

import sigservice
from sigservice.db.errors import UnconfirmedCommit
from sigservice.db.statements import execute, fetch_value
from sigservice.services import revisions
from sigservice.testing import FakeClock, QuickPasswords
from tests.actions_kit import FLAGS, Alerts
from tests.conftest import ADMIN, ADMIN_TOKEN, Make
from tests.postgres_server import postgres_server
from tests.server.process import until

pytestmark = pytest.mark.external

SHOW = "SHOW default_transaction_read_only"
CANCEL = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


@pytest.fixture(scope="module")
def server():
    with postgres_server() as server:
        server.ask("CREATE ROLE app SUPERUSER LOGIN PASSWORD 'pw'")
        yield server


@pytest.fixture(scope="module")
def alerts(server):
    """What tests of actions need, on a service with a PostgreSQL of its own."""
    database = {"host": "127.0.0.1", "port": server.port, "user": "app", "password": "pw"}
    token = {"type": "admin", "secret": ADMIN_TOKEN, "environment": "*", "project": "*"}
    service = sigservice.create(
        {
            "db": database | {"database": "postgres"},
            "logLevel": "fatal",
            "authentication": {"initApiTokens": [token]},
        },
        {},
        clock=FakeClock(),
        passwords=QuickPasswords(),
    )
    web = webtest.TestApp(service.app)
    yield Alerts(service, web, Make(web))
    service.stop()


@pytest.fixture
def web(alerts):
    return alerts.web


@pytest.fixture
def pool(alerts):
    return alerts.service.context.database


@contextmanager
def changed(server, setting, value):
    """The server's setting, for running sessions too."""

    def reload(statement):
        server.ask(statement)
        server.ask("SELECT pg_reload_conf()")

    output = server.ask(f"SHOW {setting}")
    reload(f"ALTER SYSTEM SET {setting} = '{value}'")
    until(lambda: server.ask(f"SHOW {setting}") != output, f"a server with another {setting}")
    try:
        yield
    finally:
        reload(f"ALTER SYSTEM RESET {setting}")
        until(lambda: server.ask(f"SHOW {setting}") == output, f"a server with its {setting}")


@contextmanager
def cancelled_waits(server):
    """No standby has what is committed in the block: each wait for one is cancelled."""
    end = threading.Event()

    def cancel():
        while not end.wait(0.01):
            server.ask(CANCEL)

    thread = threading.Thread(target=cancel)
    with changed(server, "synchronous_standby_names", "nobody"), closing(server.connect()) as conn:
        thread.start()
        try:
            with conn.cursor() as cursor:
                while not conn.notices:  # the checkpointer decides when commits begin to wait
                    cursor.execute("UPDATE revisions SET id = id + 1")
            yield
        finally:
            end.set()
            thread.join()


def send(alerts, status):
    alerts.clock.advance(2)
    return alerts.web.post_json(
        "/api/signal-endpoint/alerts",
        {},
        headers={"Authorization": f"Bearer {alerts.token}"},
        status=status,
    )


def test_a_signal_whose_wait_for_the_standby_is_cancelled_is_503(server, alerts, pool):
    with cancelled_waits(server):
        answer = send(alerts, 503)
    assert answer.headers["Retry-After"] == "1"
    assert answer.json["name"] == "UnavailableError"
    send(alerts, 200)


def test_a_flag_change_whose_wait_for_the_standby_is_cancelled_is_503(server, alerts, web):
    path = f"{FLAGS}/checkout/environments/production/off"
    with cancelled_waits(server):
        answer = web.post(path, headers=ADMIN, status=503)
    assert answer.headers["Retry-After"] == "1"
    web.post(path.replace("off", "on"), headers=ADMIN, status=200)


def test_readers_that_replace_lost_revisions_wait_for_no_standby(server, pool):
    with cancelled_waits(server), pool.autocommit() as conn:
        lost = revisions.read(conn)
        assert revisions.replace_lost(conn, lost).is_after(lost)


@pytest.mark.parametrize("kind", ["autocommit", "transaction"])
def test_the_connection_of_a_cancelled_wait_is_dropped(server, pool, kind):
    conns = []

    def change():
        with getattr(pool, kind)() as conn:
            conns.append(conn)
            execute(conn, "UPDATE revisions SET id = id + 1")

    with cancelled_waits(server), pytest.raises(UnconfirmedCommit):
        change()
    assert conns[0].closed
    with pool.autocommit() as conn:
        assert conn is not conns[0]


def test_a_warning_within_a_transaction_is_no_refusal(pool):
    """Only what comes at the commit speaks of the commit."""
    with pool.transaction() as conn:
        execute(conn, "DO $$ BEGIN RAISE WARNING 'mind'; END $$")
    with pool.autocommit() as conn:
        assert fetch_value(conn, "SELECT 1") == 1


def test_a_run_whose_commit_is_not_confirmed_happens_once(server, alerts, web):
    one = alerts.set()
    alerts.switch("checkout", "on")
    send(alerts, 200)
    with cancelled_waits(server):
        alerts.work()
    alerts.work()
    assert alerts.states(one["id"]) == [("signal", "success")]
    events = web.get("/api/admin/events/checkout", headers=ADMIN).json["events"]
    assert events[0]["type"] == "feature-environment-disabled"
    types = [event["type"] for event in events if event["createdBy"] == "robot"]
    assert sorted(types) == ["action-run-succeeded", "feature-environment-disabled"]


@contextmanager
def demoted(server, pool):
    """A primary that takes no writes any longer, which each of two idle connections knows."""
    with changed(server, "default_transaction_read_only", "on"):
        with pool.autocommit() as first, pool.autocommit() as second:
            for conn in (first, second):
                until(lambda conn=conn: fetch_value(conn, SHOW) == "on", "a read-only session")
        yield


def test_connections_to_a_server_that_takes_no_writes_are_dropped(server, alerts, pool):
    with pool.autocommit(), pool.autocommit():
        pass
    with demoted(server, pool):
        assert pool.statistics()["free"] >= 2
        answer = send(alerts, 503)
        assert answer.headers["Retry-After"] == "1"
        assert pool.statistics()["free"] == 0
    send(alerts, 200)


def test_a_server_that_takes_no_writes_is_not_ready(server, web, pool):
    with pool.autocommit(), pool.autocommit():
        pass
    with demoted(server, pool):
        web.get("/ready", status=503)
    web.get("/ready", status=200)


def test_a_connection_that_was_in_use_meanwhile_is_dropped_too(server, alerts, pool):
    with pool.autocommit(), pool.autocommit(), pool.autocommit():
        pass
    with pool.autocommit() as conn:
        with demoted(server, pool):
            send(alerts, 503)
        assert fetch_value(conn, "SELECT 1") == 1
    assert conn.closed
    send(alerts, 200)
