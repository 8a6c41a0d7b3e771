"""The fields of a strategy's form, and what a submitted form holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

import msgspec

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.repository.flags import segments
from sigservice.repository.projects import context_fields, strategy_types
from sigservice.routes.pages.flags import constraint_fields, variant_fields
from sigservice.services.flags.strategies import Strategy
from sigservice.web.body import to_struct
from sigservice.web.forms import Field, Form, make_choices
from sigservice.web.growing_forms import (
    FormRow,
    GrowingSection,
    change_rows,
    find_rows,
    split_lines,
)

DEFAULT_TYPE = "flexibleRollout"
PARAMETER_LABELS = {
    "rollout": "Rollout percentage",
    "percentage": "Rollout percentage",
    "stickiness": "Stickiness",
    "groupId": "Group ID",
    "userIds": "User IDs",
    "IPs": "IP addresses",
    "hostNames": "Hostnames",
}
DEFAULT_STICKINESS = (
    ("default", "default (userId → sessionId)"),
    ("random", "random (per request)"),
)
CHANGES_TYPE = {"data-press": "change-type"}
PERCENTAGE_ATTRIBUTES = {"min": 0, "max": 100, "step": 1}
PARAMETER_HINTS = {
    "stickiness": "Context field used to keep a user in the same bucket.",
    "groupId": "Flags with the same groupId roll out to the same users. Default: flag name.",
}


@dataclass(frozen=True)
class StrategyValues:
    """What the form holds. Parameters are by name, lists with one item per line."""

    type: str = DEFAULT_TYPE
    title: str = ""
    disabled: bool = False
    parameters: dict[str, str] = field(default_factory=dict)
    segments: frozenset[int] = frozenset()
    constraints: Sequence[FormRow] = ()
    variants: Sequence[FormRow] = ()
    variant_stickiness: str = "default"


@dataclass(frozen=True)
class StrategyChoices:
    """The rows that the form offers."""

    types: Sequence[Row]
    segments: Sequence[Row]
    context_fields: Sequence[Row]

    def list_parameters(self, type: str) -> list[Row]:
        return next((row["parameters"] for row in self.types if row["name"] == type), [])

    def map_types(self, type: str) -> dict[str, str]:
        """The type of each parameter by name."""
        return {row["name"]: row.get("type", "string") for row in self.list_parameters(type)}


def load_choices(conn: Connection) -> StrategyChoices:
    types = [
        row | {"parameters": msgspec.json.decode(row["parameters"])}
        for row in strategy_types.list_all(conn)
    ]
    return StrategyChoices(types, segments.list_all(conn), context_fields.list_all(conn))


def read_values(form: Form, choices: StrategyChoices) -> StrategyValues:
    type = form.get("name", "")
    ids = [name.removeprefix("segments.") for name in form if name.startswith("segments.")]
    return StrategyValues(
        type=type,
        title=form.get("title", "").strip(),
        disabled="disabled" in form,
        parameters={
            name: form[key].replace("\r\n", "\n").strip()
            for name in choices.map_types(type)
            if (key := to_field_name(name)) in form
        },
        segments=frozenset(int(id) for id in ids if id.isascii() and id.isdigit() and len(id) < 10),
        constraints=constraint_fields.read_rows(form),
        variants=[variant_fields.read_row(form, row) for row in find_rows(form, "variants")],
        variant_stickiness=form.get("variant_stickiness", "default"),
    )


def apply_button(values: StrategyValues, button: str) -> StrategyValues:
    """The values after a button that adds or removes a row."""
    return replace(
        values,
        constraints=change_rows(values.constraints, "constraints", constraint_fields.BLANK, button),
        variants=change_rows(values.variants, "variants", variant_fields.BLANK, button),
    )


def to_values(
    strategy: Mapping[str, Any] | None, choices: StrategyChoices, feature: str
) -> StrategyValues:
    """The values of a strategy, or the defaults for a new one."""
    if strategy is None:
        parameters = {"rollout": "100", "stickiness": "default", "groupId": feature}
        return StrategyValues(parameters=parameters)
    parameter_types = choices.map_types(strategy["name"])
    return StrategyValues(
        type=strategy["name"],
        title=strategy["title"] or "",
        disabled=strategy["disabled"],
        parameters={
            name: "\n".join(_split_items(text)) if parameter_types.get(name) == "list" else text
            for name, text in strategy["parameters"].items()
        },
        segments=frozenset(strategy["segments"]),
        constraints=constraint_fields.to_rows(strategy["constraints"]),
        variants=[variant_fields.to_row(variant) for variant in strategy["variants"]],
        variant_stickiness=next((v["stickiness"] for v in strategy["variants"]), "default"),
    )


def to_strategy(
    values: StrategyValues, choices: StrategyChoices, existing: Mapping[str, Any] | None = None
) -> Strategy:
    """Raises BadDataError for values that the form doesn't offer. Parameters and overrides of
    `existing` that the form has no fields for stay."""
    parameter_types = choices.map_types(values.type)
    existing = existing or {"name": None, "title": None, "parameters": {}, "variants": []}
    parameters = dict(existing["parameters"]) if existing["name"] == values.type else {}
    for name, text in values.parameters.items():
        if parameter_types[name] == "list":
            text = ",".join(split_lines(text))
        if text or name in parameters or (name, values.type) == ("rollout", DEFAULT_TYPE):
            parameters[name] = text
    overrides = {v["name"]: v["overrides"] for v in existing["variants"] if v.get("overrides")}
    body = {
        "name": values.type,
        "title": values.title or ("" if existing["title"] else None),
        "disabled": values.disabled,
        "parameters": parameters,
        "segments": sorted(values.segments),
        "variants": [
            variant_fields.to_variant(row, values.variant_stickiness, overrides)
            for row in values.variants
        ],
    }
    strategy = to_struct(body, Strategy)
    strategy.constraints = constraint_fields.to_constraints(values.constraints)
    return strategy


def make_type_field(type: str, choices: StrategyChoices) -> Field:
    """Deprecated and deleted types are offered only where they are in use."""
    types = [
        (row["name"], f"{row['title'] or row['name']}{' (deprecated)' * row['deprecated']}")
        for row in choices.types
        if row["name"] == type or not row["deprecated"]
    ]
    types += [] if type in dict(types) else [(type, type)]
    return Field("name", "Strategy type", type, "select", choices=types, attributes=CHANGES_TYPE)


def make_parameter_fields(values: StrategyValues, choices: StrategyChoices) -> list[Field]:
    return [
        _make_parameter_field(row, values.parameters.get(row["name"], ""), choices)
        for row in choices.list_parameters(values.type)
    ]


def _make_parameter_field(parameter: Row, value: str, choices: StrategyChoices) -> Field:
    name, parameter_type = parameter["name"], parameter.get("type", "string")
    label = PARAMETER_LABELS.get(name) or name
    hint = PARAMETER_HINTS.get(name) or parameter.get("description") or ""
    name = to_field_name(name)
    if label == "Stickiness":
        return _make_stickiness_field(name, label, value, hint, choices)
    if parameter_type == "percentage":
        return Field(name, label, value, "number", "0–100%", attributes=PERCENTAGE_ATTRIBUTES)
    if parameter_type == "list":
        return Field(name, label, value, "textarea", f"{hint} One per line.".strip())
    if parameter_type == "boolean":
        states = make_choices(("true", "false"), ("", "not set"))
        return Field(name, label, value, "select", hint, choices=states)
    return Field(name, label, value, hint=hint)


def _make_stickiness_field(
    name: str, label: str, value: str, hint: str, choices: StrategyChoices
) -> Field:
    """`value` is offered too if no context field has its name any longer."""
    names = [row["name"] for row in choices.context_fields if row["stickiness"]]
    options = make_choices(names, *DEFAULT_STICKINESS)
    options += [(value, value)] if value and value not in dict(options) else []
    return Field(name, label, value, "select", hint, choices=options)


def make_variant_section(values: StrategyValues, choices: StrategyChoices) -> GrowingSection:
    hint = "Context field used to keep a user on the same variant."
    stickiness = _make_stickiness_field(
        "variant_stickiness", "Variant stickiness", values.variant_stickiness, hint, choices
    )
    return variant_fields.make_section(values.variants, stickiness)


def make_segment_fields(
    values: StrategyValues, choices: StrategyChoices, project: str
) -> list[Field]:
    """A checkbox for each segment of the project, of all projects and of the strategy."""
    fields = []
    for row in choices.segments:
        id, is_selected = row["id"], row["id"] in values.segments
        if is_selected or row["project"] in (None, project):
            hint = row["description"] or ""
            fields.append(Field(f"segments.{id}", row["name"], is_selected, "checkbox", hint))
    return fields


def make_general_fields(values: StrategyValues) -> list[Field]:
    return [
        Field("title", "Title", values.title, hint="Optional. Shown in the strategy list."),
        Field("disabled", "Disable this strategy", values.disabled, "checkbox"),
    ]


def to_field_name(parameter: str) -> str:
    """The names of a custom type's parameters may have blanks, the id of a field can't."""
    return f"parameters.{quote(parameter, safe='')}"


def to_form_problems(details: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Problems under the names of the form's fields."""
    problems = constraint_fields.to_form_problems(details)
    for problem in problems:
        path = problem.get("path", "")
        if path.startswith("parameters."):
            problem["path"] = to_field_name(path.removeprefix("parameters."))
        elif path.startswith("variants"):
            problem |= variant_fields.to_form_problem(path, problem["message"])
    return problems


def _split_items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
