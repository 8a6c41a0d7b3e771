"""What follows when an alert rule fires: the automations that its signal starts."""

from collections.abc import Sequence

import msgspec

from sigservice.db import Connection, Row
from sigservice.repository.actions import action_sets
from sigservice.services.actions.action_filters import Filter, Matcher
from sigservice.services.rules import alert_rules
from sigservice.services.rules.rule_readings import Reading


def list_started_sets(conn: Connection, rules: Sequence[Row]) -> dict[int, list[Row]]:
    """The enabled action sets that the firing signal of each rule starts, by the ID of the rule."""
    if not rules:
        return {}
    rows = action_sets.list_of_endpoints(conn, [*{rule["endpoint_id"] for rule in rules}])
    matchers = [
        (row, Matcher(msgspec.json.decode(row["filters"], type=list[Filter])))
        for row in rows
        if row["enabled"]
    ]
    started: dict[int, list[Row]] = {}
    for rule in rules:
        at = rule["since"]
        reading = Reading(rule["value"], round(rule["samples"]), at, at, rule["reason"] or "")
        payload = alert_rules.build_signal(rule, "firing", "firing", reading).payload
        started[rule["id"]] = [
            row
            for row, matcher in matchers
            if row["endpoint_id"] == rule["endpoint_id"] and matcher.matches(payload)
        ]
    return started
