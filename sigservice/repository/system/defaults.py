"""Built-in rows: one function for each SQL statement."""

from sigservice.db import Connection, execute, fetch_one, queries

_SQL = queries.load("system/defaults")


def mark_seeded(conn: Connection, instance_id: str) -> bool:
    """Whether this transaction must write the built-in rows."""
    return fetch_one(conn, _SQL["mark_seeded"], id=instance_id) is not None


def insert_built_ins(conn: Connection) -> None:
    """Environments, the project `default` with all of them, and the types that exist at first."""
    execute(conn, _SQL["insert_environments"])
    execute(conn, _SQL["insert_project"])
    execute(conn, _SQL["insert_tag_type"])
    execute(conn, _SQL["insert_context_fields"])
    execute(conn, _SQL["insert_strategy_types"])
