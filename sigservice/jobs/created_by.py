"""Fills created_by_user_id of past events and flags, 100 of each at a time (specification: every
15 minutes). Several processes may run it: each updates rows that no other has locked."""

from sigservice.context import Context
from sigservice.repository.flags import features
from sigservice.repository.system import events
from sigservice.services.identity import ADMIN_TOKEN_ID, SYSTEM_ID


def fill_events(context: Context) -> int:
    with context.database.transaction() as conn:
        filled = events.fill_created_by(conn, system_id=SYSTEM_ID, token_id=ADMIN_TOKEN_ID)
    context.telemetry.internals.count_filled_events(filled)
    return filled


def fill_features(context: Context) -> int:
    with context.database.transaction() as conn:
        filled = features.fill_created_by(conn, system_id=SYSTEM_ID, token_id=ADMIN_TOKEN_ID)
    context.telemetry.internals.count_filled_features(filled)
    return filled
