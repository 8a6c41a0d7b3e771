"""Times of cron expressions in a time zone, for silence and for schedules of action sets."""

from datetime import UTC, datetime
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from cronsim import CronSim, CronSimError

from sigservice.services.problems import Problems

MAX_CRON_LENGTH = 100


def check_cron(cron: str, timezone: str, path: str, problems: Problems) -> None:
    """Adds to `problems`. `path` is the path of the object that has both fields."""
    if not check_timezone(timezone, path, problems):
        return
    # cronsim also accepts a sixth field, of seconds, but no check here is that precise.
    has_form = len(cron) <= MAX_CRON_LENGTH and len(cron.split()) == 5 and cron.isascii()
    if has_form and find_next_time(cron, timezone, datetime.now(UTC)) is not None:
        return
    text = "Must be five fields of a cron expression, e.g. 30 2 * * *."
    if has_form and _has_no_day(cron):
        text = "It never comes: these months don't have this day."
    problems.add(f"{path}.cron", text)


def _has_no_day(cron: str) -> bool:
    """Whether the expression has only days that its months lack, as 0 0 31 2 * does."""
    minute, hour, day, month, weekday = cron.split()
    now = datetime.now(UTC)
    any_day = f"{minute} {hour} * {month} {weekday}"
    any_month = f"{minute} {hour} {day} * {weekday}"
    return None not in (find_next_time(text, "UTC", now) for text in (any_day, any_month))


def check_timezone(timezone: str, path: str, problems: Problems) -> bool:
    """Whether the name is valid; adds to `problems` otherwise."""
    if timezone in list_timezones():
        return True
    problems.add(f"{path}.timezone", "Must be a time zone such as Europe/Berlin.")
    return False


def find_next_time(cron: str, timezone: str, after: datetime) -> datetime | None:
    """The next time in UTC; None if there is none in the next 50 years, and for an expression or
    zone that this version doesn't know."""
    try:
        return next(CronSim(cron, after.astimezone(ZoneInfo(timezone)))).astimezone(UTC)
    except (CronSimError, StopIteration, ZoneInfoNotFoundError, ValueError):
        return None


def describe_next_times(cron: str, timezone: str, after: datetime, count: int = 3) -> str:
    """The next times of the zone, for people; "" if there are none."""
    texts: list[str] = []
    time = find_next_time(cron, timezone, after)
    while time is not None and len(texts) < count:
        texts.append(f"{time.astimezone(ZoneInfo(timezone)):%a %Y-%m-%d %H:%M}")
        time = find_next_time(cron, timezone, time)
    return ", ".join(texts)


@cache
def list_timezones() -> frozenset[str]:
    """All names of zones, which exclude paths; "localtime" depends on the machine."""
    return frozenset(available_timezones() - {"localtime"})
