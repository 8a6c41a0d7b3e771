"""Tokens of a signal endpoint, JSON. Only the responses to create and rotate contain the secret."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoint_tokens
from sigservice.services.signals.signal_endpoint_tokens import (
    DEFAULT_GRACE_HOURS,
    TokenFields,
    parse_expiry,
)
from sigservice.services.signals.signature_schemes import SignatureSettings
from sigservice.web import AdminGuard, Connection, Context, Json, Router, Row, respond

PATH = "/api/admin/signal-endpoints/<id:id>/tokens"


class NewTokenBody(msgspec.Struct):
    """A bearer token, or with `signature` a signing secret. `secret` is the secret of the
    sender."""

    name: str
    signature: SignatureSettings | None = None
    secret: str = ""
    expiresAt: str | None = None
    allowedAddresses: list[str] = []

    def make_fields(self) -> TokenFields:
        return TokenFields(
            self.name, parse_expiry(self.expiresAt), self.allowedAddresses, self.signature
        )


class SignalTokenBody(msgspec.Struct):
    """An absent member stays as it is."""

    name: str
    signature: SignatureSettings | UnsetType = UNSET
    expiresAt: str | UnsetType | None = UNSET
    allowedAddresses: list[str] | UnsetType = UNSET

    def make_fields(self, row: Row) -> TokenFields:
        signature = signal_endpoint_tokens.parse_signature(row)
        return TokenFields(
            self.name,
            row["expires_at"] if self.expiresAt is UNSET else parse_expiry(self.expiresAt),
            row["allowed_addresses"] if self.allowedAddresses is UNSET else self.allowedAddresses,
            signature if self.signature is UNSET else self.signature,
        )


class RotationBody(msgspec.Struct):
    graceHours: int = DEFAULT_GRACE_HOURS
    secret: str = ""


router = Router(AdminGuard)


@router.get(PATH, needs=ADMIN)
def list_tokens(conn: Connection, identity: Identity, id: int) -> Json:
    """`{"signalEndpointTokens": [token]}`."""
    rows = signal_endpoint_tokens.list_of_endpoint(conn, id)
    return {"signalEndpointTokens": [signal_endpoint_tokens.to_json(row) for row in rows]}


@router.post(PATH, needs=ADMIN, takes=NewTokenBody)
def create_token(context: Context, identity: Identity, id: int, body: NewTokenBody) -> Json:
    """Body: `{name, expiresAt?, allowedAddresses?}`; with `signature?` and `secret?` a signing
    secret. 201 token with the secret in `token`."""
    fields = body.make_fields()
    with context.database.transaction() as conn:
        row, secret = create_token_of(context, conn, id, fields, identity, body.secret)
    return respond.Created(
        _with_secret(row, secret), f"/api/admin/signal-endpoints/{id}/tokens/{row['id']}"
    )


@router.get(f"{PATH}/<token_id:id>", needs=ADMIN)
def get_token(conn: Connection, identity: Identity, id: int, token_id: int) -> Json:
    """Token."""
    return signal_endpoint_tokens.to_json(signal_endpoint_tokens.get(conn, id, token_id))


@router.put(f"{PATH}/<token_id:id>", needs=ADMIN, takes=SignalTokenBody)
def update_token(
    context: Context, identity: Identity, id: int, token_id: int, body: SignalTokenBody
) -> Json:
    """Body: `{name, expiresAt?, allowedAddresses?, signature?}`; what is absent stays. Token."""
    with context.database.transaction() as conn:
        fields = body.make_fields(signal_endpoint_tokens.lock(conn, id, token_id))
        row = signal_endpoint_tokens.update(
            conn, id, token_id, fields, identity, now=context.clock.now()
        )
    return signal_endpoint_tokens.to_json(row)


@router.post(f"{PATH}/<token_id:id>/rotate", needs=ADMIN, takes=RotationBody)
def rotate_token(
    context: Context, identity: Identity, id: int, token_id: int, body: RotationBody
) -> Json:
    """Body: `{graceHours?, secret?}`. Token with its new secret in `token`; the old one is valid
    for the grace period (24 hours)."""
    with context.database.transaction() as conn:
        row, secret = rotate_token_of(context, conn, id, token_id, body, identity)
    return _with_secret(row, secret)


@router.delete(f"{PATH}/<token_id:id>/previous-secret", needs=ADMIN)
def delete_previous_secret(conn: Connection, identity: Identity, id: int, token_id: int) -> Json:
    """Token; the grace period is over."""
    row = signal_endpoint_tokens.delete_previous_secret(conn, id, token_id, identity)
    return signal_endpoint_tokens.to_json(row)


@router.delete(f"{PATH}/<token_id:id>", needs=ADMIN)
def delete_token(conn: Connection, identity: Identity, id: int, token_id: int) -> None:
    """Its next request is rejected."""
    signal_endpoint_tokens.delete(conn, id, token_id, identity)


def _with_secret(row: Row, secret: str) -> dict[str, Any]:
    return signal_endpoint_tokens.to_json(row) | {"token": secret}


def create_token_of(
    context: Context,
    conn: Connection,
    endpoint_id: int,
    fields: TokenFields,
    identity: Identity,
    secret: str = "",
) -> tuple[Row, str]:
    """The token and its secret; raises AppError."""
    return signal_endpoint_tokens.create(
        conn,
        endpoint_id,
        fields,
        identity,
        limit=context.config["signals"]["tokensPerEndpointLimit"],
        now=context.clock.now(),
        encryption=context.encryption,
        secret=secret,
    )


def rotate_token_of(
    context: Context,
    conn: Connection,
    endpoint_id: int,
    token_id: int,
    body: RotationBody,
    identity: Identity,
) -> tuple[Row, str]:
    """The token and its new secret; raises AppError."""
    return signal_endpoint_tokens.rotate(
        conn,
        endpoint_id,
        token_id,
        identity,
        grace_hours=body.graceHours,
        now=context.clock.now(),
        encryption=context.encryption,
        secret=body.secret,
    )
