"""Stores when tokens and sessions were last used, once a minute.

A kill loses the times of the last minute.
"""

from sigservice.context import Context
from sigservice.repository.access import api_tokens, personal_tokens, sessions
from sigservice.repository.signals import signal_endpoint_tokens


def run_once(context: Context) -> int:
    """Returns 0, so that nothing is logged."""
    last_used = context.last_used
    if api := last_used.drain_api_tokens():
        with context.database.autocommit() as conn:
            api_tokens.mark_used(conn, api)
    if personal := last_used.drain_personal_tokens():
        with context.database.autocommit() as conn:
            personal_tokens.mark_used(conn, personal)
    if uses := last_used.drain_sessions():
        with context.database.autocommit() as conn:
            sessions.mark_used(conn, uses)
    if signal_uses := context.token_uses.drain():
        with context.database.autocommit() as conn:
            signal_endpoint_tokens.add_uses(conn, signal_uses)
    return 0
