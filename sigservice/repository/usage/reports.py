"""Reports of SDKs: the statement that stores them, and its rows."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import fetch_one_prepared

_SQL = queries.load("usage/reports")

Name = tuple[str, str, str]  # environment, SDK type of the token, application


class InstanceRow(msgspec.Struct):
    """`token_type` is the SDK type of the token; `strategies` is None or not empty."""

    position: int
    app_name: str
    instance_id: str
    environment: str
    token_type: str
    sdk_version: str | None
    sdk_type: str | None
    client_ip: str | None
    strategies: Sequence[str] | None


class UsageRow(msgspec.Struct):
    feature: str
    app_name: str
    environment: str
    token_type: str
    hour: datetime
    yes: int
    no: int


class VariantRow(msgspec.Struct):
    feature: str
    app_name: str
    environment: str
    token_type: str
    hour: datetime
    variant: str
    count: int


class Result(msgspec.Struct):
    """`dropped_instances` are (application, instance, environment), `dropped_variants` are (flag,
    environment, variant)."""

    names: set[Name]
    dropped_instances: set[tuple[str, str, str]]
    unknown_flags: set[str]
    dropped_variants: set[tuple[str, str, str]]


def store(
    conn: Connection,
    *,
    names: Iterable[Name],
    instances: Iterable[InstanceRow],
    usages: Iterable[UsageRow],
    variants: Iterable[VariantRow],
    backend_limit: int,
    frontend_limit: int,
    instance_limit: int,
) -> Result:
    """Stores what the limits allow, see the statement. The first two limits are those of names for
    each environment, `instance_limit` applies per environment, separately to the SDK type
    `frontend` and to all others."""
    row = fetch_one_prepared(
        conn,
        _SQL["store_reports"],
        names=_encode(
            {"environment": environment, "sdk_type": sdk_type, "app_name": app_name}
            for environment, sdk_type, app_name in names
        ),
        instances=_encode(instances),
        usages=_encode(usages),
        variants=_encode(variants),
        backend_limit=backend_limit,
        frontend_limit=frontend_limit,
        instance_limit=instance_limit,
    )
    assert row is not None
    lists = {name: msgspec.json.decode(text or "[]") for name, text in row.items()}
    return msgspec.convert(lists, Result)


def _encode(rows: Iterable[Any]) -> str:
    return msgspec.json.encode(list(rows)).decode()
