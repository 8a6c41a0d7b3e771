"""Strategies: one function for each SQL statement."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sigservice.db import Connection, Row, execute, execute_batches, fetch_all, fetch_one, queries
from sigservice.repository.revisions import RevisionBump

_SQL = queries.load("flags/feature_strategies")


def set_segments(conn: Connection, ids: list[str], segments: list[int]) -> None:
    """Sets the segments of each strategy in `ids`."""
    execute(conn, _SQL["set_strategy_segments"], ids=ids, segments=segments)


def list_by_features(
    conn: Connection, features: list[str], environment: str | None = None
) -> list[Row]:
    return fetch_all(conn, _SQL["list_strategies"], features=features, environment=environment)


def find(conn: Connection, id: str) -> Row | None:
    """In any flag and environment."""
    return fetch_one(conn, _SQL["find_strategy"], id=id)


def insert_many(conn: Connection, items: Sequence[dict[str, Any]]) -> None:
    """`items` are strategies in the format of the API, with `feature` and `environment`."""
    execute_batches(conn, _SQL["insert_strategies"], items)


def update(conn: Connection, item: dict[str, Any]) -> None:
    """`item` is the strategy in the format of the API; its segments don't change."""
    execute(conn, _SQL["update_strategy"], item=msgspec.json.encode(item).decode())


def set_parameters(
    conn: Connection,
    id: str,
    feature: str,
    environment: str,
    parameters: Mapping[str, str],
    bump: RevisionBump,
) -> Row | None:
    """Sets some parameters, and bumps the revisions. Returns the strategy as it was."""
    return fetch_one(
        conn,
        _SQL["set_strategy_parameters"],
        id=id,
        feature=feature,
        environment=environment,
        parameters=msgspec.json.encode(parameters).decode(),
        **vars(bump),
    )


def enable_all(conn: Connection, ids: list[str]) -> int:
    """Returns how many were disabled."""
    return execute(conn, _SQL["enable_strategies"], ids=ids)


def set_sort_orders(
    conn: Connection, feature: str, environment: str, orders: dict[str, int]
) -> None:
    execute(
        conn,
        _SQL["set_sort_orders"],
        feature=feature,
        environment=environment,
        ids=list(orders),
        sort_orders=list(orders.values()),
    )


def delete(conn: Connection, id: str) -> None:
    execute(conn, _SQL["delete_strategy"], id=id)


def copy(conn: Connection, source: str, target: str, group_id: str | None) -> None:
    """`group_id` replaces the groupId of the copied strategies, unless it is None."""
    execute(conn, _SQL["copy_strategies"], source=source, target=target, group_id=group_id)
