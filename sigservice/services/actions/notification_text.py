"""The text of notifications for people, and the payload for webhooks."""

from typing import Any
from urllib.parse import quote

import msgspec

from sigservice.clock import format_iso, format_optional
from sigservice.db import Row
from sigservice.log import escape_line
from sigservice.services.actions.action_alerts import hide_key
from sigservice.services.actions.schedules import read_cause
from sigservice.services.apprise_channels import Text
from sigservice.wording import plural

MAX_FLAGS = 10
_RESULTS = {"success": "ran", "failed": "failed", "suppressed": "did not run"}
_REVERT_RESULTS = {
    "success": "reverted its changes",
    "failed": "failed to revert",
    "suppressed": "keeps its changes",
}
_CAUSES = {
    "resolved": "after an alert resolved",
    "timer": "after the configured time",
    "undo": "because a user undid the run",
    "schedule": "by its schedule",
}


def render_text(run: Row, public_url: str) -> Text:
    """The text for chats and emails. It has links only if SERVICE_URL is configured, because
    recipients can't open local URLs."""
    copy = msgspec.json.decode(run["action_set"])
    lines = [_describe_origin(run)]
    if reason := hide_key(run["reason"]):
        lines.append(reason)
    for action in copy["actions"]:
        if action["state"] != "not started":
            prefix = "failed: " if action["state"] == "failed" else ""
            lines.append(escape_line(f"* {prefix}{action['details']}"))
    if run["restore_due_at"]:
        lines.append(f"Auto-revert at {format_iso(run['restore_due_at'])}.")
    flags = list_flags(copy, public_url)
    if public_url:
        lines += [f"{flag['name']}: {flag['url']}" for flag in flags[:MAX_FLAGS]]
        if len(flags) > MAX_FLAGS:
            lines.append(f"and {plural(len(flags) - MAX_FLAGS, 'more flag')}")
        lines.append(f"Run: {make_run_url(run, public_url)}")
    return Text(_make_title(run, copy["name"]), "\n".join(lines), _choose_severity(run))


def build_payload(run: Row, public_url: str) -> dict[str, Any]:
    """The JSON of a webhook. It excludes the signal's payload and the keys of alerts, which only
    admins may see."""
    copy = msgspec.json.decode(run["action_set"])
    finished = run["finished_at"] or run["created_at"]
    return {
        "type": f"action.run.{run['state']}",
        "timestamp": format_iso(finished),
        "data": {
            "id": run["id"],
            "actionSetId": run["action_set_id"],
            "actionSetName": copy["name"],
            "project": run["project"],
            "state": run["state"],
            "cause": read_cause(run),
            "reason": hide_key(run["reason"]),
            "dryRun": run["dry_run"],
            "signalId": run["signal_id"],
            "restoresRunId": run["restores_run_id"],
            "createdAt": format_iso(run["created_at"]),
            "finishedAt": format_optional(run["finished_at"]),
            "restoreDueAt": format_optional(run["restore_due_at"]),
            "actions": copy["actions"],
            "flags": list_flags(copy, public_url),
            "url": make_run_url(run, public_url),
            "text": _make_title(run, copy["name"]),
        },
    }


def make_run_url(run: Row, public_url: str) -> str | None:
    if not public_url:
        return None
    project = quote(run["project"], safe="")
    path = f"/admin/projects/{project}/actions/{run['action_set_id']}/runs/{run['id']}"
    return public_url + path


def list_flags(copy: dict[str, Any], public_url: str) -> list[dict[str, Any]]:
    """{name, environment, url} of each flag and environment that a run changed."""
    flags: dict[tuple[str, str], dict[str, Any]] = {}
    for action in copy["actions"]:
        for change in action.get("changes") or []:
            name, environment = change["feature"], change["environment"]
            url = f"{public_url}/admin/features/{quote(name, safe='')}" if public_url else None
            flags[name, environment] = {"name": name, "environment": environment, "url": url}
    return list(flags.values())


def _make_title(run: Row, name: str) -> str:
    results = _RESULTS if run["cause"] == "signal" else _REVERT_RESULTS
    dry = " (dry run: nothing was changed)" if run["dry_run"] else ""
    return escape_line(f"Action set {name} {results[run['state']]}{dry}")


def _describe_origin(run: Row) -> str:
    reason = _CAUSES.get(read_cause(run), "")
    if run["signal_id"]:
        reason = f"{reason}, " if reason else ""
        reason += f"signal {run['signal_id']}"
    return escape_line(
        f"Project {run['project']}, {reason}." if reason else f"Project {run['project']}."
    )


def _choose_severity(run: Row) -> str:
    if run["dry_run"] and run["state"] == "success":
        return "info"
    return {"success": "success", "failed": "failure", "suppressed": "warning"}[run["state"]]
