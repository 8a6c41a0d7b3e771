"""What new connections find out about the primary, and what becomes of the others."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import psycopg2
import pytest

from sigservice.concurrency import wait_budget
from sigservice.db.connector import OLDER_TIMELINE_SECONDS, Connector
from sigservice.db.errors import DatabaseUnavailable
from sigservice.db.notifications import RevisionNotifications
from sigservice.db.pool import Database
from sigservice.db.statements import fetch_value
from sigservice.errors import UnavailableError
from tests.postgres_server import PostgresServer, postgres_server
from tests.tcp_proxy import tcp_proxy
from tests.waiting import DEADLINE_SECONDS, until

pytestmark = pytest.mark.external

PORT = "SELECT inet_server_port()"
IS_PRIMARY = "SELECT NOT pg_is_in_recovery()"
SLEEP = "SELECT pg_sleep(600)"
SERVERS: dict[int, PostgresServer] = {}
COUNT = f"SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = '{SLEEP}'"

END = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = '{SLEEP}'"


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[int, int]]:
    """The ports of a former primary that knows nothing of its end, and of its successor."""
    with postgres_server() as former:
        former.ask("CREATE ROLE app LOGIN PASSWORD 'pw'")
        with postgres_server(copy_of=former) as successor:
            successor.ask("SELECT pg_promote()")
            until(lambda: successor.ask(IS_PRIMARY) == [(True,)], "the promotion")
            SERVERS[former.port], SERVERS[successor.port] = former, successor
            yield former.port, successor.port


def make_arguments(*ports: int) -> dict[str, Any]:
    return {
        "host": ",".join(["127.0.0.1"] * len(ports)),
        "port": ",".join(map(str, ports)),
        "user": "app",
        "password": "pw",
        "dbname": "postgres",
        "connect_timeout": 2,
        "target_session_attrs": "read-write",
    }


def make_connector(*ports: int, **more: Any) -> Connector:
    return Connector(lambda: make_arguments(*ports), {}, lambda: None, **more)


def connect(connector: Connector, **more: Any) -> int:
    """The port of the server that a new connection reaches."""
    conn = connector.open(**more)
    try:
        return int(fetch_value(conn, PORT))
    finally:
        conn.close()


@contextmanager
def open_pool(*ports: int, idle: int = 0) -> Iterator[Database]:
    """A pool with so many idle connections."""
    arguments = make_arguments(*ports)
    pool = Database(lambda: arguments, min_size=0, max_size=4, idle_seconds=600)
    with ExitStack() as stack:
        for _ in range(idle):
            stack.enter_context(pool.autocommit())
    try:
        yield pool
    finally:
        pool.close()


def read_port(pool: Database) -> int:
    with pool.autocommit() as conn:
        return int(fetch_value(conn, PORT))


def test_idle_connections_are_closed_when_a_new_one_reaches_the_next_primary(servers):
    former, successor = servers
    with tcp_proxy(former) as proxy, open_pool(proxy.port, successor, idle=3) as pool:
        proxy.swallow()
        pool.open_dedicated().close()
        assert pool.statistics()["free"] == 0
        assert read_port(pool) == successor


def test_request_gets_no_connection_that_became_outdated_a_moment_ago(servers):
    with open_pool(servers[0], idle=2) as pool:
        pool._connector.start_epoch()
        with pool.autocommit() as conn:
            assert pool.is_current(conn)
        assert pool.statistics() | {"free": 1, "used": 0} == pool.statistics()


def test_next_primary_is_noticed_behind_the_same_address(servers):
    former, successor = servers
    with tcp_proxy(former) as proxy, open_pool(proxy.port, idle=3) as pool:
        proxy.target = successor
        pool.open_dedicated().close()
        assert pool.statistics()["free"] == 0


@contextmanager
def waiting(pool: Database, port: int) -> Iterator[list[DatabaseUnavailable]]:
    """A thread whose statement on the server at `port` doesn't end; yields its errors."""
    errors: list[DatabaseUnavailable] = []

    def wait() -> None:
        try:
            with pool.autocommit() as conn:
                fetch_value(conn, SLEEP)
        except DatabaseUnavailable as error:
            errors.append(error)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    until(lambda: SERVERS[port].ask(COUNT) == [(1,)], "the statement")
    try:
        yield errors
    finally:
        SERVERS[port].ask(END)
        until(lambda: SERVERS[port].ask(COUNT) == [(0,)], "its end")
        thread.join(DEADLINE_SECONDS)


def test_statement_that_waits_for_a_former_primary_fails_when_the_next_one_is_reached(servers):
    former, successor = servers
    with tcp_proxy(former) as proxy, open_pool(proxy.port, successor) as pool:
        with waiting(pool, former) as errors:
            proxy.swallow()
            assert read_port(pool) == successor
            until(lambda: errors, "the error")
        assert pool.statistics() | {"free": 1, "used": 0} == pool.statistics()


def test_connection_for_notifications_is_outdated_when_the_next_primary_is_reached(servers):
    former, successor = servers
    with tcp_proxy(former) as proxy, open_pool(proxy.port, successor) as pool:
        notifications = RevisionNotifications(pool)
        assert notifications.open() is not None
        assert not notifications.is_outdated
        proxy.swallow()
        assert read_port(pool) == successor
        assert notifications.is_outdated
        notifications.close()
        assert not notifications.is_outdated


