"""The fields of the form of a release, named like the members of the API."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sigservice.routes.pages.actions.action_form_fields import (
    FILTER_BOXES,
    PATH_FIELD,
    make_group_field,
)
from sigservice.routes.pages.flags.constraint_fields import VALUES_HINT, make_operator_field
from sigservice.routes.pages.releases.release_form_values import KINDS, find_kind
from sigservice.routes.pages.rules.rule_fields import (
    LIMIT_FIELDS,
    METRIC_FIELDS,
    QUERY_FIELD,
    SILENCE_FIELDS,
)
from sigservice.services.actions.action_summaries import OPERATORS
from sigservice.services.releases.plans import MAX_GUARDS
from sigservice.services.releases.windows import DAYS
from sigservice.web.forms import Field, Form, fill, make_choices
from sigservice.web.growing_forms import FieldRow, GrowingSection, list_rows, make_section

Choices = Sequence[tuple[str, str]]
MAX_FILTERS = 25
STEPS_FIELD = Field(
    "steps", "Steps", is_required=True, attributes={"maxlength": 1000, "spellcheck": "false"}
)
TURN_ON_FIELD = Field("turnOn", "Turn on at the first step", type="checkbox")
WHEN_FIELD = Field("when", "Start", type="radio", choices=[("now", "now"), ("at", "at a time")])
START_FIELDS = [
    Field("startAt", "Start at", type="datetime-local", attributes={"step": "any"}),
    Field("zone", "Time zone", hint="e.g. Europe/Berlin"),
]
REASON_FIELD = Field("reason", "Why?", attributes={"maxlength": 500})
MORE_FIELDS = [
    Field(
        "watchMinutes",
        "Watch after the last step (minutes)",
        type="number",
        hint="Guards act until then.",
        attributes={"min": 0, "step": 1},
    ),
    Field(
        "noDataMinutes",
        "Hold when a guard has no data for (minutes)",
        type="number",
        hint="Until then it only waits. 0 = at once.",
        attributes={"min": 0, "max": 1440, "step": 1},
    ),
    Field(
        "effect",
        "When a guard breaks",
        type="select",
        choices=[("", "As each guard says"), ("rollBack", "Roll back"), ("hold", "Hold")],
    ),
]
ZONE_FIELD = Field("window.timezone", "Time zone of the hours", hint="e.g. Europe/Berlin")
DAY_FIELDS = [
    Field(f"window.days.{day}", label, type="checkbox")
    for day, label in zip(DAYS, ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), strict=True)
]
HOUR_FIELDS = [
    Field("window.from", "From", type="time"),
    Field("window.to", "To", type="time", hint="Earlier than “From” = on the next day."),
]
_EFFECT_FIELD = Field(
    "effect",
    "When broken",
    type="select",
    choices=[("rollBack", "Roll back"), ("hold", "Hold, and let a person decide")],
)
_BOXES = [
    Field("dryRun", "Dry run: only record what it would do", type="checkbox"),
    Field("autoResume", "Continue when it is ok again, at most three times", type="checkbox"),
]
_PLACEHOLDERS = "One series. {{environment}}, {{project}}, {{feature}} and {{window}} are replaced."
_RESOLVED_FIELDS = [
    Field("path", "Status field", hint="e.g. status"),
    Field("values", "Resolved values", type="textarea", hint="One per line, e.g. resolved"),
    Field("key", "Correlation field", hint="e.g. groupKey or fingerprint"),
]


@dataclass(frozen=True)
class GuardChoices:
    """What guards can refer to."""

    endpoints: Choices
    sources: Choices


def make_flag_fields(environments: Sequence[str]) -> list[Field]:
    """Of the question which flag a new release is for."""
    return [
        Field("flag", "Flag", is_required=True, attributes={"list": "flags", "maxlength": 100}),
        Field("environment", "Environment", type="select", choices=make_choices(environments)),
    ]


def make_strategy_field(rollouts: Choices, form: Form) -> Field:
    choices = rollouts or [("", "A new gradual rollout to everyone")]
    field = Field("strategyId", "Gradual rollout that rises", type="radio", choices=choices)
    value = form.get("strategyId", "")
    return fill([field], {"strategyId": value if value in dict(choices) else choices[0][0]})[0]


def make_guards_section(form: Form, choices: GuardChoices) -> GrowingSection:
    """templates/releases/add_guards.tpl has the buttons that add a guard."""
    rows = list_rows(form, "guards")
    return GrowingSection(
        "guards",
        "Another guard",
        "guard",
        "All must be ok before each step, and are watched all the time.",
        [
            _make_guard_row(form, f"guards.{number}", row, choices)
            for number, row in enumerate(rows)
        ],
        max_rows=0,
        template="releases/add_guards.tpl",
        values=[(kind, label) for kind, (label, _) in KINDS.items()]
        if len(rows) < MAX_GUARDS
        else [],
    )


def _make_guard_row(form: Form, at: str, row: Form, choices: GuardChoices) -> FieldRow:
    kind, rule_id = find_kind(row), row.get("ruleId")
    fields, sections = _list_kind_fields(form, at, kind, choices)
    if rule_id:  # the limits are those of the alert rule
        fields = [Field(name, "", type="hidden") for name in ("kind", "ruleId")]
    texts = {f"{at}.{name}": text for name, text in row.items()}
    return FieldRow(
        fill([*fields, _EFFECT_FIELD], texts, f"{at}."),
        fill(_BOXES, texts, f"{at}."),
        title=f"Alert rule {rule_id}" if rule_id else KINDS[kind][0],
        sections=sections,
    )


def _list_kind_fields(
    form: Form, at: str, kind: str, choices: GuardChoices
) -> tuple[list[Field], list[GrowingSection]]:
    hidden = [Field("kind", "", type="hidden")]
    if kind in ("signal", "silence"):
        name = "endpointId" if kind == "signal" else "rule.source.endpointId"
        label = "No alert fires at" if kind == "signal" else "Signals arrive at"
        options = choices.endpoints or [("0", "No signal endpoint yet")]
        options = _keep_deleted(options, form.get(f"{at}.{name}", ""))
        fields = [*hidden, Field(name, label, type="select", choices=options)]
        if kind == "signal":
            return fields, _make_signal_sections(form, at)
        source = Field("rule.source.kind", "", type="hidden")
        return [*fields, source, *_prefix(SILENCE_FIELDS, "rule.")], []
    if kind == "prometheus":
        options = choices.sources or [("", "No metric source yet")]
        options = _keep_deleted(options, form.get(f"{at}.rule.source.source", ""))
        source = Field("source.source", "Source", type="select", choices=options)
        fields = [source, replace(QUERY_FIELD, hint=_PLACEHOLDERS)]
        unused = ["source.kind", "minSamples"]
    else:
        fields, unused = METRIC_FIELDS, ["source.kind", "source.environment"]
    numbers = [field for field in LIMIT_FIELDS if field.name not in unused]
    hidden += [Field(f"rule.{name}", "", type="hidden") for name in unused]
    return [*hidden, *_prefix([*fields, *numbers], "rule.")], []


def _keep_deleted(options: Choices, value: str) -> Choices:
    """Otherwise browsers select another one in its place."""
    is_deleted = value and value not in dict(options)
    return [(value, f"{value} (deleted)"), *options] if is_deleted else options


def _make_signal_sections(form: Form, at: str) -> list[GrowingSection]:
    values = Field("values", "Values", type="textarea", hint=VALUES_HINT, attributes={"rows": 2})
    operator = make_operator_field(OPERATORS)
    filters = make_section(
        form,
        f"{at}.filters",
        "Which alerts",
        "filter",
        "All filters must match, and of an OR group at least one. Without any, the filters of"
        " the sender's template count.",
        [PATH_FIELD, operator, values, make_group_field(form, f"{at}.filters"), *FILTER_BOXES],
        blank={"operator": "IN"},
        max_rows=MAX_FILTERS,
    )
    resolved = GrowingSection(
        f"{at}.resolved",
        "What resolves an alert",
        "",
        "Empty = what the sender's template says; without either, a person must continue.",
        [],
        fill(_prefix(_RESOLVED_FIELDS, f"{at}.resolved."), form),
        max_rows=0,
    )
    return [filters, resolved]


def _prefix(fields: Sequence[Field], at: str) -> list[Field]:
    return fill(fields, {}, at)
