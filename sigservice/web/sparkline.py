"""The bars of 24-hour charts, for inline SVGs of 144 by 24 and 240 by 48 units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HOURS, STEP, HEIGHT = 24, 6, 24


def bars(signals_by_hours_ago: Mapping[int, int]) -> list[dict[str, int]]:
    """One {x, y, height} for each hour with signals, oldest left; the busiest is full height."""
    shown = {ago: n for ago, n in signals_by_hours_ago.items() if n and 0 <= ago < HOURS}
    busiest = max(shown.values(), default=0)
    made = []
    for hours_ago, signals in sorted(shown.items(), reverse=True):
        height = max(2, round(HEIGHT * signals / busiest))
        x = (HOURS - 1 - hours_ago) * STEP
        made.append({"x": x, "y": HEIGHT - height, "height": height})
    return made


WIDE_STEP, HALF = 10, 24


def yes_and_no(by_hours_ago: Mapping[int, tuple[int, int]]) -> list[dict[str, Any]]:
    """Two {x, y, height, kind} for each hour with any: yes stands on the middle line, no hangs
    from it; both have one scale."""
    shown = {ago: pair for ago, pair in by_hours_ago.items() if 0 <= ago < HOURS}
    busiest = max((max(pair) for pair in shown.values()), default=0)
    made = []
    for hours_ago, pair in sorted(shown.items(), reverse=True):
        x = (HOURS - 1 - hours_ago) * WIDE_STEP
        for kind, count in zip(("yes", "no"), pair, strict=True):
            if count:
                height = max(1, round(HALF * count / busiest))
                y = HALF - height if kind == "yes" else HALF
                made.append({"x": x, "y": y, "height": height, "kind": kind})
    return made
