"""Client metrics: one function for each statement of sql/queries/client_metrics.sql.

Lists of one call have the same length: together they are the rows.
"""

from __future__ import annotations

from datetime import datetime

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.run import Row, affected, many, value

_SQL = queries.load("client_metrics")


def add(
    conn: Connection,
    *,
    features: list[str],
    app_names: list[str],
    environments: list[str],
    hours: list[datetime],
    yes: list[int],
    no: list[int],
) -> int:
    """How many rows were written; flags and environments that don't exist have none."""
    return affected(
        conn,
        _SQL["add_client_metrics"],
        features=features,
        app_names=app_names,
        environments=environments,
        hours=hours,
        yes=yes,
        no=no,
    )


def add_variants(
    conn: Connection,
    *,
    features: list[str],
    app_names: list[str],
    environments: list[str],
    hours: list[datetime],
    variants: list[str],
    counts: list[int],
) -> int:
    """How many of existing flags were dropped, because the flag has no such variant."""
    return int(
        value(
            conn,
            _SQL["add_client_metrics_variants"],
            features=features,
            app_names=app_names,
            environments=environments,
            hours=hours,
            variants=variants,
            counts=counts,
        )
    )


def list_of_feature(conn: Connection, feature: str, hours: int) -> list[Row]:
    """`variants` is JSON text, None without any."""
    return many(conn, _SQL["list_client_metrics"], feature=feature, hours=hours)


def list_hours(conn: Connection, feature: str, hours: int) -> list[Row]:
    """{environment, hour, yes, no} of the hours that have any, oldest first."""
    return many(conn, _SQL["list_client_metrics_hours"], feature=feature, hours=hours)


def list_app_names(conn: Connection, feature: str) -> list[str]:
    return [
        row["app_name"] for row in many(conn, _SQL["list_client_metrics_apps"], feature=feature)
    ]


def list_features(conn: Connection, app_names: list[str]) -> list[Row]:
    """{app_name, feature, project, environment, yes, no} of flags that there are."""
    return many(conn, _SQL["list_client_metrics_features"], app_names=app_names)


def delete_old(conn: Connection, *, hours: int, chunk: int) -> int:
    return affected(conn, _SQL["delete_old_client_metrics"], hours=hours, chunk=chunk)


def delete_old_variants(conn: Connection, *, hours: int, chunk: int) -> int:
    return affected(conn, _SQL["delete_old_client_metrics_variants"], hours=hours, chunk=chunk)
