"""Variants: which value a flag has for whom. Weights are in thousandths and sum to 1000."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from sigservice.services.problems import Problems

FULL = 1000
MOST_VARIANTS = 100


class Payload(msgspec.Struct):
    type: Literal["json", "csv", "string", "number"]
    value: str


class Override(msgspec.Struct):
    contextName: str
    values: list[str]


class Variant(msgspec.Struct, omit_defaults=True):
    """`weight` counts for a fixed one; variable ones share what is left."""

    name: str
    weight: int = 0
    weightType: Literal["fix", "variable"] = "variable"
    stickiness: str = "default"
    payload: Payload | UnsetType | None = UNSET
    overrides: list[Override] | UnsetType = UNSET


def check(
    variants: Sequence[Variant], problems: Problems, path: str = "variants"
) -> list[dict[str, Any]]:
    """The variants as they are stored, weights shared out; what is wrong goes to `problems`."""
    if len(variants) > MOST_VARIANTS:
        problems.add(path, f"There can't be more than {MOST_VARIANTS} variants.")
        return []
    names: set[str] = set()
    for n, variant in enumerate(variants):
        at = f"{path}[{n}]"
        if not 1 <= len(variant.name) <= 100:
            problems.add(f"{at}.name", "A variant's name has 1 to 100 characters.")
        if variant.name in names:
            problems.add(f"{at}.name", f"There are two variants named {variant.name}.")
        names.add(variant.name)
        if not 0 <= variant.weight <= FULL:
            problems.add(f"{at}.weight", "A weight is from 0 to 1000.")
        if not 1 <= len(variant.stickiness) <= 100:
            problems.add(f"{at}.stickiness", "A stickiness has 1 to 100 characters.")
        if isinstance(variant.payload, Payload):
            _check_payload(variant.payload, problems, f"{at}.payload.value")
    fixed = sum(max(0, v.weight) for v in variants if v.weightType == "fix")
    if variants and all(v.weightType == "fix" for v in variants):
        problems.add(path, "At least one variant's weight must be variable.")
    if fixed > FULL:
        problems.add(path, "The fixed weights come to more than 1000.")
    return _shared_out(variants, FULL - fixed)


def _shared_out(variants: Sequence[Variant], left: int) -> list[dict[str, Any]]:
    """As equally as whole numbers allow; the first ones get what remains."""
    variable = sum(variant.weightType == "variable" for variant in variants)
    stored, place = [], 0
    for variant in variants:
        kept = msgspec.to_builtins(variant)
        kept |= {"weight": variant.weight, "weightType": variant.weightType}
        kept["stickiness"] = variant.stickiness
        if kept.get("payload") is None:
            kept.pop("payload", None)
        if variant.weightType == "variable":
            kept["weight"] = left // variable + (place < left % variable)
            place += 1
        stored.append(kept)
    return stored


def _check_payload(payload: Payload, problems: Problems, path: str) -> None:
    if payload.type == "json":
        try:
            msgspec.json.decode(payload.value)
        except (msgspec.DecodeError, RecursionError):
            problems.add(path, "This is not valid JSON.")
    if payload.type == "number":
        try:
            is_number = math.isfinite(float(payload.value))
        except ValueError:
            is_number = False
        # Python reads foreign digits and 1_000 too.
        if not is_number or not payload.value.isascii() or "_" in payload.value:
            problems.add(path, "This is not a number.")
