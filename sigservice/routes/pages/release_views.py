"""What pages show of a release: its state, steps, guards and the commands that it allows."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from sigservice.clock import parse_iso
from sigservice.db import Row
from sigservice.routes.pages.guard_views import describe_guards
from sigservice.routes.pages.release_sentences import (
    describe_next,
    describe_window,
    explain_hold,
    is_blocked,
    make_headline,
    name_cause,
    name_next,
)
from sigservice.services.identity import name_actor
from sigservice.services.releases import releases
from sigservice.services.releases.decision import MAX_AUTO_RESUMES
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path
from sigservice.wording import spell_duration

# Glyph, word and class of a state.
STATES = {
    "scheduled": ("◷", "planned", "off"),
    "running": ("▶", "running", "runs"),
    "held": ("‖", "on hold", "waits"),
    "finished": ("✓", "finished", "off"),
    "rolledBack": ("⟲", "rolled back", "broken"),
    "stopped": ("■", "stopped", "off"),
}
OFF = ("▲", "off", "waits")  # it runs on a flag that is off
LABELS = {
    "start": "Start now",
    "hold": "Hold",
    "resume": "Continue",
    "adopt": "Go on from {present}%",
    "restore": "Back to {rollout}",
    "advance": "Go on now",
    "finish": "Finish now",
    "rollback": "Roll back",
    "stop": "Stop",
    "cancel": "Cancel",  # the command `stop` before the start
}
DIRECT = ("hold",)  # commands without a question
ROW_COMMANDS = ("start", "hold", "resume", "adopt", "advance", "rollback")
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
    alert: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The values of the templates of releases. `back` is the page that a command returns to, and
    `alert` is of `release_alerts.find_alerts`."""
    release = releases.to_json(row) | {
        "resumes_alone": _resumes_alone(row),
        "present": row["present_rollout"],
    }
    is_off = release["state"] == "running" and not row["is_on"]
    icon, word, style = OFF if is_off else STATES[release["state"]]
    place = ("/admin/features", row["feature"], "environments", row["environment"])
    path = join_path(*place, "releases", row["id"])
    is_active = release["state"] in releases.ACTIVE
    commands = _make_commands(release, path, back) if can_edit else []
    in_rows = ("start", "stop") if release["state"] == "scheduled" else ROW_COMMANDS
    cause = name_cause(release, row, (alert or {}).get("alert") or "")
    return {
        **release,
        "createdBy": name_actor(row["created_by"], row["created_by_user_id"]),
        "path": path,
        "icon": icon,
        "word": word,
        "style": style,
        "is_active": is_active,
        "is_off": is_off,
        "place": f"{row['feature']} in {row['environment']}",
        "headline": make_headline(release, row, now, (alert or {}).get("alert") or ""),
        "hint": explain_hold(release),
        "begin_at": (row["entered_at"] and row["start_at"]) or row["created_at"],
        "ended_at": row["finished_at"],
        "window_text": describe_window(release["window"]),
        "track": list_steps(release, now),
        "guard_rows": describe_guards(row, release),
        "guard_summary": _count_guards(release["guards"]) if is_active else "",
        "step_text": f"{release['step'] + 1} of {len(release['steps'])}",
        "next_text": describe_next(release, row, now) if is_active else "",
        "held_for": spell_duration(now - row["last_at"])
        if release["state"] == "held" and row["last_at"]
        else "",
        "cause": cause.removeprefix(":").strip(),
        "change_text": f"{row['rolled_back_from'] or release['startRollout']}%"
        f" → {release['rollout']}%",
        "ran": spell_duration((row["finished_at"] or now) - (row["start_at"] or row["created_at"])),
        "alert": alert,
        "back": back,
        "flag_path": flag_path(row["feature"]),
        "switch_path": join_path(*place, "on") if is_off and can_edit else "",
        "commands": commands,
        "guards_form": f"{path}/guards/edit" + (f"?{urlencode({'back': back})}" if back else "")
        if can_edit and is_active
        else "",
        "row_commands": [
            command
            for command in commands
            if command["name"] in in_rows
            and not (is_off and command["name"] != "rollback")
            and not (command["name"] == "advance" and release["heldBy"] != "step")
        ],
        "again": join_path(*place, "releases", "new") + "?" + urlencode({"like": row["id"]})
        if can_edit and not is_active
        else "",
    }


def is_recent(row: Row, now: datetime) -> bool:
    """Whether the page of the flag still shows the release."""
    ended_at = row["finished_at"]
    return ended_at is None or now - ended_at < timedelta(days=SHOWN_DAYS)


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
        present=release.get("present") or "0",
    )


def _make_commands(release: Mapping[str, Any], path: str, back: str) -> list[dict[str, Any]]:
    query = f"?{urlencode({'back': back})}" if back else ""
    return [
        {
            "name": name,
            "label": fill_label(name, release) + ("" if name in DIRECT else " …"),
            "path": join_path(path, "steps", release["step"] + 1, name),
            "query": query,
            "is_direct": name in DIRECT,
            "is_first": number == 0 and release["state"] != "running",
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
