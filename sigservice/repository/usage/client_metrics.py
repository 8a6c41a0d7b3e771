"""Client metrics: one function for each SQL statement."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all, fetch_value

_SQL = queries.load("usage/client_metrics")


def add(conn: Connection, usages: Sequence[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Returns the pairs of flag and environment that exist, which are the stored ones.

    `usages` are {feature, app_name, environment, hour, yes, no}; other keys are ignored.
    """
    rows = fetch_all(conn, _SQL["add_client_metrics"], usages=_encode(usages))
    return {(row["feature"], row["environment"]) for row in rows}


def add_variants(conn: Connection, usages: Sequence[Mapping[str, Any]]) -> int:
    """Returns how many variants were dropped because their flag doesn't have them.

    `usages` are {feature, app_name, environment, hour, variants: {name: count}}.
    """
    return int(fetch_value(conn, _SQL["add_client_metrics_variants"], usages=_encode(usages)))


def _encode(usages: Sequence[Mapping[str, Any]]) -> str:
    return msgspec.json.encode(usages).decode()


def list_for_feature(conn: Connection, feature: str, hours: int) -> list[Row]:
    """`variants` is JSON text or None."""
    return fetch_all(conn, _SQL["list_client_metrics"], feature=feature, hours=hours)


def list_hours(conn: Connection, feature: str, hours: int) -> list[Row]:
    """{environment, hour, yes, no} of the hours with metrics, oldest first."""
    return fetch_all(conn, _SQL["list_client_metrics_hours"], feature=feature, hours=hours)


def list_app_names(conn: Connection, feature: str) -> list[str]:
    return [
        row["app_name"]
        for row in fetch_all(conn, _SQL["list_client_metrics_apps"], feature=feature)
    ]


def list_features(conn: Connection, app_names: list[str]) -> list[Row]:
    """{app_name, feature, project, environment, yes, no} of existing flags."""
    return fetch_all(conn, _SQL["list_client_metrics_features"], app_names=app_names)


def delete_old(conn: Connection, *, hours: int, chunk: int) -> int:
    return execute(conn, _SQL["delete_old_client_metrics"], hours=hours, chunk=chunk)


def delete_old_variants(conn: Connection, *, hours: int, chunk: int) -> int:
    return execute(conn, _SQL["delete_old_client_metrics_variants"], hours=hours, chunk=chunk)
