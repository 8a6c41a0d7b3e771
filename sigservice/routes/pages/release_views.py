"""What pages show of a release: its state, steps, guards and the commands that it allows."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import msgspec

from sigservice.clock import parse_iso
from sigservice.db import Row
from sigservice.routes.pages.guard_views import describe_guards
from sigservice.routes.pages.release_sentences import (
    describe_next,
    describe_window,
    explain_state,
    is_blocked,
    make_headline,
    name_next,
)
from sigservice.services.identity import name_actor
from sigservice.services.releases import releases
from sigservice.services.releases.decision import MAX_AUTO_RESUMES
from sigservice.services.releases.guard_history import History
from sigservice.services.releases.windows import Window, find_opening
from sigservice.web.helpers import join_path
from sigservice.wording import spell_duration

# Icon, word and class of a state.
STATES = {
    "scheduled": ("◷", "scheduled", "off"),
    "running": ("▶", "running", "runs"),
    "held": ("‖", "on hold", "waits"),
    "finished": ("✓", "finished", "off"),
    "rolledBack": ("⟲", "rolled back", "broken"),
    "stopped": ("■", "stopped", "off"),
}
LABELS = {
    "start": "Start now",
    "hold": "Hold",
    "resume": "Continue",
    "adopt": "Continue from {present}",
    "restore": "Restore {rollout}",
    "advance": "Go to {next} now",
    "finish": "Finish now",
    "rollback": "Roll back to {start}",
    "stop": "Stop",
    "cancel": "Cancel",  # the command `stop` before the start
}
DIRECT = ("start", "hold", "resume")  # commands without a question
ROW_COMMANDS = ("start", "hold", "resume", "rollback")
SHOWN_DAYS = 14  # a release that has ended longer ago isn't on the page of its flag
NOTICES = {
    "release-created": "Release created.",
    "release-start": "Release started.",
    "release-hold": "Release held.",
    "release-resume": "Release continued.",
    "release-adopt": "Release continued.",
    "release-restore": "Release continued.",
    "release-advance": "Release moved on.",
    "release-rollback": "Release rolled back.",
    "release-stop": "Release stopped.",
    "release-guards": "Guards saved.",
}


def make_release_view(
    row: Row,
    now: datetime,
    *,
    can_edit: bool,
    back: str = "",
    history: History | None = None,
    alert: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The values of templates/releases/panel.tpl. `back` is the page that a command returns to, and
    `alert` is of `release_alerts.find_alerts`."""
    release = releases.to_json(row) | {"resumes_alone": _resumes_alone(row)}
    icon, word, style = STATES[release["state"]]
    place = ("/admin/features", row["feature"], "environments", row["environment"], "releases")
    path = join_path(*place, row["id"])
    is_active = release["state"] in releases.ACTIVE
    commands = _make_commands(release, path, back) if can_edit else []
    in_rows = ("start", "stop") if release["state"] == "scheduled" else ROW_COMMANDS
    reached = release["step"] + (release["stepEnteredAt"] is not None)
    return {
        **release,
        "createdBy": name_actor(row["created_by"], row["created_by_user_id"]),
        "path": path,
        "icon": icon,
        "word": word,
        "style": style,
        "is_active": is_active,
        "place": f"{row['feature']} in {row['environment']}",
        "headline": make_headline(release, row, now),
        "sentences": explain_state(release, row, now),
        "begin_at": (row["entered_at"] and row["start_at"]) or row["created_at"],
        "ended_at": row["finished_at"],
        "window_text": describe_window(release["window"]),
        "track": list_steps(release, now),
        "guard_rows": describe_guards(row, release, history or {}),
        "guard_summary": _count_guards(release["guards"]) if is_active else "",
        "dots": "●" * reached + "○" * (len(release["steps"]) - reached),
        "step_text": f"{release['step'] + 1} of {len(release['steps'])}",
        "next_text": describe_next(release, now) if is_active else "",
        "held_for": spell_duration(now - row["last_at"])
        if release["state"] == "held" and row["last_at"]
        else "",
        "cause": row["last_reason"] or "",
        "ran": spell_duration((row["finished_at"] or now) - (row["start_at"] or row["created_at"])),
        "alert": alert,
        "can_mark_stale": can_edit
        and row["can_be_stale"]
        and release["state"] == "finished"
        and release["rollout"] == 100,
        "back": back,
        "commands": commands,
        "guards_form": f"{path}/guards/edit" + (f"?{urlencode({'back': back})}" if back else "")
        if can_edit and is_active
        else "",
        "row_commands": [command for command in commands if command["name"] in in_rows],
        "again": join_path(*place, "new") + "?" + urlencode({"like": row["id"]})
        if can_edit and not is_active
        else "",
    }


def is_recent(row: Row, now: datetime) -> bool:
    """Whether the page of the flag still shows the release."""
    ended_at = row["finished_at"]
    return ended_at is None or now - ended_at < timedelta(days=SHOWN_DAYS)


