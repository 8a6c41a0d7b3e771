"""Stores what requests have recorded in memory. A kill loses what came after the last run."""

from sigservice.context import Context
from sigservice.repository.access import api_tokens, personal_tokens, sessions
from sigservice.repository.releases import releases
from sigservice.repository.signals import signal_endpoint_tokens
from sigservice.services.signals import refused_calls


def store_counts(context: Context) -> None:
    """What users look at soon."""
    if counts := context.refused_calls.drain():
        with context.database.transaction() as conn:
            refused_calls.write(conn, counts)
    for report in context.evaluation_counts.drain_reports():
        context.report_commits[report.sdk_type].store(report)


def store_last_uses(context: Context) -> None:
    """When tokens and sessions were last used, how often SDKs poll, and one event for the failed
    sign-ins above the event limit."""
    last_used = context.last_used
    with context.database.autocommit() as conn:
        last_used.api_tokens.store(lambda uses: api_tokens.mark_used(conn, uses))
        last_used.personal_tokens.store(lambda uses: personal_tokens.mark_used(conn, uses))
        last_used.sessions.store(lambda uses: sessions.mark_used(conn, uses))
        if signal_uses := context.token_uses.drain():
            signal_endpoint_tokens.add_uses(conn, signal_uses)
        if pairs := context.poll_intervals.drain():
            items = [{"environment": name, "seconds": seconds} for name, seconds in sorted(pairs)]
            releases.store_poll_intervals(conn, items)
            releases.delete_old_poll_intervals(conn)
    context.failed_sign_ins.record_summary(context.database)
