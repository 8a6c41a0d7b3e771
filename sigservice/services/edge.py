"""What relays ask: which tokens are valid."""

from __future__ import annotations

from typing import Any

from sigservice import secrets
from sigservice.db.pool import Connection
from sigservice.repository import edge


def valid_tokens(conn: Connection, tokens: list[str]) -> list[dict[str, Any]]:
    """On the wire: those of `tokens` that are ours and have not expired, each once."""
    hashes = {secrets.sha256(token): token for token in tokens}
    return [
        {
            "token": hashes[bytes(row["secret_hash"])],
            "type": row["type"],
            "projects": row["projects"],
            "environment": row["environment"],
        }
        for row in edge.list_valid_tokens(conn, list(hashes))
    ]
