"""The pool: bounded, waiting, evicting, surviving a database that goes away."""

from __future__ import annotations

import threading

import pytest

from sigservice.concurrency import wait_budget, workers
from sigservice.crypto.secrets import MAX_HASHING, MAX_WAITING
from sigservice.db.errors import DatabaseUnavailable, UniqueViolation
from sigservice.db.pool import Database
from sigservice.errors import BadDataError, UnavailableError
from tests.server.process import until
from tests.waiting import DEADLINE_SECONDS


@pytest.fixture
def arguments(temporary_database):
    reached = temporary_database.options()
    return {
        "host": reached["host"],
        "user": reached["user"],
        "dbname": "postgres",
        "application_name": "pool-test",
    }


@pytest.fixture
def pool(arguments):
    pool = Database(lambda: arguments, min_size=0, max_size=2, idle_seconds=0.0, wait_seconds=0.05)
    yield pool
    pool.close()


def ask(conn, text, *values):
    with conn.cursor() as cursor:
        cursor.execute(text, values)
        return cursor.fetchone()[0] if cursor.description else None


def test_a_closed_pool_opens_no_connections(arguments):
    pool = Database(lambda: arguments, min_size=1, max_size=2, idle_seconds=60)
    pool.close()
    filling = threading.Thread(target=pool.fill, daemon=True)
    filling.start()
    filling.join(5)
    is_endless = filling.is_alive()
    pool._min_size = 0
    assert not is_endless
    assert pool.statistics()["used"] == 0


