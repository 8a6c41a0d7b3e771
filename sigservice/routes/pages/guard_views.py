"""What pages show of the guards of a release."""

from collections.abc import Mapping
from typing import Any

from sigservice.db import Row
from sigservice.services.releases import releases
from sigservice.services.releases.guard_texts import name_guard
from sigservice.wording import compare_with_limit, format_measure

# Glyph, word and class of a result.
RESULTS = {
    "ok": ("✓", "ok", "gets"),
    "firing": ("✕", "broken", "broken"),
    "unknown": ("▲", "no data", "waits"),
}


def describe_guards(row: Row, release: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines of the guards."""
    rows = {guard["id"]: guard for guard in releases.list_guards(row)}
    return [describe_guard(guard, rows[guard["id"]]["endpoint"]) for guard in release["guards"]]


def describe_value(guard: Mapping[str, Any]) -> str:
    """The name of a guard with a value, the value and its limit."""
    rule = guard["rule"]
    side = "at most" if rule.get("above") is not None else "at least"
    value, limit = (
        format_measure(number, rule["source"]) for number in (guard["value"], guard["limit"])
    )
    return f"{name_guard(guard, None)} {value}, {side} {limit}"


def describe_guard(guard: Mapping[str, Any], endpoint: str | None) -> dict[str, Any]:
    icon, word, style = RESULTS[guard["state"]]
    effect = "rolls back" if guard["effect"] == "rollBack" else "holds"
    return {
        "id": guard["id"],
        "icon": icon,
        "word": word,
        "style": style,
        "name": name_guard(guard, endpoint),
        "now": _describe_now(guard),
        "effect": f"only records: {effect}" if guard.get("dryRun") else effect,
        "reason": (guard["reason"] or "") if guard["state"] != "ok" else "",
        "limit": guard["limit"],
    }


def _describe_now(guard: Mapping[str, Any]) -> str:
    """Such as `now 0.9% of 5%`."""
    is_broken, is_ok = guard["state"] == "firing", guard["state"] == "ok"
    if guard["kind"] == "signal":
        return "firing" if is_broken else "none firing" if is_ok else ""
    rule = guard["rule"]
    if rule["source"]["kind"] == "silence":
        return "silent" if is_broken else "not silent" if is_ok else ""
    text = compare_with_limit(guard["value"], rule)
    return text if guard["value"] is None else f"now {text}"
