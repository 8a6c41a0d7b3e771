"""Admin API: integrations, which the API calls addons, and their deliveries."""

from typing import Any

import msgspec

from sigservice.clock import format_iso, format_optional
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import BadDataError, ConflictError, NotFoundError
from sigservice.outgoing.post import HttpConnection
from sigservice.repository import outbox as message_rows
from sigservice.repository.integrations import integrations as integration_rows
from sigservice.services import outbox
from sigservice.services.deliveries import DeliverySettings
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.integrations import (
    integration_delivery,
    integration_messages,
    integrations,
)
from sigservice.services.integrations.integration_delivery import Settings
from sigservice.services.integrations.integration_providers import PROVIDERS
from sigservice.services.integrations.integrations import Integration, Rules
from sigservice.web import (
    AdminGuard,
    Context,
    HTTPResponse,
    Json,
    Router,
    read_query,
    request,
    respond,
)

PATH = "/api/admin/addons"
ONE = f"{PATH}/<id:id>"
DEFAULT_LIMIT, MAX_LIMIT = 50, 100
MAX_OFFSET = 1_000_000

router = Router(AdminGuard)


@router.get(PATH, needs=VIEW, autocommit=True)
def list_integrations(conn: Connection, identity: Identity) -> Json:
    """`{"addons": [addon], "providers": [provider]}`; providers have parameters and events."""
    rows = integration_rows.list_all(conn)
    return {
        "addons": [integrations.to_json(row) for row in rows],
        "providers": [provider.to_json() for provider in PROVIDERS.values()],
    }


@router.post(PATH, needs=EDIT, takes=Integration)
def create_integration(context: Context, identity: Identity, body: Integration) -> Json:
    """Body: addon. 201 addon."""
    with context.database.transaction() as conn:
        row = integrations.create(conn, body, identity, make_rules(context))
    return respond.Created(integrations.to_json(row), f"{PATH}/{row['id']}")


@router.get(ONE, needs=VIEW, autocommit=True)
def get_integration(conn: Connection, identity: Identity, id: int) -> Json:
    """Addon."""
    return integrations.to_json(integrations.get(conn, id))


@router.put(ONE, needs=EDIT, takes=Integration)
def update_integration(context: Context, identity: Identity, id: int, body: Integration) -> Json:
    """Body: addon, complete; `*****` keeps a stored value. Addon; 400 if the provider changes."""
    with context.database.transaction() as conn:
        row = integrations.update(conn, id, body, identity, make_rules(context))
    return integrations.to_json(row)


@router.delete(ONE, needs=EDIT)
def delete_integration(conn: Connection, identity: Identity, id: int) -> None:
    """Deletes the integration."""
    integrations.delete(conn, id, identity)


@router.get(f"{ONE}/events", needs=ADMIN)
def list_integration_events(context: Context, identity: Identity, id: int) -> Json:
    """Query: `limit`, `offset`. `{"integrationEvents": [{id, integrationId, createdAt, state,
    stateDetails, event, details}]}`, newest first; `state` is success, failed or successWithErrors;
    `stateDetails` names the HTTP status and the time that it took, or the reason."""
    rows = _list_deliveries(context, id, attempted_only=True)
    return {"integrationEvents": [_to_entry(id, row, context.public_url) for row in rows]}


@router.get(f"{ONE}/deliveries", needs=ADMIN)
def list_deliveries(context: Context, identity: Identity, id: int) -> Json:
    """Query: `state`, `limit`, `offset`. `{"deliveries": [{id, eventId, type, state, attempts,
    lastError, createdAt, dueAt, sentAt}]}`, newest first; `state` is sent, waiting or given up."""
    state = read_query(request.environ).get("state") or None
    if state not in (None, *outbox.STATES):
        raise BadDataError(f"The state must be {', '.join(outbox.STATES)}.", path="state")
    rows = _list_deliveries(context, id, state=state)
    return {"deliveries": [describe_delivery(row) for row in rows]}


@router.post(f"{ONE}/deliveries/<delivery_id:id>/retry", needs=EDIT)
def retry_delivery(context: Context, identity: Identity, id: int, delivery_id: int) -> HTTPResponse:
    """202 delivery; 409 if it was sent or the integration is disabled."""
    with context.database.transaction() as conn:
        row = retry(conn, id, delivery_id, identity)
    return respond.json(describe_delivery(row), 202)


