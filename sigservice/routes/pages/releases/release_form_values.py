"""The texts of the form of a release: what its buttons change, and the body of the API in them."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from sigservice.clock import format_iso
from sigservice.errors import BadDataError
from sigservice.routes.pages.actions.action_form_values import make_filter_rows, read_filters
from sigservice.services.actions.action_filters import Filter
from sigservice.services.releases.guard_edits import GuardChanges
from sigservice.services.releases.plans import Guard, RuleGuard, SignalGuard, Step
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
    to_form,
)
from sigservice.web.growing_forms import list_rows, replace_rows
from sigservice.wording import spell_duration

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
UNITS = {"m": 1, "h": 60, "d": 1440}  # minutes of the time of a step, by its first letter
_STEP = re.compile(
    r"(\d{1,3})\s*%?(\s+for(?:\s+\d{1,6}\s*(?:m|min|minutes?|h|hours?|d|days?))+)?(\s+then\s+wait)?",
    re.I,
)
_TIME = re.compile(r"(\d+)\s*([mhd])")
_WAIT = re.compile(r"then\s+wait", re.I)
_DEFAULTS = {
    "watchMinutes": "60",
    "noDataMinutes": "30",
    "window.timezone": "UTC",
    "zone": "UTC",
    "when": "now",
}
_MEMBERS = (
    "kind", "endpointId", "effect", "filters", "resolved", "rule", "ruleId", "dryRun", "autoResume",
)  # fmt: skip
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


def parse_steps(text: str, present: int) -> list[Step]:
    """The steps of a text such as `10% for 20 min, then wait, 100%`. Raises BadDataError if one
    can't be read, or isn't more than the one before it or the present percentage."""
    steps: list[Step] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if _WAIT.fullmatch(part) and steps:
            steps[-1].waitForPerson = True
            continue
        match = _STEP.fullmatch(part)
        if match is None:
            message = f"“{part[:40]}” isn't a step. Write 25% for 1 h."
            raise BadDataError(message, path="steps")
        rollout, time = int(match[1]), match[2] or ""
        before = steps[-1].rollout if steps else present
        if rollout < before or (steps and rollout == before):
            message = f"{rollout}% is not more than {before}% before it."
            raise BadDataError(message, path="steps")
        units = [int(number) * UNITS[unit[0]] for number, unit in _TIME.findall(time.lower())]
        steps.append(Step(rollout, sum(units) if time else None, bool(match[3])))
    return steps


def format_steps(steps: Sequence[Step]) -> str:
    """The text that `parse_steps` reads."""
    return ", ".join(
        f"{step.rollout}%"
        + (f" for {spell_duration(timedelta(minutes=step.minutes))}" if step.minutes else "")
        + (", then wait" if step.waitForPerson else "")
        for step in steps
    )


def make_new_form(steps: Sequence[Step], rollout: int) -> Form:
    """The texts of a new release, whose first step is above the present percentage."""
    higher = [step for step in steps if step.rollout > rollout] or list(steps[-1:])
    return _DEFAULTS | {"steps": format_steps(higher)}


def make_form(plan: Mapping[str, Any]) -> Form:
    """The texts of a release with the plan of another one, without its guards."""
    form = to_form(
        {name: plan[name] for name in ("strategyId", "watchMinutes", "noDataMinutes", "window")}
    )
    window = plan["window"]
    form |= {f"window.days.{day}": "on" for day in window["days"]} if window else {}
    form.pop("window.days", None)
    steps = format_steps(msgspec.convert(plan["steps"], list[Step]))
    return _DEFAULTS | form | {"steps": steps}


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


def apply_button(form: Form, environment: str, present: int = 0) -> Form:
    """The form after a button that adds or removes a guard, or fills in the steps of a pattern."""
    do = form.get("do", "")
    if do.startswith(USE):
        pattern = next((item for item in PATTERNS if item.name == do.removeprefix(USE)), None)
        if pattern is not None:
            steps = [step for step in pattern.steps if step.rollout > present]
            form = form | {"steps": format_steps(steps or pattern.steps[-1:])}
    rows = list_rows(form, "guards")
    if do.startswith(ADD) and do.removeprefix(ADD) in KINDS:
        rows = [*rows, KINDS[do.removeprefix(ADD)][1]]
    rows = [
        {"rule.source.environment": environment} | row if find_kind(row) == "metric" else row
        for row in rows
    ]
    is_done = do.startswith((ADD, "remove-guards.")) and "." not in do.partition("guards.")[2]
    return replace_rows(form, "guards", rows) | ({"do": ""} if is_done else {})


def read_body(form: Form, environment: str, present: int) -> NewRelease:
    """The body of the API: the guards of the rows, then those that were proposed. Raises
    BadDataError."""
    form = apply_button(form, environment)
    steps = parse_steps(form.get("steps", ""), present)
    texts = {
        name: text for name, text in form.items() if not name.startswith(("steps", "proposed"))
    }
    start = _read_start(form) if form.get("when") == "at" else None
    body = read_guards(texts, NewRelease, startAt=start, steps=msgspec.to_builtins(steps))
    body.guards += list_proposed(form)
    for guard in body.guards if form.get("effect") else ():
        guard.effect = "hold" if form["effect"] == "hold" else "rollBack"
    return body


def list_proposed(form: Form) -> list[Guard]:
    """The proposed guards that are ticked. Raises BadDataError."""
    texts = [text for name, text in form.items() if name.startswith("proposed.")]
    try:
        return [msgspec.json.decode(text, type=Guard) for text in texts]
    except (msgspec.DecodeError, ValueError) as error:
        raise BadDataError("A proposed guard can't be read. Open the form again.") from error


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
        zone = ZoneInfo(form.get("zone", "").strip() or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = "Must be a time zone such as Europe/Berlin."
        raise BadDataError(message, path="zone") from error
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
