"""The chart of a release: its percentage, done and planned, and a lane for each guard, on one axis
of time."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sigservice.clock import parse_iso
from sigservice.routes.pages.release_sentences import list_next_steps
from sigservice.services.releases.guard_history import SLOTS, GuardPoint, History
from sigservice.wording import format_measure

TOP, MAX_HEIGHT, LEVEL, LANE = 10, 140, 28, 36  # pixels
UNKNOWN_END = 0.25  # the part of the axis for steps whose time a person decides


class Axis(NamedTuple):
    """The time that the chart shows; `now` is None after the end of the release."""

    start: datetime
    stop: datetime
    now: datetime | None

    def place(self, at: datetime) -> float:
        """In percent, 0 on the left."""
        return round(100 * ((at - self.start) / (self.stop - self.start)), 2)

    @property
    def last(self) -> datetime:
        """The newest time of which something is recorded."""
        return self.now or self.stop


def make_axis(
    release: Mapping[str, Any], events: Sequence[Mapping[str, Any]], now: datetime
) -> Axis | None:
    """`events` are oldest first. None before the start, when there is nothing to draw."""
    start = next((read_time(event) for event in events if event["type"] == "started"), None)
    if start is None:
        return None
    if release["finishedAt"]:
        return Axis(start, max(read_time(events[-1]), start + timedelta(seconds=1)), None)
    times = [step.at for step in list_next_steps(release, now)]
    stop = max(at for at in (now, *times) if at)
    if None in times:
        stop += max(stop - start, timedelta(minutes=1)) * UNKNOWN_END
    return Axis(start, max(stop, start + timedelta(seconds=1)), now)


def make_chart(
    release: Mapping[str, Any],
    events: Sequence[Mapping[str, Any]],
    axis: Axis,
    history: History,
) -> dict[str, Any]:
    """`release` is a view."""
    points = [
        (read_time(event), event["rollout"]) for event in events if read_time(event) >= axis.start
    ]
    coming = list_next_steps(release, axis.now) if axis.now else []
    numbers = {release["startRollout"], *(rollout for _, rollout in points)}
    numbers |= {step.rollout for step in coming}
    levels = _place_levels(numbers)
    bottom = max(levels.values())
    planned = [(step.at or axis.stop, step.rollout) for step in coming]
    done = [*points, (axis.last, release["rollout"])]
    lines = _draw(done, release["startRollout"], axis, levels)
    lines += [
        line | {"is_planned": True}
        for line in _draw(
            [(axis.last, release["rollout"]), *planned], release["rollout"], axis, levels
        )
    ]
    lanes = [
        _make_lane(guard, history.get(guard["id"], ()), axis, bottom + LANE * number)
        for number, guard in enumerate(release["guard_rows"])
    ]
    return {
        "levels": [{"y": y, "rollout": rollout} for rollout, y in levels.items()],
        "lines": lines,
        "lanes": lanes,
        "now": axis.place(axis.now) if axis.now else None,
        "axis": axis,
        "bottom": bottom,
        "height": bottom + LANE * len(lanes) + TOP,
        "label": f"Percentage from {release['startRollout']}% to {release['rollout']}%",
        "rows": _make_rows(points, release, axis, history),
    }


def read_time(event: Mapping[str, Any]) -> datetime:
    at = parse_iso(event["createdAt"])
    assert at is not None
    return at


def _place_levels(rollouts: set[int]) -> dict[int, int]:
    """The y of each percentage, the highest first: equal distances, so that each has its line."""
    distance = min(LEVEL, MAX_HEIGHT // max(1, len(rollouts) - 1))
    return {
        rollout: TOP + number * distance
        for number, rollout in enumerate(sorted(rollouts, reverse=True))
    }


def _draw(
    points: Sequence[tuple[datetime, int]], first: int, axis: Axis, levels: Mapping[int, int]
) -> list[dict[str, Any]]:
    """The lines of steps: horizontal until the time of a point, then to its level."""
    lines, x, y = [], axis.place(points[0][0]), levels[first]
    for at, rollout in points:
        to_x, to_y = axis.place(at), levels[rollout]
        lines += [(x, to_x, y, y), (to_x, to_x, y, to_y)]
        x, y = to_x, to_y
    return [
        {"x1": x1, "x2": x2, "y1": y1, "y2": y2, "is_planned": False}
        for x1, x2, y1, y2 in lines
        if (x1, y1) != (x2, y2)
    ]


def _make_lane(
    guard: Mapping[str, Any], points: Sequence[GuardPoint], axis: Axis, top: int
) -> dict[str, Any]:
    """The bars of a guard from the start until now, and the height of its limit."""
    values = [point.value for point in points if point.value is not None]
    limit = guard["limit"] if values else None
    highest = max([*values, limit or 0], default=0) or 1
    width, bars = axis.place(axis.last) / SLOTS, []
    for number, (value, is_broken) in enumerate(points):
        part = float(is_broken) if value is None else max(0.0, value) / highest
        height = max(2, round((LANE - 10) * part))
        bars.append(
            {
                "x": round(number * width, 2),
                "width": round(width * 0.8, 2),
                "y": top + LANE - height,
                "height": height,
                "is_broken": is_broken,
            }
        )
    has_limit = limit is not None and 0 <= limit <= highest
    limit_y = top + LANE - round((LANE - 10) * (limit or 0) / highest) if has_limit else None
    return {**guard, "bars": bars, "limit_y": limit_y, "y": top + LANE}


def _make_rows(
    points: Sequence[tuple[datetime, int]], release: Mapping[str, Any], axis: Axis, history: History
) -> list[dict[str, Any]]:
    """The numbers of the chart, at each fourth point, oldest first."""
    rows = []
    for number in range(3, SLOTS, 4):
        at = axis.start + (axis.last - axis.start) * (number + 1) / SLOTS
        rollout = [rollout for moment, rollout in points if moment <= at][-1]
        values = [
            _describe_point(history[guard["id"]][number], guard)
            for guard in release["guards"]
            if guard["id"] in history
        ]
        rows.append({"at": at, "rollout": rollout, "values": values})
    return rows


def _describe_point(point: GuardPoint, guard: Mapping[str, Any]) -> str:
    if point.value is None:
        return "broken" if point.is_broken else "–"
    return format_measure(point.value, guard["rule"]["source"])
