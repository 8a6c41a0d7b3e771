"""Small jobs that keep the database and its connections in order. Several processes may run
them."""

from datetime import timedelta

from sigservice.context import Context
from sigservice.repository.access import reset_tokens, sessions
from sigservice.repository.flags import feature_lifecycle, features
from sigservice.repository.system import events
from sigservice.services.identity import ADMIN_TOKEN_ID, SYSTEM_ID

MAX_WRITE_DELAY = timedelta(minutes=5)  # a use of a session is stored after one or two minutes


def delete_sessions(context: Context) -> int:
    now, idle = context.clock.now(), context.session_idle
    idle_before = None if idle is None else now - idle - MAX_WRITE_DELAY
    with context.database.autocommit() as conn:
        return sessions.delete_expired(conn, now, idle_before)


def delete_reset_tokens(context: Context) -> int:
    with context.database.autocommit() as conn:
        return reset_tokens.delete_expired(conn, context.clock.now())


def cut_stuck(context: Context) -> int:
    """Closes stuck connections; returns their number."""
    return context.database.cut_stuck()


def renew_connections(context: Context) -> int:
    """Replaces stuck connections that the server has let go, closes idle ones and opens missing
    ones. Returns the number of those that were stuck."""
    count = context.database.release_stuck()
    context.database.evict_idle()
    context.database.fill()
    return count


def fill_events(context: Context) -> int:
    """Fills created_by_user_id of up to 100 past events that no other process has locked."""
    with context.database.transaction() as conn:
        filled = events.fill_created_by(conn, system_id=SYSTEM_ID, token_id=ADMIN_TOKEN_ID)
    context.telemetry.internals.count_filled_events(amount=filled)
    return filled


def fill_features(context: Context) -> int:
    """Like `fill_events` for flags."""
    with context.database.transaction() as conn:
        filled = features.fill_created_by(conn, system_id=SYSTEM_ID, token_id=ADMIN_TOKEN_ID)
    context.telemetry.internals.count_filled_features(amount=filled)
    return filled


def store_stages(context: Context) -> None:
    """The stages that flags reached without a report."""
    with context.database.autocommit() as conn:
        feature_lifecycle.add_reached(conn)
