"""Stores what requests have recorded in memory. A kill loses what came after the last run."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from sigservice.context import Context
from sigservice.db import Connection, Database
from sigservice.repository.access import api_tokens, personal_tokens, sessions
from sigservice.repository.releases import releases
from sigservice.repository.signals import signal_endpoint_tokens
from sigservice.services.signals import refused_calls

Key = TypeVar("Key")


def store_last_uses(context: Context) -> None:
    """Stores when tokens and sessions were last used."""
    database, last_used = context.database, context.last_used
    _store_uses(database, last_used.api_tokens, api_tokens.mark_used)
    _store_uses(database, last_used.personal_tokens, personal_tokens.mark_used)
    _store_uses(database, last_used.sessions, sessions.mark_used)
    if signal_uses := context.token_uses.drain():
        with database.autocommit() as conn:
            signal_endpoint_tokens.add_uses(conn, signal_uses)


def _store_uses(
    database: Database,
    uses: dict[Key, datetime],
    mark_used: Callable[[Connection, dict[Key, datetime]], int],
) -> None:
    """Removes the uses once they are stored. Requests add others meanwhile."""
    if not (batch := dict(uses)):
        return
    with database.autocommit() as conn:
        mark_used(conn, batch)
    for key, used_at in batch.items():
        if uses[key] == used_at:
            del uses[key]


def store_poll_intervals(context: Context) -> None:
    """Stores how often SDKs poll."""
    if intervals := context.poll_intervals.drain():
        with context.database.autocommit() as conn:
            releases.store_poll_intervals(conn, intervals)
            releases.delete_old_poll_intervals(conn)


def store_refused_calls(context: Context) -> None:
    if counts := context.refused_calls.drain():
        with context.database.transaction() as conn:
            refused_calls.write(conn, counts)


def store_evaluation_counts(context: Context) -> None:
    for report in context.evaluation_counts.drain():  # one for each type of token
        context.report_commits[report.sdk_type].store(report)


def store_failed_sign_ins(context: Context) -> None:
    """Records one event per minute for those above the event limit."""
    context.failed_sign_ins.record_summary(context.database)
