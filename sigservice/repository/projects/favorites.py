"""Favorites of users: one function for each SQL statement."""

from sigservice.db import Connection, execute, fetch_all, queries

_SQL = queries.load("projects/favorites")


def add_feature(conn: Connection, user_id: int, feature: str) -> bool:
    """False if it is one already."""
    return bool(execute(conn, _SQL["add_favorite_feature"], user_id=user_id, feature=feature))


def remove_feature(conn: Connection, user_id: int, feature: str) -> bool:
    """False if it isn't one."""
    return bool(execute(conn, _SQL["remove_favorite_feature"], user_id=user_id, feature=feature))


def list_features(conn: Connection, user_id: int, names: list[str] | None = None) -> set[str]:
    """The favorites, all or those among `names`."""
    rows = fetch_all(conn, _SQL["list_favorite_features"], user_id=user_id, names=names)
    return {row["feature"] for row in rows}


def add_project(conn: Connection, user_id: int, project: str) -> bool:
    """False if it is one already."""
    return bool(execute(conn, _SQL["add_favorite_project"], user_id=user_id, project=project))


def remove_project(conn: Connection, user_id: int, project: str) -> bool:
    """False if it isn't one."""
    return bool(execute(conn, _SQL["remove_favorite_project"], user_id=user_id, project=project))


def list_projects(conn: Connection, user_id: int) -> set[str]:
    rows = fetch_all(conn, _SQL["list_favorite_projects"], user_id=user_id)
    return {row["project"] for row in rows}
