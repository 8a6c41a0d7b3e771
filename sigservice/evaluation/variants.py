"""Compiles the choice between variants."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from sigservice.evaluation.buckets import compile_variant_bucket
from sigservice.evaluation.fields import Fields

# Returns the position of a variant, or None for no variant.
Choose = Callable[[Fields], int | None]
Override = tuple[int, str, frozenset[str]]


def choose_none(fields: Fields) -> None:
    return None


def choose_first(fields: Fields) -> int:
    return 0


def compile_flag_variants(variants: Sequence[Mapping[str, Any]], flag: str) -> Choose:
    """The first variant's stickiness counts; overrides come before weights."""
    field = variants[0].get("stickiness", "default") if variants else "default"
    choose = compile_strategy_variants(variants, flag, field)
    overrides = [
        (position, override["contextName"], frozenset(override["values"]))
        for position, variant in enumerate(variants)
        for override in variant.get("overrides") or ()
    ]
    return _compile_overrides(overrides, choose) if overrides else choose


def compile_strategy_variants(
    variants: Sequence[Mapping[str, Any]], group: str, field: str
) -> Choose:
    """Variants of a strategy use its stickiness `field` and have no overrides."""
    limits = list(accumulate(variant["weight"] for variant in variants))
    if not limits or limits[-1] <= 0:
        return choose_none
    if len(variants) == 1:
        return choose_first
    find_bucket = compile_variant_bucket(field, group, limits[-1])
    return lambda fields: bisect_right(limits, find_bucket(fields))


def _compile_overrides(overrides: Sequence[Override], choose: Choose) -> Choose:
    def choose_with_overrides(fields: Fields) -> int | None:
        for position, name, values in overrides:
            if fields[name] in values:
                return position
        return choose(fields)

    return choose_with_overrides
