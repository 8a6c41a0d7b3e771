"""The chart of a release: its percentage over time, with a mark for each event."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sigservice.clock import parse_iso

WIDTH, HEIGHT = 640, 100
MAX_MARKS = 60
MARKS = {
    "started": "▶", "advanced": "▲", "finished": "✓", "rolledBack": "⟲", "held": "‖",
    "resumed": "▶", "edited": "●", "guardFired": "✕", "guardsEdited": "●",
    "wouldHold": "‖", "wouldRollBack": "⟲", "stopped": "■",
}  # fmt: skip


def make_chart(
    release: Mapping[str, Any], events: Sequence[Mapping[str, Any]], now: datetime
) -> dict[str, Any] | None:
    """`events` are oldest first. None before the start, when there is nothing to draw."""
    points = [(_read(event["createdAt"]), event) for event in events]
    start = next((at for at, event in points if event["type"] == "started"), None)
    if start is None:
        return None
    stop = max(now if release["finishedAt"] is None else points[-1][0], start + timedelta(1 / 1440))
    path, marks = f"M0 {HEIGHT - release['startRollout']}", []
    for at, event in points:
        x = max(0, round(WIDTH * ((at - start) / (stop - start))))
        path += f"H{x}V{HEIGHT - event['rollout']}"
        if event["type"] in MARKS:
            text = f"{at:%H:%M:%S} {event['text']}"
            marks.append({"x": x, "icon": MARKS[event["type"]], "text": text})
    return {
        "path": f"{path}H{WIDTH}",
        "marks": marks[-MAX_MARKS:],
        "start": start,
        "stop": stop,
        "label": f"Percentage from {release['startRollout']}% to {release['rollout']}%",
    }


def _read(text: str) -> datetime:
    at = parse_iso(text)
    assert at is not None
    return at
