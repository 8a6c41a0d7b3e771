"""The rows of all tables, kept to bring them back for the next test that wants the same ones."""

from __future__ import annotations

from typing import Any

_COLUMNS = """
SELECT table_name, array_agg(quote_ident(column_name) ORDER BY ordinal_position)
FROM information_schema.columns
WHERE table_schema = 'public' AND is_generated = 'NEVER'
  AND table_name NOT IN ('roles', 'feature_types', 'schema_migrations')
GROUP BY table_name
"""


class SavedRows:
    """What a connection sees in the tables that `TemporaryDatabase.empty` empties. Sequences only
    rise, so that the IDs stay free."""

    def __init__(self, conn: Any) -> None:
        self._inserts: dict[str, str] = {}
        with conn.cursor() as cursor:
            cursor.execute(_COLUMNS)
            for table, columns in cursor.fetchall():
                values = " || ',' || ".join(f"quote_nullable({name}::text)" for name in columns)
                cursor.execute(f"SELECT string_agg('(' || {values} || ')', ',') FROM {table}")
                if text := cursor.fetchone()[0]:
                    target = f"{table} ({', '.join(columns)}) OVERRIDING SYSTEM VALUE"
                    self._inserts[table] = f"INSERT INTO {target} VALUES {text};"

    def restore(self, conn: Any) -> None:
        """Replaces the rows of its tables."""
        deletes = "".join(f"DELETE FROM {table};" for table in self._inserts)
        with conn.cursor() as cursor:
            cursor.execute(
                "BEGIN; SET LOCAL session_replication_role = replica;"
                f"{deletes} {''.join(self._inserts.values())} COMMIT"
            )
