"""The bars of 24-hour charts, for inline SVGs of 144 by 24 and 240 by 48 units."""

from collections.abc import Mapping
from typing import Any

HOURS, STEP, HEIGHT = 24, 6, 24
WIDE_STEP, HALF = 10, 24


def build_bars(values_by_hours_ago: Mapping[int, float]) -> list[dict[str, int]]:
    """One {x, y, height} for each hour with a value above 0, oldest first. The largest value has
    the full height."""
    hours = {ago: count for ago, count in values_by_hours_ago.items() if count and 0 <= ago < HOURS}
    busiest = max(hours.values(), default=0)
    bars = []
    for ago, count in sorted(hours.items(), reverse=True):
        height = max(2, round(HEIGHT * count / busiest))
        bars.append({"x": (HOURS - 1 - ago) * STEP, "y": HEIGHT - height, "height": height})
    return bars


def build_exposure_bars(by_hours_ago: Mapping[int, tuple[int, int]]) -> list[dict[str, Any]]:
    """Two {x, y, height, kind} for each hour with (yes, no) evaluations: yes above the middle
    line, no below it, at the same scale."""
    hours = {ago: pair for ago, pair in by_hours_ago.items() if 0 <= ago < HOURS}
    busiest = max((max(pair) for pair in hours.values()), default=0)
    bars = []
    for ago, pair in sorted(hours.items(), reverse=True):
        for kind, count in zip(("yes", "no"), pair, strict=True):
            if count:
                height = max(1, round(HALF * count / busiest))
                y = HALF - height if kind == "yes" else HALF
                x = (HOURS - 1 - ago) * WIDE_STEP
                bars.append({"x": x, "y": y, "height": height, "kind": kind})
    return bars
