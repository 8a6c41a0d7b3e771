"""The heading of the page of a flag: who gets it in an environment, or why nobody does."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sigservice.db import Row
from sigservice.services import strategy_summaries
from sigservice.wording import spell_duration

ROLLED_BACK_HOURS = 24


class Answer(NamedTuple):
    """`style` is the class of its color; `offers_strategies` if nobody has said who should get
    the flag, `reaches_nobody` if a release moves a flag that is off. `parent` is the flag that
    keeps it from users."""

    style: str
    glyph: str
    text: str
    offers_strategies: bool = False
    reaches_nobody: bool = False
    parent: str = ""


def make_answer(
    environment: Mapping[str, Any],
    *,
    alert: Row | None,
    release: Mapping[str, Any] | None,
    parents: Sequence[str],
    is_archived: bool,
    now: datetime,
) -> Answer:
    """`parents` are those of the flag whose state keeps it from users."""
    is_on = environment["enabled"]
    if is_archived:
        return Answer("off", "○", "Archived: applications no longer get it")
    if alert and not is_on:
        return _name_alert(alert, now)
    if release and release["is_active"] and release["state"] != "scheduled":
        return _describe_release(release, is_on)
    if release and _was_rolled_back(release, now):
        since = spell_duration(now - release["ended_at"])
        text = f"Rolled back to {release['rollout']}% {since} ago"
        return Answer("broken", "⟲", text + _add_cause(release["cause"]))
    if not is_on:
        is_new = not environment["strategies"] and not environment["change"]
        return Answer("off", "○", "Off", offers_strategies=is_new)
    if parents:
        return Answer(
            "waits", "▲", f"On, but nobody gets it: {parents[0]} is off", parent=parents[0]
        )
    reach = strategy_summaries.describe_reach(environment["strategies"])
    if reach == "0%":
        return Answer("waits", "▲", "On, but nobody gets it")
    who = {"100%": "everyone", "some": "some users"}.get(reach, f"{reach} of users")
    return Answer("gets", "●", f"On for {who}")


def name_alert(alert: Mapping[str, Any]) -> str:
    """Its name, which only Editors have, or its endpoint."""
    return alert["alert"] or "an alert" + (f" of {alert['endpoint']}" if alert["endpoint"] else "")


def _name_alert(alert: Row, now: datetime) -> Answer:
    name, since = name_alert(alert), spell_duration(now - alert["created_at"])
    if alert.get("kept_by"):
        state = "is firing" if alert["is_firing"] else "is over"
        name = f"the alert {alert['alert']}" if alert["alert"] else name
        return Answer("waits", "‖", f"Off: kept off by {alert['kept_by']}, {name} {state}")
    how = f"firing for {since}" if alert["is_firing"] else f"{since} ago"
    return Answer("broken", "✕", f"Off by {name}, {how}")


def _describe_release(release: Mapping[str, Any], is_on: bool) -> Answer:
    rollout = f"{release['rollout']}%"
    if not is_on:
        return Answer("waits", "▲", "Off, so its release reaches nobody", reaches_nobody=True)
    if release["state"] == "held":
        cause = _add_cause(release["heldReason"] or release["cause"])
        return Answer("waits", "‖", f"On hold at {rollout}{cause}")
    text = release["next_text"]
    following = f", {text}" if text.startswith("finished") else f", next {text}" if text else ""
    return Answer("runs", "▶", f"Releasing: {rollout}{following}")


def _add_cause(cause: str) -> str:
    cause = cause.strip().rstrip(".")
    return f": {cause}" if cause else ""


def _was_rolled_back(release: Mapping[str, Any], now: datetime) -> bool:
    return release["state"] == "rolledBack" and now - release["ended_at"] < timedelta(
        hours=ROLLED_BACK_HOURS
    )
