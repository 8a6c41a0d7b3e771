"""Connections, statements, migrations, backups, the embedded PostgreSQL. This module exports the
names that most packages need."""

from sigservice.db.pool import Connection, Database
from sigservice.db.statements import (
    Row,
    build_like_pattern,
    execute,
    execute_batches,
    fetch_all,
    fetch_one,
    fetch_row,
    fetch_value,
    limit_time,
    savepoint,
    single_transaction,
)

__all__ = [
    "Connection", "Database", "Row", "build_like_pattern", "execute", "execute_batches",
    "fetch_all", "fetch_one", "fetch_row", "fetch_value",
    "limit_time", "savepoint", "single_transaction",
]  # fmt: skip
