"""Variants as rows of fields (`variants.0.name` …) in a strategy's form."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sigservice.web.forms import Field, Form, make_choices
from sigservice.web.growing_forms import FieldRow, FormRow, GrowingSection

BLANK = {"name": "", "weightType": "variable", "weight": "", "payloadType": "", "payload": ""}
WEIGHT_TYPES = [("variable", "Variable (equal split)"), ("fix", "Fixed")]
PAYLOAD_TYPES = make_choices(("string", "number", "json", "csv"), ("", "none"))
# The form has percentages, the service stores thousandths and names them in its messages.
WEIGHT_PROBLEM = "The weight must be from 0 to 100, with at most one decimal."
SUM_PROBLEM = "The fixed weights must not add up to more than 100%."


def read_row(form: Form, row: str) -> FormRow:
    payload = form.get(f"{row}.payload", "").replace("\r\n", "\n")
    return {name: form.get(f"{row}.{name}", "").strip() for name in BLANK} | {"payload": payload}


def to_row(variant: dict[str, Any]) -> FormRow:
    payload = variant.get("payload") or {}
    percentage = f"{variant['weight'] / 10:.1f}".removesuffix(".0")
    return {
        "name": variant["name"],
        "weightType": variant["weightType"],
        "weight": percentage if variant["weightType"] == "fix" else "",
        "payloadType": payload.get("type", ""),
        "payload": payload.get("value", ""),
    }


def to_variant(row: FormRow, stickiness: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """`overrides` are by the variant's name."""
    variant = {
        "name": row["name"],
        "weightType": row["weightType"],
        "weight": _parse_weight(row["weight"]) if row["weightType"] == "fix" else 0,
        "stickiness": stickiness,
    }
    if row["payloadType"]:
        variant["payload"] = {"type": row["payloadType"], "value": row["payload"]}
    if row["name"] in overrides:
        variant["overrides"] = overrides[row["name"]]
    return variant


def make_section(rows: Sequence[FormRow], stickiness: Field) -> GrowingSection:
    return GrowingSection(
        "variants",
        "Variants",
        "variant",
        "Optional. Split exposed users between variants (A/B test, remote config).",
        [_make_row(f"variants.{number}", row) for number, row in enumerate(rows)],
        [stickiness] if rows else [],
    )


def _make_row(at: str, row: FormRow) -> FieldRow:
    weight_type, payload_type = row["weightType"], row["payloadType"]
    hint = "Only for a fixed weight, e.g. 12.5"
    return FieldRow(
        [
            Field(f"{at}.name", "Name", row["name"], is_required=True),
            Field(f"{at}.weightType", "Weight type", weight_type, "select", choices=WEIGHT_TYPES),
            Field(f"{at}.weight", "Weight (%)", row["weight"], hint=hint),
            Field(
                f"{at}.payloadType", "Payload type", payload_type, "select", choices=PAYLOAD_TYPES
            ),
            Field(f"{at}.payload", "Payload value", row["payload"], "textarea"),
        ]
    )


def to_form_problem(path: str, message: str) -> dict[str, str]:
    """A problem under the name of the form's field and with percentages."""
    if path == "variants" and "1000" in message:
        return {"path": path, "message": SUM_PROBLEM}
    if path.endswith(".weight"):
        return {"path": path, "message": WEIGHT_PROBLEM}
    if path.endswith(".stickiness"):
        return {"path": "variant_stickiness", "message": message}
    path = path.replace(".payload.value", ".payload").replace(".payload.type", ".payloadType")
    return {"path": path, "message": message}


def _parse_weight(text: str) -> int:
    """The thousandths of a percentage, or -1, which no weight may be, for any other text."""
    try:
        number = Decimal(text.replace(",", ".")) * 10
        return int(number) if 0 <= number <= 1000 and number == int(number) else -1
    except (ArithmeticError, ValueError):
        return -1
