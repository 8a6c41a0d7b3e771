"""Finds the latest signals of its endpoint that an action set matches, without running the set."""

from datetime import datetime, timedelta
from typing import NamedTuple

from sigservice.db import Connection
from sigservice.repository.signals import signal_endpoints, signals
from sigservice.services.actions.action_alerts import is_resolved
from sigservice.services.actions.action_filters import Matcher, check_filters
from sigservice.services.actions.action_sets import ActionSetFields, ActionSetLimits
from sigservice.services.problems import Problems
from sigservice.services.signals import signal_summaries

SIGNALS, EXAMPLES, TIME = 1000, 3, timedelta(hours=48)


class MatchingSignal(NamedTuple):
    id: int
    created_at: datetime
    text: str  # its summary in one line


class SetPreview(NamedTuple):
    """`signals` is the number of evaluated signals, `resolving` the number that resolve an alert;
    `examples` are the newest of `matches`."""

    endpoint_id: int
    signals: int
    matches: int
    resolving: int
    examples: list[MatchingSignal]


def preview(
    conn: Connection, fields: ActionSetFields, limits: ActionSetLimits, now: datetime
) -> SetPreview | None:
    """The result for the newest signals of the last 48 h, as many as fit one page of the log. None
    without an endpoint, or if the filters aren't valid. As in an evaluation, a signal that resolves
    an alert never matches."""
    problems = Problems()
    check_filters(fields.filters, problems, max_filters=limits.filters, max_values=limits.values)
    endpoint = (
        signal_endpoints.find(conn, fields.endpoint_id) if fields.endpoint_id < 2**31 else None
    )
    if problems.details or endpoint is None:
        return None
    matcher, resolved = Matcher(fields.filters), fields.settings.restoreWhenResolved
    summarizer = signal_summaries.make_summarizer(endpoint)
    newest = signals.list_for_endpoint(conn, endpoint["id"], before=None, limit=SIGNALS)
    rows = [row for row in newest if now - row["created_at"] < TIME]
    matches, resolving = 0, 0
    examples: list[MatchingSignal] = []
    for row in rows:
        payload = signal_summaries.decode_payload(row)
        if is_resolved(resolved, matcher, payload):
            resolving += 1
        elif matcher.matches(payload):
            matches += 1
            if len(examples) < EXAMPLES:
                text = summarizer.summarize(payload).text or f"signal {row['id']}"
                examples.append(MatchingSignal(row["id"], row["created_at"], text))
    return SetPreview(endpoint["id"], len(rows), matches, resolving, examples)
