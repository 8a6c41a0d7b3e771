"""The form of a strategy, of a flag or as the default of a project."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

from sigservice.context import Context
from sigservice.db import Connection, Row
from sigservice.errors import AppError
from sigservice.repository.flags import segments
from sigservice.repository.projects import context_fields, strategy_types
from sigservice.routes.pages.flags import constraint_fields, variant_fields
from sigservice.services.flags.strategies import ROLLOUT_TYPES, Strategy
from sigservice.web.body import to_struct
from sigservice.web.forms import Field, Form, fill, make_choices, split_lines, to_form

NOT_SAVED = "Nothing is saved yet: fill in the fields of the new strategy type, then save."
SEGMENTS = "segments."
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


GENERAL_FIELDS = [
    Field("title", "Title", hint="Optional. Shown in the strategy list."),
    Field("disabled", "Disable this strategy", type="checkbox"),
]


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


def make_form(strategy: Mapping[str, Any] | None, choices: StrategyChoices, feature: str) -> Form:
    """The texts of a strategy, or the defaults of a new one."""
    if strategy is None:
        parameters = {"rollout": "100", "stickiness": "default", "groupId": feature}
        return to_form({"name": DEFAULT_TYPE, "parameters": parameters})
    types = choices.map_types(strategy["name"])
    form = to_form({name: strategy[name] for name in ("name", "title", "disabled")})
    for name in types.keys() & strategy["parameters"].keys():
        text = strategy["parameters"][name]
        lines = "\n".join(_split_items(text)) if types[name] == "list" else text
        form[to_field_name(name)] = lines
    form |= {f"{SEGMENTS}{id}": "on" for id in strategy["segments"]}
    form |= constraint_fields.make_form(strategy["constraints"])
    form |= variant_fields.make_form(strategy["variants"])
    return form | {"variant_stickiness": variant_fields.find_stickiness(strategy["variants"])}


def read_strategy(
    form: Form, choices: StrategyChoices, existing: Mapping[str, Any] | None = None
) -> Strategy:
    """The strategy of a submitted form. What the form has no fields for stays as in `existing`:
    parameters, parts of variants, blanks in values. Raises BadDataError for values that the form
    doesn't offer."""
    type, title = form.get("name", ""), form.get("title", "").strip()
    existing = existing or {
        "name": None,
        "title": None,
        "parameters": {},
        "constraints": [],
        "variants": [],
    }
    parameters = dict(existing["parameters"]) if existing["name"] == type else {}
    for name, parameter_type in choices.map_types(type).items():
        if (key := to_field_name(name)) not in form:
            continue
        text = form[key].replace("\r\n", "\n").strip()
        if parameter_type == "list":
            text = ",".join(split_lines(text))
        if text or name in parameters or (name, type) == ("rollout", DEFAULT_TYPE):
            parameters[name] = text
    ids = [name.removeprefix(SEGMENTS) for name in form if name.startswith(SEGMENTS)]
    body = {
        "name": type,
        "title": title or ("" if existing["title"] else None),
        "disabled": "disabled" in form,
        "parameters": parameters,
        "segments": sorted(int(id) for id in ids if id.isascii() and id.isdigit() and len(id) < 10),
        "constraints": constraint_fields.read_constraints(form, existing["constraints"]),
        "variants": variant_fields.read_variants(form, existing["variants"]),
    }
    return to_struct(body, Strategy)


def changes_form(form: Form) -> bool:
    """Whether a button changes the form, or the type is new and its parameters aren't filled in
    yet, so that nothing is to be saved."""
    return bool(form.get("do")) or form.get("shown_type") != form.get("name")


def make_form_parts(
    context: Context, form: Form, choices: StrategyChoices, project: str, error: AppError | None
) -> dict[str, Any]:
    """What templates/flags/feature_strategies/fields.tpl prints, and the notice above a form whose
    type has changed. Changes the problems of the error to the names and units of the form."""
    type = form.get("name", "")
    if error:
        variant_fields.explain_weights(error)
        for detail in error.details:
            start, _, name = detail.get("path", "").partition(".")
            detail["path"] = to_field_name(name) if start == "parameters" else detail.get("path")
    hint = "Context field used to keep a user on the same variant."
    stickiness = _make_stickiness_field(
        "variant_stickiness", "Variant stickiness", hint, choices, form
    )
    parameters = [
        _make_parameter_field(row, choices, form) for row in choices.list_parameters(type)
    ]
    is_changed = "shown_type" in form and form["shown_type"] != type and not form.get("do")
    return {
        "notice": NOT_SAVED if is_changed else "",
        "type": _make_type_field(type, choices),
        "parameters": fill(parameters, form),
        "parameters_legend": "Rollout" if type.startswith(ROLLOUT_TYPES) else "Parameters",
        "constraints": constraint_fields.make_constraint_section(
            form, choices.context_fields, "All constraints must match (AND)."
        ),
        "segments": _make_segment_fields(form, choices, project),
        "max_segments": context.config["strategySegmentsLimit"],
        "variants": variant_fields.make_variant_section(form, stickiness),
        "general": fill(GENERAL_FIELDS, form),
    }


def _make_type_field(type: str, choices: StrategyChoices) -> Field:
    """Deprecated and deleted types are offered only where they are in use."""
    types = [
        (row["name"], f"{row['title'] or row['name']}{' (deprecated)' * row['deprecated']}")
        for row in choices.types
        if row["name"] == type or not row["deprecated"]
    ]
    types += [] if type in dict(types) else [(type, type)]
    return Field("name", "Strategy type", type, "select", choices=types, attributes=CHANGES_TYPE)


def _make_parameter_field(parameter: Row, choices: StrategyChoices, form: Form) -> Field:
    name, parameter_type = parameter["name"], parameter.get("type", "string")
    label = PARAMETER_LABELS.get(name) or name
    hint = PARAMETER_HINTS.get(name) or parameter.get("description") or ""
    name = to_field_name(name)
    if label == "Stickiness":
        return _make_stickiness_field(name, label, hint, choices, form)
    if parameter_type == "percentage":
        return Field(name, label, "", "number", "0–100%", attributes=PERCENTAGE_ATTRIBUTES)
    if parameter_type == "list":
        return Field(name, label, "", "textarea", f"{hint} One per line.".strip())
    if parameter_type == "boolean":
        value = form.get(name, "")
        states = make_choices(
            dict.fromkeys(["true", "false", *filter(None, [value])]), ("", "not set")
        )
        return Field(name, label, "", "select", hint, choices=states)
    return Field(name, label, hint=hint)


def _make_stickiness_field(
    name: str, label: str, hint: str, choices: StrategyChoices, form: Form
) -> Field:
    """Its value is offered too if no context field has its name any longer."""
    value = form.get(name, "")
    names = [row["name"] for row in choices.context_fields if row["stickiness"]]
    options = make_choices(names, *DEFAULT_STICKINESS)
    options += [(value, value)] if value and value not in dict(options) else []
    return Field(name, label, value, "select", hint, choices=options)


def _make_segment_fields(form: Form, choices: StrategyChoices, project: str) -> list[Field]:
    """A checkbox for each segment of the project, of all projects and of the strategy."""
    fields = [
        Field(f"{SEGMENTS}{row['id']}", row["name"], type="checkbox", hint=row["description"] or "")
        for row in choices.segments
        if row["project"] in (None, project) or f"{SEGMENTS}{row['id']}" in form
    ]
    return fill(fields, form)


def to_field_name(parameter: str) -> str:
    """The names of a custom type's parameters may have blanks, the id of a field can't."""
    return f"parameters.{quote(parameter, safe='')}"


def _split_items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
