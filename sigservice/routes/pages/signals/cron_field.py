"""The field of a cron expression in forms."""

from dataclasses import replace
from datetime import UTC, datetime

from sigservice.services.cron_times import describe_next_times
from sigservice.web.forms import Field, Form

CRON_HINT = (
    "Minute, hour, day of the month, month, day of the week, e.g. 30 2 * * MON-FRI. "
    "If both days are set, either one matches"
)


def add_next_times(fields: list[Field], form: Form, at: str) -> list[Field]:
    """The fields, with the next times in the hint of `cron`; `at` begins its name."""
    cron, timezone = form.get(f"{at}cron", "").strip(), form.get(f"{at}timezone", "").strip()
    times = describe_next_times(cron, timezone or "UTC", datetime.now(UTC))
    if not times:
        return fields
    return [
        replace(one, hint=f"{one.hint}. Next: {times}") if one.name == f"{at}cron" else one
        for one in fields
    ]
