"""The validation of tokens for relays."""

from collections.abc import Mapping
from typing import Any

from sigservice.db.pool import Connection
from sigservice.repository.access import token_validation


def find_valid_tokens(conn: Connection, tokens: Mapping[bytes, str]) -> dict[bytes, dict[str, Any]]:
    """The valid ones of `tokens` (secrets by hash), by hash. Admin tokens are left out, because
    relays don't need them."""
    return {
        bytes(row["secret_hash"]): {
            "token": tokens[bytes(row["secret_hash"])],
            "type": row["type"],
            "projects": row["projects"],
            "environment": row["environment"],
        }
        for row in token_validation.list_valid_tokens(conn, list(tokens))
    }
