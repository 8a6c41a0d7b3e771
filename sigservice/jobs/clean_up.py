"""Small change: expired sessions and reset tokens, pooled connections that were idle too long."""

from __future__ import annotations

from datetime import timedelta

from sigservice.context import Context
from sigservice.repository.access import reset_tokens, sessions

UNWRITTEN = timedelta(minutes=5)  # a use of a session is in the database after a minute or two


def delete_sessions(context: Context) -> int:
    now, idle = context.clock.now(), context.session_idle
    idle_before = None if idle is None else now - idle - UNWRITTEN
    with context.database.autocommit() as conn:
        return sessions.delete_expired(conn, now, idle_before)


def delete_reset_tokens(context: Context) -> int:
    with context.database.autocommit() as conn:
        return reset_tokens.delete_expired(conn, context.clock.now())


def evict_connections(context: Context) -> int:
    """Closes the idle, opens the missing; nothing worth a line in the log."""
    context.database.evict_idle()
    context.database.fill()
    return 0


def cut_stuck(context: Context) -> int:
    """How many connections were ended because the database stood still."""
    return context.database.cut_stuck()
