"""The hours in which releases go on, in the local time of a zone."""

from datetime import UTC, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from sigservice.services.cron_times import list_timezones
from sigservice.services.problems import Problems

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Window(msgspec.Struct, rename={"from_": "from"}):
    """A window is open on these days, from one time of the day to another. If it ends on the next
    day, it belongs to the day on which it begins. An hour that daylight saving time skips or
    repeats is open if its local time is in the window."""

    timezone: str
    days: list[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]]
    from_: str
    to: str


def check_window(window: Window, problems: Problems) -> None:
    """Adds to `problems`."""
    if window.timezone not in list_timezones():
        problems.add("window.timezone", "Must be a time zone such as Europe/Berlin.")
    if not window.days:
        problems.add("window.days", "At least one day is required.")
    times = {"from": _parse_time(window.from_), "to": _parse_time(window.to)}
    for name, parsed in times.items():
        if parsed is None:
            problems.add(f"window.{name}", "Must be a time such as 09:00.")
    if times["from"] is not None and times["from"] == times["to"]:
        problems.add("window.to", "The end must differ from the beginning.")


def is_open(window: Window | None, now: datetime) -> bool:
    """True without a window; False for a zone that this machine does not know."""
    if window is None:
        return True
    try:
        local = now.astimezone(ZoneInfo(window.timezone))
    except (ZoneInfoNotFoundError, ValueError):
        return False
    begin, end = _parse_time(window.from_), _parse_time(window.to)
    if begin is None or end is None:
        return False
    today, moment = local.weekday(), local.time().replace(fold=0)
    yesterday = (local.date() - timedelta(days=1)).weekday()
    if begin < end:
        return DAYS[today] in window.days and begin <= moment < end
    return (DAYS[today] in window.days and moment >= begin) or (
        DAYS[yesterday] in window.days and moment < end
    )


def find_opening(window: Window | None, at: datetime) -> datetime:
    """The first time from `at` on at which the window is open, `at` if none is found."""
    begin = _parse_time(window.from_) if window else None
    if window is None or begin is None or is_open(window, at):
        return at
    try:
        zone = ZoneInfo(window.timezone)
    except (ZoneInfoNotFoundError, ValueError):
        return at
    today = datetime.combine(at.astimezone(zone), begin, zone)
    openings = [(today + timedelta(days=days)).astimezone(UTC) for days in range(9)]
    return next((o for o in openings if o >= at and is_open(window, o)), at)


def _parse_time(text: str) -> time | None:
    hours, _, minutes = text.partition(":")
    is_time = len(hours) == len(minutes) == 2 and (hours + minutes).isdecimal()
    if not is_time or not text.isascii() or int(hours) > 23 or int(minutes) > 59:
        return None
    return time(int(hours), int(minutes))
