"""A strategy as fields of a form, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import msgspec

from sigservice.db.pool import Connection
from sigservice.repository.flags import segments
from sigservice.repository.projects import strategy_types
from sigservice.routes.pages.flags import constraint_fields
from sigservice.services.flags.strategies import Strategy
from sigservice.web.body import to_struct
from sigservice.web.growing_forms import Row, change_rows, find_rows, split_lines

DEFAULT_TYPE = "flexibleRollout"
BLANK_VARIANT = {
    "name": "",
    "weightType": "variable",
    "weight": "",
    "payloadType": "",
    "payload": "",
}
# What a person types is per cent, what is stored is thousandths.
_SAID_IN_PER_CENT = {
    "A weight is from 0 to 1000.": "A weight is from 0 to 100, with at most one decimal.",
    "The fixed weights come to more than 1000.": "The fixed weights come to more than 100 %.",
}


@dataclass(frozen=True)
class Values:
    """What the form holds. Parameters are by name, lists with one item on each line."""

    type: str = DEFAULT_TYPE
    title: str = ""
    disabled: bool = False
    parameters: dict[str, str] = field(default_factory=dict)
    segments: frozenset[int] = frozenset()
    constraints: Sequence[Row] = ()
    variants: Sequence[Row] = ()
    variant_stickiness: str = "default"


def read(form: dict[str, str], types: Sequence[Row]) -> Values:
    type = form.get("name", "")
    kinds = _kinds(types, type)
    ids = [name.removeprefix("segments.") for name in form if name.startswith("segments.")]
    return Values(
        type=type,
        title=form.get("title", "").strip(),
        disabled="disabled" in form,
        parameters={
            name: form[key].replace("\r\n", "\n").strip()
            for name in kinds
            if (key := parameter_field(name)) in form
        },
        segments=frozenset(int(id) for id in ids if id.isascii() and id.isdigit() and len(id) < 10),
        constraints=constraint_fields.read(form),
        variants=[
            {name: form.get(f"{at}.{name}", "").strip() for name in BLANK_VARIANT}
            | {"payload": form.get(f"{at}.payload", "").replace("\r\n", "\n")}
            for at in find_rows(form, "variants")
        ],
        variant_stickiness=form.get("variant_stickiness", "default"),
    )


def grown(values: Values, do: str) -> Values:
    """After the buttons that add and remove."""
    return replace(
        values,
        constraints=change_rows(values.constraints, "constraints", constraint_fields.BLANK, do),
        variants=change_rows(values.variants, "variants", BLANK_VARIANT, do),
    )


def show(stored: Mapping[str, Any], types: Sequence[Row]) -> Values:
    """A stored strategy in the form."""
    kinds = _kinds(types, stored["name"])
    return Values(
        type=stored["name"],
        title=stored["title"] or "",
        disabled=stored["disabled"],
        parameters={
            name: "\n".join(_split(text)) if kinds.get(name) == "list" else text
            for name, text in stored["parameters"].items()
        },
        segments=frozenset(stored["segments"]),
        constraints=constraint_fields.show(stored["constraints"]),
        variants=[_shown_variant(variant) for variant in stored["variants"]],
        variant_stickiness=next((v["stickiness"] for v in stored["variants"]), "default"),
    )


def to_strategy(
    values: Values, types: Sequence[Row], stored: Mapping[str, Any] | None = None
) -> Strategy:
    """Raises BadDataError for what no honest form sends. What `stored` has beyond the form's
    fields is kept."""
    kinds = _kinds(types, values.type)
    parameters = dict(stored["parameters"]) if stored and stored["name"] == values.type else {}
    for name, text in values.parameters.items():
        if kinds[name] == "list":
            text = ",".join(split_lines(text))
        if text or name in parameters or (name, values.type) == ("rollout", DEFAULT_TYPE):
            parameters[name] = text
    overrides = {v["name"]: v["overrides"] for v in _variants(stored) if v.get("overrides")}
    body = {
        "name": values.type,
        "title": values.title or ("" if stored and stored["title"] else None),
        "disabled": values.disabled,
        "parameters": parameters,
        "segments": sorted(values.segments),
        "variants": [
            _variant(row, values.variant_stickiness, overrides) for row in values.variants
        ],
    }
    new = to_struct(body, Strategy)
    new.constraints = constraint_fields.to_constraints(values.constraints)
    return new


def offered(conn: Connection) -> dict[str, Any]:
    """What the form lets choose from."""
    types = [
        row | {"parameters": msgspec.json.decode(row["parameters"])}
        for row in strategy_types.list_all(conn)
    ]
    return constraint_fields.offered(conn) | {"types": types, "segments": segments.list_all(conn)}


def parameters_of(types: Sequence[Row], type: str) -> list[Row]:
    return next((row["parameters"] for row in types if row["name"] == type), [])


def parameter_field(name: str) -> str:
    """A custom type's parameter may be called anything; a field's id has no blanks."""
    return f"parameters.{quote(name, safe='')}"


def beside(details: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Problems with the names of this form's fields."""
    found = constraint_fields.beside(details)
    for problem in found:
        path = problem.get("path", "")
        problem["message"] = _SAID_IN_PER_CENT.get(problem["message"], problem["message"])
        if path.startswith("parameters."):
            problem["path"] = parameter_field(path.removeprefix("parameters."))
        if path.startswith("variants."):
            problem["path"] = path.replace(".payload.value", ".payload").replace(
                ".payload.type", ".payloadType"
            )
        if path.endswith(".stickiness"):
            problem["path"] = "variant_stickiness"
    return found


def _kinds(types: Sequence[Row], type: str) -> dict[str, str]:
    return {row["name"]: row.get("type", "string") for row in parameters_of(types, type)}


def _variants(stored: Mapping[str, Any] | None) -> list[Row]:
    return stored["variants"] if stored else []


def _shown_variant(variant: Row) -> Row:
    payload = variant.get("payload") or {}
    per_cent = f"{variant['weight'] / 10:.1f}".removesuffix(".0")
    return {
        "name": variant["name"],
        "weightType": variant["weightType"],
        "weight": per_cent if variant["weightType"] == "fix" else "",
        "payloadType": payload.get("type", ""),
        "payload": payload.get("value", ""),
    }


def _variant(row: Row, stickiness: str, overrides: Mapping[str, Any]) -> Row:
    variant = {
        "name": row["name"],
        "weightType": row["weightType"],
        "weight": _thousandths(row["weight"]) if row["weightType"] == "fix" else 0,
        "stickiness": stickiness,
    }
    if row["payloadType"]:
        variant["payload"] = {"type": row["payloadType"], "value": row["payload"]}
    if row["name"] in overrides:
        variant["overrides"] = overrides[row["name"]]
    return variant


def _thousandths(text: str) -> int:
    """-1, which no weight may be, for what is no number of per cent with one decimal."""
    try:
        number = Decimal(text.replace(",", ".")) * 10
        return int(number) if 0 <= number <= 1000 and number == int(number) else -1
    except (ArithmeticError, ValueError):
        return -1


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
