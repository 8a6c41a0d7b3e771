"""The bars of a 24-hour chart, for an inline SVG of 144 by 24 units."""

from __future__ import annotations

from collections.abc import Mapping

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
