"""The fields of the form of an action set."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sigservice.routes.pages.actions.action_form_values import (
    AT,
    BACK,
    BLANK_ACTION,
    BLANK_FILTER,
    COOLDOWN,
    PARAMS,
    RESOLVED,
    REVERT_AFTER,
    list_groups,
)
from sigservice.routes.pages.actions.schedule_fields import find_trigger
from sigservice.services.actions.action_summaries import OPERATORS
from sigservice.services.actions.automation_sentences import COMPARISONS
from sigservice.web.forms import Field, Form, fill, make_choices
from sigservice.web.growing_forms import GrowingSection, list_rows, make_section

Choices = list[tuple[str, str]]
MAX_SELECT_CHOICES = 100  # above, a text field with suggestions
FILTERS_HINT = (
    "All must match, and of an OR group one. * in a path matches any item. Several values: one per "
    "line. If the field is missing it never matches, even negated."
)
STATES = {"TOGGLE_FEATURE_OFF": "off", "TOGGLE_FEATURE_ON": "on"}
UPDATES_PREVIEW = {"data-press": "preview-button"}
# The form of a strategy plans them.
SUGGESTED_PATHS = {"list": "suggested"}
GENERAL_FIELDS = [
    Field("name", "Name", hint="Empty = what it does"),
    Field("description", "Description"),
    Field("enabled", "On", type="checkbox"),
]
OPTION_CHECKBOXES = [
    Field(f"{AT}dryRun", "Record only", type="checkbox"),
    Field(f"{AT}latch", "Only once", type="checkbox"),
    Field(f"{AT}continueOnFailure", "Continue after a failed action", type="checkbox"),
]
OPTION_NUMBERS = [
    Field(
        COOLDOWN,
        "Pause between runs (seconds)",
        type="number",
        hint="Matching signals are skipped.",
        attributes={"min": 0, "max": 604_800, "step": 1},
    ),
    Field(
        f"{AT}maxRunsPerHour",
        "At most in an hour",
        type="number",
        hint="Empty = unlimited",
        attributes={"min": 1, "max": 10_000, "step": 1},
    ),
]
REVERT_FIELD = Field(
    REVERT_AFTER,
    "Back on after (minutes)",
    type="number",
    hint="Empty = never.",
    attributes={"min": 1, "max": 43_200, "step": 1},
)
LATE_FIELD = Field(
    f"{AT}skipIfLateMinutes",
    "Skip if late by more than (minutes)",
    type="number",
    hint="After a downtime. Empty = runs however late it is.",
    attributes={"min": 1, "max": 43_200, "step": 1},
)
BACK_FIELD = Field(BACK, "back on when the alert resolves", type="checkbox")
RESOLVED_FIELDS = [
    Field(
        f"{RESOLVED}path",
        "Status field",
        attributes=SUGGESTED_PATHS | UPDATES_PREVIEW | {"placeholder": "e.g. status"},
    ),
    Field(
        f"{RESOLVED}values",
        "Resolved values",
        type="textarea",
        attributes={"rows": 1, "placeholder": "e.g. resolved"} | UPDATES_PREVIEW,
    ),
    Field(
        f"{RESOLVED}key",
        "Correlation field",
        attributes=SUGGESTED_PATHS | {"placeholder": "e.g. groupKey"},
    ),
]
PATH_FIELD = Field(
    "path",
    "Alert has",
    attributes=SUGGESTED_PATHS
    | UPDATES_PREVIEW
    | {"placeholder": "e.g. status or alerts[*].labels.severity"},
)
FILTER_BOXES = [
    Field("inverted", "Negate (NOT)", type="checkbox", attributes=UPDATES_PREVIEW),
    Field("caseInsensitive", "Case-insensitive", type="checkbox", attributes=UPDATES_PREVIEW),
    Field(
        "alsoWhenResolved",
        "Also for the end of an alert",
        type="checkbox",
        attributes=UPDATES_PREVIEW,
    ),
]


@dataclass(frozen=True)
class ActionRow:
    """One action: its kind, which a button changes, and the parameters of that kind."""

    kind: Field
    parameters: Sequence[Field]
    suggestions: Mapping[str, Sequence[str]]  # by the ID of a datalist


def has_options(form: Form) -> bool:
    """Whether the folded options differ from a blank form."""
    return any(text for name, text in form.items() if name.startswith(AT))


def make_source_field(form: Form, endpoints: Choices) -> Field:
    value, loads = form.get("match.sourceId", ""), {"data-press": "load-signal"}
    choices = _add_blank(endpoints, value, "(deleted endpoint)")
    return Field(
        "match.sourceId", "Signal endpoint", value, "select", choices=choices, attributes=loads
    )


def make_actor_field(form: Form, accounts: Choices) -> Field:
    hint = "Shown in the audit log. Needs the role Editor or Admin."
    value = form.get("actorId", "")
    _, *rest = _add_blank(accounts, value, "(deleted account)")
    choices = [("", "automation (an Editor, made with the first one)"), *rest]
    return Field("actorId", "Account", value, "select", hint, choices=choices)


def make_group_field(form: Form, name: str = "filters") -> Field:
    """Of the filters `name`."""
    choices = [(letter, f"OR group {letter}") for letter in list_groups(form, name)]
    return Field("group", "Role", type="select", choices=[("", "Required"), *choices])


def make_filter_section(form: Form, max_filters: int) -> GrowingSection:
    others = [(name, words[0]) for name, words in OPERATORS.items() if name not in COMPARISONS]
    operator = Field(
        "operator",
        "Comparison",
        type="select",
        choices=[*COMPARISONS.items(), *others],
        attributes=UPDATES_PREVIEW,
    )
    group = replace(make_group_field(form), attributes=UPDATES_PREVIEW)

    def make_row(row: Form) -> list[Field]:
        size = {"rows": min(10, row.get("values", "").strip().count("\n") + 1)}
        values = Field("values", "Value", type="textarea", attributes=size | UPDATES_PREVIEW)
        return [PATH_FIELD, operator, values, group, *FILTER_BOXES]

    return make_section(
        form,
        "filters",
        "with",
        "filter",
        FILTERS_HINT,
        make_row,
        blank=BLANK_FILTER,
        max_rows=max_filters,
    )


def make_action_rows(form: Form, kinds: Mapping[str, Any]) -> list[ActionRow]:
    return [
        _make_action_row(f"actions.{number}", row, kinds)
        for number, row in enumerate(list_rows(form, "actions", BLANK_ACTION))
    ]


def _make_action_row(at: str, row: Form, kinds: Mapping[str, Any]) -> ActionRow:
    value = row.get("action", "")
    kind = kinds.get(value, {"description": "", "parameters": []})
    fields, suggestions = [], {}
    for parameter in kind["parameters"]:
        if parameter["type"] == "hidden":  # the project
            continue
        choices, name = parameter.get("options", []), PARAMS + parameter["name"]
        if len(choices) > MAX_SELECT_CHOICES:
            suggestions[f"{at}.{name}.all"] = choices
        fields.append(_make_parameter_field(at, name, parameter, row.get(name, ""), choices))
    kind_choices = [(key, STATES.get(key) or item["label"]) for key, item in kinds.items()]
    return ActionRow(
        Field(
            f"{at}.action",
            "State",
            value,
            "select",
            choices=kind_choices,
            attributes={"data-press": f"change-{at}"},
        ),
        fields,
        suggestions,
    )


def _make_parameter_field(
    at: str, name: str, parameter: Any, value: str, choices: Sequence[str]
) -> Field:
    label = "Flag" if parameter["name"] == "featureName" else parameter["label"]
    name = f"{at}.{name}"
    if parameter["type"] == "number":
        return Field(name, label, value, "number", attributes={"min": 0, "step": 1})
    if len(choices) > MAX_SELECT_CHOICES:
        hint = f"Type to search {len(choices)} choices."
        return Field(name, label, value, hint=hint, attributes={"list": f"{name}.all"})
    hint = "" if choices else "Nothing to choose in this project yet."
    options = _add_blank(make_choices(choices), value, f"{value} (deleted)")
    return Field(name, label, value, "select", hint, choices=options)


def make_option_fields(form: Form) -> dict[str, Any]:
    """What templates/actions/action_sets/form.tpl prints of the options and of what is undone."""
    is_scheduled = find_trigger(form) != "endpoint"
    return {
        "revert_after": fill([REVERT_FIELD], form),
        "option_checkboxes": fill(OPTION_CHECKBOXES, form),
        "option_numbers": fill([*OPTION_NUMBERS, *([LATE_FIELD] if is_scheduled else [])], form),
        "resolved": [] if is_scheduled else fill(RESOLVED_FIELDS, form),
        "back": [] if is_scheduled else fill([BACK_FIELD], form),
    }


def _add_blank(choices: Iterable[tuple[str, str]], value: str, deleted_label: str) -> Choices:
    """The choices after a blank one, with the current value even if it was deleted."""
    current = [*choices]
    deleted = [(value, deleted_label)] if value and value not in dict(current) else []
    return [("", "Choose …"), *current, *deleted]
