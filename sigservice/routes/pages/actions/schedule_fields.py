"""The fields of a schedule in forms."""

from datetime import datetime
from zoneinfo import ZoneInfo

from sigservice.db import Row
from sigservice.routes.pages.flags.plan_fields import AT_FIELD, DEFAULTS, ZONE_FIELD
from sigservice.routes.pages.signals.cron_field import CRON_HINT, add_next_times
from sigservice.services.actions.schedules import Schedule, read_schedule
from sigservice.web.forms import Field, Form, fill

TRIGGER = "trigger"
_CHOICES = [
    ("endpoint", "A signal"),
    ("at", "A time, once"),
    ("cron", "Times of a cron expression"),
]
_CRON_FIELD = Field(
    "match.cron",
    "Times (cron expression)",
    hint=CRON_HINT,
    is_required=True,
)
FIELDS = {"at": [AT_FIELD, ZONE_FIELD], "cron": [_CRON_FIELD, ZONE_FIELD]}


def find_trigger(form: Form) -> str:
    """endpoint, at or cron."""
    value = form.get(TRIGGER, "")
    return value if value in FIELDS else "endpoint"


def make_trigger_field(form: Form) -> Field:
    attributes = {"data-press": "change-trigger"}
    value = find_trigger(form)
    return Field(TRIGGER, "Runs on", value, "select", choices=_CHOICES, attributes=attributes)


def make_schedule_fields(form: Form) -> list[Field]:
    """The fields of the selected trigger; none for an endpoint."""
    form = DEFAULTS | form
    return add_next_times(fill(FIELDS.get(find_trigger(form), []), form), form, "match.")


def make_schedule_form(row: Row | None) -> Form:
    """The texts of the trigger of a stored set."""
    schedule = read_schedule(row) if row else None
    if schedule is None:
        return {TRIGGER: "endpoint"}
    form = {TRIGGER: "at" if schedule.cron is None else "cron", "match.timezone": schedule.zone}
    if schedule.cron is not None:
        return form | {"match.cron": schedule.cron}
    moment = datetime.fromisoformat(schedule.at or "")
    if moment.tzinfo is not None:
        moment = moment.astimezone(ZoneInfo(schedule.zone))
    return form | {"match.at": moment.replace(tzinfo=None).isoformat().removesuffix(":00")}


def read_schedule_form(form: Form) -> Schedule | None:
    """None if an endpoint triggers the set."""
    kind = find_trigger(form)
    if kind == "endpoint":
        return None
    texts = {name: form.get(f"match.{name}", "").strip() for name in (kind, "timezone")}
    return Schedule(**texts)
