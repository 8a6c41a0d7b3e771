"""Numbers with their nouns, and durations, in messages and pages."""

import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

_UNITS = {"_seconds": " s", "_ms": " ms", "_milliseconds": " ms", "_bytes": " B"}


def plural(count: int, noun: str) -> str:
    """For example `1 flag` or `1,234 flags`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def format_number(value: float) -> str:
    """With at least four significant digits, such as `0.08124`, `12.35` or `12,346`."""
    if not 1e-6 <= abs(value) < 1e15:
        return f"{value:.4g}"
    text = f"{value:,.{max(0, 3 - math.floor(math.log10(abs(value))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_measure(value: float, source: Mapping[str, Any]) -> str:
    """With at most three significant digits and its unit, such as `0.9%`, `0.94 s` or `13.5 per
    min`. `source` is the JSON of the source of a rule."""
    measure, name = source.get("measure"), str(source.get("metric", ""))
    unit = next((unit for end, unit in _UNITS.items() if name.endswith(end)), "")
    if measure == "ratio":
        value, unit = value * 100, "%"
    elif measure == "rate":
        unit = " per min"
    digits = 0 if value == 0 else max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.3g}" if 0 < abs(value) < 1e-6 or abs(value) >= 1e15 else f"{value:,.{digits}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + unit


def compare_with_limit(value: float | None, rule: Mapping[str, Any]) -> str:
    """Such as `0.9% of 5%`, `60.3, at least 62`, or `at most 5%` without a value. `rule` has the
    members `source`, `above` and `below` of a rule's JSON."""
    is_upper = rule.get("above") is not None
    limit = format_measure(rule["above" if is_upper else "below"] or 0, rule["source"])
    if value is None:
        return f"{'at most' if is_upper else 'at least'} {limit}"
    return format_measure(value, rule["source"]) + (" of " if is_upper else ", at least ") + limit


def spell_duration(duration: timedelta) -> str:
    """In its two largest units, such as `2 h 10 min`; seconds only below a minute."""
    seconds = max(0, int(duration.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    minutes = seconds // 60
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def describe_hours(count: int) -> str:
    """In days if it is whole days, for example `30 days` or `36 hours`."""
    return plural(count, "hour") if count % 24 else plural(count // 24, "day")
