"""The readings of rules on silence: for how many seconds a signal is overdue.

A signal restarts the wait for the next one. So does each time in which a signal may have been lost:
the service was not running or had no database, or the clock jumped. The rule is unknown then, until
a signal comes or the wait is over. Only one lost signal in a row is assumed, so that frequent
restarts don't hide silence.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.repository.rules import silent_endpoints
from sigservice.services.rules.rule_conditions import Condition, Silence
from sigservice.services.rules.rule_readings import Reading

MAX_GAP = timedelta(seconds=60)  # between two evaluations of a running service
NO_SIGNAL = "No signal has come yet."

ChooseTime = Callable[[datetime], datetime]


class Observer:
    """Since when this process evaluates rules without a failure. One for each process."""

    def __init__(self) -> None:
        self.started_at: datetime | None = None

    def note(self, now: datetime) -> datetime:
        if self.started_at is None or self.started_at > now:  # the clock went back
            self.started_at = now
        return self.started_at

    def note_failure(self) -> None:
        """After a failed evaluation: the service may have refused signals too."""
        self.started_at = None


def read_silence(
    conn: Connection,
    rows: Sequence[Row],
    now: datetime,
    choose_time: ChooseTime,
    started_at: datetime | None,
) -> dict[int, Reading]:
    """The readings of those of the rules that are on silence, by their IDs. `choose_time` makes the
    time of a signal one of the clock of `now`. Before `started_at`, this process evaluated nothing;
    None if nothing can have been lost."""
    rows = [row for row in rows if row["silent_endpoint_id"] is not None]
    if not rows:
        return {}
    newest = silent_endpoints.find_newest(conn, {row["silent_endpoint_id"] for row in rows})
    return {
        row["id"]: _read(row, newest.get(row["silent_endpoint_id"]), now, choose_time, started_at)
        for row in rows
    }


def _read(
    row: Row,
    newest: Row | None,
    now: datetime,
    choose_time: ChooseTime,
    started_at: datetime | None,
) -> Reading:
    source = msgspec.json.decode(row["condition"], type=Condition).source
    assert isinstance(source, Silence)
    start, last_at, id = row["window_from"], row["last_signal_at"], row["last_signal_id"]
    has_signal, is_alert = row["samples"] > 0, False
    if start is None:  # the rule is new
        start, last_at, has_signal = now, now, newest is not None
        id = newest["id"] if newest else None
    elif newest is not None and newest["id"] > (id or 0):
        id, last_at, has_signal = newest["id"], choose_time(newest["created_at"]), True
        start = last_at
    elif row["state"] == "firing":
        is_alert = True
    elif _is_excused(row, source, now, started_at):
        start, has_signal = now, False
    expected, deadline = source.find_expected(start), source.find_deadline(start)
    value, reason = (now - deadline).total_seconds(), f"The next signal is due {_tell(expected)}."
    if id is None:
        return Reading(None, 0, now, now, NO_SIGNAL)
    if is_alert:  # also if the clock went back
        value = max(value, 0.0)
    if value >= 0:
        reason = f"No signal came since {format_iso(last_at)}; one was due {_tell(expected)}."
    elif not has_signal:
        reason = (
            f"The service was not running or had no database, so a signal may be lost. {reason}"
        )
    is_known = has_signal or value >= 0
    return Reading(
        value if is_known else None, int(has_signal), start, now, reason, None, id, last_at
    )


def _is_excused(row: Row, source: Silence, now: datetime, started_at: datetime | None) -> bool:
    """Whether a signal that was not overdue may have been lost since the last evaluation."""
    before = row["evaluated_at"]
    if started_at is None or before is None:
        return False
    has_gap = before < started_at or abs(now - before) > MAX_GAP
    return has_gap and before < source.find_deadline(row["last_signal_at"] or before)


def _tell(at: datetime) -> str:
    return f"at {format_iso(at)}"
