"""Lists and searches the signals of an endpoint: by token, text, value at a path, status, severity
and time. Text and times are compared in the database, values of the payload here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sigservice.db import Connection, Row, build_like_pattern
from sigservice.repository.signals import signals
from sigservice.repository.signals.signals import LogPart, SearchWindow
from sigservice.services.problems import Problems
from sigservice.services.signals.payload_paths import find_scalars, find_values, parse_path, to_text
from sigservice.services.signals.signal_states import SEVERITIES, STATUSES
from sigservice.services.signals.signal_summaries import Summarizer, decode_payload, make_summarizer

CHUNK = 1000


@dataclass(frozen=True)
class SignalFilter:
    """Empty and None members don't restrict. Without a `value` the `path` must exist; a value is
    compared as the operator IN of action sets does."""

    token_id: int | None = None
    text: str = ""
    path: str = ""
    value: str = ""
    status: str = ""
    severity: str = ""
    from_time: datetime | None = None
    to_time: datetime | None = None

    @property
    def is_search(self) -> bool:
        """Whether payloads or times are searched, unlike tokens, which have an index."""
        return self != SignalFilter(token_id=self.token_id)

    def check(self) -> None:
        """Raises BadDataError that names the parameter."""
        problems = Problems()
        if self.path and parse_path(self.path) is None:
            problems.add("path", "The path must look like data.key or alerts[*].labels.severity.")
        if self.value and not self.path:
            problems.add("path", "A path is required with a value.")
        for name, choices in (("status", STATUSES), ("severity", SEVERITIES)):
            if getattr(self, name) not in ("", *choices):
                problems.add(name, f"{name} must be one of {', '.join(choices)}.")
        problems.raise_if_any()


@dataclass(frozen=True)
class SignalPage:
    """`next_before` is the `before` of the next older page, None on the last one.

    `searched_to_end` is false if a search stopped before the oldest signal.
    """

    rows: list[Row]
    next_before: int | None
    searched_to_end: bool = True


def list_page(
    conn: Connection,
    endpoint: Row,
    filter: SignalFilter,
    *,
    limit: int,
    before: int | None = None,
    offset: int = 0,
) -> SignalPage:
    """The newest signals of an endpoint that match the filter, which must be valid.

    A search covers the newest 10 000 signals or 16 MB of payload below `before`; the next page
    continues from there. A search ignores the offset.
    """
    if filter.is_search:
        return search(conn, endpoint, filter, limit=limit, before=before)
    rows = signals.list_for_endpoint(
        conn, endpoint["id"], filter.token_id, before=before, limit=limit + 1, offset=offset
    )
    page = rows[:limit]
    has_more = len(rows) > limit or signals.is_truncated(rows)
    return SignalPage(page, page[-1]["id"] if has_more else None)


def search(
    conn: Connection,
    endpoint: Row,
    filter: SignalFilter,
    *,
    limit: int,
    before: int | None,
    window: SearchWindow | None = None,
) -> SignalPage:
    """The signals of the window below `before` that match the filter, at most `limit`. The
    default window is SEARCH_WINDOW."""
    part = LogPart(endpoint["id"], filter.token_id, filter.from_time, filter.to_time)
    oldest_id, has_more = signals.find_search_end(conn, part, before=before, window=window)
    matches = _compile(filter, make_summarizer(endpoint))
    chunk = limit if matches is None else CHUNK
    rows: list[Row] = []
    while True:
        candidates = signals.search(
            conn,
            part,
            pattern=build_like_pattern(filter.text),
            before=before,
            oldest_id=oldest_id,
            limit=chunk,
        )
        rows += [row for row in candidates if matches is None or matches(row)]
        if len(rows) >= limit:
            return SignalPage(rows[:limit], rows[limit - 1]["id"])
        if len(candidates) < chunk:
            return SignalPage(rows, oldest_id if has_more else None, searched_to_end=not has_more)
        before = candidates[-1]["id"]


def _compile(filter: SignalFilter, summarizer: Summarizer) -> Callable[[Row], bool] | None:
    """The test of a stored signal; None if the database does all tests."""
    tests: list[Callable[[Any], bool]] = []
    if filter.path:
        tests.append(lambda payload: _matches_path(filter, payload))
    if filter.status:
        tests.append(lambda payload: summarizer.find_status(payload) == filter.status)
    if filter.severity:
        tests.append(lambda payload: summarizer.find_severity(payload) == filter.severity)
    if not tests:
        return None

    def matches(row: Row) -> bool:
        payload = decode_payload(row)
        return all(test(payload) for test in tests)

    return matches


def _matches_path(filter: SignalFilter, payload: Any) -> bool:
    if not filter.value:
        return bool(find_values(payload, filter.path))
    return filter.value in map(to_text, find_scalars(payload, filter.path))