def find_end(release: Mapping[str, Any], now: datetime) -> datetime | None:
    """The earliest end of a release that is scheduled or running. None if it is held, has ended, or
    a person decides when it ends."""
    steps = release["steps"][release["step"] :]
    is_scheduled = release["state"] == "scheduled"
    due_at = parse_iso(release["dueAt"] or release["watchUntil"] or release["startAt"] or "") or now
    if not is_scheduled and release["state"] != "running":
        return None
    if any(step.get("waitForPerson") for step in steps):
        return None
    window = msgspec.convert(release["window"], Window | None)
    at = max(due_at, now)
    for step in steps if is_scheduled else steps[1:]:
        minutes = step.get("minutes") or release["watchMinutes"]
        at = find_opening(window, at) + timedelta(minutes=minutes)
    return at


def list_steps(release: Mapping[str, Any], now: datetime) -> list[dict[str, Any]]:
    """Each with `part`, how much of its time is over in percent, and texts."""
    entered_at = parse_iso(release["stepEnteredAt"] or "")
    is_over = release["state"] in ("finished", "rolledBack", "stopped")
    steps = []
    for number, step in enumerate(release["steps"]):
        is_present = entered_at is not None and number == release["step"]
        is_past = entered_at is not None and number < release["step"]
        minutes = step.get("minutes") or release["watchMinutes"]
        time, part = spell_duration(timedelta(minutes=minutes)), 100 if is_past else 0
        if release["state"] == "finished":
            is_past, is_present, part = True, False, 100
        if is_present and not is_over:
            ran = now - entered_at  # type: ignore[operator]  # the present step was entered
            total = timedelta(minutes=minutes)
            part = min(100, int(100 * (ran / total))) if minutes else 100
            time = f"{spell_duration(min(ran, total))} of {time}" if ran < total else f"{time} over"
        if not step.get("minutes"):
            time = f"watched {time}" if not is_present or is_over else f"watched: {time}"
        icon, word = STATES[release["state"]][:2]
        steps.append(
            {
                "rollout": step["rollout"],
                "is_present": is_present,
                "icon": "✓" if is_past else icon if is_present else "○",
                "word": "done" if is_past else word if is_present else "to come",
                "part": part,
                "time": time + (", then holds" if step.get("waitForPerson") else ""),
            }
        )
    return steps


def fill_label(name: str, release: Mapping[str, Any]) -> str:
    """The label of a command, without what follows when it asks first."""
    is_last = release["step"] == len(release["steps"]) - 1
    if name == "advance" and is_last:
        name = "finish"
    elif name == "stop" and release["state"] == "scheduled":
        name = "cancel"
    return LABELS[name].format(
        next=name_next(release),
        rollout=f"{release['steps'][release['step']]['rollout']}%",
        present="the new percentage",
        start=f"{release['startRollout']}%",
    )


def _make_commands(release: Mapping[str, Any], path: str, back: str) -> list[dict[str, Any]]:
    query = f"?{urlencode({'back': back})}" if back else ""
    return [
        {
            "name": name,
            "label": fill_label(name, release) + ("" if name in DIRECT else " …"),
            "short_label": "Roll back …"
            if name == "rollback"
            else fill_label(name, release) + " …",
            "path": join_path(path, "steps", release["step"] + 1, name),
            "query": query,
            "is_direct": name in DIRECT,
            "is_first": number == 0 and release["state"] in releases.ACTIVE,
        }
        for number, name in enumerate(_list_commands(release))
    ]


def _list_commands(release: Mapping[str, Any]) -> list[str]:
    state, held_by = release["state"], release["heldBy"]
    if state == "scheduled":
        return ["start", "stop"]
    if state == "running":
        return ["hold", "advance", "rollback", "stop"]
    if state != "held":
        return []
    if held_by == "edit":
        return ["adopt", "restore", "rollback", "stop"]
    if held_by == "step":
        return ["advance", "rollback", "stop"]
    go_on = [] if is_blocked(release) else ["resume"]
    others = {"person": ["advance"], "guard": ["hold"] if release["resumes_alone"] else []}
    return [*go_on, *others.get(held_by, []), "rollback", "stop"]


def _resumes_alone(row: Row) -> bool:
    """Whether the guard that holds the release resumes it."""
    if row["held_by"] != "guard" or row["auto_resumes"] >= MAX_AUTO_RESUMES:
        return False
    holder = next((g for g in releases.list_guards(row) if g["id"] == row["held_guard_id"]), None)
    return holder is not None and holder["definition"].get("autoResume", False)


def _count_guards(guards: Sequence[Mapping[str, Any]]) -> str:
    states = [guard["state"] for guard in guards]
    words = {"firing": "broken", "unknown": "no data"}
    problems = [f"{states.count(state)} {word}" for state, word in words.items() if state in states]
    if problems:
        return ", ".join(problems)
    return f"{len(states)} ok" if states else "no guards"
