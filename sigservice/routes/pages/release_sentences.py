"""The sentences about a release on pages: what it does, why, and what comes next."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from sigservice.clock import parse_iso
from sigservice.db import Row
from sigservice.services.identity import name_actor
from sigservice.services.releases.windows import Window, is_open
from sigservice.wording import spell_duration


def make_headline(release: Mapping[str, Any], row: Row, now: datetime) -> str:
    """What follows "Release 12", such as `on hold at 25% · for 6 min`."""
    state, rollout = release["state"], f"{release['rollout']}%"
    since = spell_duration(now - row["last_at"]) if row["last_at"] else ""
    if state == "scheduled":
        return f"scheduled · {release['steps'][0]['rollout']}% first"
    if state == "running":
        return f"running at {rollout} · step {release['step'] + 1} of {len(release['steps'])}"
    if state == "held":
        is_person = release["heldBy"] == "person" and row["last_actor"]
        how = (
            f"held at {rollout} by {_name_last_actor(row)}"
            if is_person
            else f"on hold at {rollout}"
        )
        return f"{how} · for {since}"
    if state == "finished":
        return f"finished · {rollout} for {since}"
    word = "rolled back" if state == "rolledBack" else "stopped"
    return f"{word} at {rollout} · {since} ago"


def explain_state(release: Mapping[str, Any], row: Row, now: datetime) -> list[str]:
    """Why it is in its state, and what comes next."""
    state, reason = release["state"], (row["last_reason"] or "").strip()
    if state == "scheduled":
        return [_explain_start(release, row, now)]
    if state == "running":
        return [_explain_next(release, now)]
    if state == "held":
        return _explain_hold(release, reason)
    where = f"{release['feature']} in {release['environment']}"
    if state == "finished":
        text = (
            "Remove the flag from the code, then archive it." if release["rollout"] == 100 else ""
        )
        return [f"The strategy is at {release['rollout']}% in {release['environment']}.", text]
    if state == "stopped":
        return [reason, f"{where} stays at {release['rollout']}%. Nothing watches it."]
    cause = f"Guard broken: {reason}" if row["last_by_guard"] else f"By {_name_last_actor(row)}."
    texts = [cause if row["last_by_guard"] or not reason else f"{cause} {reason}"]
    return [*texts, f"{row['rolled_back_from']}% → {release['rollout']}% of users."]


def _name_last_actor(row: Row) -> str:
    return name_actor(row["last_actor"], row["last_actor_id"])


def is_blocked(release: Mapping[str, Any]) -> bool:
    """Whether a guard fires that `resume` doesn't clear: it clears alerts that nothing resolves."""
    return any(
        guard["state"] == "firing" and (guard["kind"] != "signal" or guard.get("resolved"))
        for guard in _list_active(release)
    )


def name_next(release: Mapping[str, Any]) -> str:
    """The percentage of the next step, "" after the last one."""
    number = release["step"] + 1
    return f"{release['steps'][number]['rollout']}%" if number < len(release["steps"]) else ""


def describe_next(release: Mapping[str, Any], now: datetime) -> str:
    """A few words for lists, such as `50% in 19 min`."""
    if release["state"] == "held":
        return "when all guards are ok" if release["resumes_alone"] else "a person"
    if release["state"] == "scheduled":
        start_at = parse_iso(release["startAt"] or "")
        return (
            f"starts in {spell_duration(_round_up(start_at - now))}"
            if start_at and start_at > now
            else ""
        )
    remaining = _find_remaining(release, now)
    name = name_next(release) or "finished"
    return f"{name} in {spell_duration(remaining)}" if remaining else f"{name}, when guards are ok"


def describe_window(window: Mapping[str, Any] | None) -> str:
    """Such as `Mon, Tue 09:00 to 16:00 (Europe/Berlin)`."""
    if window is None:
        return ""
    days = ", ".join(day.capitalize() for day in window["days"])
    return f"{days} {window['from']} to {window['to']} ({window['timezone']})"


def _explain_start(release: Mapping[str, Any], row: Row, now: datetime) -> str:
    if row["start_at"] and row["start_at"] > now:
        return f"Starts in {spell_duration(_round_up(row['start_at'] - now))}."
    if not _is_window_open(release, now):
        return f"Starts when the window opens: {describe_window(release['window'])}."
    return "Starts as soon as no guard is broken and releases are not frozen."


def _explain_next(release: Mapping[str, Any], now: datetime) -> str:
    target, remaining = name_next(release), _find_remaining(release, now)
    is_ok = all(guard["state"] == "ok" for guard in _list_active(release))
    condition = ", if all guards are ok" if release["guards"] else ""
    if not target:
        if remaining:
            return f"Watched for another {spell_duration(remaining)}, then finished{condition}."
        return "Finished as soon as all guards are ok and have watched this step."
    if release["steps"][release["step"]].get("waitForPerson") and remaining:
        return f"Next: in {spell_duration(remaining)} it holds until a person goes on to {target}."
    if remaining:
        return f"Next: {target} in {spell_duration(remaining)}{condition}."
    if not is_ok:
        return f"Next: {target} as soon as all guards are ok."
    if not _is_window_open(release, now):
        return f"Next: {target} when the window opens: {describe_window(release['window'])}."
    return f"Next: {target} as soon as all guards have watched this step."


def _explain_hold(release: Mapping[str, Any], reason: str) -> list[str]:
    held_by, reason = release["heldBy"], release["heldReason"] or reason
    nothing = "Nothing changes until someone decides."
    if release["resumes_alone"]:
        nothing = "It goes on automatically when all guards are ok."
    elif is_blocked(release):
        nothing = "To continue while a guard is broken, make it a dry run."
    if held_by == "guard":
        is_ok = all(guard["state"] != "firing" for guard in _list_active(release))
        return [f"Guard broken: {reason}", "It is ok again." if is_ok else "", nothing]
    if held_by == "noData":
        return [f"No data: {reason}", "Without it, guards can't be evaluated.", nothing]
    if held_by == "edit":
        return [reason, "Someone must decide which percentage counts."]
    if held_by == "step":
        target = name_next(release)
        return [f"The step waits for a person before {target or 'it is finished'}.", nothing]
    return ["" if reason.startswith("Held by ") else reason, nothing]


def _list_active(release: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The guards that aren't a dry run."""
    return [guard for guard in release["guards"] if not guard.get("dryRun")]


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
