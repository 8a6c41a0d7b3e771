"""Variants as rows of fields (`variants.0.name` …) in a strategy's form."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sigservice.web.forms import Field, Form, make_choices
from sigservice.web.growing_forms import FieldRow, FormRow, GrowingSection

BLANK = {"name": "", "weightType": "variable", "weight": "", "payloadType": "", "payload": ""}
WEIGHT_TYPES = [("variable", "Variable (equal split)"), ("fix", "Fixed")]
PAYLOAD_TYPES = make_choices(("string", "number", "json", "csv"), ("", "none"))
COLORS = 6
UPDATES_BAR = {"data-press": "update-weights"}
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
        template="flags/feature_strategies/weights.tpl",
        values=_make_bar(rows),
    )


def _make_bar(rows: Sequence[FormRow]) -> dict[str, Any] | None:
    """The weights as parts of a bar of 1000 units: fixed weights first get theirs, the others share
    the rest. Without parts while they can't be split; None without variants."""
    if not rows:
        return None
    fixed = {
        number: _parse_weight(row["weight"])
        for number, row in enumerate(rows)
        if row["weightType"] == "fix"
    }
    rest, others = 1000 - sum(fixed.values()), len(rows) - len(fixed)
    if rest < 0 or (rest and not others) or any(weight < 0 for weight in fixed.values()):
        return {"parts": [], "label": "The weights must add up to 100%."}
    shares = [(rest + place) // others for place in range(others)]
    parts, x = [], 0
    for number, row in enumerate(rows):
        width = fixed[number] if number in fixed else shares.pop()
        parts.append({"x": x, "width": width, "color": number % COLORS, "name": row["name"]})
        x += width
    label = ", ".join(f"{part['name'] or '?'} {part['width'] / 10:g}%" for part in parts)
    return {"parts": parts, "label": f"{label} = 100%"}


def _make_row(at: str, row: FormRow) -> FieldRow:
    weight_type, payload_type = row["weightType"], row["payloadType"]
    hint = "Only for a fixed weight, e.g. 12.5"
    return FieldRow(
        [
            Field(f"{at}.name", "Name", row["name"], is_required=True),
            Field(
                f"{at}.weightType",
                "Weight type",
                weight_type,
                "select",
                choices=WEIGHT_TYPES,
                attributes=UPDATES_BAR,
            ),
            Field(f"{at}.weight", "Weight (%)", row["weight"], hint=hint, attributes=UPDATES_BAR),
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
