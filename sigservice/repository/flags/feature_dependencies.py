"""Dependencies of flags: one function for each SQL statement."""

from sigservice.db import Connection, Row, execute, fetch_all, queries

_SQL = queries.load("flags/feature_dependencies")


def upsert(conn: Connection, child: str, parent: str, *, enabled: bool, variants: str) -> None:
    """Replaces the parent of the child. `variants` is JSON text."""
    execute(
        conn,
        _SQL["upsert_dependency"],
        child=child,
        parent=parent,
        enabled=enabled,
        variants=variants,
    )


def list_related(conn: Connection, features: list[str]) -> list[Row]:
    """{child, parent, enabled, variants, child_is_active} with one of these flags as either."""
    return fetch_all(conn, _SQL["list_dependencies"], features=features)


def list_possible_parents(conn: Connection, project: str, child: str) -> list[str]:
    rows = fetch_all(conn, _SQL["list_possible_parents"], project=project, child=child)
    return [row["name"] for row in rows]


def delete(conn: Connection, child: str, parent: str) -> int:
    """Returns the number of deleted rows."""
    return execute(conn, _SQL["delete_dependency"], child=child, parent=parent)


def delete_by_children(conn: Connection, features: list[str]) -> int:
    """Deletes the parents of these flags. Returns the number of deleted rows."""
    return execute(conn, _SQL["delete_dependencies_by_children"], features=features)
