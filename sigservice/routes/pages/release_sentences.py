"""The sentences about a release on pages: what it does, why, and what comes next."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from sigservice.clock import parse_iso
from sigservice.db import Row
from sigservice.routes.pages.guard_views import describe_value
from sigservice.services.identity import SYSTEM_ID, name_actor
from sigservice.services.releases import releases
from sigservice.services.releases.windows import Window, find_opening, is_open
from sigservice.wording import plural, spell_duration


class NextStep(NamedTuple):
    """A step to come, at the earliest time; without one, a person decides when."""

    rollout: int
    at: datetime | None


def make_headline(release: Mapping[str, Any], row: Row, now: datetime, alert: str = "") -> str:
    """Such as `On hold at 25% for 6 min: checkout errors 4.1%, at most 2%`. `alert` is the name of
    the alert that held it or rolled it back."""
    state, rollout = release["state"], f"{release['rollout']}%"
    step = f"step {release['step'] + 1} of {len(release['steps'])}"
    if state == "scheduled":
        return _describe_start(release, row, now)
    if state == "running" and not row["is_on"]:
        return f"Off, so nobody gets it: {step}, {rollout}"
    if state == "running":
        return f"Running at {rollout}, {_describe_next(release, step, now)}"
    since = spell_duration(now - row["last_at"]) if row["last_at"] else "0 s"
    cause = name_cause(release, row, alert)
    if state == "held" and release["heldBy"] == "step":
        return f"On hold at {rollout}: step {release['step'] + 1} waits for a person"
    if state == "held":
        return f"On hold at {rollout} for {since}{cause}"
    if state == "finished":
        ran = spell_duration(row["finished_at"] - (row["start_at"] or row["created_at"]))
        return f"Finished: {release['startRollout']}% → {rollout} in {ran}"
    if state == "stopped":
        return f"Stopped{cause}" if cause.startswith(":") else f"Stopped at {rollout}{cause}"
    return f"Rolled back {since} ago{cause}. {row['rolled_back_from']}% → {rollout}"


def name_cause(release: Mapping[str, Any], row: Row, alert: str = "") -> str:
    """Why it is on hold or has ended, with the colon or "by" before it."""
    reason = (release["heldReason"] or row["last_reason"] or "").strip().rstrip(".")
    guard = msgspec.json.decode(row["last_guard"]) if row["last_guard"] else None
    if guard and guard.get("signalId"):
        return f": {alert} fired" if alert else f": {_name_sender(row, guard)} fired"
    definition = next((g for g in release["guards"] if guard and g["id"] == guard["id"]), None)
    if definition and guard and guard["value"] is not None:
        return f": {describe_value(definition | {'value': guard['value']})}"
    if row["last_actor"] and row["last_actor_id"] != SYSTEM_ID:
        quote = "" if reason.startswith("Held by ") or not reason else f": “{reason}”"
        return f" by {name_actor(row['last_actor'], row['last_actor_id'])}{quote}"
    return f": {reason[:1].lower()}{reason[1:]}" if reason.startswith(_STARTS) else f": {reason}"


_STARTS = ("The ", "No ", "Another ")


def _name_sender(row: Row, guard: Mapping[str, Any]) -> str:
    name = next((g["endpoint"] for g in releases.list_guards(row) if g["id"] == guard["id"]), None)
    return f"an alert of {name}" if name else "an alert"


def explain_hold(release: Mapping[str, Any]) -> str:
    """What lets a release on hold go on, where its commands don't say it."""
    if release["state"] != "held":
        return ""
    if release["resumes_alone"]:
        return "It goes on automatically when all guards are ok."
    if is_blocked(release):
        return "To continue while a guard is broken, let it record only: Edit guards."
    return ""


def is_blocked(release: Mapping[str, Any]) -> bool:
    """Whether a guard fires that `resume` doesn't clear: it clears alerts that nothing resolves."""
    return any(
        guard["state"] == "firing" and (guard["kind"] != "signal" or guard.get("resolved"))
        for guard in list_acting(release)
    )


