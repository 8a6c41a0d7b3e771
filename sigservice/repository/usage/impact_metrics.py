"""Impact metrics: one function for each SQL statement."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from sigservice.db import Connection, Row, execute, fetch_all, fetch_value, queries

_SQL = queries.load("usage/impact_metrics")


class WindowRow(msgspec.Struct):
    """What a series received in the `seconds` (60 or 3600) from `starts_at` on, by reports of the
    time from `covers_from` to `covers_to`. `value` is the last value of a gauge, `total` the sum of
    its `samples` values."""

    seconds: int
    starts_at: datetime
    covers_from: datetime
    covers_to: datetime
    value: float
    count: float
    total: float
    samples: float
    buckets: list[float]


class SliceItem(msgspec.Struct):
    """Windows of `seconds` of a metric that start from `since` on, before `until`."""

    id: int
    metric: str
    environment: str
    types: Sequence[str]
    app_name: str | None
    labels: dict[str, str]
    seconds: int
    since: datetime
    until: datetime


class SeriesRow(msgspec.Struct):
    """What `samples` samples of one series add. `group_key` is of the series that differ in their
    labels only. `value` is the last value of a gauge, the amount of
    a counter, the sum of a histogram, whose `buckets` are counts up to each of the `bounds`."""

    key: UUID
    group_key: UUID
    sdk_type: str
    environment: str
    app_name: str
    name: str
    type: str
    help: str
    labels: dict[str, str]
    bounds: Sequence[float]
    value: float
    count: float
    buckets: Sequence[float]
    samples: int
    windows: Sequence[WindowRow]


def store_samples(
    conn: Connection,
    samples: Iterable[SeriesRow],
    *,
    limit: int,
    app_limit: int,
    bounds_limit: int,
) -> int:
    """Each key once. Returns how many samples were dropped, because their series are new and exceed
    a limit: `app_limit` of an application, `limit` of an SDK type, `bounds_limit` of the different
    bounds of a metric that frontend SDKs of an application report."""
    dropped: int = fetch_value(
        conn,
        _SQL["store_impact_samples"],
        samples=msgspec.json.encode(list(samples)).decode(),
        limit=limit,
        app_limit=app_limit,
        bounds_limit=bounds_limit,
    )
    return dropped


class StopsRow(msgspec.Struct):
    """The ends of the last reports of an instance, by the name of the metric."""

    app_name: str
    instance_id: str
    environment: str
    stops: dict[str, datetime]


def list_stops(conn: Connection, instances: Iterable[tuple[str, str, str]]) -> list[Row]:
    """{app_name, instance_id, environment, impact_stops} of those instances (application, instance,
    environment) that exist; `impact_stops` is JSON text."""
    text = msgspec.json.encode([*instances]).decode()
    return fetch_all(conn, _SQL["list_impact_stops"], instances=text)


def store_stops(conn: Connection, rows: Sequence[StopsRow]) -> None:
    """Each instance once."""
    execute(conn, _SQL["store_impact_stops"], items=msgspec.json.encode(rows).decode())


def list_series(conn: Connection) -> list[Row]:
    """`labels` is JSON text."""
    return fetch_all(conn, _SQL["list_impact_series"])


def list_windows(
    conn: Connection, label: str, *, seconds: int, windows: int, limit: int
) -> list[Row]:
    """{environment, name, type, app_name, sdk_type, variant, starts_at, help, value, count} of the
    last windows of `seconds` (60 or 3600), of at most `limit` series."""
    return fetch_all(
        conn,
        _SQL["list_impact_windows"],
        label=label,
        seconds=seconds,
        windows=windows,
        limit=limit,
    )


def list_slices(conn: Connection, items: Sequence[SliceItem]) -> list[Row]:
    """{id, seconds, starts_at, covers_from, covers_to, total, samples} of each window, oldest
    first."""
    return fetch_all(conn, _SQL["list_impact_slices"], items=msgspec.json.encode(items).decode())


def list_bucket_counts(conn: Connection, items: Sequence[SliceItem]) -> list[Row]:
    """{id, seconds, starts_at, bound, count} of each window and bound; the counts aren't
    cumulative."""
    return fetch_all(
        conn, _SQL["list_impact_bucket_counts"], items=msgspec.json.encode(items).decode()
    )


def delete_old_windows(conn: Connection, *, seconds: int, hours: int, chunk: int) -> int:
    return execute(
        conn, _SQL["delete_old_impact_windows"], seconds=seconds, hours=hours, chunk=chunk
    )


def delete_orphaned_series(conn: Connection, *, chunk: int) -> int:
    return execute(conn, _SQL["delete_orphaned_impact_series"], chunk=chunk)


def delete_orphaned_groups(conn: Connection, *, chunk: int) -> int:
    return execute(conn, _SQL["delete_orphaned_impact_groups"], chunk=chunk)


def list_names(conn: Connection, *, limit: int) -> list[Row]:
    """{name, type} of the first metrics by name."""
    return fetch_all(conn, _SQL["list_impact_metric_names"], limit=limit)
