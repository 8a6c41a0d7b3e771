"""Service accounts: statements that never reach a person."""

from __future__ import annotations

from sigservice.repository.access import service_accounts, users
from tests.repository.kit import EDITOR_ROLE, add_user, is_locked_out


def add(conn, username="robot"):
    return service_accounts.insert(conn, username=username, name=None, role_id=EDITOR_ROLE)


def test_users_are_not_service_accounts(conn):
    ada, robot = add_user(conn), add(conn)
    for id in (ada, robot):
        service_accounts.update(conn, id, username=f"new{id}", name="New", role_id=1)
    assert users.find(conn, ada)["username"] == "ada"
    assert service_accounts.find(conn, robot)["username"] == f"new{robot}"
    assert service_accounts.delete(conn, ada) is False
    assert service_accounts.delete(conn, robot) is True
    assert service_accounts.list_all(conn) == []


def test_a_locked_account_waits(pool):
    with pool.autocommit() as conn:
        robot = add(conn)
    with pool.transaction() as first:
        service_accounts.lock(first, robot)
        assert is_locked_out(pool, lambda conn: service_accounts.lock(conn, robot))
    assert not is_locked_out(pool, lambda conn: service_accounts.delete(conn, robot))
