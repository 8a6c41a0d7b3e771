"""What an event says: a sentence without its subject, and the lines that differ."""

import difflib
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from sigservice.db.statements import Row

MAX_NAME, MAX_LINES = 100, 200
# Types whose own words would mislead; the braces are filled from the event.
SENTENCES = {
    "feature-environment-enabled": "enabled {flag}{place}",
    "feature-environment-disabled": "disabled {flag}{place}",
    "feature-environment-variants-updated": "changed the variants of {flag}{place}",
    "feature-strategy-add": "added a strategy to {flag}{place}",
    "feature-strategy-remove": "removed a strategy from {flag}{place}",
    "feature-strategy-update": "changed a strategy of {flag}{place}",
    "strategy-order-changed": "changed the order of the strategies of {flag}{place}",
    "feature-metadata-updated": "changed the details of {flag}",
    "feature-archived": "archived {flag}",
    "feature-revived": "revived {flag}",
    "feature-stale-on": "marked {flag} as stale",
    "feature-stale-off": "marked {flag} as active",
    "feature-tagged": "added the tag {tag} to {flag}",
    "feature-untagged": "removed the tag {tag} from {flag}",
    "feature-dependency-added": "added a parent flag to {flag}",
    "feature-dependency-removed": "removed the parent flag of {flag}",
    "feature-dependencies-removed": "removed the parent flag of {flag}",
    "feature-completed": "marked {flag} as completed",
    "feature-uncompleted": "marked {flag} as not completed",
    "feature-favorited": "added {flag} to their favorites",
    "feature-unfavorited": "removed {flag} from their favorites",
    "project-favorited": "added the project {project} to their favorites",
    "project-unfavorited": "removed the project {project} from their favorites",
    "features-imported": "imported flags into the project {project}",
    "project-environment-added": "added the environment{environment} to the project {project}",
    "project-environment-removed": "removed the environment{environment} from the project"
    " {project}",
    "strategy-deprecated": "deprecated the strategy type {name}",
    "strategy-reactivated": "reactivated the strategy type {name}",
    "user-signed-in": "signed in",
    "user-signed-out": "signed out",
    "user-sign-in-failed": "failed to sign in",
    "user-sign-ins-failed": "failed to sign in several times",
    "user-password-change-failed": "failed to change the password",
    "user-identity-linked": "connected {name} to the provider",
    "user-identity-unlinked": "disconnected {name} from the provider",
    "user-sessions-ended": "ended the sessions of {name}",
    "password-reset-requested": "requested a reset link for {name}",
    "pat-creation-failed": "failed to create a personal token",
    "signal-sent": "sent a test signal to {name}",
    "actions-undone": "undid a run of the action set {name}",
    "actions-restore-cancelled": "cancelled the auto-revert of a run of {name}",
    "actions-notification-retried": "retried a notification of {name}",
}
_VERBS = {"created": "created", "updated": "changed", "deleted": "deleted"}
_NOUNS = {
    "feature": "flag",
    "actions": "action set",
    "pat": "personal token",
    "strategy": "strategy type",
    "api-token": "API token",
}


def describe_event(row: Row) -> str:
    """Such as "changed the rollout of checkout from 25% to 50% in production": what the user, who
    is the subject, did."""
    data, before = _decode(row["data"]), _decode(row["pre_data"])
    values = data or before
    flag, environment = row["feature_name"] or "", row["environment"] or ""
    parts = {
        "flag": flag,
        "place": f" in {environment}" if environment else "",
        "environment": f" {environment}" if environment else "",
        "project": row["project"] or values.get("id") or "",
        "tag": f"{values.get('type', '')}:{values.get('value', '')}",
        "name": _find_name(row, values),
    }
    if row["type"] == "feature-strategy-update" and (change := _describe_rollout(before, data)):
        return f"changed the rollout of {flag} {change}{parts['place']}"
    sentence = SENTENCES.get(row["type"])
    if sentence is None:
        return _describe_by_words(row["type"], parts["name"])
    return " ".join(sentence.format(**parts).split())


def compare_lines(row: Row) -> list[tuple[str, str]]:
    """(mark, line) of the event's data as indented JSON: "-" and "+" for lines that went and came,
    " " for those around them. All lines are "+" where there is no state before. At most
    MAX_LINES."""
    before, after = (_format(row[name]) for name in ("pre_data", "data"))
    lines = [
        (line[0], line[2:])
        for line in difflib.ndiff(before, after)
        if line[0] in "+- " and line[2:].strip()
    ]
    return lines[:MAX_LINES]


def _describe_by_words(type: str, name: str) -> str:
    match = re.fullmatch("(.+)-(created|updated|deleted)", type)
    if match is None:
        return f"{type.replace('-', ' ')} {name}".strip()
    noun = _NOUNS.get(match[1], match[1].replace("-", " "))
    return f"{_VERBS[match[2]]} the {noun} {name}".strip()


def _describe_rollout(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Such as "from 25% to 50%" if nothing but the rollout changed, else ""."""
    old, new = (dict(data.get("parameters") or {}) for data in (before, after))
    percentages = old.pop("rollout", None), new.pop("rollout", None)
    others = [
        {name: value for name, value in data.items() if name not in ("parameters", "actionRun")}
        for data in (before, after)
    ]
    if None in percentages or percentages[0] == percentages[1]:
        return ""
    if old != new or others[0] != others[1]:
        return ""
    return f"from {percentages[0]}% to {percentages[1]}%"


def _find_name(row: Row, values: Mapping[str, Any]) -> str:
    names = ("name", "username", "email", "tokenName", "value", "id")
    name = row["feature_name"] or next((values[key] for key in names if values.get(key)), "")
    return str(name)[:MAX_NAME]


def _decode(text: str | None) -> dict[str, Any]:
    value = msgspec.json.decode(text) if text else {}
    return value if isinstance(value, dict) else {}


def _format(text: str | None) -> list[str]:
    return msgspec.json.format(text, indent=2).split("\n") if text else []
