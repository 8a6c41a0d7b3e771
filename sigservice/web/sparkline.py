"""The bars and lines of charts, for inline SVGs of 144 by 24 (24 hours) and other units, and as
wide as the page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

Chart = dict[str, Any]
HOURS, STEP, HEIGHT = 24, 6, 24
EXPOSURE_HEIGHT = 72  # pixels
MARGIN = 2  # above and below a line


class Point(NamedTuple):
    """`position` is 0 on the left and 1 on the right; without a value the line has a gap."""

    position: float
    value: float | None


class Line(NamedTuple):
    """`segments` are the points of polylines, `limit_y` is the height of the limit, and `bands` are
    {x, width} of the times in which a rule fires."""

    label: str
    width: int
    height: int
    segments: Sequence[str]
    limit_y: float
    bands: Sequence[Mapping[str, float]]


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


def build_guard_chart(points: Iterable[tuple[float | None, bool]], limit: float | None) -> Chart:
    """The bars of (value, is_broken), oldest first, and the height of the limit. A point without a
    value has a bar if it is broken."""
    items = list(points)[-HOURS:]
    values = [value for value, _ in items if value is not None]
    highest = max([*values, limit if values and limit is not None else 0], default=0) or 1
    bars = []
    for position, (value, is_broken) in enumerate(items, HOURS - len(items)):
        part = is_broken if value is None else max(0.0, value) / highest
        height = max(2, round((HEIGHT - 2) * part)) if value is not None or is_broken else 0
        if height:
            x, y = position * STEP, HEIGHT - height
            bars.append({"x": x, "y": y, "height": height, "is_broken": is_broken})
    has_line = bool(values) and limit is not None and 0 <= limit <= highest
    line = HEIGHT - round((HEIGHT - 2) * (limit or 0) / highest) if has_line else None
    return {"bars": bars, "limit_y": line}


def build_exposure_bars(
    by_slots_ago: Mapping[int, tuple[int, int]],
    slots: int,
    variants: Mapping[int, Mapping[str, int]],
    names: Sequence[str],
) -> list[dict[str, Any]]:
    """{x, y, width, height, kind} for each of `slots` with (yes, no) evaluations, yes below no. `x`
    and `width` are percentages, the others pixels; the newest slot is on the right. Yes is stacked
    by the variants of the slot in the order of `names`, whose kinds are v0, v1 …; "more" are other
    variants, "yes" is without a variant."""
    pairs = {ago: pair for ago, pair in by_slots_ago.items() if 0 <= ago < slots}
    busiest = max((sum(pair) for pair in pairs.values()), default=0)
    bars = []
    for ago, (yes, no) in sorted(pairs.items(), reverse=True):
        x, bottom = place_slot(ago, slots), float(EXPOSURE_HEIGHT)
        parts = [*_stack_variants(yes, variants.get(ago, {}), names), ("no", float(no))]
        for kind, part in parts:
            if part:
                height = max(1, EXPOSURE_HEIGHT * part / busiest)
                bottom -= height
                bars.append({**x, "y": round(bottom, 1), "height": round(height, 1), "kind": kind})
    return bars


def place_slot(ago: int, slots: int) -> dict[str, float]:
    """{x, width} of a bar, as percentages; slot 0 is on the right."""
    step = 100 / slots
    return {"x": round(100 - (ago + 1) * step, 2), "width": round(step * 0.85, 2)}


def _stack_variants(
    yes: int, counts: Mapping[str, int], names: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """The parts of `yes` by variant. Applications report both, and their sums can differ."""
    total = max(yes, sum(counts.values()))
    parts = [(f"v{number}", counts.get(name, 0)) for number, name in enumerate(names)]
    parts.append(("more", sum(count for name, count in counts.items() if name not in names)))
    parts.append(("yes", total - sum(counts.values())))
    return ((kind, yes * count / total) for kind, count in parts if count and yes)


def build_line(
    label: str,
    points: Sequence[Point],
    limit: float,
    *,
    bands: Iterable[tuple[float, float]] = (),
    width: int = STEP * HOURS,
    height: int = HEIGHT,
) -> Line:
    """The line of the values, oldest first, on a scale that includes the limit. `bands` are the
    positions from and to which a rule fires."""
    values = [limit, *(point.value for point in points if point.value is not None)]
    low, high = min(values), max(values)

    def find_y(value: float) -> float:
        part = (value - low) / (high - low) if high > low else 0.5
        return round(height - MARGIN - part * (height - 2 * MARGIN), 1)

    segments = []
    for has_value, group in groupby(points, lambda point: point.value is not None):
        if has_value:
            pairs = [(point.position * width, find_y(point.value or 0.0)) for point in group]
            if len(pairs) == 1:  # a line needs two
                pairs = [(pairs[0][0] - 1, pairs[0][1]), pairs[0]]
            segments.append(" ".join(f"{x:.1f},{y}" for x, y in pairs))
    boxes = [
        {"x": round(begin * width, 1), "width": round(max(2.0, (end - begin) * width), 1)}
        for begin, end in bands
    ]
    return Line(label, width, height, segments, find_y(limit), boxes)
