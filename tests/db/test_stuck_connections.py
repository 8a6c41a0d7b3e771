"""A server that doesn't end its statements: the pool grows no further, and recovers."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import psycopg2
import pytest

from sigservice.concurrency import wait_budget
from sigservice.db.connection import Connection
from sigservice.db.errors import DatabaseUnavailable
from sigservice.db.group_commit import GroupCommit
from sigservice.db.pool import Database
from sigservice.db.statements import execute, fetch_value
from sigservice.errors import UnavailableError
from tests.db.test_group_commit import Item
from tests.postgres_server import postgres_server
from tests.waiting import DEADLINE_SECONDS, until

pytestmark = pytest.mark.external

SIZE = 3
STUCK_SECONDS = 0.1
COUNT = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'"
BLOCKED = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
INSERT = "INSERT INTO numbers VALUES (1)"


@pytest.fixture(scope="module")
def server():
    with postgres_server() as server:
        server.ask("CREATE ROLE app LOGIN PASSWORD 'pw'")
        server.ask("CREATE TABLE numbers (n int)")
        server.ask("GRANT ALL ON numbers TO app")
        yield server


@pytest.fixture
def pool(server):
    """Its callers wait longer than any test for a connection."""
    arguments = {"host": "127.0.0.1", "port": server.port, "user": "app", "password": "pw"}
    arguments |= {"dbname": "postgres", "connect_timeout": 2}
    pool = Database(
        lambda: arguments,
        min_size=0,
        max_size=SIZE,
        idle_seconds=60,
        wait_seconds=DEADLINE_SECONDS,
        settings={"client_min_messages": "warning"},
    )
    yield pool
    pool.close()


@contextmanager
def jobs(pool):
    """What the service does every half second, more often."""
    end = threading.Event()

    def run():
        while not end.wait(0.02):
            pool.cut_stuck(STUCK_SECONDS)

    def release():
        while not end.wait(0.02):
            try:
                pool.release_stuck(STUCK_SECONDS)
            except DatabaseUnavailable:
                pass

    threads = [threading.Thread(target=run), threading.Thread(target=release)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        end.set()
        for thread in threads:
            thread.join(DEADLINE_SECONDS)


def transact(pool):
    with pool.transaction() as conn:
        execute(conn, INSERT)


def store(pool):
    def write(conn, items):
        execute(conn, INSERT)
        return items

    group = GroupCommit(pool, write, max_waiting=9, max_bytes=9, wait_seconds=1)
    group.store(Item(1))


def read(pool):
    with pool.autocommit() as conn:
        return fetch_value(conn, "SELECT 1")


@contextmanager
def writers(pool):
    """Writes without a pause; yields their results in order."""
    end, results = threading.Event(), []

    def write(function):
        while not end.wait(0.01):
            try:
                function(pool)
            except UnavailableError:
                results.append(False)
            else:
                results.append(True)

    threads = [threading.Thread(target=write, args=(f,)) for f in (transact, store) * 3]
    for thread in threads:
        thread.start()
    try:
        yield results
    finally:
        end.set()
        for thread in threads:
            thread.join(DEADLINE_SECONDS)


@contextmanager
def without_standby(server):
    """Commits wait for a standby; statement_timeout doesn't end that."""
    conn = server.connect()
    with conn.cursor() as cursor:
        for value in ("nobody", ""):
            cursor.execute("SET synchronous_commit = local")
            cursor.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{value}'")
            cursor.execute("SELECT pg_reload_conf()")
            if value:
                yield
    conn.close()


