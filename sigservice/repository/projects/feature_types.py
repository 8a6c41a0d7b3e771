"""Flag types: one function for each SQL statement."""

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all

_SQL = queries.load("projects/feature_types")


def list_all(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_feature_types"])


def set_lifetime(conn: Connection, id: str, days: int | None) -> None:
    execute(conn, _SQL["set_feature_type_lifetime"], id=id, days=days)
