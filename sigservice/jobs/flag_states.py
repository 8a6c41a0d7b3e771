"""Compares the flags in memory with the database, at a quiet moment."""

from sigservice.context import Context
from sigservice.services import revisions

MAX_LOGGED = 10


def verify_quiet(context: Context) -> int:
    """Checks each state that was moved and hasn't changed since the last call. If one differs, all
    processes read it whole. Returns the number of differences."""
    total = 0
    for state in context.flag_states.list_quiet():
        names = context.flag_states.find_drift(state)
        if not names:
            continue
        total += len(names)
        context.telemetry.internals.count_drift(amount=len(names))
        context.get_logger("flags").error(
            "Flags of %s in memory differed from the database and are read again: %s",
            state.environment,
            ", ".join(names[:MAX_LOGGED]),
        )
        with context.database.transaction() as conn:
            revisions.lock(conn)
            revisions.bump(conn, state.environment, flags=None)
    return total
