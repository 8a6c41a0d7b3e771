"""The texts of an event: a sentence without its subject, and the lines that differ."""

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import msgspec

from sigservice.clock import parse_iso
from sigservice.db import Row
from sigservice.services.strategy_summaries import list_strategy_chips
from sigservice.services.system.events import RULE_EVENTS

MAX_NAME, MAX_LINES, MAX_CHANGE, MAX_FLAGS = 100, 200, 500, 10
Mark = Callable[[str, str], str]
# Types whose own words would mislead; the braces are filled from the event.
SENTENCES = {
    "feature-environment-enabled": "turned {flag} on{place}{reason}",
    "feature-environment-disabled": "turned {flag} off{place}{reason}",
    "feature-kept-off": "kept {flag} off{place}{reason}",
    "feature-environment-variants-updated": "changed the variants of {flag}{place}",
    "feature-strategy-add": "added {strategy} to {flag}{place}{reason}",
    "feature-strategy-remove": "removed {strategy} from {flag}{place}{reason}",
    "feature-strategy-update": "changed {strategy} of {flag}{place}{change}{reason}",
    "strategy-order-changed": "changed the order of the strategies of {flag}{place}{reason}",
    "feature-metadata-updated": "changed the details of {flag}",
    "feature-archived": "archived {flag}",
    "feature-potentially-stale-on": "marked {flag} as potentially stale",
    "feature-project-change": "moved {flag}{change} to the project {project}",
    "feature-revived": "revived {flag}",
    "feature-stale-on": "marked {flag} as stale",
    "feature-stale-off": "marked {flag} as active",
    "feature-tagged": "added the tag {tag} to {flag}",
    "feature-untagged": "removed the tag {tag} from {flag}",
    "feature-dependency-added": "added the parent flag {parent} to {flag}",
    "feature-dependency-removed": "removed the parent flag of {flag}",
    "feature-dependencies-removed": "removed the parent flag of {flag}",
    "feature-completed": "marked {flag} as completed",
    "feature-uncompleted": "marked {flag} as not completed",
    "feature-favorited": "added {flag} to their favorites",
    "feature-unfavorited": "removed {flag} from their favorites",
    "project-favorited": "added the project {project} to their favorites",
    "project-unfavorited": "removed the project {project} from their favorites",
    "features-imported": "imported flags into the project {project}",
    "features-applied": "applied files of flags",
    "features-released": "ended the management of flags in files",
    "project-environment-added": "added the environment{environment} to the project {project}",
    "project-environment-removed": "removed the environment{environment} from the project"
    " {project}",
    "default-strategy-updated": "changed the default strategy of the project {project}{place}"
    "{reason}",
    "tag-created": "created the tag {tag}",
    "tag-deleted": "deleted the tag {tag}",
    "strategy-deprecated": "deprecated the strategy type {name}",
    "strategy-reactivated": "reactivated the strategy type {name}",
    "user-signed-in": "signed in",
    "user-signed-out": "signed out {name}",
    "user-signed-out own": "signed out",
    "user-sign-in-failed": "failed to sign in{user}",
    "user-sign-ins-failed": "{count} more sign-ins failed",
    "user-password-change-failed": "failed to change their own password",
    "user-identity-linked": "connected {name} to the provider",
    "user-identity-unlinked": "disconnected {name} from the provider",
    "user-identity-unlink-failed": "failed to disconnect from the provider",
    "user-updated password": "changed the password of {name}",
    "user-updated own password": "changed their own password",
    "safeguard-triggered": "A guard of the release of {flag}{place} acted",
    "user-sessions-ended": "ended the sessions of {name}",
    "user-sessions-ended own": "ended sessions of their own",
    "password-reset-requested": "requested a reset link for {name}",
    "password-link-created": "created a reset link for {name}",
    "pat-creation-failed": "failed to create a personal token",
    "signal-sent": "sent the test signal {signal} to {name}",
    "signal-sent again": "sent signal {original} to {name} again, as signal {signal}",
    "setting-updated": "changed the allowed origins of the frontend API",
    "emergency-started": "acted in an emergency{measures}{reason}",
    "emergency-ended": "ended the emergency{measures}{reason}",
    "addon-config-created": "created the integration {name}",
    "addon-config-updated": "changed the integration {name}",
    "addon-config-deleted": "deleted the integration {name}",
    "integration-test": "sent a test to this integration",
    "actions-alert-ignored": "ignored the alert of {run} until it resolves",
    "actions-alert-watched": "stopped ignoring the alert of {run}",
    "actions-undone": "undid {run}",
    "actions-restore-cancelled": "cancelled the auto-revert of {run}",
}
# The subject of their sentence isn't the actor.
_WITH_SUBJECT = (
    *RULE_EVENTS, "release-guard-fired", "release-guard-unknown", "release-guard-ok",
    "release-edited", "safeguard-triggered", "user-sign-ins-failed",
)  # fmt: skip
_RUNS = {
    "action-run-succeeded": "{flags}{until}{alert} (automation {name})",
    "action-run-failed": "failed to run the automation {name}{reason}{more}{alert}",
    "action-run-reverted": "{flags}{why} (automation {name})",
    "action-run-skipped": "did not run the automation {name}{reason}{alert}",
}
_REVERTS = {"resolved": ", because the alert resolved", "timer": " after the configured time"}
_VERBS = {"created": "created", "updated": "changed", "deleted": "deleted"}
_NOUNS = {
    "feature": "flag",
    "feature-type": "flag type",
    "actions": "automation",
    "pat": "personal token",
    "strategy": "strategy type",
    "api-token": "API token",
}


