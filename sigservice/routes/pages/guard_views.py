"""What pages show of the guards of a release."""

from collections.abc import Mapping
from typing import Any

from sigservice.db import Row
from sigservice.services.releases import releases
from sigservice.services.releases.guard_history import History
from sigservice.services.releases.guard_texts import name_guard
from sigservice.web.sparkline import build_guard_chart
from sigservice.wording import format_number

# Icon, word and class of a result.
RESULTS = {
    "ok": ("✓", "ok", "gets"),
    "firing": ("✕", "broken", "broken"),
    "unknown": ("▲", "no data", "waits"),
}


def describe_guards(row: Row, release: Mapping[str, Any], history: History) -> list[dict[str, Any]]:
    """The rows of the table of guards."""
    rows = {guard["id"]: guard for guard in releases.list_guards(row)}
    return [
        _describe_guard(guard, rows[guard["id"]]["endpoint"], history)
        for guard in release["guards"]
    ]


def _describe_guard(
    guard: Mapping[str, Any], endpoint: str | None, history: History
) -> dict[str, Any]:
    icon, word, style = RESULTS[guard["state"]]
    value, limit, points = guard["value"], guard["limit"], history.get(guard["id"])
    effect = "rolls back" if guard["effect"] == "rollBack" else "holds"
    now, limit_text = _describe_value(guard)
    return {
        "icon": icon,
        "word": word,
        "style": style,
        "name": name_guard(guard, endpoint),
        "now": now if value is None or limit is None else format_number(value),
        "limit": limit_text,
        "effect": f"dry run: {effect}" if guard.get("dryRun") else effect,
        "reason": (guard["reason"] or "") if guard["state"] != "ok" else "",
        "chart": build_guard_chart(points, limit) if points else None,
        "chart_label": f"Last hour: broken at {sum(p.is_broken for p in points)} of {len(points)}"
        " points"
        if points
        else "",
    }


def _describe_value(guard: Mapping[str, Any]) -> tuple[str, str]:
    """(what a guard without a value is now, its limit)."""
    is_broken, is_ok = guard["state"] == "firing", guard["state"] == "ok"
    if guard["kind"] == "signal":
        return "firing" if is_broken else "none" if is_ok else "–", "none firing"
    rule = guard["rule"]
    if rule["source"]["kind"] == "silence":
        return "none" if is_broken else "arrive" if is_ok else "–", "signals"
    if rule.get("above") is not None:
        return "–", f"at most {format_number(rule['above'])}"
    return "–", f"at least {format_number(rule.get('below') or 0)}"
