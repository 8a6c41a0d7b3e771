"""Constraints as rows of fields (`constraints.0.operator` …) of strategies and segments."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from sigservice.db.statements import Row
from sigservice.services.flags.constraints import TEXT_OPERATORS, Constraint
from sigservice.services.flags.strategy_summaries import OPERATORS
from sigservice.web.forms import Field, Form
from sigservice.web.growing_forms import FieldRow, FormRow, GrowingSection, find_rows, split_lines

MAX_LEGAL_VALUES, MAX_CHIPS = 20, 10
BLANK: FormRow = {
    "contextName": "",
    "operator": "IN",
    "values": "",
    "inverted": False,
    "caseInsensitive": False,
}
OPERATOR_CHOICES = [
    (name, label if label.replace(" ", "_") == name else f"{label} ({name})")
    for name, (label, _) in OPERATORS.items()
]
VALUES_HINT = "One per line; only one for number, date, semver and regex operators."
CASE_LABEL = "Case-insensitive (contains, starts with, ends with)"
_INDEX = re.compile(r"\[(\d+)\]")
_VALUE = re.compile(r"^(constraints\.\d+)\.values?(?:\.(\d+))?$")


def read_rows(form: Form) -> list[FormRow]:
    return [
        {
            "contextName": form.get(f"{row}.contextName", "").strip(),
            "operator": form.get(f"{row}.operator", ""),
            "values": form.get(f"{row}.values", "").replace("\r\n", "\n"),
            "inverted": f"{row}.inverted" in form,
            "caseInsensitive": f"{row}.caseInsensitive" in form,
        }
        for row in find_rows(form, "constraints")
    ]


def to_rows(constraints: Sequence[dict[str, Any]]) -> list[FormRow]:
    return [
        {
            "contextName": constraint["contextName"],
            "operator": constraint["operator"],
            "values": str(constraint.get("value") or "\n".join(constraint.get("values") or [])),
            "inverted": bool(constraint.get("inverted")),
            "caseInsensitive": bool(constraint.get("caseInsensitive")),
        }
        for constraint in constraints
    ]


def to_constraints(rows: Sequence[FormRow]) -> list[Constraint]:
    """Operators with several values take one from each line, the others the whole text."""
    return [
        Constraint(
            row["contextName"],
            row["operator"],
            values=[*split_lines(row["values"])] if row["operator"] in TEXT_OPERATORS else None,
            value=None if row["operator"] in TEXT_OPERATORS else row["values"].strip(),
            inverted=row["inverted"],
            caseInsensitive=row["caseInsensitive"],
        )
        for row in rows
    ]


def make_section(rows: Sequence[FormRow], context_rows: Sequence[Row], hint: str) -> GrowingSection:
    """`context_rows` are the context fields."""
    legal_values = {row["name"]: msgspec.json.decode(row["legal_values"]) for row in context_rows}
    fields = [
        _make_row(f"constraints.{number}", row, legal_values.get(row["contextName"], []))
        for number, row in enumerate(rows)
    ]
    return GrowingSection("constraints", "Constraints", "constraint", hint, fields)


def _make_row(at: str, row: FormRow, legal_values: Sequence[Row]) -> FieldRow:
    values, operator = row["values"], row["operator"]
    legal = ", ".join(str(item["value"]) for item in legal_values[:MAX_LEGAL_VALUES])
    hint = f"{VALUES_HINT} Legal values: {legal}." if legal else VALUES_HINT
    size = {"rows": min(10, max(2, values.count("\n") + 2))}
    return FieldRow(
        [
            Field(
                f"{at}.contextName",
                "Context field",
                row["contextName"],
                hint="Sent by the SDK, e.g. userId",
                attributes={"list": "context-fields"},
            ),
            Field(f"{at}.operator", "Operator", operator, "select", choices=OPERATOR_CHOICES),
            Field(f"{at}.values", "Values", values, "textarea", hint, attributes=size),
        ],
        [
            Field(f"{at}.inverted", "Negate (NOT)", row["inverted"], "checkbox"),
            Field(f"{at}.caseInsensitive", CASE_LABEL, row["caseInsensitive"], "checkbox"),
        ],
        *_summarize(row),
    )


def _summarize(row: FormRow) -> tuple[str, list[str]]:
    """The beginning of a row that is complete, and its first values as chips."""
    values = split_lines(row["values"])
    if not (row["contextName"] and values and row["operator"] in OPERATORS):
        return "", []
    more = len(values) - MAX_CHIPS
    chips = [*values[:MAX_CHIPS], f"{more} more"] if more > 0 else values
    label = OPERATORS[row["operator"]][row["inverted"]]
    return f"{row['contextName']} {label}", chips


def to_form_problems(details: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Problems under the names of the form's fields: `constraints[0].values[2]` is the third line
    of `constraints.0.values`."""
    problems = []
    for detail in details:
        path, message = _INDEX.sub(r".\1", detail.get("path", "")), detail["message"]
        if match := _VALUE.match(path):
            path = f"{match[1]}.values"
            message = f"Line {int(match[2]) + 1}: {message}" if match[2] else message
        problems.append({"message": message, "path": path} if path else {"message": message})
    return problems
