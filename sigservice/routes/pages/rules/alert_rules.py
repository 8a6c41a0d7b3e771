"""Alert rules, pages: the list, enable, disable, delete."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from sigservice.repository.rules import alert_rules as rule_rows
from sigservice.repository.signals import signal_endpoints
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.rules import alert_rules
from sigservice.services.rules.alert_rules import read_condition
from sigservice.services.rules.rule_conditions import Condition, ImpactMetric, Silence
from sigservice.services.rules.rule_preview import list_recent_values
from sigservice.services.rules.rule_readings import TOO_SLOW, describe_source
from sigservice.web import Connection, Context, Page, PageGuard, Router, Row
from sigservice.web.form_pages import Confirmation, confirms
from sigservice.web.forms import Form
from sigservice.web.sparkline import Point, build_line
from sigservice.web.tables import Cell, Column, make_table
from sigservice.wording import format_number, spell_duration

PATH = "/admin/alert-rules"
ONE = f"{PATH}/<rule_id:id>"
BREADCRUMBS = [("Alert rules", PATH)]
CHART_LABEL = "Value in the last 2 hours, and the limit"
ICONS = {"ok": "✓", "firing": "✕", "unknown": "▲"}
STYLES = {"ok": "gets", "firing": "broken", "unknown": "waits"}
NOTICES = {
    "created": "Alert rule created.",
    "saved": "Alert rule saved.",
    "deleted": "Alert rule deleted.",
    "on": "Alert rule enabled.",
    "off": "Alert rule disabled.",
}
COLUMNS = (
    Column("Name", lambda row: Cell(row["name"], row["path"], hint=row["source_text"])),
    Column("State", lambda _: Cell(template="rules/alert_rules/state_cell.tpl")),
    Column("Value", lambda row: Cell(row["value_text"], hint=row["limit_text"])),
    Column("Last 2 hours", lambda _: Cell(template="rules/alert_rules/chart_cell.tpl")),
    Column("Enabled", lambda _: Cell(template="rules/alert_rules/switch_cell.tpl")),
)

router = Router(PageGuard, notices=NOTICES)


@router.get(PATH, needs=VIEW)
def list_alert_rules(context: Context, identity: Identity) -> Page:
    can_edit, now = identity.has_permission(ADMIN), context.clock.now()
    with context.database.transaction() as conn:
        rows = rule_rows.list_all(conn)
        charts = _build_charts(conn, rows, now)
        has_endpoints = bool(signal_endpoints.list_all(conn))
    rules = [_describe(row, charts, can_edit=can_edit) for row in rows]
    return Page(
        "rules/alert_rules/list",
        title="Alert rules",
        table=make_table("alert-rules", COLUMNS, rules, _make_links, itemgetter("name")),
        limit=context.config["signals"]["alertRulesLimit"],
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


def describe_state(row: Row) -> dict[str, str]:
    """The icon, the word and the class of a tag."""
    state = row["state"] if row["enabled"] else "off"
    return {"icon": ICONS.get(state, "○"), "word": state, "style": STYLES.get(state, "off")}


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


def _describe(row: Row, charts: dict[int, Any], *, can_edit: bool) -> dict[str, Any]:
    condition = read_condition(row)
    value = row["value"] if row["enabled"] else None
    return row | {
        "path": f"{PATH}/{row['id']}" if can_edit else "",
        "source_text": _describe_source(row, condition),
        "badge": describe_state(row),
        "value_text": _describe_value(row, value),
        "limit_text": _describe_limit(condition),
        "chart": charts.get(row["id"]),
        "can_edit": can_edit,
    }


def _describe_value(row: Row, value: float | None) -> str:
    if row["silent_endpoint"] is not None:
        return f"signals of {row['silent_endpoint']}"
    return "no value" if value is None else format_number(value)


def _describe_limit(condition: Condition) -> str:
    if isinstance(condition.source, Silence):
        return "fires when a signal is overdue"
    side = "above" if condition.above is not None else "below"
    return f"fires {side} {format_number(condition.limit)}"


def _describe_source(row: Row, condition: Condition) -> str:
    source = condition.source
    if isinstance(source, ImpactMetric):
        return f"{describe_source(source)} in {source.environment}"
    if isinstance(source, Silence):
        when = f"at {source.cron} ({source.timezone})"
        if source.everySeconds is not None:
            when = f"for {spell_duration(timedelta(seconds=source.everySeconds))}"
        grace = spell_duration(timedelta(seconds=source.graceSeconds))
        return f"no signal {when}" + (f", {grace} grace" if source.graceSeconds else "")
    return f"{source.query[:100]} ({source.source})"


def _make_links(row: Row) -> list[tuple[str, str]]:
    if not row["can_edit"]:
        return []
    path = f"{PATH}/{row['id']}"
    return [
        ("Edit", path),
        ("View signals of", f"/admin/signals/{row['endpoint_id']}/log"),
        ("Delete", f"{path}/delete"),
    ]
