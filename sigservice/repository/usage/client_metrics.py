"""Client metrics: one function for each SQL statement."""

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all

_SQL = queries.load("usage/client_metrics")


def list_for_feature(conn: Connection, feature: str, hours: int) -> list[Row]:
    """`variants` is JSON text or None; `frontend_yes` and `frontend_no` are parts of `yes` and
    `no`."""
    return fetch_all(conn, _SQL["list_client_metrics"], feature=feature, hours=hours)


def list_hours(conn: Connection, feature: str, hours: int) -> list[Row]:
    """{environment, hour, yes, no} of the hours with metrics, oldest first."""
    return fetch_all(conn, _SQL["list_client_metrics_hours"], feature=feature, hours=hours)


def list_slots(
    conn: Connection,
    feature: str,
    *,
    hours: int,
    slot_hours: int,
    app_name: str | None,
    sdk_type: str | None,
) -> list[Row]:
    """{environment, ago, yes, no} of the slots with metrics in the last `hours`, oldest first.
    `ago` counts slots; `app_name` None: of all applications; `sdk_type` None: of both."""
    return fetch_all(
        conn,
        _SQL["list_client_metrics_slots"],
        feature=feature,
        hours=hours,
        slot_hours=slot_hours,
        app_name=app_name,
        sdk_type=sdk_type,
    )


def list_variant_sums(
    conn: Connection, feature: str, *, hours: int, app_name: str | None, sdk_type: str | None
) -> list[Row]:
    """{environment, variant, count}, the most frequent first."""
    return fetch_all(
        conn,
        _SQL["list_client_metrics_variant_sums"],
        feature=feature,
        hours=hours,
        app_name=app_name,
        sdk_type=sdk_type,
    )


def list_variant_slots(
    conn: Connection,
    feature: str,
    *,
    hours: int,
    slot_hours: int,
    app_name: str | None,
    sdk_type: str | None,
) -> list[Row]:
    """{environment, ago, variant, count} of the slots of `list_slots`."""
    return fetch_all(
        conn,
        _SQL["list_client_metrics_variant_slots"],
        feature=feature,
        hours=hours,
        slot_hours=slot_hours,
        app_name=app_name,
        sdk_type=sdk_type,
    )


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
