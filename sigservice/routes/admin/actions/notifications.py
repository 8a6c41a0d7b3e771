"""Notifications of an action set's runs, JSON: the newest ones, and retry."""

from sigservice.db.pool import Connection
from sigservice.services.actions import notifications
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import AdminGuard, Context, HTTPResponse, Json, Router, respond

NOTIFICATIONS = "/api/admin/projects/<project>/actions/<id:id>/notifications"


router = Router(AdminGuard)


@router.get(NOTIFICATIONS, needs=ADMIN)
def list_notifications(conn: Connection, identity: Identity, project: str, id: int) -> Json:
    rows = notifications.list_of_set(conn, project, id)
    return {"notifications": [notifications.to_json(row) for row in rows]}


@router.post(f"{NOTIFICATIONS}/<notification_id:id>/retry", needs=ADMIN)
def retry_notification(
    context: Context, identity: Identity, project: str, id: int, notification_id: int
) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = notifications.retry(conn, project, id, notification_id, identity)
    context.outbox_waiting.set()
    return respond.json(notifications.to_json(row), 202)
