"""Stores what requests have recorded in memory. A kill loses what came after the last run."""

from sigservice.context import Context
from sigservice.repository.access import api_tokens, personal_tokens, sessions
from sigservice.repository.releases import releases
from sigservice.repository.signals import signal_endpoint_tokens
from sigservice.services.signals import refused_calls


def store_last_uses(context: Context) -> None:
    """Stores when tokens and sessions were last used."""
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
        context.report_commits.store(report)


def store_failed_sign_ins(context: Context) -> None:
    """Records one event per minute for those above the event limit."""
    context.failed_sign_ins.record_summary(context.database)
