"""Constraints as rows of fields (`constraints.0.operator` …) of strategies and segments."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sigservice.db import Row
from sigservice.services.flags.constraints import TEXT_OPERATORS
from sigservice.services.strategy_summaries import OPERATORS
from sigservice.web.forms import Field, Form, split_lines, to_form
from sigservice.web.growing_forms import GrowingSection, list_rows, make_section

MAX_LEGAL_VALUES, MAX_CHIPS = 20, 10
BLANK = {"operator": "IN"}
VALUES_HINT = "One per line; only one for number, date, semver and regex operators."
CASE_LABEL = "Case-insensitive (contains, starts with, ends with)"
CONTEXT_NAME_FIELD = Field(
    "contextName",
    "Context field",
    hint="Sent by the SDK, e.g. userId",
    attributes={"list": "context-fields"},
)
BOXES = [
    Field("inverted", "Negate (NOT)", type="checkbox"),
    Field("caseInsensitive", CASE_LABEL, type="checkbox"),
]


def make_operator_field(operators: Mapping[str, tuple[str, str]]) -> Field:
    """`operators` are the names with their labels."""
    choices = [
        (name, label if label.replace(" ", "_") == name else f"{label} ({name})")
        for name, (label, _) in operators.items()
    ]
    return Field("operator", "Operator", type="select", choices=choices)


OPERATOR_FIELD = make_operator_field(OPERATORS)


def make_form(constraints: Sequence[Mapping[str, Any]]) -> Form:
    """The texts of the rows. A single value is in the control of several."""
    rows = [
        {**item, "value": None, "values": [item["value"]] if "value" in item else item["values"]}
        for item in constraints
    ]
    return to_form(rows, "constraints")


def read_constraints(
    form: Form, existing: Sequence[Mapping[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Operators with several values take one from each line, the others the whole text. A row that
    shows one of the `existing` constraints is that constraint: its values may have blanks and line
    breaks, which a text can't show."""
    existing_rows = list_rows(make_form(existing), "constraints")
    constraints = []
    for row in list_rows(form, "constraints"):
        texts = {name: text.replace("\r\n", "\n") for name, text in row.items()}
        if texts in existing_rows:
            constraints.append(dict(existing[existing_rows.index(texts)]))
        else:
            constraints.append(_read_constraint(row))
    return constraints


def _read_constraint(row: Form) -> dict[str, Any]:
    return {
        "contextName": row.get("contextName", "").strip(),
        "operator": row.get("operator", ""),
        **(
            {"values": split_lines(row.get("values", ""))}
            if row.get("operator") in TEXT_OPERATORS
            else {"value": row.get("values", "").strip()}
        ),
        "inverted": "inverted" in row,
        "caseInsensitive": "caseInsensitive" in row,
    }


def make_constraint_section(form: Form, context_rows: Sequence[Row], hint: str) -> GrowingSection:
    """`context_rows` are the context fields."""
    legal_values = {row["name"]: msgspec.json.decode(row["legal_values"]) for row in context_rows}

    def make_row(row: Form) -> list[Field]:
        items = legal_values.get(row.get("contextName", ""), [])
        legal = ", ".join(str(item["value"]) for item in items[:MAX_LEGAL_VALUES])
        size = {"rows": min(10, max(2, row.get("values", "").count("\n") + 2))}
        hint = f"{VALUES_HINT} Legal values: {legal}." if legal else VALUES_HINT
        values = Field("values", "Values", type="textarea", hint=hint, attributes=size)
        return [CONTEXT_NAME_FIELD, OPERATOR_FIELD, values, *BOXES]

    return make_section(
        form,
        "constraints",
        "Constraints",
        "constraint",
        hint,
        make_row,
        blank=BLANK,
        summarize=_summarize,
        template="partials/context_fields.tpl",
        values=[*legal_values],
    )


def _summarize(row: Form) -> tuple[str, list[str]]:
    """The beginning of a row that is complete, and its first values as chips."""
    values, name = split_lines(row.get("values", "")), row.get("contextName", "")
    if not (name and values and row.get("operator") in OPERATORS):
        return "", []
    more = len(values) - MAX_CHIPS
    chips = [*values[:MAX_CHIPS], f"{more} more"] if more > 0 else values
    return f"{name} {OPERATORS[row['operator']]['inverted' in row]}", chips
