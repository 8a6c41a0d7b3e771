"""Projects: one function for each SQL statement."""

from collections.abc import Sequence
from typing import Any

from sigservice.db import (
    Connection,
    Row,
    execute,
    execute_batches,
    fetch_all,
    fetch_one,
    fetch_value,
    queries,
)

_SQL = queries.load("projects/projects")


def list_all(conn: Connection) -> list[Row]:
    """By name, with the number of flags and members."""
    return fetch_all(conn, _SQL["list_projects"], id=None)


def find(conn: Connection, id: str) -> Row | None:
    """As in `list_all`."""
    return fetch_one(conn, _SQL["list_projects"], id=id)


def exists(conn: Connection, id: str) -> bool:
    return bool(fetch_value(conn, _SQL["exists_project"], id=id))


def find_feature_naming(conn: Connection, id: str) -> Row | None:
    """{feature_naming}, None if there is no such project."""
    return fetch_one(conn, _SQL["find_feature_naming"], id=id)


def list_names(conn: Connection) -> list[Row]:
    """{id, name} of each project, by name. The counts of `list_all` read all flags."""
    return fetch_all(conn, _SQL["list_project_names"])


def list_ids(conn: Connection) -> set[str]:
    return {row["id"] for row in list_names(conn)}


def count_feature_types(conn: Connection, id: str) -> list[Row]:
    """{type, count} of the flags that are not archived."""
    return fetch_all(conn, _SQL["count_feature_types"], id=id)


def list_segments(conn: Connection, id: str) -> list[str]:
    """Names of the segments that belong to the project."""
    return [row["name"] for row in fetch_all(conn, _SQL["list_segments_of_project"], id=id)]


def put(conn: Connection, items: Sequence[Any]) -> None:
    """Inserts or replaces the projects, which are encoded as JSON, without their settings."""
    execute_batches(conn, _SQL["put_projects"], items)


def update_settings(
    conn: Connection, id: str, *, mode: str, feature_naming: str | None, link_templates: str
) -> None:
    execute(
        conn,
        _SQL["update_project_settings"],
        id=id,
        mode=mode,
        feature_naming=feature_naming,
        link_templates=link_templates,
    )


def list_confirming(conn: Connection) -> set[str]:
    """The IDs of the projects whose pages ask before they switch a flag in production."""
    return {row["id"] for row in fetch_all(conn, _SQL["list_confirming_projects"])}


def set_confirmation(conn: Connection, id: str, confirms: bool) -> None:
    execute(conn, _SQL["set_confirmation"], id=id, confirms=confirms)


def delete_archived_features(conn: Connection, id: str) -> list[str]:
    """Returns their names. Raises ConflictError if another flag depends on one of them."""
    return [row["name"] for row in fetch_all(conn, _SQL["delete_archived_features"], id=id)]


def delete_action_sets(conn: Connection, id: str) -> list[Row]:
    """Returns their {id, name}."""
    return fetch_all(conn, _SQL["delete_action_sets"], id=id)


def delete(conn: Connection, id: str) -> None:
    execute(conn, _SQL["delete_project"], id=id)


def count_flags(conn: Connection, project: str) -> Row:
    """{features, stale, potentially_stale, api_tokens, segments}"""
    return fetch_all(conn, _SQL["count_for_status"], project=project)[0]


def count_events_by_day(conn: Connection, project: str) -> list[Row]:
    """{day, events} of the last year, oldest first."""
    return fetch_all(conn, _SQL["count_events_by_day"], project=project)
