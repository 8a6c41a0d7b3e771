"""Variants: the values of an enabled flag. Weights are in thousandths and sum to 1000."""

import math
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from sigservice.services.problems import Problems

TOTAL_WEIGHT = 1000
MAX_VARIANTS = 100


class Payload(msgspec.Struct):
    type: Literal["json", "csv", "string", "number"]
    value: str


class Override(msgspec.Struct):
    contextName: str
    values: list[str]


class Variant(msgspec.Struct, omit_defaults=True):
    """`weight` counts for fixed variants; variable ones share the remainder."""

    name: str
    weight: int = 0
    weightType: Literal["fix", "variable"] = "variable"
    stickiness: str = "default"
    payload: Payload | UnsetType | None = UNSET
    overrides: list[Override] | UnsetType = UNSET


def check(
    variants: Sequence[Variant], problems: Problems, path: str = "variants"
) -> list[dict[str, Any]]:
    """Returns the variants in the stored format, with weights; records errors in `problems`."""
    if len(variants) > MAX_VARIANTS:
        problems.add(path, f"There can't be more than {MAX_VARIANTS} variants.")
        return []
    names: set[str] = set()
    for n, variant in enumerate(variants):
        at = f"{path}[{n}]"
        if not 1 <= len(variant.name) <= 100:
            problems.add(f"{at}.name", "A variant's name must have 1 to 100 characters.")
        if variant.name in names:
            problems.add(f"{at}.name", f"Variant {variant.name} already exists.")
        names.add(variant.name)
        if not 0 <= variant.weight <= TOTAL_WEIGHT:
            problems.add(f"{at}.weight", "A weight must be from 0 to 1000.")
        if not 1 <= len(variant.stickiness) <= 100:
            problems.add(f"{at}.stickiness", "A stickiness must have 1 to 100 characters.")
        if isinstance(variant.payload, Payload):
            _check_payload(variant.payload, problems, f"{at}.payload.value")
    fixed = sum(max(0, v.weight) for v in variants if v.weightType == "fix")
    if variants and all(v.weightType == "fix" for v in variants):
        problems.add(path, "At least one variant's weight must be variable.")
    if fixed > TOTAL_WEIGHT:
        problems.add(path, "The fixed weights must not exceed 1000.")
    return _distribute_weights(variants, TOTAL_WEIGHT - fixed)


def _distribute_weights(variants: Sequence[Variant], remainder: int) -> list[dict[str, Any]]:
    """Distributes `remainder` equally; the first variable variants get the rest."""
    variable = sum(variant.weightType == "variable" for variant in variants)
    result, position = [], 0
    for variant in variants:
        item = msgspec.to_builtins(variant)
        item |= {"weight": variant.weight, "weightType": variant.weightType}
        item["stickiness"] = variant.stickiness
        if item.get("payload") is None:
            item.pop("payload", None)
        if variant.weightType == "variable":
            item["weight"] = remainder // variable + (position < remainder % variable)
            position += 1
        result.append(item)
    return result


def _check_payload(payload: Payload, problems: Problems, path: str) -> None:
    if payload.type == "json":
        try:
            msgspec.json.decode(payload.value)
        except (msgspec.DecodeError, RecursionError):
            problems.add(path, "The payload must be valid JSON.")
    if payload.type == "number":
        try:
            is_number = math.isfinite(float(payload.value))
        except ValueError:
            is_number = False
        # Python also accepts non-ASCII digits and 1_000.
        if not is_number or not payload.value.isascii() or "_" in payload.value:
            problems.add(path, "The payload must be a number.")
