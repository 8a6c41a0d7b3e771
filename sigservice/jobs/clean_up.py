"""Deletes expired sessions and reset tokens, closes idle and stuck connections."""

from datetime import timedelta

from sigservice.context import Context
from sigservice.repository.access import reset_tokens, sessions

MAX_WRITE_DELAY = timedelta(minutes=5)  # a use of a session is stored after one or two minutes


def delete_sessions(context: Context) -> int:
    now, idle = context.clock.now(), context.session_idle
    idle_before = None if idle is None else now - idle - MAX_WRITE_DELAY
    with context.database.autocommit() as conn:
        return sessions.delete_expired(conn, now, idle_before)


def delete_reset_tokens(context: Context) -> int:
    with context.database.autocommit() as conn:
        return reset_tokens.delete_expired(conn, context.clock.now())


def evict_connections(context: Context) -> int:
    """Closes idle connections and opens missing ones. Returns 0, so that nothing is logged."""
    context.database.evict_idle()
    context.database.fill()
    return 0


def cut_stuck(context: Context) -> int:
    """Closes stuck connections; returns their number."""
    return context.database.cut_stuck()


def release_stuck(context: Context) -> int:
    """Replaces stuck connections that the server has let go; returns their number."""
    return context.database.release_stuck()
