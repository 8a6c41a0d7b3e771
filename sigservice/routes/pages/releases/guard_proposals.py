"""The guards that the form of a release proposes: those of the flag's last release, of its
automations, then rules by name; each with its value now and what it would have done."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from typing import Any

import msgspec

from sigservice.clock import parse_iso
from sigservice.db import Connection, Row
from sigservice.repository.actions import action_sets
from sigservice.repository.rules import alert_rules
from sigservice.routes.pages.guard_views import describe_guard
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.releases import releases
from sigservice.services.releases.guard_signals import PREVIEW_TIME
from sigservice.services.releases.plans import Guard, RuleGuard
from sigservice.services.rules.rule_conditions import PrometheusQuery
from sigservice.web.forms import Form
from sigservice.web.sparkline import HOURS, build_guard_chart
from sigservice.wording import plural

MAX_SHOWN, MAX_PROPOSED = 3, 20


def list_proposals(
    conn: Connection, target: FeatureEnvironment, last: Row | None, by: Identity, form: Form
) -> list[dict[str, Any]]:
    """{text, label, is_ticked, guard} of each, the JSON as the text. `last` is the release before,
    and `form` what was submitted."""
    guards = [(row["definition"], "") for row in releases.list_guards(last)] if last else []
    if by.has_permission(ADMIN):  # others may only use filters that an admin has released
        guards += [(guard, "") for guard in _list_of_automations(conn, target)]
    known_count = len(guards)
    guards += [
        ({"kind": "rule", "effect": "rollBack", "rule": condition}, row["name"])
        for row in sorted(alert_rules.list_all(conn), key=lambda row: str(row["name"]))
        if (condition := msgspec.json.decode(row["condition"]))["source"].get("environment")
        in (None, target.environment)
    ]
    items: dict[str, dict[str, Any]] = {}
    submitted = [text for name, text in form.items() if name.startswith("proposed.")]
    for number, (guard, label) in enumerate(guards[:MAX_PROPOSED]):
        text = msgspec.json.encode(msgspec.convert(guard, Guard)).decode()
        is_ticked = text in submitted if "steps" in form else number < min(known_count, 5)
        items.setdefault(text, {"text": text, "label": label, "is_ticked": is_ticked})
    with suppress(msgspec.DecodeError):  # the handler of the form reports it
        for text in submitted:  # proposed before the last change
            msgspec.json.decode(text, type=Guard)
            items.setdefault(text, {"text": text, "label": "", "is_ticked": True})
    return [item | {"guard": msgspec.json.decode(text, type=Guard)} for text, item in items.items()]


def _list_of_automations(conn: Connection, target: FeatureEnvironment) -> list[dict[str, Any]]:
    """The alerts that switch the flag."""
    guards = []
    for row in action_sets.list_of_project(conn, target.project):
        params = [a["executionParams"] for a in msgspec.json.decode(row["actions"])]
        names = [(p.get("featureName"), p.get("environment")) for p in params]
        if row["endpoint_id"] and (target.feature, target.environment) in names:
            settings = msgspec.json.decode(row["settings"] or "{}")
            guards.append(
                {
                    "kind": "signal",
                    "effect": "rollBack",
                    "endpointId": row["endpoint_id"],
                    "filters": msgspec.json.decode(row["filters"]),
                    "resolved": settings.get("restoreWhenResolved"),
                }
            )
    return guards


def is_query(guard: Guard) -> bool:
    return isinstance(guard, RuleGuard) and isinstance(guard.rule.source, PrometheusQuery)


def describe_proposals(
    items: Sequence[Mapping[str, Any]],
    previews: Mapping[int, Mapping[str, Any]],
    endpoints: Mapping[int, str],
    now: datetime,
) -> list[dict[str, Any]]:
    """The rows of the form. `previews` are by position."""
    rows = []
    for number, item in enumerate(items):
        guard = msgspec.to_builtins(item["guard"])
        preview = previews.get(number)
        result = {"state": "unknown", "value": None, "limit": None, "reason": ""}
        view = describe_guard(
            {**guard, "id": 0, **(preview or result)}, endpoints.get(guard.get("endpointId", 0))
        )
        rows.append(
            {
                **item,
                "name": item["label"] or view["name"],
                "now": view["now"],
                "reason": view["reason"] if preview else "",
                **(
                    _summarize_series(preview, guard, now)
                    if preview
                    else {"breaks": "", "chart": None}
                ),
            }
        )
    return rows


def _summarize_series(
    preview: Mapping[str, Any], guard: Mapping[str, Any], now: datetime
) -> dict[str, Any]:
    """How often it would have broken in the last 48 h, and its chart."""
    slot, points = PREVIEW_TIME / HOURS, []
    items = [(parse_iso(item["at"]), item) for item in preview["series"]]
    for number in range(HOURS):
        start = now - slot * (HOURS - number)
        inside = [item for at, item in items if at and start < at <= start + slot]
        values = [item["value"] for item in inside if item["value"] is not None]
        points.append((max(values, default=None), any(item["firing"] for item in inside)))
    states = [False, *(item["firing"] for item in preview["series"])]
    if guard["kind"] == "signal":
        count = sum(states)
    else:
        count = sum(after and not before for before, after in pairwise(states))
    has_data = guard["kind"] != "rule" or any(i["value"] is not None for i in preview["series"])
    return {
        "breaks": f"would have broken {plural(count, 'time')}" if has_data else "no data in 48 h",
        "chart": build_guard_chart(points, preview["limit"]),
    }
