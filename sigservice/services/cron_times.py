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
    if not has_form or find_next_time(cron, timezone, datetime.now(UTC)) is None:
        text = "Must be five fields of a cron expression, e.g. 30 2 * * *."
        problems.add(f"{path}.cron", text)


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


@cache
def list_timezones() -> frozenset[str]:
    """All names of zones, which exclude paths; "localtime" depends on the machine."""
    return frozenset(available_timezones() - {"localtime"})
