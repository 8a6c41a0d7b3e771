"""API tokens: whose a secret is, and those that the configuration names at the first start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sigservice import secrets
from sigservice.db.pool import Connection
from sigservice.db.run import Row
from sigservice.repository import api_tokens
from sigservice.services import events
from sigservice.services.identity import SYSTEM_ID, Identity

_INIT = Identity(SYSTEM_ID, "init-api-tokens", frozenset())


def identify(conn: Connection, secret: str) -> Row | None:
    """{id, token_name, type, environment, projects, expires_at}; None if unknown or expired."""
    return api_tokens.find(conn, secrets.sha256(secret))


def create_initial(conn: Connection, tokens: Sequence[dict[str, Any]]) -> int:
    """Stores the configured tokens if there are none at all; returns how many it stored."""
    if not tokens:
        return 0
    api_tokens.lock(conn)
    if api_tokens.count(conn):
        return 0
    for token in tokens:
        project = token["projects"][0] if len(token["projects"]) == 1 else "[]"
        api_tokens.insert(
            conn,
            secret_hash=secrets.sha256(token["secret"]),
            secret_prefix=f"{project}:{token['environment']}",
            token_name=token["username"],
            type=token["type"],
            environment=token["environment"],
            projects=token["projects"],
        )
        shown = {key: value for key, value in token.items() if key != "secret"}
        events.record(conn, "api-token-created", _INIT, data=shown)
    return len(tokens)
