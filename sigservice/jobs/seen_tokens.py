"""Writes when tokens were used last: one statement a minute, however busy they are.

What a kill cuts off is a minute's notes; the next use makes them anew.
"""

from __future__ import annotations

from sigservice.context import Context
from sigservice.repository import api_tokens


def run_once(context: Context) -> int:
    """Routine, and so nothing worth a line in the log."""
    seen = context.flags.seen
    if api := seen.take_api():
        with context.database.autocommit() as conn:
            api_tokens.mark_seen(conn, api)
    return 0
