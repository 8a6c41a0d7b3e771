"""Alert rules, pages: the list, enable, disable, delete."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

import msgspec

from sigservice.repository.releases import release_guards
from sigservice.repository.rules import alert_rules as rule_rows
from sigservice.repository.signals import signal_endpoints
from sigservice.services.actions import rule_effects
from sigservice.services.actions.automation_sentences import say_action
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.releases.guard_texts import name_guard
from sigservice.services.rules import alert_rules
from sigservice.services.rules.alert_rules import read_condition
from sigservice.services.rules.rule_conditions import ImpactMetric, Silence
from sigservice.services.rules.rule_preview import list_recent_values
from sigservice.services.rules.rule_readings import TOO_SLOW
from sigservice.web import Connection, Context, Page, PageGuard, Router, Row
from sigservice.web.form_pages import Confirmation, confirms
from sigservice.web.forms import Form
from sigservice.web.resource_limits import explain_reached_limit
from sigservice.web.sparkline import Point, build_line
from sigservice.web.tables import Cell, Column, make_table
from sigservice.wording import compare_with_limit, plural, spell_duration

PATH = "/admin/alert-rules"
ONE = f"{PATH}/<rule_id:id>"
BREADCRUMBS = [("Rules", PATH)]
CHART_LABEL = "Value in the last 2 hours, and the limit"
# Tag and class of a state.
STATES = {
    "ok": ("✓ ok", "gets"),
    "firing": ("✕ firing", "broken"),
    "unknown": ("▲ no data", "waits"),
    "off": ("○ off", "off"),
}
NOTICES = {
    "created": "Alert rule created.",
    "saved": "Alert rule saved.",
    "deleted": "Alert rule deleted.",
    "on": "Alert rule enabled.",
    "off": "Alert rule disabled.",
}
COLUMNS = (
    Column("Rule", lambda row: Cell(row["name"], row["path"])),
    Column("Measures", lambda row: Cell(row["measures"])),
    Column("Now and limit", lambda row: Cell(row["now_text"])),
    Column("Last 2 h", lambda _: Cell(template="rules/alert_rules/chart_cell.tpl")),
    Column("What happens then", lambda row: Cell(row["effect"], row["effect_path"])),
    Column(
        "State",
        lambda row: Cell(
            state=describe_state(row),
            at=row["since"] if row["enabled"] else None,
            time_form="for",
            hint=row["reason"] if row["enabled"] and row["state"] == "unknown" else "",
        ),
    ),
    Column("Switch", lambda _: Cell(template="rules/alert_rules/switch_cell.tpl")),
)

router = Router(PageGuard, notices=NOTICES)


@router.get(PATH, needs=VIEW)
def list_alert_rules(context: Context, identity: Identity) -> Page:
    can_edit, now = identity.has_permission(ADMIN), context.clock.now()
    with context.database.transaction() as conn:
        rows = rule_rows.list_all(conn)
        charts = _build_charts(conn, rows, now)
        effects = _describe_effects(conn, rows)
        has_endpoints = bool(signal_endpoints.list_all(conn))
    rules = [
        row
        | describe_rule(row)
        | effects[row["id"]]
        | {
            "path": f"{PATH}/{row['id']}" if can_edit else "",
            "chart": charts.get(row["id"]),
            "can_edit": can_edit,
        }
        for row in rows
    ]
    for rule in rules if can_edit else []:
        if not rule["effect"]:
            protect = f"/admin/automation/new?endpoint={rule['endpoint_id']}"
            rule |= {"effect": "nothing yet: Protect a flag", "effect_path": protect}
    limit = context.config["signals"]["alertRulesLimit"]
    return Page(
        "rules/alert_rules/list",
        title="Rules",
        table=make_table("alert-rules", COLUMNS, rules, _make_links, itemgetter("name")),
        limit_text=explain_reached_limit(
            "alert rule", len(rules), limit, "signals.alertRulesLimit"
        ),
        can_edit=can_edit,
        has_endpoints=has_endpoints,
    )


@router.post(f"{ONE}/<is_enabled:switch>", needs=ADMIN)
def switch_alert_rule(
    context: Context, identity: Identity, rule_id: int, is_enabled: bool, form: Form
) -> str:
    with context.database.transaction() as conn:
        alert_rules.set_enabled(conn, rule_id, is_enabled, identity, now=context.clock.now())
    context.signals_waiting.set()
    return f"{PATH}?done={'on' if is_enabled else 'off'}"


@confirms(router, f"{ONE}/delete", needs=ADMIN)
def delete_alert_rule(
    context: Context, conn: Connection, identity: Identity, rule_id: int
) -> Confirmation:
    row = alert_rules.get(conn, rule_id)
    text = "Nothing watches this number any longer. Signals of the rule stay."
    if row["has_fired"]:
        text += " The rule fires, so the signal “resolved” is stored, and action sets revert."
    return Confirmation(
        f"Delete the alert rule {row['name']}?",
        [text],
        "Delete alert rule",
        f"{PATH}/{rule_id}",
        lambda: alert_rules.delete(conn, rule_id, identity, now=context.clock.now()),
        f"{PATH}?done=deleted",
        breadcrumbs=BREADCRUMBS,
        after_commit=context.signals_waiting.set,
    )


def describe_state(row: Row) -> tuple[str, str]:
    """The text and the class of a tag."""
    return STATES[row["state"] if row["enabled"] else "off"]


def describe_rule(row: Row) -> dict[str, str]:
    """What the rule `measures`, and `now_text`: its value and limit."""
    condition, settings = read_condition(row), alert_rules.describe_settings(row)
    source = condition.source
    if isinstance(source, Silence):
        when = "at its times"
        if source.everySeconds is not None:
            when = f"for {spell_duration(timedelta(seconds=source.everySeconds))}"
        grace = spell_duration(timedelta(seconds=source.graceSeconds))
        tail = f", {grace} grace" if source.graceSeconds else ""
        measures = f"nothing from {row['silent_endpoint']} {when}{tail}"
        return {"measures": measures, "now_text": ""}
    value = row["value"] if row["enabled"] else None
    name = name_guard({"kind": "rule", "rule": settings}, None)
    place = f" in {source.environment}" if isinstance(source, ImpactMetric) else ""
    return {"measures": name + place, "now_text": compare_with_limit(value, settings)}


def _describe_effects(conn: Connection, rows: Sequence[Row]) -> dict[int, dict[str, str]]:
    """What automations and releases do when each rule fires: `effect`, and the page that says more
    to all roles."""
    started = rule_effects.list_started_sets(conn, rows)
    pairs = release_guards.list_releases_of_rules(conn, [*started])
    guarded = Counter(pair["rule_id"] for pair in pairs)
    effects: dict[int, dict[str, str]] = {}
    for id, sets in started.items():
        actions = [say_action(item) for one in sets for item in msgspec.json.decode(one["actions"])]
        texts = [re.sub("^turn ", "turns ", text) for text in actions]
        texts += [f"guards {plural(guarded[id], 'release')}"] if guarded[id] else []
        path = "/admin/automation" if sets else "/admin/releases" if texts else ""
        effects[id] = {"effect": ", ".join(texts), "effect_path": path}
    return effects


def _build_charts(conn: Connection, rows: Sequence[Row], now: datetime) -> dict[int, Any]:
    """The line of each rule on an impact metric. Queries are not sent again to show a page, and
    what takes too long to evaluate is not read."""
    conditions = {row["id"]: read_condition(row) for row in rows if row["last_error"] != TOO_SLOW}
    metrics = {
        id: condition
        for id, condition in conditions.items()
        if isinstance(condition.source, ImpactMetric)
    }
    series = list_recent_values(conn, list(metrics.values()), now)
    return {
        id: build_line(
            CHART_LABEL,
            [Point(n / (len(values) - 1), value) for n, value in enumerate(values)],
            condition.limit,
        )
        for (id, condition), values in zip(metrics.items(), series, strict=True)
        if any(value is not None for value in values)
    }


def _make_links(row: Row) -> list[tuple[str, str]]:
    if not row["can_edit"]:
        return []
    path = f"{PATH}/{row['id']}"
    return [
        ("Edit", path),
        ("View signals of", f"/admin/signals/{row['endpoint_id']}/log"),
        ("Delete", f"{path}/delete"),
    ]
