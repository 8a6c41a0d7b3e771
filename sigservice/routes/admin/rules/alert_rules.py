"""Alert rules, JSON: list, create, read, replace, enable, disable, delete, preview."""

from sigservice.repository.rules import alert_rules as rule_rows
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.rules import alert_rules
from sigservice.services.rules.alert_rules import AlertRule
from sigservice.services.rules.rule_conditions import Condition
from sigservice.services.rules.rule_preview import preview
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, respond

PATH = "/api/admin/alert-rules"

router = Router(AdminGuard)


@router.get(PATH, needs=ADMIN)
def list_alert_rules(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = rule_rows.list_all(conn)
    return respond.json({"alertRules": [alert_rules.to_json(row) for row in rows]})


@router.post(PATH, needs=ADMIN, takes=AlertRule)
def create_alert_rule(context: Context, identity: Identity, body: AlertRule) -> HTTPResponse:
    limit, now = context.config["signals"]["alertRulesLimit"], context.clock.now()
    with context.database.transaction() as conn:
        row = alert_rules.create(conn, body, identity, limit=limit, now=now)
    location = f"{context.prefix}{PATH}/{row['id']}"
    return respond.json(alert_rules.to_json(row), 201, location=location)


@router.post(f"{PATH}/preview", needs=ADMIN, takes=Condition)
def preview_alert_rule(context: Context, identity: Identity, body: Condition) -> HTTPResponse:
    with context.database.transaction(snapshot=True) as conn:
        result = preview(conn, body, context.clock.now())
    return respond.json(result)


@router.get(f"{PATH}/<id:id>", needs=ADMIN)
def get_alert_rule(context: Context, identity: Identity, id: int) -> HTTPResponse:
    with context.database.autocommit() as conn:
        return respond.json(alert_rules.to_json(alert_rules.get(conn, id)))


@router.put(f"{PATH}/<id:id>", needs=ADMIN, takes=AlertRule)
def replace_alert_rule(
    context: Context, identity: Identity, id: int, body: AlertRule
) -> HTTPResponse:
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
