"""What relays ask: which tokens are valid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sigservice.db.pool import Connection
from sigservice.repository.access import token_validation


def find_valid_tokens(conn: Connection, tokens: Mapping[bytes, str]) -> dict[bytes, dict[str, Any]]:
    """By hash, on the wire: those of `tokens` (hash: secret) that are ours and have not expired.

    Never an admin token: a relay has no use for one.
    """
    return {
        bytes(row["secret_hash"]): {
            "token": tokens[bytes(row["secret_hash"])],
            "type": row["type"],
            "projects": row["projects"],
            "environment": row["environment"],
        }
        for row in token_validation.list_valid_tokens(conn, list(tokens))
    }
