"""Applications: one function for each SQL statement."""

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all, fetch_one, fetch_value

_SQL = queries.load("usage/client_applications")


def accept_names(
    conn: Connection, *, environments: list[str], app_names: list[str], sdk_type: str, limit: int
) -> set[tuple[str, str]]:
    """The accepted pairs of environment and application; `limit` applies per environment."""
    rows = fetch_all(
        conn,
        _SQL["accept_client_applications"],
        environments=environments,
        app_names=app_names,
        sdk_type=sdk_type,
        limit=limit,
    )
    return {(row["environment"], row["app_name"]) for row in rows}


def upsert(
    conn: Connection,
    *,
    app_names: list[str],
    environments: list[str],
    strategies: list[str | None],
) -> int:
    """`strategies` are JSON lists, None for an application that reported none."""
    return execute(
        conn,
        _SQL["upsert_client_applications"],
        app_names=app_names,
        environments=environments,
        strategies=strategies,
    )


def upsert_instances(
    conn: Connection,
    *,
    app_names: list[str],
    instance_ids: list[str],
    environments: list[str],
    sdk_versions: list[str | None],
    sdk_types: list[str | None],
    client_ip: str | None,
    limit: int,
) -> int:
    """Returns how many were dropped. `limit` applies per environment, separately to the SDK type
    `frontend` and to all others."""
    return int(
        fetch_value(
            conn,
            _SQL["upsert_client_instances"],
            app_names=app_names,
            instance_ids=instance_ids,
            environments=environments,
            sdk_versions=sdk_versions,
            sdk_types=sdk_types,
            client_ip=client_ip,
            limit=limit,
        )
    )


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
    """Deletes the instances too; its metrics expire."""
    return execute(conn, _SQL["delete_client_application"], app_name=app_name) > 0


def delete_old_instances(conn: Connection, *, days: int, chunk: int) -> int:
    return execute(conn, _SQL["delete_old_client_instances"], days=days, chunk=chunk)


def delete_old(conn: Connection, *, days: int, chunk: int) -> int:
    return execute(conn, _SQL["delete_old_client_applications"], days=days, chunk=chunk)


def delete_old_names(conn: Connection, *, days: int, chunk: int) -> int:
    """Deletes accepted names that weren't reported for `days`, so that others are accepted."""
    return execute(conn, _SQL["delete_old_client_application_environments"], days=days, chunk=chunk)
