"""Variants as rows of fields (`variants.0.name` …) in a strategy's form."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sigservice.errors import AppError, BadDataError
from sigservice.web.forms import Field, Form, make_choices, to_form
from sigservice.web.growing_forms import GrowingSection, list_rows, make_section

COLORS = 6
UPDATES_BAR = {"data-press": "update-weights"}
# The form has percentages, the service stores thousandths and names them in its messages.
WEIGHT_PROBLEM = "The weight must be from 0 to 100, with at most one decimal."
SUM_PROBLEM = "The fixed weights must not add up to more than 100%."
FIELDS = [
    Field("name", "Name", is_required=True),
    Field(
        "weightType",
        "Weight type",
        type="select",
        choices=[("variable", "Variable (equal split)"), ("fix", "Fixed")],
        attributes=UPDATES_BAR,
    ),
    Field(
        "weight", "Weight (%)", hint="Only for a fixed weight, e.g. 12.5", attributes=UPDATES_BAR
    ),
    Field(
        "payload.type",
        "Payload type",
        type="select",
        choices=make_choices(("string", "number", "json", "csv"), ("", "none")),
    ),
    Field("payload.value", "Payload value", type="textarea"),
]


def make_form(variants: Sequence[Mapping[str, Any]]) -> Form:
    """The texts of the rows, with percentages."""
    rows = []
    for variant in variants:
        percentage = f"{variant['weight'] / 10:.1f}".removesuffix(".0")
        weight = percentage if variant["weightType"] == "fix" else None
        rows.append({**variant, "weight": weight})
    return to_form(rows, "variants")


def find_stickiness(variants: Sequence[Mapping[str, Any]]) -> str:
    """What the form shows as the stickiness of all variants: the one of the first."""
    return next((variant["stickiness"] for variant in variants), "default")


def read_variants(form: Form, existing: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Keeps the overrides of the `existing` variants and, unless the form changes it, the
    stickiness of each, by the variant's name. Raises BadDataError."""
    stickiness = form.get("variant_stickiness", "default")
    is_changed = stickiness != find_stickiness(existing)
    variants = []
    for number, row in enumerate(list_rows(form, "variants")):
        if row.get("payload.value", "").strip() and not row.get("payload.type"):
            path = f"variants.{number}.payload.type"
            raise BadDataError("Choose a type, or empty the payload value.", path=path)
        variant = _read_variant(row, stickiness)
        for old in existing:
            if old["name"] == variant["name"]:
                variant |= {"overrides": old["overrides"]} if old.get("overrides") else {}
                variant |= {} if is_changed else {"stickiness": old["stickiness"]}
        variants.append(variant)
    return variants


def make_variant_section(form: Form, stickiness: Field) -> GrowingSection:
    rows = list_rows(form, "variants")
    return make_section(
        form,
        "variants",
        "Variants",
        "variant",
        "Optional. Split exposed users between variants (A/B test, remote config).",
        FIELDS,
        fields_below=[stickiness] if rows else [],
        template="flags/feature_strategies/weights.tpl",
        values=_make_bar(rows),
    )


def explain_weights(error: AppError) -> None:
    """Changes the messages about weights to percentages."""
    for detail in error.details:
        path = detail.get("path", "")
        if path == "variants" and "1000" in detail["message"]:
            detail["message"] = SUM_PROBLEM
        elif path.startswith("variants") and path.endswith(".weight"):
            detail["message"] = WEIGHT_PROBLEM


def _read_variant(row: Form, stickiness: str) -> dict[str, Any]:
    is_fixed = row.get("weightType") == "fix"
    variant = {
        "name": row.get("name", "").strip(),
        "weightType": row.get("weightType", "variable"),
        "weight": _parse_weight(row.get("weight", "")) if is_fixed else 0,
        "stickiness": stickiness,
    }
    if row.get("payload.type"):
        value = row.get("payload.value", "").replace("\r\n", "\n")
        variant["payload"] = {"type": row["payload.type"], "value": value}
    return variant


def _make_bar(rows: Sequence[Form]) -> dict[str, Any] | None:
    """The weights as parts of a bar of 1000 units: fixed weights first get theirs, the others share
    the rest. Without parts while they can't be split; None without variants."""
    if not rows:
        return None
    fixed = {
        number: _parse_weight(row.get("weight", ""))
        for number, row in enumerate(rows)
        if row.get("weightType") == "fix"
    }
    rest, others = 1000 - sum(fixed.values()), len(rows) - len(fixed)
    if rest < 0 or (rest and not others) or any(weight < 0 for weight in fixed.values()):
        return {"parts": [], "label": "The weights must add up to 100%."}
    shares = [(rest + place) // others for place in range(others)]
    parts: list[dict[str, Any]] = []
    x = 0
    for number, row in enumerate(rows):
        width = fixed[number] if number in fixed else shares.pop()
        parts.append(
            {"x": x, "width": width, "color": number % COLORS, "name": row.get("name", "")}
        )
        x += width
    label = ", ".join(f"{part['name'] or '?'} {part['width'] / 10:g}%" for part in parts)
    return {"parts": parts, "label": f"{label} = 100%"}


def _parse_weight(text: str) -> int:
    """The thousandths of a percentage, or -1, which no weight may be, for any other text."""
    try:
        number = Decimal(text.replace(",", ".")) * 10
        return int(number) if 0 <= number <= 1000 and number == int(number) else -1
    except (ArithmeticError, ValueError):
        return -1
