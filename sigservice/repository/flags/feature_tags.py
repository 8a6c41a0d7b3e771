"""Tags on flags: one function for each SQL statement."""

from sigservice.db import Connection, Row, fetch_all, queries

_SQL = queries.load("flags/feature_tags")
Tag = tuple[str, str]


def add(conn: Connection, features: list[str], tags: list[Tag]) -> list[Row]:
    """Returns {feature, type, value} of the new ones. The types must exist."""
    types, values = [tag[0] for tag in tags], [tag[1] for tag in tags]
    return fetch_all(conn, _SQL["add_feature_tags"], features=features, types=types, values=values)


def remove(conn: Connection, features: list[str], tags: list[Tag]) -> list[Row]:
    """Returns {feature, type, value} of the removed ones."""
    types, values = [tag[0] for tag in tags], [tag[1] for tag in tags]
    return fetch_all(
        conn, _SQL["delete_feature_tags"], features=features, types=types, values=values
    )


def list_by_features(conn: Connection, features: list[str]) -> list[Row]:
    return fetch_all(conn, _SQL["list_feature_tags"], features=features)


def list_missing_types(conn: Connection, types: list[str]) -> list[str]:
    return [row["type"] for row in fetch_all(conn, _SQL["list_missing_tag_types"], types=types)]
