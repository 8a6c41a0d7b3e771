"""The texts of the form of a release: what its buttons change, and the body of the API in them."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from sigservice.clock import format_iso
from sigservice.errors import BadDataError
from sigservice.routes.pages.actions.action_form_values import make_filter_rows, read_filters
from sigservice.services.actions.action_filters import Filter
from sigservice.services.releases.guard_edits import GuardChanges
from sigservice.services.releases.plans import RuleGuard, SignalGuard, Step
from sigservice.services.releases.releases import NewRelease
from sigservice.services.releases.step_patterns import PATTERNS
from sigservice.services.releases.windows import DAYS
from sigservice.services.rules.rule_conditions import ImpactMetric
from sigservice.web.forms import (
    Form,
    find_rows,
    format_pairs,
    read,
    read_pairs,
    read_whole_number,
    to_form,
)
from sigservice.web.growing_forms import list_rows, replace_rows

_RULE = {
    "kind": "rule", "rule.breaches": "2", "rule.everySeconds": "30", "effect": "rollBack",
}  # fmt: skip
# Of a guard: its label, and the texts of a new one.
KINDS: Mapping[str, tuple[str, Form]] = {
    "signal": ("Alert", {"kind": "signal", "effect": "rollBack"}),
    "metric": (
        "Impact metric",
        _RULE
        | {
            "rule.source.kind": "impactMetric",
            "rule.source.measure": "ratio",
            "rule.windowMinutes": "5",
            "rule.minSamples": "50",
        },
    ),
    "prometheus": (
        "Prometheus query",
        _RULE | {"rule.source.kind": "prometheus", "rule.windowMinutes": "5"},
    ),
    "silence": (
        "Silence of an endpoint",
        {
            "kind": "rule",
            "rule.source.kind": "silence",
            "rule.source.timezone": "UTC",
            "rule.source.graceSeconds": "0",
            "effect": "hold",
        },
    ),
}
UNITS = {"minutes": 1, "hours": 60, "days": 1440}  # of the time of a step, which is in minutes
_MEMBERS = ("kind", "endpointId", "effect", "filters", "resolved", "rule", "dryRun", "autoResume")
_LABELS = "rule.source.labels"
_OTHERS = re.compile(r"^guards\.\d+\.(filters\.|rule\.source\.labels$)")
Body = TypeVar("Body", NewRelease, GuardChanges)
ADD, USE = "add-guard:", "use-steps:"


def find_kind(row: Form) -> str:
    """Of KINDS."""
    if row.get("kind") != "rule":
        return "signal"
    source = row.get("rule.source.kind", "")
    return source if source in KINDS else "metric"


def make_new_form(steps: Sequence[Step], rollout: int) -> Form:
    """The texts of a new release, whose first step isn't below the present percentage."""
    higher = [step for step in steps if step.rollout > rollout] or list(steps[-1:])
    form = to_form({"steps": higher, "watchMinutes": 60, "noDataMinutes": 30})
    return choose_units(form) | {"window.timezone": "UTC"}


def make_form(plan: Mapping[str, Any]) -> Form:
    """The texts of a release with the plan of another one."""
    names = ("strategyId", "watchMinutes", "noDataMinutes", "window", "steps")
    form = choose_units(to_form({name: plan[name] for name in names}))
    form = {"window.timezone": "UTC"} | form
    window = plan["window"]
    form |= {f"window.days.{day}": "on" for day in window["days"]} if window else {}
    form.pop("window.days", None)
    return form | make_guards_form(plan["guards"])


def make_guards_form(guards: Sequence[Mapping[str, Any]]) -> Form:
    """The texts of the guards of a release."""
    form: Form = {}
    for number, guard in enumerate(guards):
        members = {name: guard[name] for name in _MEMBERS if guard.get(name) is not None}
        form |= to_form(members, f"guards.{number}")
        filters = msgspec.convert(guard.get("filters") or [], list[Filter])
        form = replace_rows(form, f"guards.{number}.filters", make_filter_rows(filters))
        labels = guard.get("rule", {}).get("source", {}).get("labels")
        if labels:
            form = replace_rows(form, f"guards.{number}.{_LABELS}", [])
            form |= {f"guards.{number}.{_LABELS}": format_pairs(labels)}
    return form


