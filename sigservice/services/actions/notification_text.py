"""What people, and their programs, are told of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

from sigservice.clock import format_iso
from sigservice.db.statements import Row
from sigservice.log import escape_line

SHOWN_FLAGS = 10
_CAUSES = {
    "resolved": "because the alert is over",
    "timer": "because the time was over",
    "undo": "because somebody undid the run",
}


@dataclass(frozen=True)
class Text:
    """`tone` is success, warning, failure or info."""

    title: str
    body: str
    tone: str


def text_of(run: Row, public_url: str) -> Text:
    """For chats and mails. Links are made from SERVICE_URL; without it there are none, for nobody
    else could open them."""
    copy = msgspec.json.decode(run["action_set"])
    lines = [_where(run)]
    if run["reason"]:
        lines.append(run["reason"])
    for action in copy["actions"]:
        if action["state"] != "not started":
            sign = "failed: " if action["state"] == "failed" else ""
            lines.append(escape_line(f"* {sign}{action['details']}"))
    if run["restore_due_at"]:
        lines.append(f"It will be restored at {format_iso(run['restore_due_at'])}.")
    flags = flags_of(copy, public_url)
    if public_url:
        lines += [f"{flag['name']}: {flag['url']}" for flag in flags[:SHOWN_FLAGS]]
        if len(flags) > SHOWN_FLAGS:
            lines.append(f"and {len(flags) - SHOWN_FLAGS} more flags")
        lines.append(f"The run: {run_url(run, public_url)}")
    return Text(_title(run, copy["name"]), "\n".join(lines), _tone(run))


def document(run: Row, public_url: str) -> dict[str, Any]:
    """The JSON of a webhook. The signal's payload is not in it: it is for those who may see it."""
    copy = msgspec.json.decode(run["action_set"])
    finished = run["finished_at"] or run["run_created_at"]
    return {
        "type": f"action.run.{run['state']}",
        "timestamp": format_iso(finished),
        "data": {
            "id": run["run_id"],
            "actionSetId": run["action_set_id"],
            "actionSetName": copy["name"],
            "project": run["project"],
            "state": run["state"],
            "cause": run["cause"],
            "reason": run["reason"],
            "dryRun": run["dry_run"],
            "signalId": run["signal_id"],
            "restoresRunId": run["restores_run_id"],
            "createdAt": format_iso(run["run_created_at"]),
            "finishedAt": format_iso(run["finished_at"]) if run["finished_at"] else None,
            "restoreDueAt": format_iso(run["restore_due_at"]) if run["restore_due_at"] else None,
            "actions": copy["actions"],
            "flags": flags_of(copy, public_url),
            "url": run_url(run, public_url),
            "text": _title(run, copy["name"]),
        },
    }


def run_url(run: Row, public_url: str) -> str | None:
    if not public_url:
        return None
    project = quote(run["project"], safe="")
    path = f"/admin/projects/{project}/actions/{run['action_set_id']}/runs/{run['run_id']}"
    return public_url + path


def flags_of(copy: dict[str, Any], public_url: str) -> list[dict[str, Any]]:
    """{name, environment, url} of each flag that a run changed, in one environment or several."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for action in copy["actions"]:
        for change in action.get("changes") or []:
            name, environment = change["feature"], change["environment"]
            url = f"{public_url}/admin/features/{quote(name, safe='')}" if public_url else None
            found[name, environment] = {"name": name, "environment": environment, "url": url}
    return list(found.values())


def _title(run: Row, name: str) -> str:
    does = {"success": "ran", "failed": "failed", "suppressed": "did not run"}[run["state"]]
    if run["cause"] != "signal":
        does = "restored what it had changed" if run["state"] == "success" else "could not restore"
    dry = " (dry run: nothing was changed)" if run["dry_run"] else ""
    return escape_line(f"Action set {name} {does}{dry}")


def _where(run: Row) -> str:
    why = _CAUSES.get(run["cause"], "")
    if run["signal_id"]:
        why = f"{why}, " if why else ""
        why += f"signal {run['signal_id']}"
    return escape_line(f"Project {run['project']}, {why}." if why else f"Project {run['project']}.")


def _tone(run: Row) -> str:
    if run["dry_run"] and run["state"] == "success":
        return "info"
    return {"success": "success", "failed": "failure", "suppressed": "warning"}[run["state"]]
