"""Reports of SDKs: the statements that store what they have in common, and their rows."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from sigservice.db import Connection, fetch_row, queries
from sigservice.db.statements import (
    Row,
    execute,
    fetch_all,
    fetch_value,
)

_SQL = queries.load("usage/reports")

Name = tuple[str, str, str]  # environment, SDK type of the token, application


class InstanceRow(msgspec.Struct):
    """`room` is the number of new instances that its environment and SDK type have room for."""

    app_name: str
    instance_id: str
    environment: str
    sdk_version: str | None
    sdk_type: str | None
    client_ip: str | None
    room: int


class UsageRow(msgspec.Struct):
    feature: str
    app_name: str
    environment: str
    hour: datetime
    yes: int
    no: int
    is_frontend: bool = False


class VariantRow(msgspec.Struct):
    feature: str
    app_name: str
    environment: str
    hour: datetime
    variant: str
    count: int
    is_frontend: bool = False


class CountsResult(msgspec.Struct):
    """What was not stored; `dropped_variants` are (flag, environment, variant)."""

    unknown_flags: set[str]
    dropped_variants: set[tuple[str, str, str]]


def list_foreign_flags(
    conn: Connection, scopes: Mapping[tuple[str, ...], Iterable[str]]
) -> list[tuple[tuple[str, ...], str]]:
    """`scopes` are names by projects. Returns (projects, name) of those names that are flags of
    other projects."""
    lists = [*scopes]
    items = [
        {"scope": scope, "projects": projects, "names": list(scopes[projects])}
        for scope, projects in enumerate(lists)
    ]
    rows = fetch_all(conn, _SQL["list_foreign_flags"], scopes=_encode(items))
    return [(lists[row["scope"]], row["name"]) for row in rows]


def store_names(
    conn: Connection, names: Iterable[Name], *, backend_limit: int, frontend_limit: int
) -> set[Name]:
    """Returns the accepted ones. The limits apply per environment."""
    rows = fetch_all(
        conn,
        _SQL["store_names"],
        names=_encode(
            {"environment": environment, "sdk_type": sdk_type, "app_name": app_name}
            for environment, sdk_type, app_name in names
        ),
        backend_limit=backend_limit,
        frontend_limit=frontend_limit,
    )
    return {(row["environment"], row["sdk_type"], row["app_name"]) for row in rows}


def store_applications(
    conn: Connection, applications: Iterable[tuple[str, Sequence[str] | None]]
) -> None:
    """Each application once with its strategies, None if it didn't report any."""
    rows = [{"app_name": name, "strategies": strategies} for name, strategies in applications]
    execute(conn, _SQL["store_applications"], applications=_encode(rows))


def count_instances(conn: Connection, environment: str, *, is_frontend: bool) -> int:
    """Of the SDK type `frontend` or of all others."""
    count: int = fetch_value(
        conn, _SQL["count_instances"], environment=environment, is_frontend=is_frontend
    )
    return count


def store_instances(conn: Connection, instances: Sequence[InstanceRow]) -> list[Row]:
    """At least the new ones of them, with `is_new`, `is_stored` and `is_frontend`; each instance
    must be there once."""
    has_room = all(instance.room >= len(instances) for instance in instances)
    statement = _SQL["store_instances"] if has_room else _SQL["store_instances_with_room"]
    return fetch_all(conn, statement, instances=_encode(instances))


def store_last_seen(conn: Connection, flags: Iterable[tuple[str, str]]) -> None:
    """`flags` are (flag, environment), each once."""
    rows = [{"feature": feature, "environment": environment} for feature, environment in flags]
    execute(conn, _SQL["store_last_seen"], flags=_encode(rows))


def store_counts(
    conn: Connection, usages: Iterable[UsageRow], variants: Sequence[VariantRow]
) -> CountsResult:
    """Most groups have no variants; the statement without them takes 65 µs less."""
    if not variants:
        rows = fetch_all(conn, _SQL["store_usages"], usages=_encode(usages))
        return CountsResult({row["feature"] for row in rows}, set())
    row = fetch_row(
        conn,
        _SQL["store_usages_with_variants"],
        usages=_encode(usages),
        variants=_encode(variants),
    )
    lists = {name: msgspec.json.decode(text or "[]") for name, text in row.items()}
    return msgspec.convert(lists, CountsResult)


def _encode(rows: Iterable[Any]) -> str:
    return msgspec.json.encode(list(rows)).decode()


def delete_orphaned_last_seen(conn: Connection, *, chunk: int) -> int:
    return execute(conn, _SQL["delete_orphaned_last_seen"], chunk=chunk)