def has_subject(row: Row) -> bool:
    """Whether the sentence of the event is whole without its actor."""
    return row["type"] in _WITH_SUBJECT


def describe_event(row: Row, mark: Mark = lambda _part, text: text) -> str:
    """Such as "changed the rollout of checkout from 25% to 50% in production": the sentence without
    its subject, the user, unless `has_subject`. `mark(part, text)` formats what comes from users,
    such as links."""
    data, before = _decode(row["data"]), _decode(row["pre_data"])
    values = data if data.keys() - {"reason"} else before
    environment = row["environment"] and mark("environment", row["environment"])
    project = row["project"] or values.get("id")
    tag = f"{values.get('type', '')}:{values.get('value', '')}"
    name = _find_name(row, values)
    parts = {
        "flag": mark("flag", row["feature_name"]) if row["feature_name"] else "",
        "place": f" in {environment}" if environment else "",
        "reason": f": “{mark('text', str(data['reason']))}”" if data.get("reason") else "",
        "environment": f" {environment}" if environment else "",
        "project": mark("project", str(project)) if project else "",
        "tag": mark("text", tag),
        "parent": mark("flag", str(values.get("feature", ""))),
        "signal": mark("plain", str(values.get("id", ""))),
        "original": mark("plain", str(values.get("replayOf", ""))),
        "count": mark("plain", str(values.get("count", ""))),
        "user": f" as {mark('name', name)}" if values.get("username") else "",
        "run": f"run {mark('plain', str(values.get('runId')))} of the automation"
        f" {mark('name', name)}",
        "name": mark("flag" if row["feature_name"] else "name", name) if name else "",
        "strategy": _describe_strategy(values, mark),
        "measures": f": {', '.join(measures)}" if (measures := _list_measures(values)) else "",
    }
    if row["type"] == "feature-strategy-update" and before and data:
        if change := _describe_rollout(before, data):
            return (
                f"changed the rollout of {parts['flag']} {change}{parts['place']}{parts['reason']}"
            )
        parts["change"] = _list_strategy_changes(before, data, mark)
    elif row["type"] == "feature-project-change":
        parts["change"] = f" from {mark('project', str(before.get('project') or ''))}"
    elif row["type"] in _RUNS:
        return _describe_run(row, values, mark)
    elif row["type"] in RULE_EVENTS:
        reason = f": {mark('plain', str(values['reason']))}" if values.get("reason") else ""
        state = row["type"].removeprefix("alert-rule-")
        return f"Alert rule {mark('name', str(values.get('ruleName')))} is {state}{reason}"
    elif row["type"].startswith("release-") and isinstance(text := values.get("text"), str):
        first = text[:1] if has_subject(row) else text[:1].lower()
        return mark("plain", first + text[1:].removesuffix("."))
    sentence = SENTENCES.get(_find_variant(row, values))
    if sentence is None:
        return _describe_by_words(row["type"], parts["name"])
    return " ".join(sentence.format(**{"change": "", **parts}).split())


def _find_variant(row: Row, values: Mapping[str, Any]) -> str:
    """The key of SENTENCES: the type, for some types with a word that depends on the data."""
    user_id = row.get("created_by_user_id")
    own = "own " if values.get("id", user_id) == user_id else ""
    words = {
        "user-updated": f"{own}password" if values.get("password") == "changed" else "",
        "user-signed-out": own,
        "user-sessions-ended": own,
        "signal-sent": "again" if values.get("replayOf") else "",
    }
    return f"{row['type']} {words.get(row['type'], '')}".strip()


def compare_lines(row: Row) -> list[tuple[str, str]]:
    """(mark, line) of the event's data as indented JSON: "-" for removed lines, "+" for added ones,
    a blank for the lines around them. All lines are "+" where there is no state before. At most
    MAX_LINES. Compares whole lines: difflib.ndiff compares the letters of all pairs of changed
    lines, which takes minutes for a list of hundreds of values."""
    before, after = (_format(row[name]) for name in ("pre_data", "data"))
    lines: list[tuple[str, str]] = []
    for change, start, end, new_start, new_end in SequenceMatcher(
        None, before, after
    ).get_opcodes():
        if change == "equal":
            lines += [(" ", line) for line in before[start:end]]
        else:
            lines += [("-", line) for line in before[start:end]]
            lines += [("+", line) for line in after[new_start:new_end]]
    return [(mark, line) for mark, line in lines if line.strip()][:MAX_LINES]


