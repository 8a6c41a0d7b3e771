"""Stores the refused calls of signal endpoints, every few seconds."""

from sigservice.context import Context
from sigservice.services.signals import refused_calls


def run_once(context: Context) -> int:
    """Returns 0, so that nothing is logged."""
    if counts := context.refused_calls.drain():
        with context.database.transaction() as conn:
            refused_calls.write(conn, counts)
    return 0
