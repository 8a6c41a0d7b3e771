"""Validation of tokens: one function for each SQL statement."""

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, fetch_all

_SQL = queries.load("access/token_validation")


def list_valid_tokens(conn: Connection, secret_hashes: list[bytes]) -> list[Row]:
    """{secret_hash, type, environment, projects} of the client and frontend tokens that exist
    and haven't expired."""
    return fetch_all(conn, _SQL["list_valid_tokens"], secret_hashes=secret_hashes)
