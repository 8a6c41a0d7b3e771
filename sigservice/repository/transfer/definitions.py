"""Flags and definitions in bulk, for export and import: one function for each SQL statement.

`items` are objects or structs with the member names of snapshots; they are encoded here.
"""

from collections.abc import Sequence
from typing import Any

from sigservice.db import Connection, Row, execute, execute_batches, fetch_all, queries

_SQL = queries.load("transfer/definitions")
Items = Sequence[Any]


def list_project_environments(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_project_environments"])


def list_segments(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_segments"])


def list_feature_locations(conn: Connection) -> list[Row]:
    """{name, project, archived, parent} of each flag."""
    return fetch_all(conn, _SQL["list_feature_locations"])


def list_features(conn: Connection, names: list[str] | None = None) -> list[Row]:
    """All flags if `names` is None."""
    return fetch_all(conn, _SQL["list_features"], names=names)


def list_feature_names(
    conn: Connection, *, project: str | None = None, tag: str | None = None
) -> list[str]:
    rows = fetch_all(conn, _SQL["list_feature_names"], project=project, tag=tag)
    return [row["name"] for row in rows]


def list_holds(conn: Connection, names: list[str]) -> list[Row]:
    """{feature, environment, reason, since}: what holds the states of these flags, one row for each
    flag and environment. `reason` is release, alert or schedule; `since` is when that is due."""
    return fetch_all(conn, _SQL["list_feature_holds"], names=names)


def list_states(conn: Connection, names: list[str]) -> list[Row]:
    return fetch_all(conn, _SQL["list_states"], names=names)


def list_used_strategy_ids(conn: Connection, ids: list[str]) -> set[str]:
    return {row["id"] for row in fetch_all(conn, _SQL["list_used_strategy_ids"], ids=ids)}


def put_project_environments(conn: Connection, items: Items) -> None:
    """{project, environment, strategy}"""
    execute_batches(conn, _SQL["put_project_environments"], items)


def delete_project_environments(conn: Connection, items: Items) -> None:
    """{project, environment}"""
    execute_batches(conn, _SQL["delete_project_environments"], items)


def put_states(conn: Connection, items: Items) -> None:
    """{feature, environment, enabled, variants}"""
    execute_batches(conn, _SQL["put_states"], items)


def delete_strategies(conn: Connection, items: Items) -> None:
    """Deletes all strategies of each {feature, environment}."""
    execute_batches(conn, _SQL["delete_strategies"], items)


def insert_strategy_segments(conn: Connection, items: Items) -> None:
    """{strategy (id), segment (name)}"""
    execute_batches(conn, _SQL["insert_strategy_segments"], items)


def put_feature_tags(conn: Connection, items: Items) -> None:
    """{feature, type, value}"""
    execute_batches(conn, _SQL["put_feature_tags"], items)


def delete_feature_tags(conn: Connection, items: Items) -> None:
    """{feature, type, value}"""
    execute_batches(conn, _SQL["delete_feature_tags"], items)


def analyze_flags(conn: Connection) -> None:
    execute(conn, _SQL["analyze_flags"])


def put_dependencies(conn: Connection, items: Items) -> None:
    """{child, parent, enabled, variants}"""
    execute_batches(conn, _SQL["put_dependencies"], items)


def lift_timeouts(conn: Connection) -> None:
    """No statement and no pause of this transaction ends it."""
    execute(conn, _SQL["lift_timeouts"])