def test_host_that_worked_is_tried_first(servers):
    former, _ = servers
    with tcp_proxy(former) as dead:
        dead.swallow()
        connector = make_connector(dead.port, former)
        assert [connect(connector) for _ in range(3)] == [former] * 3
        assert dead.count == 1


def test_attempt_after_a_failure_begins_with_another_host(servers):
    former, _ = servers
    with tcp_proxy(former) as dead:
        dead.swallow()
        connector = make_connector(dead.port, former)
        with wait_budget.measure_request(2.0), pytest.raises(psycopg2.OperationalError):
            connect(connector)  # the time is enough for one host
        assert connect(connector) == former
        assert dead.count == 1


def test_request_without_time_to_connect_is_refused(servers):
    with wait_budget.measure_request(4.0), pytest.raises(UnavailableError):
        connect(make_connector(servers[0]))


def test_request_connects_with_the_shortest_timeout(servers):
    """libpq counts one second as two."""
    arguments = make_arguments(servers[1]) | {"connect_timeout": 1}
    with wait_budget.measure_request(0.0):
        assert connect(Connector(lambda: arguments, {}, lambda: None)) == servers[1]


def test_former_primary_is_refused_and_another_host_is_tried(servers):
    former, successor = servers
    with tcp_proxy(successor) as proxy:
        connector = make_connector(proxy.port, successor)
        assert connect(connector) == successor
        proxy.target = former
        with pytest.raises(psycopg2.OperationalError, match="former primary"):
            connect(connector)
        assert connect(connector) == successor


def test_older_timeline_is_accepted_when_nothing_else_answers_for_long(servers):
    former, successor = servers
    now = [0.0]
    with tcp_proxy(successor) as proxy:
        connector = make_connector(proxy.port, seconds=lambda: now[0])
        connect(connector)
        proxy.target = former
        for seconds in (0.0, OLDER_TIMELINE_SECONDS - 0.1):
            now[0] = seconds
            with pytest.raises(psycopg2.OperationalError):
                connect(connector)
        now[0] = OLDER_TIMELINE_SECONDS
        assert connect(connector) == former
        assert connector.epoch == 1


def test_older_timeline_is_refused_while_a_connection_to_the_newest_works(servers):
    former, successor = servers
    now = [0.0]
    with tcp_proxy(successor) as proxy:
        connector = make_connector(proxy.port, seconds=lambda: now[0])
        connect(connector)
        proxy.target = former
        with pytest.raises(psycopg2.OperationalError):
            connect(connector)
        now[0] = OLDER_TIMELINE_SECONDS
        connector.confirm()
        with pytest.raises(psycopg2.OperationalError):
            connect(connector)


def test_another_database_on_a_lower_timeline_replaces_the_last_one(servers):
    _, successor = servers
    with postgres_server() as other:
        other.ask("CREATE ROLE app LOGIN PASSWORD 'pw'")
        with tcp_proxy(successor) as proxy, open_pool(proxy.port, idle=2) as pool:
            proxy.target = other.port
            pool.open_dedicated().close()
            assert pool.statistics()["free"] == 0
            assert read_port(pool) == other.port


def test_role_that_may_not_read_the_timeline_notices_another_host(servers):
    former, successor = servers
    function = "EXECUTE ON FUNCTION pg_control_system()"
    for port in servers:
        SERVERS[port].ask(f"REVOKE {function} FROM PUBLIC")
    try:
        with tcp_proxy(former) as proxy, open_pool(proxy.port, successor, idle=2) as pool:
            proxy.swallow()
            pool.open_dedicated().close()
            assert pool.statistics()["free"] == 0
            assert read_port(pool) == successor
    finally:
        for port in servers:
            SERVERS[port].ask(f"GRANT {function} TO PUBLIC")


def test_timeline_is_read_again_after_an_error_that_passes(servers, monkeypatch):
    former, successor = servers
    with tcp_proxy(former) as proxy:
        arguments = make_arguments(proxy.port) | {"options": "-c statement_timeout=50ms"}
        connector = Connector(lambda: arguments, {}, lambda: None)
        with monkeypatch.context() as patch, suppress(psycopg2.OperationalError):
            patch.setattr("sigservice.db.connector._IDENTITY", "pg_sleep(60), 1, 1")
            connect(connector)
        connect(connector)
        proxy.target = successor
        assert (connect(connector), connector.epoch) == (successor, 1)


def test_next_primary_is_found_while_the_former_one_still_accepts_connections(servers):
    former, successor = servers
    connector = make_connector(former, successor)
    assert [connect(connector), connect(connector)] == [former, former]
    assert connect(connector, tries_others=True) == successor
    assert connect(connector) == successor


def test_pool_looks_for_the_next_primary_while_a_statement_does_not_end(servers):
    former, successor = servers
    with open_pool(former, successor) as pool, waiting(pool, former) as errors:
        until(lambda: pool.cut_stuck(0.1), "a stuck connection")
        until(lambda: errors, "its error")
        with pytest.raises(DatabaseUnavailable):
            pool.release_stuck(0.1)
        assert pool.release_stuck(0.1) == 1
        assert read_port(pool) == successor


def test_other_way_to_the_same_server_leaves_the_connections_as_they_are(servers):
    former, _ = servers
    with tcp_proxy(former) as proxy:
        connector = make_connector(former, proxy.port)
        connect(connector)
        assert connect(connector, tries_others=True) == former
        assert (proxy.count, connector.epoch) == (1, 0)
