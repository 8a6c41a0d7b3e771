"""Alert rules, JSON: list, create, read, replace, enable, disable, delete, preview."""

from sigservice.db.statements import Row
from sigservice.errors import BadDataError
from sigservice.repository.rules import alert_rules as rule_rows
from sigservice.services.channel_delivery import DeliverySettings
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.rules import alert_rules, metric_sources
from sigservice.services.rules.alert_rules import AlertRule
from sigservice.services.rules.prometheus import PrometheusClient
from sigservice.services.rules.rule_conditions import Condition, PrometheusQuery
from sigservice.services.rules.rule_preview import check_condition, preview_metric, preview_query
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, respond

PATH = "/api/admin/alert-rules"

router = Router(AdminGuard)


@router.get(PATH, needs=ADMIN)
def list_alert_rules(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = rule_rows.list_all(conn)
    return respond.json({"alertRules": [alert_rules.to_json(row) for row in rows]})


def _find_source(context: Context, condition: Condition) -> Row | None:
    """The metric source of the condition, None for impact metrics. Raises BadDataError."""
    with context.database.autocommit() as conn:
        check_condition(conn, condition)
        if isinstance(condition.source, PrometheusQuery):
            return metric_sources.get(conn, condition.source.source)
    return None


def _check_query(context: Context, condition: Condition) -> None:
    """Raises BadDataError for a query with several series. A source that doesn't answer is no
    error: the rule is unknown then."""
    source = _find_source(context, condition)
    if source is not None and isinstance(condition.source, PrometheusQuery):
        answer = _make_client(context).query(source, condition.source.query, context.clock.now())
        if answer.labels:
            raise BadDataError(str(answer.reason), path="source.query")


def _make_client(context: Context) -> PrometheusClient:
    return PrometheusClient(DeliverySettings.from_config(context.config), context.encryption)


@router.post(PATH, needs=ADMIN, takes=AlertRule)
def create_alert_rule(context: Context, identity: Identity, body: AlertRule) -> HTTPResponse:
    _check_query(context, body)
    limit, now = context.config["signals"]["alertRulesLimit"], context.clock.now()
    with context.database.transaction() as conn:
        row = alert_rules.create(conn, body, identity, limit=limit, now=now)
    location = f"{context.prefix}{PATH}/{row['id']}"
    return respond.json(alert_rules.to_json(row), 201, location=location)


@router.post(f"{PATH}/preview", needs=ADMIN, takes=Condition)
def preview_alert_rule(context: Context, identity: Identity, body: Condition) -> HTTPResponse:
    now, source = context.clock.now(), _find_source(context, body)
    if source is not None:
        return respond.json(preview_query(_make_client(context), source, body, now))
    with context.database.transaction(snapshot=True) as conn:
        return respond.json(preview_metric(conn, body, now))


@router.get(f"{PATH}/<id:id>", needs=ADMIN)
def get_alert_rule(context: Context, identity: Identity, id: int) -> HTTPResponse:
    with context.database.autocommit() as conn:
        return respond.json(alert_rules.to_json(alert_rules.get(conn, id)))


@router.put(f"{PATH}/<id:id>", needs=ADMIN, takes=AlertRule)
def replace_alert_rule(
    context: Context, identity: Identity, id: int, body: AlertRule
) -> HTTPResponse:
    _check_query(context, body)
    with context.database.transaction() as conn:
        row = alert_rules.update(conn, id, body, identity, now=context.clock.now())
    context.signals_waiting.set()
    return respond.json(alert_rules.to_json(row))


@router.delete(f"{PATH}/<id:id>", needs=ADMIN)
def delete_alert_rule(context: Context, identity: Identity, id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        alert_rules.delete(conn, id, identity, now=context.clock.now())
    context.signals_waiting.set()
    return respond.empty()


def _set_enabled(context: Context, identity: Identity, id: int, enabled: bool) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = alert_rules.set_enabled(conn, id, enabled, identity, now=context.clock.now())
    context.signals_waiting.set()
    return respond.json(alert_rules.to_json(row))


@router.post(f"{PATH}/<id:id>/enable", needs=ADMIN)
def enable_alert_rule(context: Context, identity: Identity, id: int) -> HTTPResponse:
    return _set_enabled(context, identity, id, True)


@router.post(f"{PATH}/<id:id>/disable", needs=ADMIN)
def disable_alert_rule(context: Context, identity: Identity, id: int) -> HTTPResponse:
    return _set_enabled(context, identity, id, False)
