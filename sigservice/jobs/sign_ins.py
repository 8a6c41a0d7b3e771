"""Once a minute one event for the failed sign-ins of a flood, which have no event each."""

from __future__ import annotations

from sigservice.context import Context


def record_summary(context: Context) -> int:
    """Routine, and so nothing worth a line in the log."""
    context.failed_sign_ins.record_summary(context.database)
    return 0