@router.post(f"{ONE}/test", needs=EDIT)
def test_integration(context: Context, identity: Identity, id: int) -> Json:
    """`{state, stateDetails}`: the answer of the receiver to a made-up event; 409 while another
    test of the integration, or four of others, wait for their receivers."""
    return send_test(context, identity, id)


def make_rules(context: Context) -> Rules:
    policy = DeliverySettings.from_config(context.config).policy
    limit = context.config["integrations"]["limit"]
    has_mail_server = context.mail_server is not None
    return Rules(context.encryption, policy, limit, context.clock.now(), has_mail_server)


def send_test(context: Context, identity: Identity, id: int) -> dict[str, str]:
    """The answer of the receiver: `state` is success or failed. Raises NotFoundError,
    NoPermissionError, ConflictError."""
    with context.database.autocommit() as conn:
        row = integrations.check_permission(conn, id, identity)
    now = context.clock.now()
    test = integration_delivery.make_test_row(row, identity, now)
    settings = Settings.from_config(context.config, context.encryption, context.mail_server)
    if not context.integration_tests.acquire(id):
        raise ConflictError("Other tests still wait for their receivers. Try again in a moment.")
    try:
        with HttpConnection() as receiver:
            attempt = integration_delivery.deliver(test, settings, now, receiver)
    finally:
        context.integration_tests.release(id)
    error = attempt.result.error
    if attempt.is_unfinished and not error:
        error = integration_delivery.UNFINISHED
    state = "failed" if error else "success"
    return {"state": state, "stateDetails": error or attempt.result.answer}


def retry(conn: Connection, id: int, delivery_id: int, by: Identity) -> Row:
    """Raises NotFoundError, NoPermissionError, ConflictError."""
    integration = integrations.check_permission(conn, id, by)
    if not integration["enabled"]:
        raise ConflictError("The integration is disabled.")
    if not integration_rows.list_deliveries(conn, id, limit=1, delivery_id=delivery_id):
        raise NotFoundError(f"Delivery {delivery_id} not found.")
    if not message_rows.retry(conn, delivery_id):
        raise ConflictError("The delivery was sent already.")
    (row,) = integration_rows.list_deliveries(conn, id, limit=1, delivery_id=delivery_id)
    return row


def describe_delivery(row: Row) -> dict[str, Any]:
    return {
        "id": row["delivery_id"],
        "eventId": row["event_id"],
        "type": row["type"],
        "state": outbox.describe_state(row),
        "attempts": row["attempts"],
        "lastError": row["last_error"],
        "createdAt": format_iso(row["queued_at"]),
        "dueAt": format_iso(max(row["due_at"], row["queued_at"])),
        "sentAt": format_optional(row["sent_at"]),
    }


def _list_deliveries(context: Context, id: int, **filters: Any) -> list[Row]:
    limit = _read_number("limit", range(1, MAX_LIMIT + 1), DEFAULT_LIMIT)
    offset = _read_number("offset", range(MAX_OFFSET), 0)
    with context.database.transaction() as conn:
        integrations.get(conn, id)
        return integration_rows.list_deliveries(conn, id, limit=limit, offset=offset, **filters)


def _read_number(name: str, accepted: range, default: int) -> int:
    """The default for anything else, as clients of this API expect."""
    text = read_query(request.environ).get(name, "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
    return number if number in accepted else default


def _to_entry(id: int, row: Row, public_url: str) -> dict[str, Any]:
    payload = msgspec.json.decode(row["payload"])
    recipients: dict[str, str] = payload.get("channels", {})
    state = "success" if row["sent_at"] else "failed"
    if row["given_up_at"] and not all(recipients.values()):
        state = "successWithErrors"
    return {
        "id": str(row["delivery_id"]),
        "integrationId": id,
        "createdAt": format_iso(row["queued_at"]),
        "state": state,
        "stateDetails": row["last_error"] or payload.get("answer") or "Sent.",
        "event": integration_messages.build_event(row, public_url) if row["event_id"] else None,
        "details": {"channels": list(recipients)},
    }
