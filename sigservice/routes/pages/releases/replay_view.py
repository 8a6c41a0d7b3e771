"""What the form of a release shows of a replay."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sigservice.clock import parse_iso
from sigservice.services.releases import release_replay
from sigservice.services.releases.guard_texts import name_guard
from sigservice.services.releases.plans import RuleGuard
from sigservice.services.releases.release_replay import STARTS, Outcome, Period, ReplayGuard
from sigservice.services.releases.releases import NewRelease
from sigservice.web.helpers import readable
from sigservice.web.sparkline import HOURS, build_guard_chart
from sigservice.wording import plural, spell_duration

CALM_MINUTES = 15  # for which a noisy rule could be broken first; queries are replayed each 10
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
    guards = release_replay.list_guards(body.guards, preview["guards"], now)
    outcomes = _replay(body, guards, now)
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
        "calmer": _find_calmer(body, guards, outcomes, now),
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


def _find_calmer(
    body: NewRelease, guards: Sequence[ReplayGuard], outcomes: Sequence[Outcome], now: datetime
) -> dict[str, Any] | None:
    """The rule that rolls back the fewest of the starts if it must be broken for longer."""
    noisy = least = _count_rollbacks(outcomes)
    best: tuple[int, str] | None = None
    for guard in guards:
        definition = body.guards[guard.number - 1]
        if isinstance(definition, RuleGuard):
            rule = definition.rule
            breaches = math.ceil(CALM_MINUTES * 60 / rule.everySeconds)
            delay = timedelta(seconds=max(0, breaches - rule.breaches) * rule.everySeconds)
            long = [period for period in guard.periods if period.stop - period.start > delay]
            periods = [Period(period.start + delay, period.stop) for period in long]
            others = [one._replace(periods=periods) if one is guard else one for one in guards]
            count = _count_rollbacks(_replay(body, others, now))
            if count < least:
                best, least = (guard.number, f"use-breaches:{guard.number - 1}:{breaches}"), count
    if best is None:
        return None
    names = {"number": best[0], "button": best[1], "minutes": CALM_MINUTES}
    return names | {"noisy": noisy, "count": least}


def _replay(body: NewRelease, guards: Sequence[ReplayGuard], now: datetime) -> list[Outcome]:
    steps, watch_minutes = body.steps or [], body.watchMinutes or 0
    return release_replay.replay_starts(steps, watch_minutes, guards, now)


def _count_rollbacks(outcomes: Sequence[Outcome]) -> int:
    return sum(outcome.state == "rolledBack" for outcome in outcomes)


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
