"""The rows of all tables, kept to bring them back for the next test that wants the same ones."""

from __future__ import annotations

import io
from typing import Any

_TABLES = (
    "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = 'public' "
    "AND tablename NOT IN ('roles', 'feature_types', 'schema_migrations')"
)
_SEQUENCES = (
    "SELECT format('%I.%I', schemaname, sequencename), last_value FROM pg_sequences "
    "WHERE last_value IS NOT NULL"
)


class SavedRows:
    """What a connection sees in the tables that `TemporaryDatabase.empty` empties."""

    def __init__(self, conn: Any) -> None:
        self._tables: dict[str, bytes] = {}
        with conn.cursor() as cursor:
            cursor.execute(_TABLES)
            for (table,) in cursor.fetchall():
                rows = io.BytesIO()
                cursor.copy_expert(f"COPY {table} TO STDOUT", rows)
                if rows.tell():
                    self._tables[table] = rows.getvalue()
            cursor.execute(_SEQUENCES)
            self._sequences = cursor.fetchall()

    def restore(self, conn: Any) -> None:
        """Replaces the rows that a service has stored in them since they were emptied."""
        with conn.cursor() as cursor:
            cursor.execute("BEGIN; SET LOCAL session_replication_role = replica")
            cursor.execute("".join(f"DELETE FROM {table};" for table in self._tables))
            for table, rows in self._tables.items():
                cursor.copy_expert(f"COPY {table} FROM STDIN", io.BytesIO(rows))
            values = "".join(f"SELECT setval('{name}', {n});" for name, n in self._sequences)
            cursor.execute(values + "COMMIT")
