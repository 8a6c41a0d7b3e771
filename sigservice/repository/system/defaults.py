"""Built-in rows: one function for each SQL statement."""

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import execute, fetch_one

_SQL = queries.load("system/defaults")


def mark_seeded(conn: Connection, instance_id: str) -> bool:
    """Whether this transaction must write the built-in rows."""
    return fetch_one(conn, _SQL["mark_seeded"], id=instance_id) is not None


def insert_environments(conn: Connection) -> None:
    execute(conn, _SQL["insert_environments"])


def insert_project(conn: Connection) -> None:
    """Inserts the project `default` with all environments."""
    execute(conn, _SQL["insert_project"])


def insert_tag_type(conn: Connection) -> None:
    execute(conn, _SQL["insert_tag_type"])


def insert_context_fields(conn: Connection) -> None:
    execute(conn, _SQL["insert_context_fields"])


def insert_strategy_types(conn: Connection) -> None:
    execute(conn, _SQL["insert_strategy_types"])
