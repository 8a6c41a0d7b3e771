"""What the form of a release shows of a preview of its guards."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sigservice.clock import parse_iso
from sigservice.services.releases.guard_signals import PREVIEW_TIME
from sigservice.services.releases.guard_texts import name_guard
from sigservice.web.sparkline import HOURS, build_guard_chart
from sigservice.wording import plural


def make_preview_view(
    preview: Mapping[str, Any],
    definitions: Sequence[Mapping[str, Any]],
    endpoints: Mapping[str, str],
    now: datetime,
) -> dict[str, Any]:
    """The values of templates/releases/preview.tpl. `definitions` are the guards as JSON, and
    `endpoints` are names by ID."""
    return {
        "shortest_minutes": preview["shortestStepMinutes"],
        "warnings": preview["warnings"],
        "is_empty": not any(guard["series"] for guard in preview["guards"]),
        "guards": [
            _describe_guard(guard, definition, endpoints, now)
            for guard, definition in zip(preview["guards"], definitions, strict=True)
        ],
    }


def _describe_guard(
    guard: Mapping[str, Any],
    definition: Mapping[str, Any],
    endpoints: Mapping[str, str],
    now: datetime,
) -> dict[str, Any]:
    slot = PREVIEW_TIME / HOURS
    points: list[tuple[float | None, bool]] = []
    items = [(parse_iso(item["at"]), item) for item in guard["series"]]
    for number in range(HOURS):
        start = now - slot * (HOURS - number)
        inside = [item for at, item in items if at and start < at <= start + slot]
        values = [item["value"] for item in inside if item["value"] is not None]
        points.append((max(values, default=None), any(item["firing"] for item in inside)))
    broken = sum(item["firing"] for item in guard["series"])
    words = {"firing": "broken now", "unknown": "no data now", "ok": "ok now"}
    id = definition.get("endpointId") or definition["rule"]["source"].get("endpointId")
    return {
        "name": name_guard(definition, endpoints.get(str(id))),
        "state": words[guard["state"]],
        "reason": guard["reason"] or "",
        "text": f"Broken at {broken} of {plural(len(guard['series']), 'point')}",
        "chart": build_guard_chart(points, guard["limit"]),
    }
