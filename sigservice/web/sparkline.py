"""The bars of charts, for inline SVGs of 144 by 24 (24 hours) and 240 by 48 units."""

from collections.abc import Iterable, Mapping
from typing import Any

HOURS, STEP, HEIGHT = 24, 6, 24
WIDE, HALF = 240, 24


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


def build_marks(hours_ago: Iterable[int]) -> list[int]:
    """The x of a mark above the bar of each hour."""
    return sorted((HOURS - 1 - ago) * STEP for ago in hours_ago if 0 <= ago < HOURS)


def build_exposure_bars(
    by_slots_ago: Mapping[int, tuple[int, int]], slots: int
) -> list[dict[str, Any]]:
    """Two {x, y, width, height, kind} for each of `slots` with (yes, no) evaluations: yes above
    the middle line, no below it, at the same scale. The newest slot is on the right."""
    pairs = {ago: pair for ago, pair in by_slots_ago.items() if 0 <= ago < slots}
    busiest = max((max(pair) for pair in pairs.values()), default=0)
    step = WIDE // slots
    bars = []
    for ago, pair in sorted(pairs.items(), reverse=True):
        for kind, count in zip(("yes", "no"), pair, strict=True):
            if count:
                height = max(1, round(HALF * count / busiest))
                bars.append(
                    {
                        "x": WIDE - (ago + 1) * step,
                        "y": HALF - height if kind == "yes" else HALF,
                        "width": step - 2,
                        "height": height,
                        "kind": kind,
                    }
                )
    return bars