def choose_units(form: Form) -> Form:
    """The form with the time of each step in the longest unit that it is a whole number of."""
    texts: Form = {}
    for row in find_rows(form, "steps"):
        minutes = read_whole_number(form.get(f"{row}.minutes", ""), 0)
        unit = next(unit for unit in reversed(UNITS) if minutes % UNITS[unit] == 0)
        if minutes > 0:
            texts |= {f"{row}.minutes": str(minutes // UNITS[unit]), f"{row}.unit": unit}
    return form | texts


def read_units(form: Form) -> Form:
    """The form with the time of each step in minutes."""
    texts: Form = {}
    for row in find_rows(form, "steps"):
        number = read_whole_number(form.get(f"{row}.minutes", ""), 0)
        if number > 0:
            factor = UNITS.get(form.get(f"{row}.unit", ""), 1)
            texts[f"{row}.minutes"] = str(number * factor)
    return form | texts


def apply_button(form: Form, environment: str) -> Form:
    """The form after a button that adds or removes a guard, or fills in the steps of a pattern."""
    do = form.get("do", "")
    if do.startswith(USE):
        pattern = next((item for item in PATTERNS if item.name == do.removeprefix(USE)), None)
        if pattern is not None:
            form = replace_rows(form, "steps", [to_form(step) for step in pattern.steps])
            form = choose_units(form) | {"watchMinutes": str(pattern.watchMinutes)}
    rows = list_rows(form, "guards")
    if do.startswith(ADD) and do.removeprefix(ADD) in KINDS:
        rows = [*rows, KINDS[do.removeprefix(ADD)][1]]
    rows = [
        {"rule.source.environment": environment} | row if find_kind(row) == "metric" else row
        for row in rows
    ]
    is_done = do.startswith((ADD, "remove-guards.")) and "." not in do.partition("guards.")[2]
    return replace_rows(form, "guards", rows) | ({"do": ""} if is_done else {})


def read_body(form: Form, environment: str) -> NewRelease:
    """The body of the API. Raises BadDataError."""
    form = apply_button(read_units(form), environment)
    return read_guards(form, NewRelease, startAt=_read_start(form))


def read_guards(form: Form, struct: type[Body], **members: Any) -> Body:
    """A body with guards. Raises BadDataError."""
    texts = {name: text for name, text in form.items() if name not in _list_blank(form)}
    body = read(texts, struct, **members)
    for row, guard in zip(find_rows(form, "guards"), body.guards, strict=True):
        if isinstance(guard, SignalGuard):
            guard.filters = read_filters(list_rows(form, f"{row}.filters")) or None
        if isinstance(guard, RuleGuard) and isinstance(guard.rule.source, ImpactMetric):
            guard.rule.source.labels = read_pairs(form, f"{row}.{_LABELS}")
    return body


def _list_blank(form: Form) -> set[str]:
    """The controls that `read` leaves out: a group that is empty as a whole (a window, what
    resolves an alert), and what is read in another way."""
    names = {"startAt"} | {name for name in form if _OTHERS.search(name)}
    hours = [form.get(f"window.{name}", "").strip() for name in ("from", "to")]
    if not any(hours) and not any(f"window.days.{day}" in form for day in DAYS):
        names |= {name for name in form if name.startswith("window.")}
    for row in find_rows(form, "guards"):
        group = {name: text for name, text in form.items() if name.startswith(f"{row}.resolved.")}
        if not any(text.strip() for text in group.values()):
            names |= set(group)
    return names


def _read_start(form: Form) -> str | None:
    """In UTC. A text that is no time stays as it is, so that the API refuses it."""
    text = form.get("startAt", "").strip()
    try:
        zone = ZoneInfo(form.get("window.timezone", "").strip() or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = "Must be a time zone such as Europe/Berlin."
        raise BadDataError(message, path="window.timezone") from error
    try:
        local = datetime.fromisoformat(text)
        moment = local.replace(tzinfo=local.tzinfo or zone).astimezone(UTC)
        shown_time = moment.astimezone(zone).replace(tzinfo=None)
    except ValueError:
        return text or None
    except OverflowError as error:  # the years 1 and 9999 in other time zones
        raise BadDataError("Choose another time.", path="startAt") from error
    if local.tzinfo is not None:
        return text
    if shown_time != local:
        message = f"{local:%H:%M} doesn't exist on {local:%d %b}. Choose another time."
        raise BadDataError(message, path="startAt")
    return format_iso(moment)