@contextmanager
def frozen(server):
    """All processes of the server, as on a machine or disk that stalls."""
    postmaster = server._process.pid
    pids = [postmaster, *list_children(postmaster)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def list_children(pid):
    return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def can_write(pool):
    try:
        transact(pool)
        store(pool)
    except UnavailableError:
        return False
    return True


def test_commits_that_wait_for_a_standby_keep_their_slots(server, pool):
    with jobs(pool):
        assert read(pool) == 1
        with writers(pool) as results:
            with without_standby(server):
                until(lambda: pool._stuck.is_confirmed, "a stuck connection")
                highest, count = 0, len(results) + 200
                while len(results) < count:
                    highest = max(highest, server.ask(COUNT)[0][0])
            until(lambda: all(results[-20:]), "writes after the return of the standby")
            assert not all(results)
        assert highest <= SIZE + 1  # the one that asks for the others
    assert not len(pool._stuck)
    until(lambda: server.ask(COUNT)[0][0] <= SIZE, "connections of the pool only")
    assert pool.statistics()["used"] == 0


def test_reads_go_on_while_a_commit_is_stuck(server, pool):
    with jobs(pool):
        with without_standby(server):
            until(lambda: not can_write(pool), "a server that has read its setting")
            until(lambda: pool._stuck.is_confirmed, "a stuck connection")
            for write in (transact, store):
                with pytest.raises(UnavailableError):
                    write(pool)
            until(lambda: _can_read(pool), "a read")
            with pool.transaction(snapshot=True) as conn:
                assert fetch_value(conn, "SELECT 1") == 1
        until(lambda: can_write(pool), "writes")


def _can_read(pool):
    try:
        return read(pool) == 1
    except UnavailableError:
        return False


def test_new_work_of_a_frozen_server_fails_at_once(server, pool):
    with jobs(pool):
        with pool.autocommit() as a, pool.autocommit() as b, pool.autocommit() as c:
            before = {a.pid, b.pid, c.pid}
        with frozen(server):
            threads = [threading.Thread(target=_can_read, args=(pool,)) for _ in range(9)]
            for thread in threads:
                thread.start()
            until(lambda: len(pool._stuck) == SIZE, "connections that are all stuck")
            for work in (read, transact, store):
                with pytest.raises(UnavailableError) as caught:
                    work(pool)
                assert caught.value.headers["Retry-After"] == "1"
            assert pool.statistics()["used"] == SIZE
        until(lambda: can_write(pool), "writes of the server that goes on")
        assert server.ask(COUNT)[0][0] <= SIZE + 1
        running = "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)"
        until(lambda: server.ask(running, list(before)) == [(0,)], "the end of the given-up ones")
        for thread in threads:
            thread.join(DEADLINE_SECONDS)


def test_connection_whose_release_fails_is_released_later(pool, monkeypatch):
    def fail(conn):
        raise psycopg2.OperationalError("the primary ends")

    with pool.autocommit() as conn:
        conn.waiting_since = time.monotonic() - 1
        assert pool.cut_stuck(STUCK_SECONDS) == 1
    with monkeypatch.context() as patch:
        patch.setattr(Connection, "commit", fail)
        with pytest.raises(DatabaseUnavailable):
            pool.release_stuck(STUCK_SECONDS)
    assert not can_write(pool)
    assert pool.release_stuck(STUCK_SECONDS) == 1
    assert can_write(pool)
    assert pool.statistics()["used"] == 0


def test_connection_whose_statement_never_arrived_is_released(pool):
    """As behind a firewall that forgot the connection: its backend stays, idle."""
    with pool.autocommit() as conn:
        conn.waiting_since = time.monotonic() - 1
        assert pool.cut_stuck(STUCK_SECONDS) == 1
    assert can_write(pool)
    assert pool.release_stuck(STUCK_SECONDS) == 1
    assert pool.statistics()["free"] == 1
    assert can_write(pool)


def test_other_socket_with_the_number_of_the_connection_is_not_cut(pool, monkeypatch):
    ours, theirs = socket.socketpair()
    with ours, theirs, pool.autocommit() as conn:
        conn.waiting_since = time.monotonic() - 1
        with monkeypatch.context() as patch:
            patch.setattr(Connection, "fileno", lambda _: ours.fileno())
            assert pool.cut_stuck(STUCK_SECONDS) == 0
        ours.sendall(b"x")
        assert theirs.recv(1) == b"x"
        assert fetch_value(conn, "SELECT 1") == 1


def test_connection_that_was_cut_stays_stuck_after_its_socket_is_closed(pool):
    with pool.autocommit() as conn:
        conn.waiting_since = time.monotonic() - 1
        assert pool.cut_stuck(STUCK_SECONDS) == 1
        conn.close()
        assert pool.cut_stuck(STUCK_SECONDS) == 0
    assert pool.statistics()["used"] == 1
    assert pool.release_stuck(STUCK_SECONDS) == 1


def test_connection_whose_wait_has_ended_is_not_cut(pool):
    with pool.autocommit() as conn:
        assert fetch_value(conn, "SELECT 1") == 1
        assert not conn.cut_if_stuck(-1)
        assert fetch_value(conn, "SELECT 1") == 1


def test_connection_that_is_being_cut_goes_to_no_other_request(server, pool, monkeypatch):
    """Its answer comes while it is cut."""
    is_cutting, may_cut, duplicate, pids = threading.Event(), threading.Event(), os.dup, []

    def pause(fd):
        is_cutting.set()
        assert may_cut.wait(DEADLINE_SECONDS)
        return duplicate(fd)

    def wait_for_lock():
        with pool.autocommit() as conn:
            pids.append(conn.pid)
            execute(conn, "SELECT pg_advisory_lock(1)")

    server.ask("SELECT pg_advisory_lock(1)")
    waiting = threading.Thread(target=wait_for_lock)
    waiting.start()
    until(lambda: server.ask(BLOCKED) == [(1,)], "a statement")
    monkeypatch.setattr(os, "dup", pause)
    cutting = threading.Thread(target=pool.cut_stuck, args=(0,))
    cutting.start()
    assert is_cutting.wait(DEADLINE_SECONDS)
    server.ask("SELECT pg_advisory_unlock(1)")
    state = "SELECT state FROM pg_stat_activity WHERE pid = %s"
    until(lambda: server.ask(state, *pids) == [("idle",)], "the answer")
    assert waiting.is_alive()
    may_cut.set()
    for thread in (cutting, waiting):
        thread.join(DEADLINE_SECONDS)
    monkeypatch.undo()
    with pool.autocommit() as conn:
        assert conn.pid not in pids
        assert fetch_value(conn, "SELECT 1") == 1


def test_statement_after_other_waits_of_its_request_is_cut_earlier(server, pool):
    with pool.autocommit() as conn:
        started_at = time.monotonic()
        with pytest.raises(UnavailableError), wait_budget.measure_request(100.0), cutting(pool):
            fetch_value(conn, "SELECT pg_sleep(30)")
        assert time.monotonic() - started_at < 15


def test_slow_statement_that_was_cut_early_leaves_writes_to_others(server, pool):
    """The timeouts of the server end it."""
    with pool.autocommit() as conn:
        with pytest.raises(UnavailableError), wait_budget.measure_request(100.0), cutting(pool):
            fetch_value(conn, "SELECT pg_sleep(600)")
    try:
        assert pool.release_stuck() == 0
        assert pool.statistics()["used"] == 1
        assert can_write(pool)
    finally:
        server.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'")


@contextmanager
def cutting(pool):
    """The job that cuts stuck connections, with a limit beyond which all others are."""
    end = threading.Event()

    def run():
        while not end.wait(0.02):
            pool.cut_stuck(90.0)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join(DEADLINE_SECONDS)
