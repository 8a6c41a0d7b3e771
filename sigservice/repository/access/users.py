"""Users and roles: one function for each SQL statement."""

from collections.abc import Sequence

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, fetch_value, queries

_SQL = queries.load("access/users")


def count(conn: Connection) -> int:
    return int(fetch_value(conn, _SQL["count_users"]))


def exists_default_password(conn: Connection) -> bool:
    """Whether any user still has the default password."""
    return bool(fetch_value(conn, _SQL["exists_default_password"]))


def lock(conn: Connection) -> None:
    execute(conn, _SQL["lock_users"])


def lock_user(conn: Connection, id: int) -> Row | None:
    """{id, account_type, username, email, password_hash}, locked until the transaction ends."""
    return fetch_one(conn, _SQL["lock_user"], id=id)


def insert(
    conn: Connection,
    *,
    username: str | None,
    email: str | None,
    name: str | None,
    role_id: int,
    password_hash: str | None,
    has_default_password: bool = False,
) -> int:
    """The new ID; raises UniqueViolation (users_username_key, users_email_key)."""
    return int(
        fetch_value(
            conn,
            _SQL["insert_user"],
            username=username,
            email=email,
            name=name,
            role_id=role_id,
            password_hash=password_hash,
            has_default_password=has_default_password,
        )
    )


def find(conn: Connection, id: int) -> Row | None:
    return fetch_one(conn, _SQL["find_user"], id=id)


def find_by_login(conn: Connection, login: str) -> Row | None:
    """Finds a user by email if the login contains @, else by username, in any case."""
    return fetch_one(conn, _SQL["find_user_by_login"], login=login)


def find_oldest_admin(conn: Connection) -> Row | None:
    id = fetch_value(conn, _SQL["find_oldest_admin_id"])
    return None if id is None else find(conn, id)


def list_all(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_users"])


def list_by_logins(conn: Connection, logins: Sequence[str]) -> list[Row]:
    """{username, email, role_id, has_password} of the users with one of these lower-case logins."""
    return fetch_all(conn, _SQL["list_users_by_logins"], logins=list(logins))


def search(conn: Connection, text: str, *, limit: int) -> list[Row]:
    """{id, username, email, name, role_id} of users with `text` in one of these names."""
    return fetch_all(conn, _SQL["search_users"], text=text, limit=limit)


def count_admins(conn: Connection) -> Row:
    """{password, no_password, service}."""
    return fetch_all(conn, _SQL["count_admins"])[0]


def count_other_admins(conn: Connection, id: int) -> int:
    return int(fetch_value(conn, _SQL["count_other_admins"], id=id))


def update(
    conn: Connection,
    id: int,
    *,
    username: str | None,
    email: str | None,
    name: str | None,
    role_id: int,
) -> None:
    """Raises UniqueViolation."""
    execute(
        conn, _SQL["update_user"], id=id, username=username, email=email, name=name, role_id=role_id
    )


def update_password(conn: Connection, id: int, *, password_hash: str) -> None:
    """It is no default password."""
    execute(conn, _SQL["update_password"], id=id, password_hash=password_hash)


def replace_hash(conn: Connection, id: int, *, old_hash: str, new_hash: str) -> bool:
    """False if the password was changed meanwhile."""
    return execute(conn, _SQL["replace_hash"], id=id, old_hash=old_hash, new_hash=new_hash) > 0


def record_sign_in(conn: Connection, id: int, verified_hash: str | None = None) -> bool:
    """False if the user is deleted, or `verified_hash` is no longer the password hash."""
    return execute(conn, _SQL["record_sign_in"], id=id, verified_hash=verified_hash) > 0


def delete(conn: Connection, id: int) -> bool:
    return execute(conn, _SQL["delete_user"], id=id) > 0


def list_roles(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_roles"])


def add_current_password(conn: Connection, user_id: int) -> None:
    """Adds the current hash; does nothing without a password."""
    execute(conn, _SQL["add_current_password"], user_id=user_id)


def delete_surplus_passwords(conn: Connection, user_id: int, *, keep: int) -> int:
    return execute(conn, _SQL["delete_surplus_passwords"], user_id=user_id, keep=keep)


def list_password_hashes(conn: Connection, user_id: int) -> list[str]:
    """The hashes of the current password and the former ones."""
    rows = fetch_all(conn, _SQL["list_passwords"], user_id=user_id)
    return [row["password_hash"] for row in rows]
