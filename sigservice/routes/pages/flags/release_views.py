"""What pages show of a release: its state, steps, guards and the commands that it allows."""

from collections.abc import Mapping
from typing import Any

from sigservice.clock import parse_iso
from sigservice.db.statements import Row
from sigservice.services.releases import releases
from sigservice.web.helpers import join_path

STATES = {
    "scheduled": ("◷", "scheduled"),
    "running": ("▶", "running"),
    "held": ("‖", "on hold"),
    "finished": ("✓", "finished"),
    "rolledBack": ("⟲", "rolled back"),
    "stopped": ("■", "stopped"),
}
RESULTS = {"ok": ("✓", "ok"), "firing": ("✕", "broken"), "unknown": ("–", "no data")}
LABELS = {
    "start": "Start now",
    "hold": "Hold",
    "resume": "Continue",
    "adopt": "Continue from the new percentage",
    "restore": "Restore the percentage of the step",
    "ignore": "Continue although a guard is broken",
    "advance": "Next step",
    "rollback": "Roll back",
    "stop": "Stop",
    "undo": "Undo the rollback",
}


def make_release_view(row: Row, *, can_edit: bool) -> dict[str, Any]:
    """The values of templates/releases/panel.tpl."""
    release = releases.to_json(row)
    icon, word = STATES[release["state"]]
    place = ("/admin/features", row["feature"], "environments", row["environment"], "releases")
    path = join_path(*place, row["id"])
    due_at = release["dueAt"] or release["watchUntil"]
    return {
        **release,
        "path": path,
        "icon": icon,
        "word": word,
        "place": f"{row['feature']} in {row['environment']}",
        "due_at": parse_iso(due_at) if due_at else None,
        "created_at": row["created_at"],
        "track": _list_steps(release),
        "guard_rows": [_describe_guard(guard) for guard in release["guards"]],
        "commands": [
            (LABELS[name], join_path(path, "steps", release["step"] + 1, name))
            for name in (_list_commands(release) if can_edit else ())
        ],
    }


def _list_steps(release: Mapping[str, Any]) -> list[dict[str, Any]]:
    """With `time`: how long a step is kept at least."""
    has_begun = release["stepEnteredAt"] is not None
    steps = []
    for number, step in enumerate(release["steps"]):
        is_present = has_begun and number == release["step"]
        is_past = has_begun and number < release["step"]
        minutes = step.get("minutes") or release["watchMinutes"]
        steps.append(
            {
                "rollout": step["rollout"],
                "is_present": is_present,
                "mark": "✓" if is_past else "▶" if is_present else "○",
                "time": f"{minutes} min" + (", then a person" if step.get("waitForPerson") else ""),
            }
        )
    return steps


def _list_commands(release: Mapping[str, Any]) -> list[str]:
    state, held_by = release["state"], release["heldBy"]
    if state == "scheduled":
        return ["start", "stop"]
    if state == "running":
        return ["hold", "advance", "rollback", "stop"]
    if state == "rolledBack":
        return ["undo"]
    if state != "held":
        return []
    if held_by == "edit":
        return ["adopt", "restore", "rollback", "stop"]
    if held_by == "step":
        return ["advance", "rollback", "stop"]
    has_problem = any(guard["state"] != "ok" for guard in release["guards"])
    go_on = "ignore" if held_by in ("guard", "noData") and has_problem else "resume"
    return [go_on, *(["advance"] if held_by == "person" else []), "rollback", "stop"]


def _describe_guard(guard: Mapping[str, Any]) -> dict[str, str]:
    icon, word = RESULTS[guard["state"]]
    value, limit = guard["value"], guard["limit"]
    effect = "rolls back" if guard["effect"] == "rollBack" else "holds"
    return {
        "icon": icon,
        "word": word,
        "name": _name_guard(guard),
        "value": "" if value is None else f"{value:,.4g}",
        "limit": "" if limit is None else f"{limit:,.4g}",
        "effect": f"dry run: {effect}" if guard.get("dryRun") else effect,
        "reason": guard["reason"] or "",
    }


def _name_guard(guard: Mapping[str, Any]) -> str:
    if guard["kind"] == "rule":
        source = guard["rule"]["source"]
        per = f" per {source['per']}" if source.get("per") else f" ({source['measure']})"
        return f"{source['metric']}{per}"
    noun = "Alerts" if guard["kind"] == "signal" else "Silence"
    return f"{noun} of endpoint {guard['endpointId']}"
