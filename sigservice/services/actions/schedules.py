"""Schedules: a clock triggers an action set, once `at` a time or at the times of `cron`."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from sigservice.clock import format_optional
from sigservice.db import Row
from sigservice.services.cron_times import check_cron, check_timezone, find_next_time
from sigservice.services.problems import Problems

NO_ENDPOINT = 0  # `endpoint_id` of sets with a schedule


class Schedule(msgspec.Struct, omit_defaults=True, tag_field="source", tag="schedule"):
    """The `match` of a set, stored as it was sent. `at` is local time of `timezone` unless it has
    an offset. `cron` uses UTC by default."""

    at: str | None = None
    cron: str | None = None
    timezone: str | None = None

    @property
    def zone(self) -> str:
        return "UTC" if self.timezone is None else self.timezone


def read_schedule(row: Row) -> Schedule | None:
    """The schedule of a stored set, None if an endpoint triggers it."""
    if row["endpoint_id"] != NO_ENDPOINT:
        return None
    return msgspec.json.decode(row["schedule"] or b"{}", type=Schedule, strict=False)


def is_done(row: Row) -> bool:
    """Whether the only time of a set has passed and it has run, or was skipped."""
    schedule = read_schedule(row)
    return schedule is not None and schedule.at is not None and row["due_at"] is None


def describe_state(row: Row) -> dict[str, Any]:
    """{dueAt, done} of a set with a schedule. `dueAt` is null while the set is disabled."""
    due_at = row["due_at"] if row["enabled"] else None
    return {"dueAt": format_optional(due_at), "done": is_done(row)}


def read_cause(run: Row) -> str:
    """The cause of the run. Scheduled runs are stored with the cause `signal` but no signal,
    because they are counted, reverted and undone like those of signals."""
    is_scheduled = run["cause"] == "signal" and run["signal_id"] is None
    return "schedule" if is_scheduled else str(run["cause"])


def check_schedule(schedule: Schedule, problems: Problems, *, after: datetime | None) -> None:
    """Adds to `problems`. With `after`, `at` must be later."""
    if (schedule.at is None) == (schedule.cron is None):
        problems.add("match", "Enter either at or cron.")
    elif schedule.cron is not None:
        check_cron(schedule.cron, schedule.zone, "match", problems)
    elif schedule.timezone is None or check_timezone(schedule.timezone, "match", problems):
        try:
            due_at = _parse_at(schedule.at or "", schedule.timezone)
        except ValueError as error:
            problems.add("match.at", str(error))
        else:
            if after is not None and due_at <= after:
                problems.add("match.at", "The time has passed. Enter a time in the future.")


def find_due_time(schedule: Schedule, after: datetime) -> datetime | None:
    """The next time after a moment, in UTC; None if there is none. The schedule must be valid."""
    if schedule.cron is not None:
        return find_next_time(schedule.cron, schedule.zone, after)
    due_at = _parse_at(schedule.at or "", schedule.timezone)
    return due_at if due_at > after else None


def _parse_at(text: str, timezone: str | None) -> datetime:
    """The time in UTC. Raises ValueError with a text for the user."""
    try:
        moment = datetime.fromisoformat(text if "T" in text else "")
        place = ZoneInfo(timezone) if timezone else None
        zone = moment.tzinfo or place
        due_at = moment.replace(tzinfo=zone or UTC).astimezone(UTC)
        local = due_at.astimezone(zone).replace(tzinfo=None)
        due_at.astimezone(place or UTC)  # as pages show it
    except (ValueError, OverflowError):  # the end of the year 9999 in another time zone
        raise ValueError("Must be a date and time such as 2026-12-01T08:00:00Z.") from None
    if zone is None:
        raise ValueError("Must have a UTC offset such as Z, or a timezone.")
    if local != moment.replace(tzinfo=None):  # skipped by summer time
        raise ValueError(
            f"{moment:%H:%M} doesn't exist on {moment.day} {moment:%b}. Choose another time."
        )
    return due_at
