"""At least one row in each table, with values that satisfy the checks and foreign keys."""

from __future__ import annotations

from typing import Any

VALUES = {
    "bool": "true",
    "bytea": "'\\x00ff'",
    "date": "'2026-03-04'",
    "float8": "0.1",
    "int4": "1",
    "int8": "1",
    "json": """'{"b": 1,  "a": "\u00fc\\u00fc\\n"}'""",
    "jsonb": """'{"b": 1, "a": "\u00fc\\\\"}'""",
    "numeric": "1.50",
    "text": "'xx'",
    "timestamptz": "'2026-03-04 05:06:07.123456+00'",
    "uuid": "'f3f9b0a2-a45d-467f-9f52-16c4be3be0a0'",
    "_float8": "'{0.1,NaN}'",
    "_int4": "'{1}'",
    "_int8": "'{1}'",
    "_text": """'{a,"b\\"c",NULL}'""",
}
CHOICES = {
    ("action_runs", "cause"): "'signal'",
    ("action_runs", "state"): "'success'",
    ("alert_rules", "guard_id"): "NULL",
    ("alert_rules", "state"): "'ok'",
    ("api_tokens", "type"): "'client'",
    ("client_application_environments", "sdk_type"): "'backend'",
    ("feature_stages", "stage"): "'live'",
    ("feature_stages", "status"): "'kept'",
    ("impact_groups", "sdk_type"): "'backend'",
    ("impact_groups", "type"): "'gauge'",
    ("impact_series", "sdk_type"): "'backend'",
    ("impact_series", "type"): "'gauge'",
    ("mails", "kind"): "'welcome'",
    ("release_guards", "kind"): "'signal'",
    ("release_guards", "state"): "'ok'",
    ("releases", "held_by"): "'guard'",
    ("releases", "state"): "'held'",
    ("signal_endpoint_tokens", "type"): "'bearer'",
    ("users", "account_type"): "'user'",
    ("users", "email"): "'x@example.com'",
}
COLUMNS = """
    SELECT c.relname, array_agg(ARRAY[a.attname, t.typname]::text[] ORDER BY a.attnum)
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
    AND NOT a.attisdropped AND a.attidentity = '' AND a.attgenerated = ''
    AND c.relname NOT IN ('schema_migrations', 'roles') GROUP BY 1
"""


def fill_tables(conn: Any) -> None:
    """Inserts a row into each table of the schema `public`."""
    with conn.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # without foreign keys
        cursor.execute(COLUMNS)
        for table, columns in cursor.fetchall():
            names = ", ".join(f'"{name}"' for name, _ in columns)
            values = ", ".join(CHOICES.get((table, name), VALUES[kind]) for name, kind in columns)
            cursor.execute(f"INSERT INTO {table} ({names}) VALUES ({values})")
        cursor.execute("RESET session_replication_role")


def read_tables(conn: Any) -> dict[str, list[str]]:
    """All rows of each table as text, sorted."""
    with conn.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        names = [name for (name,) in cursor.fetchall()]
        rows = {}
        for name in names:
            cursor.execute(f"SELECT (r.*)::text FROM {name} AS r ORDER BY 1")
            rows[name] = [text for (text,) in cursor.fetchall()]
        return rows
