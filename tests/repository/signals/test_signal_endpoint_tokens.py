"""Tokens of signal endpoints: each belongs to one endpoint."""

from __future__ import annotations

import threading

import pytest

from sigservice.repository.signals import signal_endpoint_tokens, signal_endpoints
from tests.repository.kit import (
    add_endpoint,
    add_token,
    ids,
    run,
    secret_values,
    token_values,
)
from tests.waiting import DEADLINE_SECONDS


def insert(conn, endpoint_id, name="ci", secret_hash=None, limit=100):
    digest = secret_hash or f"{endpoint_id}/{name}".encode()
    id = signal_endpoint_tokens.insert(
        conn,
        endpoint_id,
        token_values(name),
        secret_values(digest) | {"secret_prefix": "signal_abcd"},
        type="bearer",
        created_by_user_id=-42,
        limit=limit,
    )
    return None if id is None else signal_endpoint_tokens.find(conn, endpoint_id, id)


def rename(conn, endpoint_id, id, name):
    return signal_endpoint_tokens.update(conn, endpoint_id, id, token_values(name))


@pytest.fixture
def two(conn):
    """The IDs of the endpoints `a` and `b`."""
    return add_endpoint(conn, "a"), add_endpoint(conn, "b")


def test_lists_are_in_order_of_ids(conn, two):
    token_ids = [add_token(conn, two[n % 2], name) for n, name in enumerate("zaybx")]
    assert ids(signal_endpoint_tokens.list_all(conn)) == token_ids
    assert ids(signal_endpoint_tokens.list_for_endpoint(conn, two[0])) == token_ids[::2]
    assert ids(signal_endpoint_tokens.list_for_endpoint(conn, two[1])) == token_ids[1::2]


def test_token_of_another_endpoint_is_not_found_renamed_or_deleted(conn, two):
    a, b = two
    id = add_token(conn, a)
    assert signal_endpoint_tokens.find(conn, b, id) is None
    assert rename(conn, b, id, "mine") is False
    assert signal_endpoint_tokens.delete(conn, b, id) is False
    assert signal_endpoint_tokens.find(conn, a, id)["name"] == "ci"


def test_statement_checks_the_limit_of_each_endpoint(conn, two):
    a, b = two
    assert insert(conn, a, "0", limit=0) is None
    assert insert(conn, a, "1", limit=2)
    assert insert(conn, a, "2", limit=2)
    assert insert(conn, a, "3", limit=2) is None
    assert insert(conn, b, "3", limit=2)
    assert len(signal_endpoint_tokens.list_for_endpoint(conn, a)) == 2


def test_concurrent_creations_do_not_exceed_the_limit(pool):
    rows, together = [], threading.Barrier(5)
    with pool.autocommit() as conn:
        id = add_endpoint(conn)

    def create(n):
        together.wait(DEADLINE_SECONDS)
        with pool.transaction() as conn:
            signal_endpoints.lock(conn, id)
            rows.append(insert(conn, id, f"t{n}", limit=3))

    threads = [threading.Thread(target=create, args=(n,)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(row is None for row in rows) == [False] * 3 + [True] * 2
    with pool.autocommit() as conn:
        assert run(conn, "SELECT count(*) FROM signal_endpoint_tokens") == [(3,)]


def test_encrypted_secrets_are_listed_in_the_order_of_their_ids(conn, two):
    """Including a token of which only the previous secret is encrypted."""
    tokens = [insert(conn, two[0], name)["id"] for name in ("a", "b", "c", "plain")]
    for column, id in (("encrypted", tokens[2]), ("previous_encrypted", tokens[1])):
        run(
            conn,
            f"UPDATE signal_endpoint_tokens SET {column}_secret = 'x' WHERE id = %s",
            id,
        )
    run(
        conn,
        "UPDATE signal_endpoint_tokens SET encrypted_secret = 'x' WHERE id = %s",
        tokens[0],
    )
    assert ids(signal_endpoint_tokens.list_encrypted(conn)) == tokens[:3]