def _list_measures(values: Mapping[str, Any]) -> list[str]:
    """What an emergency did, or what ended."""
    texts = {
        "rollBackReleases": "rolled back all releases",
        "freezeReleases": "froze releases",
        "pauseAutomation": "paused automation",
        "undoMinutes": f"undid the runs of the last {values.get('undoMinutes')} min",
    }
    ends = {"freeze": "releases are no longer frozen", "pause": "automation is no longer paused"}
    ended = values.get("what")
    done = [text for name, text in texts.items() if values.get(name)]
    return done + [ends[one] for one in ended if one in ends] if isinstance(ended, list) else done


def _describe_run(row: Row, values: Mapping[str, Any], mark: Mark) -> str:
    """Such as "turned checkout and search off in production: HighErrorRate (automation Kill
    switch)"."""
    is_revert = row["type"] == "action-run-reverted"
    changes = _join_changes(values.get("flags") or [], mark, "back " if is_revert else "")
    alert, reason = values.get("alert") or {}, values.get("reason")
    name = alert.get("name") or (f"an alert of {alert['endpoint']}" if alert else "")
    parts = {
        "name": mark("name", str(values.get("actionSetName"))),
        "flags": changes or ("reverted nothing" if is_revert else "changed no flag"),
        "more": f", after it {changes}" if changes else "",
        "reason": f": {mark('plain', str(reason).removesuffix('.'))}" if reason else "",
        "alert": f": {mark('text', name)}" if name else "",
        "until": _describe_end(row, values.get("restoreDueAt")),
        "why": _REVERTS.get(str(values.get("cause")), ""),
    }
    return _RUNS[row["type"]].format(**parts)


def _join_changes(changes: Sequence[Mapping[str, Any]], mark: Mark, back: str) -> str:
    """Such as "turned a and b off in production, set c to 25% in staging"."""
    groups: dict[tuple[str, bool, Any], list[str]] = {}
    for one in changes[:MAX_FLAGS]:
        key = (one["environment"], isinstance(one["after"], bool), one["after"])
        groups.setdefault(key, []).append(mark("flag", one["name"]))
    texts = []
    for (environment, is_switch, after), flags in groups.items():
        names = " and ".join([", ".join(flags[:-1]), flags[-1]] if flags[1:] else flags)
        place = f"in {mark('environment', environment)}"
        if is_switch:
            texts.append(f"turned {names} {back}{'on' if after else 'off'} {place}")
        else:
            texts.append(f"set {names} {back}to {after}% {place}")
    if len(changes) > MAX_FLAGS:
        texts.append(f"and made {len(changes) - MAX_FLAGS} more changes")
    return ", ".join(texts)


def _describe_end(row: Row, due_at: str | None) -> str:
    """Such as " for 10 min", of a run that a timer reverts."""
    end = parse_iso(due_at) if due_at else None
    if end is None:
        return ""
    return f" for {max(1, round((end - row['created_at']).total_seconds() / 60))} min"


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
        {
            name: value
            for name, value in data.items()
            if name not in ("parameters", "actionRun", "cause", "reason")
        }
        for data in (before, after)
    ]
    if None in percentages or percentages[0] == percentages[1]:
        return ""
    if old != new or others[0] != others[1]:
        return ""
    return f"from {percentages[0]}% to {percentages[1]}%"


def _describe_strategy(values: Mapping[str, Any], mark: Mark) -> str:
    """A strategy by its title, or by its type."""
    if title := values.get("title"):
        return f"the strategy {mark('text', str(title)[:MAX_NAME])}"
    type = values.get("name")
    return f"a strategy {mark('text', str(type)[:MAX_NAME])}" if type else "a strategy"


def _list_strategy_changes(before: Mapping[str, Any], after: Mapping[str, Any], mark: Mark) -> str:
    """Such as ": 25% of users → 50% of users", "" if nothing differs that a summary shows."""
    old, new = (_list_chips(data) for data in (before, after))
    removed = [chip for chip in old if chip not in new]
    added = [chip for chip in new if chip not in old]
    if not removed and not added:
        return ""
    texts = [" · ".join(chips) or "none" for chips in (removed, added)]
    return f": {mark('plain', texts[0][:MAX_CHANGE])} → {mark('plain', texts[1][:MAX_CHANGE])}"


def _list_chips(data: Mapping[str, Any]) -> list[str]:
    """Events of older versions may lack members."""
    empty = {"name": "", "parameters": {}, "constraints": [], "segments": [], "variants": []}
    try:
        return list_strategy_chips({**empty, **data}, {})
    except (LookupError, TypeError, AttributeError):
        return []


def _find_name(row: Row, values: Mapping[str, Any]) -> str:
    names = (
        "name", "username", "email", "tokenName", "provider", "value", "signalEndpoint",
        "actionSetName", "appName", "description", "id",
    )  # fmt: skip
    name = row["feature_name"] or next((values[key] for key in names if values.get(key)), "")
    return str(name)[:MAX_NAME]


def _decode(text: str | None) -> dict[str, Any]:
    value = msgspec.json.decode(text) if text else {}
    return value if isinstance(value, dict) else {}


def _format(text: str | None) -> list[str]:
    return msgspec.json.format(text, indent=2).split("\n") if text else []