def list_acting(release: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The guards that don't only record."""
    return [guard for guard in release["guards"] if not guard.get("dryRun")]


def name_next(release: Mapping[str, Any]) -> str:
    """The percentage of the next step, "" after the last one."""
    number = release["step"] + 1
    return f"{release['steps'][number]['rollout']}%" if number < len(release["steps"]) else ""


def describe_next(release: Mapping[str, Any], row: Row, now: datetime) -> str:
    """A few words for lists, such as `50% in 19 min`."""
    if release["state"] == "held":
        return "when guards are ok" if release["resumes_alone"] else "waits for a person"
    if release["state"] == "scheduled":
        return _describe_start(release, row, now)
    if not row["is_on"]:
        return "nobody gets it"
    remaining = _find_remaining(release, now)
    name = name_next(release) or "finished"
    return f"{name} in {spell_duration(remaining)}" if remaining else f"{name}, when guards are ok"


def describe_window(window: Mapping[str, Any] | None) -> str:
    """Such as `Mon, Tue 09:00 to 16:00 (Europe/Berlin)`."""
    if window is None:
        return ""
    days = ", ".join(day.capitalize() for day in window["days"])
    return f"{days} {window['from']} to {window['to']} ({window['timezone']})"


def list_next_steps(release: Mapping[str, Any], now: datetime) -> list[NextStep]:
    """The steps to come of a release that has not ended, and its end as the last one; times only
    until a person decides."""
    is_planned = release["state"] == "scheduled"
    due_at = parse_iso(release["dueAt"] or release["watchUntil"] or release["startAt"] or "") or now
    at = None if release["state"] == "held" else max(due_at, now)
    window = msgspec.convert(release["window"], Window | None)
    steps = release["steps"] if is_planned else release["steps"][release["step"] :]
    coming = [NextStep(steps[0]["rollout"], at)] if is_planned else []
    for number, step in enumerate(steps):
        if step.get("waitForPerson"):
            at = None
        elif at and (number or is_planned):
            minutes = step.get("minutes") or release["watchMinutes"]
            at = find_opening(window, at) + timedelta(minutes=minutes)
        coming.append(NextStep(steps[min(number + 1, len(steps) - 1)]["rollout"], at))
    return coming


def find_end(release: Mapping[str, Any], now: datetime) -> datetime | None:
    """The earliest end of a release that is planned or running. None if it is on hold, has ended,
    or a person decides when it ends."""
    if release["state"] not in ("scheduled", "running"):
        return None
    return list_next_steps(release, now)[-1].at


def describe_breaks(events: Sequence[Mapping[str, Any]]) -> str:
    """How many of the guards broke, for a release that has finished."""
    ids = {event["guard"]["id"] for event in events if event["type"] == "guardFired"}
    return f", {plural(len(ids), 'guard')} broke" if ids else ", no guard broke"


def _describe_start(release: Mapping[str, Any], row: Row, now: datetime) -> str:
    if row["start_at"] and row["start_at"] > now:
        return f"Starts in {spell_duration(_round_up(row['start_at'] - now))}"
    if not _is_window_open(release, now):
        return f"Starts when the window opens: {describe_window(release['window'])}"
    return "Starts as soon as no guard is broken and releases are not frozen"


def _describe_next(release: Mapping[str, Any], step: str, now: datetime) -> str:
    target, remaining = name_next(release), _find_remaining(release, now)
    waits = bool(release["steps"][release["step"]].get("waitForPerson"))
    if not target:
        if remaining:
            return f"watched for {spell_duration(remaining)} more"
        return "finished as soon as all guards are ok and have watched this step"
    if remaining:
        time = spell_duration(remaining)
        return (
            f"{step}, waits for a person in {time}" if waits else f"{step}, next {target} in {time}"
        )
    if any(guard["state"] != "ok" for guard in list_acting(release)):
        return f"{step}, next {target} as soon as all guards are ok"
    if not _is_window_open(release, now):
        window = describe_window(release["window"])
        return f"{step}, next {target} when the window opens: {window}"
    return f"{step}, next {target} as soon as all guards have watched this step"


def _find_remaining(release: Mapping[str, Any], now: datetime) -> timedelta | None:
    """The time until the step is due, None if it is."""
    due_at = parse_iso(release["dueAt"] or release["watchUntil"] or "")
    return _round_up(due_at - now) if due_at and due_at > now else None


def _round_up(duration: timedelta) -> timedelta:
    """To whole minutes, above one."""
    minute = timedelta(minutes=1)
    return duration if duration < minute else -(-duration // minute) * minute


def _is_window_open(release: Mapping[str, Any], now: datetime) -> bool:
    window = release["window"]
    return is_open(msgspec.convert(window, Window) if window else None, now)
