"""Signal endpoints: unique names, the limit, locks."""

from __future__ import annotations

import threading

from sigservice.repository.signals import signal_endpoints
from tests.repository.kit import (
    add_endpoint,
    add_signal,
    add_token,
    is_locked_out,
)
from tests.waiting import DEADLINE_SECONDS


def insert(conn, name="deploys", limit=100):
    return signal_endpoints.insert(
        conn,
        name=name,
        description=None,
        enabled=True,
        options="{}",
        template=None,
        created_by_user_id=1,
        limit=limit,
    )


def update(conn, id, name="deploys", description=None, enabled=True):
    return signal_endpoints.update(
        conn, id, name=name, description=description, enabled=enabled, options="{}", template=None
    )


def test_statement_checks_the_limit(conn):
    assert insert(conn, "none", limit=0) is None
    assert insert(conn, "a", limit=2)
    assert insert(conn, "b", limit=2)
    assert insert(conn, "c", limit=2) is None
    assert insert(conn, "c", limit=3)
    assert insert(conn, "d", limit=1) is None
    assert len(signal_endpoints.list_all(conn)) == 3


def test_concurrent_creations_do_not_exceed_the_limit(pool):
    rows, together = [], threading.Barrier(5)

    def create(n):
        together.wait(DEADLINE_SECONDS)
        with pool.transaction() as conn:
            signal_endpoints.lock_all(conn)
            rows.append(insert(conn, f"e{n}", limit=3))

    threads = [threading.Thread(target=create, args=(n,)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(row is None for row in rows) == [False] * 3 + [True] * 2
    with pool.autocommit() as conn:
        assert len(signal_endpoints.list_all(conn)) == 3


def test_locked_endpoint_receives_signals_but_blocks_changes(pool):
    with pool.autocommit() as conn:
        id, other = add_endpoint(conn, "a"), add_endpoint(conn, "b")
        add_token(conn, id)
    with pool.transaction() as first:
        signal_endpoints.lock(first, id)
        with pool.autocommit() as second:
            assert add_signal(second, id, endpoint="a")
            assert add_token(second, id, "created without the lock")
            assert update(second, other, "b2")
        for change in (signal_endpoints.lock, update, signal_endpoints.delete):
            assert is_locked_out(pool, lambda second, change=change: change(second, id))
    assert not is_locked_out(pool, lambda second: signal_endpoints.delete(second, id))


def test_creations_block_only_each_other(pool):
    with pool.transaction() as first:
        signal_endpoints.lock_all(first)
        assert is_locked_out(pool, signal_endpoints.lock_all)
        assert not is_locked_out(pool, signal_endpoints.list_all)
    assert not is_locked_out(pool, signal_endpoints.lock_all)
