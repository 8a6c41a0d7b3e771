"""Alert rules, JSON: list, create, read, replace, enable, disable, delete, preview."""

from collections.abc import Callable
from typing import Any, TypeVar

from sigservice.errors import BadDataError
from sigservice.repository.rules import alert_rules as rule_rows
from sigservice.routes.admin.rules.metric_sources import make_client
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.rules import alert_rules, metric_sources
from sigservice.services.rules.alert_rules import AlertRule
from sigservice.services.rules.rule_conditions import Condition, PrometheusQuery
from sigservice.services.rules.rule_preview import check_condition, preview_query, preview_stored
from sigservice.web import AdminGuard, Connection, Context, Json, Router, Row, respond

PATH = "/api/admin/alert-rules"

Checkable = TypeVar("Checkable", bound=Condition)

router = Router(AdminGuard)


@router.get(PATH, needs=VIEW, autocommit=True)
def list_alert_rules(conn: Connection, identity: Identity) -> Json:
    """`{"alertRules": [rule]}`, by name."""
    return {"alertRules": [alert_rules.to_json(row) for row in rule_rows.list_all(conn)]}


def _find_source(
    context: Context, condition: Checkable, check: Callable[[Connection, Checkable], None]
) -> Row | None:
    """The metric source of the condition, None for other sources. Raises BadDataError."""
    with context.database.autocommit() as conn:
        check(conn, condition)
        if isinstance(condition.source, PrometheusQuery):
            return metric_sources.get(conn, condition.source.source)
    return None


def check_query(context: Context, rule: AlertRule) -> None:
    """Raises BadDataError for a query with several series, and for other problems of the rule. A
    source that doesn't answer is no error: the rule is unknown then."""
    source = _find_source(context, rule, alert_rules.check)
    if source is not None and isinstance(rule.source, PrometheusQuery):
        answer = make_client(context).query(source, rule.source.query, context.clock.now())
        if answer.labels:
            raise BadDataError(str(answer.reason), path="source.query")


def preview_condition(context: Context, condition: Condition) -> dict[str, Any]:
    """What would have happened in the last 48 hours. Raises BadDataError."""
    now, source = context.clock.now(), _find_source(context, condition, check_condition)
    if source is not None:
        return preview_query(make_client(context), source, condition, now)
    with context.database.transaction(snapshot=True) as conn:
        return preview_stored(conn, condition, now)


@router.post(PATH, needs=ADMIN, takes=AlertRule)
def create_alert_rule(context: Context, identity: Identity, body: AlertRule) -> Json:
    """Body: `{name, endpointId, enabled?, source, above?, below?, windowMinutes?, minSamples?,
    breaches?, everySeconds?}`; on [silence](alert-rules.md#silence) `{name, endpointId?, enabled?,
    source}`. 201 rule, `Location`."""
    check_query(context, body)
    limit, now = context.config["signals"]["alertRulesLimit"], context.clock.now()
    with context.database.transaction() as conn:
        row = alert_rules.create(conn, body, identity, limit=limit, now=now)
    return respond.Created(alert_rules.to_json(row), f"{PATH}/{row['id']}")


@router.post(f"{PATH}/preview", needs=ADMIN, takes=Condition)
def preview_alert_rule(context: Context, identity: Identity, body: Condition) -> Json:
    """Body: a rule without `name` and `endpointId`. `{state, value, limit, samples, reason, series:
    [{at, value, samples, firing}]}` over the last 48 hours."""
    return preview_condition(context, body)


@router.get(f"{PATH}/<id:id>", needs=VIEW, autocommit=True)
def get_alert_rule(conn: Connection, identity: Identity, id: int) -> Json:
    """Rule."""
    return alert_rules.to_json(alert_rules.get(conn, id))


@router.put(f"{PATH}/<id:id>", needs=ADMIN, takes=AlertRule)
def replace_alert_rule(context: Context, identity: Identity, id: int, body: AlertRule) -> Json:
    """Body: as create; without `enabled` it stays, the rest is replaced. Rule."""
    check_query(context, body)
    with context.database.transaction() as conn:
        row = alert_rules.update(conn, id, body, identity, now=context.clock.now())
    context.signals_waiting.set()
    return alert_rules.to_json(row)


@router.delete(f"{PATH}/<id:id>", needs=ADMIN)
def delete_alert_rule(context: Context, identity: Identity, id: int) -> None:
    """Deletes the rule."""
    with context.database.transaction() as conn:
        alert_rules.delete(conn, id, identity, now=context.clock.now())
    context.signals_waiting.set()


def _set_enabled(context: Context, identity: Identity, id: int, enabled: bool) -> Json:
    with context.database.transaction() as conn:
        row = alert_rules.set_enabled(conn, id, enabled, identity, now=context.clock.now())
    context.signals_waiting.set()
    return alert_rules.to_json(row)


@router.post(f"{PATH}/<id:id>/enable", needs=ADMIN)
def enable_alert_rule(context: Context, identity: Identity, id: int) -> Json:
    """Rule."""
    return _set_enabled(context, identity, id, True)


@router.post(f"{PATH}/<id:id>/disable", needs=ADMIN)
def disable_alert_rule(context: Context, identity: Identity, id: int) -> Json:
    """Rule."""
    return _set_enabled(context, identity, id, False)
