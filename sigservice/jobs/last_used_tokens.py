"""Writes when tokens and sessions were used last: a statement a minute, however busy they are.

What a kill cuts off is a minute's notes; the next use makes them anew.
"""

from __future__ import annotations

from sigservice.context import Context
from sigservice.repository.access import api_tokens, personal_tokens, sessions


def run_once(context: Context) -> int:
    """Routine, and so nothing worth a line in the log."""
    last_used = context.revision_cache.last_used
    if api := last_used.drain_api_tokens():
        with context.database.autocommit() as conn:
            api_tokens.mark_used(conn, api)
    if personal := last_used.drain_personal_tokens():
        with context.database.autocommit() as conn:
            personal_tokens.mark_used(conn, personal)
    if uses := last_used.drain_sessions():
        with context.database.autocommit() as conn:
            sessions.mark_used(conn, uses)
    return 0