def open_connections(temporary_database):
    conn = temporary_database.connect()
    count = ask(conn, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pool-test'")
    conn.close()
    return count


def test_a_connection_is_used_again(pool):
    with pool.autocommit() as conn:
        first = ask(conn, "SELECT pg_backend_pid()")
    with pool.transaction() as conn:
        assert ask(conn, "SELECT pg_backend_pid()") == first


def test_transactions_leave_a_connection_to_single_statements(pool):
    with pool.transaction(), pytest.raises(UnavailableError), pool.transaction():
        pass
    with pool.transaction(), pool.autocommit() as conn:
        assert ask(conn, "SELECT 1") == 1


def search_pool(arguments, max_size, wait_seconds):
    return Database(
        lambda: arguments, min_size=0, max_size=max_size, idle_seconds=60, wait_seconds=wait_seconds
    )


def test_slow_reads_have_a_quarter_of_the_connections_and_at_least_one(arguments):
    for max_size, connections in ((1, 1), (4, 1), (7, 1), (8, 2), (100, 25)):
        pool = Database(lambda: arguments, min_size=0, max_size=max_size, idle_seconds=60)
        assert pool._slow_reads._value == connections


def test_other_work_gets_a_connection_while_slow_reads_are_many(arguments):
    pool = search_pool(arguments, max_size=2, wait_seconds=0.01)
    with pool.transaction(is_slow=True):
        with pytest.raises(UnavailableError) as caught, pool.autocommit(is_slow=True):
            pass
        assert caught.value.headers["Retry-After"] == "1"
        with pool.autocommit() as conn:
            assert ask(conn, "SELECT 1") == 1
    with pool.autocommit(is_slow=True) as conn:
        assert ask(conn, "SELECT 1") == 1
    pool.close()


def test_slow_reads_are_refused_at_once_when_enough_of_them_wait(arguments):
    pool = search_pool(arguments, max_size=4, wait_seconds=60)
    answers = []

    def search():
        with pool.autocommit(is_slow=True) as conn:
            answers.append(ask(conn, "SELECT 1"))

    waiters = [threading.Thread(target=search) for _ in range(2)]
    with pool.transaction(is_slow=True):
        for waiter in waiters:
            waiter.start()
        until(lambda: not pool._slow_callers._value, "two callers that wait")
        with pytest.raises(UnavailableError), pool.transaction(is_slow=True):
            pass
    for waiter in waiters:
        waiter.join(DEADLINE_SECONDS)
    assert answers == [1, 1]
    pool.close()


@pytest.mark.parametrize("pool_size", [1, 4, 20, 100])
def test_slow_reads_and_password_hashing_leave_four_workers(pool_size):
    occupied = (
        MAX_HASHING
        + MAX_WAITING
        + workers.MAX_WAITING
        + workers.MAX_FRONTEND_WAITING
        + workers.MAX_STREAMED_FILES
    )
    occupied += workers.MAX_SOURCE_QUERIES + workers.MAX_INTEGRATION_TESTS
    occupied += workers.count_slow(pool_size) + workers.MAX_WAITING_SLOW
    assert workers.count_workers(pool_size) - occupied >= 4


def test_an_error_of_a_slow_read_gives_its_connection_back(arguments):
    pool = search_pool(arguments, max_size=4, wait_seconds=0.01)
    for _ in range(10):
        with pytest.raises(ZeroDivisionError), pool.transaction(is_slow=True):
            1 / 0
    with pool.transaction(is_slow=True) as conn:
        assert ask(conn, "SELECT 1") == 1
    pool.close()


def test_an_exhausted_pool_waits_then_refuses(pool):
    with pool.autocommit(), pool.autocommit(), pytest.raises(UnavailableError) as caught:
        with pool.autocommit():
            pass
    assert caught.value.headers["Retry-After"] == "1"
    with pool.autocommit() as conn:
        assert ask(conn, "SELECT 1") == 1


def test_a_request_that_has_waited_too_long_gets_only_a_free_connection(pool):
    pool._wait_seconds = 10 * DEADLINE_SECONDS
    pool.ping()
    with wait_budget.measure_request(60.0), pool.autocommit() as conn:
        assert ask(conn, "SELECT 1") == 1
    with pool.autocommit(), pool.autocommit(), wait_budget.measure_request(60.0):
        with pytest.raises(UnavailableError), pool.autocommit():
            pass


def test_a_waiting_caller_gets_the_place_that_becomes_free(pool):
    pool._wait_seconds = DEADLINE_SECONDS
    got = []

    def wait_for_one():
        with pool.autocommit() as conn:
            got.append(ask(conn, "SELECT 1"))

    with pool.autocommit(), pool.autocommit():
        waiter = threading.Thread(target=wait_for_one)
        waiter.start()
        until(lambda: pool.statistics()["pending_acquires"], "a thread that waits")
    waiter.join(DEADLINE_SECONDS)
    assert got == [1]


def test_never_more_connections_than_the_maximum(pool, temporary_database):
    pool._wait_seconds = DEADLINE_SECONDS
    threads = [threading.Thread(target=lambda: [_sleep(pool) for _ in range(3)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    calls = set()
    while any(thread.is_alive() for thread in threads):
        calls.add(open_connections(temporary_database))
    assert max(calls) == 2


def _sleep(pool):
    with pool.autocommit() as conn:
        ask(conn, "SELECT pg_sleep(0.02)")


def test_idle_connections_are_evicted_down_to_the_minimum(arguments, temporary_database):
    pool = Database(lambda: arguments, min_size=1, max_size=3, idle_seconds=0.0)
    with pool.autocommit(), pool.autocommit(), pool.autocommit():
        pass
    assert pool.evict_idle() == 2
    assert pool.statistics()["free"] == 1
    pool.close()


def test_fill_opens_the_minimum(arguments):
    pool = Database(lambda: arguments, min_size=2, max_size=2, idle_seconds=60)
    pool.fill()
    assert pool.statistics() == {
        "min": 2,
        "max": 2,
        "free": 2,
        "used": 0,
        "pending_creates": 0,
        "pending_acquires": 0,
    }
    pool.close()


def test_filling_leaves_to_others_the_slots_that_they_hold(arguments):
    gate, entered = threading.Event(), threading.Event()

    def connect():
        entered.set()
        gate.wait(DEADLINE_SECONDS)
        return arguments

    pool = Database(connect, min_size=1, max_size=1, idle_seconds=60)
    thread = threading.Thread(target=pool.ping)
    thread.start()
    entered.wait(DEADLINE_SECONDS)
    pool.fill()  # would be a second connection, and wait here
    gate.set()
    thread.join()
    assert pool.statistics()["free"] == 1
    pool.close()


def test_a_connection_that_the_server_ended_is_never_handed_out(pool, temporary_database):
    with pool.autocommit() as conn:
        pid = ask(conn, "SELECT pg_backend_pid()")
    other = temporary_database.connect()
    ask(other, "SELECT pg_terminate_backend(%s)", pid)
    alive = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s"
    until(lambda: not ask(other, alive, pid), "the end of the connection")
    other.close()
    with pool.autocommit() as conn:
        assert ask(conn, "SELECT 1") == 1


def test_a_connection_that_dies_in_use_is_unavailable_and_replaced(pool):
    with pytest.raises(DatabaseUnavailable), pool.autocommit() as conn:
        ask(conn, "SELECT pg_terminate_backend(pg_backend_pid())")
    with pool.autocommit() as conn:
        assert ask(conn, "SELECT 1") == 1


def test_a_transaction_is_rolled_back_when_its_block_raises(pool, temporary_database):
    conn = temporary_database.connect()
    ask(conn, "CREATE TABLE IF NOT EXISTS pool_test (n int PRIMARY KEY)")

    def fail():
        with pool.transaction() as inner:
            ask(inner, "INSERT INTO pool_test VALUES (1)")
            1 / 0

    with pytest.raises(ZeroDivisionError):
        fail()
    assert ask(conn, "SELECT count(*) FROM pool_test") == 0
    with pool.transaction() as inner:
        ask(inner, "INSERT INTO pool_test VALUES (1)")
    with pytest.raises(UniqueViolation) as caught, pool.transaction() as inner:
        ask(inner, "INSERT INTO pool_test VALUES (1)")
    assert caught.value.constraint == "pool_test_pkey"
    ask(conn, "DROP TABLE pool_test")
    conn.close()


def test_a_snapshot_sees_one_state_and_leaves_an_ordinary_connection(pool, temporary_database):
    other = temporary_database.connect()
    ask(other, "CREATE TABLE IF NOT EXISTS snapshot_test (n int)")
    with pool.transaction(snapshot=True) as conn:
        assert ask(conn, "SELECT count(*) FROM snapshot_test") == 0
        ask(other, "INSERT INTO snapshot_test VALUES (1)")
        assert ask(conn, "SELECT count(*) FROM snapshot_test") == 0
    with pytest.raises(UnavailableError), pool.transaction(snapshot=True) as conn:
        ask(conn, "INSERT INTO snapshot_test VALUES (2)")
    with pool.transaction() as conn:
        ask(conn, "INSERT INTO snapshot_test VALUES (2)")
        assert ask(conn, "SELECT count(*) FROM snapshot_test") == 2
        ask(conn, "DROP TABLE snapshot_test")
    other.close()


def test_bad_values_are_bad_data(pool):
    with pytest.raises(BadDataError), pool.autocommit() as conn:
        ask(conn, "SELECT %s::jsonb", '"\\u0000"')


def test_a_slow_statement_is_unavailable(pool):
    with pytest.raises(DatabaseUnavailable), pool.autocommit() as conn:
        ask(conn, "SET statement_timeout = 20; SELECT pg_sleep(5)")


def test_a_ping_fails_while_new_connections_do(arguments, monkeypatch):
    monkeypatch.setattr("sigservice.db.pool.PROBE_SECONDS", 0)
    options = dict(arguments)
    pool = Database(lambda: options, min_size=0, max_size=2, idle_seconds=60)
    pool.ping()
    options["host"] = "/nonexistent"
    with pytest.raises(DatabaseUnavailable):
        pool.ping()
    with pool.autocommit() as conn:
        assert ask(conn, "SELECT 1") == 1
    options["host"] = arguments["host"]
    pool.ping()
    pool.close()


def test_pings_that_follow_each_other_open_one_connection(arguments, monkeypatch):
    monkeypatch.setattr("sigservice.db.pool.PROBE_SECONDS", DEADLINE_SECONDS)
    opened = []
    pool = Database(lambda: opened.append(1) or arguments, min_size=0, max_size=1, idle_seconds=60)
    for _ in range(5):
        pool.ping()
    assert len(opened) == 2  # one of them for the pool
    pool.close()


def test_an_unreachable_database_is_unavailable():
    pool = Database(
        lambda: {"host": "/nonexistent", "dbname": "x"}, min_size=0, max_size=1, idle_seconds=1
    )
    for _ in range(3):
        with pytest.raises(DatabaseUnavailable), pool.autocommit():
            pass


def test_a_closed_pool_hands_out_nothing(pool):
    with pool.autocommit():
        pool.close()
    with pytest.raises(UnavailableError), pool.autocommit():
        pass
    assert pool.statistics()["used"] == 0
