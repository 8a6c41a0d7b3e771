"""What the form of a release shows of a replay."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sigservice.clock import parse_iso
from sigservice.services.releases import release_replay
from sigservice.services.releases.guard_texts import name_guard
from sigservice.services.releases.release_replay import STARTS, Outcome
from sigservice.services.releases.releases import NewRelease
from sigservice.web.helpers import readable
from sigservice.web.sparkline import HOURS, build_guard_chart
from sigservice.wording import plural, spell_duration

_WORDS = {
    "finished": "finished", "rolledBack": "rolled back", "held": "on hold",
    "running": "still running",
}  # fmt: skip


def make_replay_view(
    body: NewRelease,
    preview: Mapping[str, Any],
    definitions: Sequence[Mapping[str, Any]],
    endpoints: Mapping[str, str],
    now: datetime,
) -> dict[str, Any]:
    """The values of templates/releases/replay.tpl. `definitions` are the guards as JSON, and
    `endpoints` are names by ID."""
    steps, watch_minutes = body.steps or [], body.watchMinutes or 0
    guards = release_replay.list_guards(body.guards, preview["guards"], now)
    outcomes = release_replay.replay_starts(steps, watch_minutes, guards, now)
    counts: Counter[str] = Counter(outcome.state for outcome in outcomes)
    has_series = any(guard["series"] for guard in preview["guards"])
    return {
        "shortest_minutes": preview["shortestStepMinutes"],
        "warnings": preview["warnings"],
        "is_empty": not has_series,
        "is_ok": outcomes[0].guard == 0,
        "sentence": _describe(outcomes[0], body, now),
        "counts": ", ".join(f"{counts[s]} {word}" for s, word in _WORDS.items() if counts[s]),
        "starts": STARTS,
        "guards": [
            _describe_guard(guard, definition, endpoints, now)
            for guard, definition in zip(preview["guards"], definitions, strict=True)
        ],
    }


def _describe(outcome: Outcome, body: NewRelease, now: datetime) -> str:
    """Of a release that started first."""
    start = now - timedelta(hours=STARTS)
    after, step = spell_duration(outcome.at - start), (body.steps or [])[outcome.step]
    begin = f"A release started {STARTS} h ago would"
    if outcome.guard:
        how = "have been rolled back" if outcome.state == "rolledBack" else "be on hold"
        place = f"at step {outcome.step + 1} ({step.rollout}%), {after} after the start"
        cause = f"guard {outcome.guard} was broken on {readable(outcome.at)}."
        return f"{begin} {how} {place}: {cause}"
    if outcome.state == "finished":
        return f"No guard would have broken. {begin} have finished after {after}."
    place = f"step {outcome.step + 1} ({step.rollout}%)"
    return f"No guard would have broken. {begin} still be at {place}."


def _describe_guard(
    guard: Mapping[str, Any],
    definition: Mapping[str, Any],
    endpoints: Mapping[str, str],
    now: datetime,
) -> dict[str, Any]:
    slot = timedelta(hours=STARTS) / HOURS
    points: list[tuple[float | None, bool]] = []
    items = [(parse_iso(item["at"]), item) for item in guard["series"]]
    for number in range(HOURS):
        start = now - slot * (HOURS - number)
        inside = [item for at, item in items if at and start < at <= start + slot]
        values = [item["value"] for item in inside if item["value"] is not None]
        points.append((max(values, default=None), any(item["firing"] for item in inside)))
    broken = sum(item["firing"] for item in guard["series"])
    words = {"firing": "broken now", "unknown": "no data now", "ok": "ok now"}
    return {
        "name": name_guard(definition, endpoints.get(str(definition.get("endpointId")))),
        "state": words[guard["state"]],
        "reason": guard["reason"] or "",
        "text": f"Broken at {broken} of {plural(len(guard['series']), 'point')}",
        "chart": build_guard_chart(points, guard["limit"]),
    }
