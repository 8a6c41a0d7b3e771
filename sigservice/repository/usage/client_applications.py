"""Applications: one function for each SQL statement."""

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, fetch_value, queries

_SQL = queries.load("usage/client_applications")


def list_page(conn: Connection, *, pattern: str | None, limit: int, offset: int = 0) -> list[Row]:
    """In order of their names, with the number of instances, environments and SDK versions."""
    return fetch_all(
        conn, _SQL["list_client_applications"], pattern=pattern, limit=limit, offset=offset
    )


def count(conn: Connection, *, pattern: str | None) -> int:
    return int(fetch_value(conn, _SQL["count_client_applications"], pattern=pattern))


def find(conn: Connection, app_name: str) -> Row | None:
    return fetch_one(conn, _SQL["find_client_application"], app_name=app_name)


def list_instances(
    conn: Connection, app_name: str, *, environment: str | None, limit: int
) -> list[Row]:
    return fetch_all(
        conn,
        _SQL["list_client_instances"],
        app_name=app_name,
        environment=environment,
        limit=limit,
    )


def summarize_instances(conn: Connection, app_name: str) -> list[Row]:
    """{environment, instances, last_seen, frontend_sdks, backend_sdks}."""
    return fetch_all(conn, _SQL["summarize_client_instances"], app_name=app_name)


def delete(conn: Connection, app_name: str) -> bool:
    """Deletes the instances and impact metrics too; its other metrics expire."""
    return execute(conn, _SQL["delete_client_application"], app_name=app_name) > 0


def delete_old_instances(conn: Connection, *, days: int, chunk: int) -> int:
    return execute(conn, _SQL["delete_old_client_instances"], days=days, chunk=chunk)


def delete_old(conn: Connection, *, days: int, chunk: int) -> int:
    return execute(conn, _SQL["delete_old_client_applications"], days=days, chunk=chunk)


def delete_old_names(conn: Connection, *, days: int, chunk: int) -> int:
    """Deletes accepted names that weren't reported for `days`, so that others are accepted."""
    return execute(conn, _SQL["delete_old_client_application_environments"], days=days, chunk=chunk)
