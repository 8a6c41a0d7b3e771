"""Signal endpoints: unique names, the limit, locks."""

from __future__ import annotations

import threading

import pytest

from sigservice.db.errors import UniqueViolation
from sigservice.errors import ConflictError
from sigservice.repository.signals import signal_endpoint_tokens, signal_endpoints
from tests.repository.kit import (
    add_endpoint,
    add_signal,
    add_token,
    attempt,
    ids,
    is_locked_out,
    run,
)
from tests.waiting import DEADLINE_SECONDS

COLUMNS = {
    "id", "name", "description", "enabled", "options", "template", "created_at",
    "created_by_user_id",
}  # fmt: skip


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


def test_empty_table_has_no_endpoints(conn):
    assert signal_endpoints.list_all(conn) == []
    assert signal_endpoints.find(conn, 1) is None
    assert signal_endpoints.lock(conn, 1) is None
    assert update(conn, 1) is None
    assert signal_endpoints.delete(conn, 1) is False


def test_new_endpoint_is_returned_and_found(conn):
    row = signal_endpoints.insert(
        conn,
        name="a-b_9",
        description="d",
        enabled=False,
        options='{"allowQueryToken": true}',
        template="generic",
        created_by_user_id=-42,
        limit=1,
    )
    assert set(row) == COLUMNS
    assert (row["name"], row["description"], row["enabled"]) == ("a-b_9", "d", False)
    assert row["created_by_user_id"] == -42
    assert signal_endpoints.find(conn, row["id"]) == row
    assert signal_endpoints.lock(conn, row["id"]) == row
    assert signal_endpoints.list_all(conn) == [row]


@pytest.mark.parametrize("id", [0, -1, 2**31, 2**62])
def test_unknown_id_is_not_found(conn, id):
    add_endpoint(conn)
    assert signal_endpoints.find(conn, id) is None
    assert signal_endpoints.delete(conn, id) is False


def test_list_is_in_order_of_ids(conn):
    endpoint_ids = [add_endpoint(conn, name) for name in ("c", "a", "b")]
    assert ids(signal_endpoints.list_all(conn)) == endpoint_ids


def test_name_is_unique_and_case_sensitive(conn):
    id = add_endpoint(conn, "deploys")
    other = add_endpoint(conn, "alerts")
    with pytest.raises(UniqueViolation) as caught, attempt(conn):
        add_endpoint(conn, "deploys")
    assert caught.value.constraint == "signal_endpoints_name_key"
    with pytest.raises(UniqueViolation), attempt(conn):
        update(conn, other, "deploys")
    assert update(conn, id, "deploys")["name"] == "deploys"


@pytest.mark.parametrize(
    "name",
    ["", "A", "a b", "é", "a\n", "a.b", "a/b", "x" * 101, "\u0660", "-" * 101],
)
def test_table_rejects_invalid_names(conn, name):
    with pytest.raises(ConflictError), attempt(conn):
        insert(conn, name)
    id = add_endpoint(conn)
    with pytest.raises(ConflictError), attempt(conn):
        update(conn, id, name)


def test_longest_name_and_description_are_stored(conn):
    id = add_endpoint(conn, "x" * 100, description="é" * 1000)
    with pytest.raises(ConflictError), attempt(conn):
        update(conn, id, description="x" * 1001)
    assert len(signal_endpoints.find(conn, id)["description"]) == 1000


def test_statement_checks_the_limit(conn):
    assert insert(conn, "none", limit=0) is None
    assert insert(conn, "a", limit=2)
    assert insert(conn, "b", limit=2)
    assert insert(conn, "c", limit=2) is None
    assert insert(conn, "c", limit=3)
    assert insert(conn, "d", limit=1) is None
    assert len(signal_endpoints.list_all(conn)) == 3


def test_deleted_endpoint_does_not_count_for_the_limit(conn):
    first = insert(conn, "a", limit=1)
    assert insert(conn, "b", limit=1) is None
    assert signal_endpoints.delete(conn, first["id"]) is True
    assert signal_endpoints.delete(conn, first["id"]) is False
    assert insert(conn, "a", limit=1)["id"] != first["id"]


def test_update_replaces_all_fields_of_one_endpoint(conn):
    id = add_endpoint(conn, "a", description="d")
    other = add_endpoint(conn, "b", description="e")
    before = signal_endpoints.find(conn, id)
    row = update(conn, id, "c", None, False)
    assert row == before | {"name": "c", "description": None, "enabled": False}
    assert signal_endpoints.find(conn, id) == row
    assert signal_endpoints.find(conn, other)["description"] == "e"


def test_delete_removes_the_tokens_and_keeps_the_signals(conn):
    id, other = add_endpoint(conn, "a"), add_endpoint(conn, "b")
    add_token(conn, id)
    other_token = add_token(conn, other)
    add_signal(conn, id, endpoint="a")
    signal_endpoints.delete(conn, id)
    assert ids(signal_endpoint_tokens.list_all(conn)) == [other_token]
    assert run(conn, "SELECT count(*) FROM signals") == [(1,)]


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
