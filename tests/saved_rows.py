"""The rows of all tables, kept to bring them back for the next test that wants the same ones."""

from __future__ import annotations

from typing import Any

from sigservice.testing import run_planned

_COLUMNS = """
SELECT table_name, array_agg(quote_ident(column_name) ORDER BY ordinal_position)
FROM information_schema.columns
WHERE table_schema = 'public' AND is_generated = 'NEVER'
  AND column_default IS DISTINCT FROM %s
  AND table_name NOT IN ('roles', 'feature_types', 'schema_migrations')
GROUP BY table_name
"""


class SavedRows:
    """What a connection sees in the tables that `TemporaryDatabase.empty` empties. Sequences only
    rise, so that the IDs stay free. With `are_made_now` the columns that have the time as their
    default get it when the rows are brought back."""

    def __init__(self, conn: Any, *, are_made_now: bool = False) -> None:
        self._inserts: dict[str, str] = {}
        with conn.cursor() as cursor:
            cursor.execute(_COLUMNS, ("now()" if are_made_now else "",))
            for table, columns in cursor.fetchall():
                values = " || ',' || ".join(f"quote_nullable({name}::text)" for name in columns)
                cursor.execute(f"SELECT string_agg('(' || {values} || ')', ',') FROM {table}")
                if text := cursor.fetchone()[0]:
                    target = f"{table} ({', '.join(columns)}) OVERRIDING SYSTEM VALUE"
                    self._inserts[table] = f"INSERT INTO {target} VALUES {text};"

    def restore(self, conn: Any) -> None:
        """Replaces the rows of its tables."""
        deletes = "".join(f"DELETE FROM {table};" for table in self._inserts)
        run_planned(conn, f"{deletes} {' '.join(self._inserts.values())} RETURN true;")

    def insert(self, conn: Any) -> bool:
        """Brings the rows back and returns true, if all its tables are empty."""
        conditions = " OR ".join(f"EXISTS (SELECT FROM {table})" for table in self._inserts)
        inserts = " ".join(self._inserts.values())
        return run_planned(
            conn, f"IF {conditions} THEN RETURN false; END IF; {inserts} RETURN true;"
        )

    def __bool__(self) -> bool:
        return bool(self._inserts)
