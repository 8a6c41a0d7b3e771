"""Stages of flags: one function for each SQL statement."""

from sigservice.db import Connection, Row, execute, fetch_all, queries

_SQL = queries.load("flags/feature_lifecycle")


def add_reached(conn: Connection, names: list[str] | None = None) -> int:
    """Adds the stages that flags of these names, or all flags, have reached. Returns how many."""
    return execute(conn, _SQL["add_reached_stages"], names=names)


def list_stages(conn: Connection, project: str, name: str) -> list[Row]:
    """{stage, entered_at, status}, oldest first; empty for a flag that isn't in the project."""
    return fetch_all(conn, _SQL["list_stages"], project=project, name=name)


def summarize(conn: Connection, project: str | None = None) -> list[Row]:
    """{stage, flags, average_days, entered_last_30_days} of stages that any flag has entered."""
    return fetch_all(conn, _SQL["summarize_stages"], project=project)


def complete(conn: Connection, feature: str, status: str, status_value: str | None) -> bool:
    """False if it is completed already."""
    return bool(
        execute(
            conn,
            _SQL["complete_feature"],
            feature=feature,
            status=status,
            status_value=status_value,
        )
    )


def uncomplete(conn: Connection, feature: str) -> bool:
    """False if it isn't completed."""
    return bool(execute(conn, _SQL["uncomplete_feature"], feature=feature))


def restart(conn: Connection, features: list[str]) -> None:
    execute(conn, _SQL["restart_lifecycle"], features=features)
