"""Client metrics: one function for each SQL statement."""

from collections.abc import Sequence
from dataclasses import dataclass

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, queries

_SQL = queries.load("usage/client_metrics")


@dataclass(frozen=True)
class UsageFilter:
    """Metrics of a flag in slots of `slot_hours`, in the last `hours`; None: of all applications,
    of both SDK types."""

    feature: str
    hours: int
    slot_hours: int
    app_name: str | None = None
    sdk_type: str | None = None


def list_for_feature(conn: Connection, feature: str, hours: int) -> list[Row]:
    """`variants` is JSON text or None; `frontend_yes` and `frontend_no` are parts of `yes` and
    `no`."""
    return fetch_all(conn, _SQL["list_client_metrics"], feature=feature, hours=hours)


def list_hours(conn: Connection, feature: str, hours: int) -> list[Row]:
    """{environment, hour, yes, no} of the hours with metrics, oldest first."""
    return fetch_all(conn, _SQL["list_client_metrics_hours"], feature=feature, hours=hours)


def list_slots(conn: Connection, filter: UsageFilter) -> list[Row]:
    """{environment, ago, yes, no} of the slots with metrics, oldest first; `ago` counts slots."""
    return fetch_all(conn, _SQL["list_client_metrics_slots"], **vars(filter))


def list_variant_sums(conn: Connection, filter: UsageFilter) -> list[Row]:
    """{environment, variant, count}, the most frequent first."""
    return fetch_all(conn, _SQL["list_client_metrics_variant_sums"], **vars(filter))


def list_variant_slots(conn: Connection, filter: UsageFilter) -> list[Row]:
    """{environment, ago, variant, count} of the slots of `list_slots`."""
    return fetch_all(conn, _SQL["list_client_metrics_variant_slots"], **vars(filter))


def list_app_names(conn: Connection, feature: str) -> list[str]:
    return [
        row["app_name"]
        for row in fetch_all(conn, _SQL["list_client_metrics_apps"], feature=feature)
    ]


def list_applications(conn: Connection, features: Sequence[str]) -> dict[str, list[str]]:
    """The names of the applications that have evaluated these flags, by flag."""
    rows = fetch_all(conn, _SQL["list_applications_of_features"], features=[*features])
    return {row["feature"]: row["app_names"] for row in rows}


def list_features(conn: Connection, app_names: list[str]) -> list[Row]:
    """{app_name, feature, project, environment, yes, no} of existing flags."""
    return fetch_all(conn, _SQL["list_client_metrics_features"], app_names=app_names)


def delete_old(conn: Connection, *, hours: int, chunk: int) -> int:
    return execute(conn, _SQL["delete_old_client_metrics"], hours=hours, chunk=chunk)


def delete_old_variants(conn: Connection, *, hours: int, chunk: int) -> int:
    return execute(conn, _SQL["delete_old_client_metrics_variants"], hours=hours, chunk=chunk)


def find_busiest_app(conn: Connection, feature: str, environment: str, *, hours: int) -> Row | None:
    """{app_name, count} of the application that has evaluated the flag most often."""
    return fetch_one(
        conn, _SQL["find_busiest_app"], feature=feature, environment=environment, hours=hours
    )
