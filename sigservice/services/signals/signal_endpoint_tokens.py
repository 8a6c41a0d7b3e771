"""Tokens of signal endpoints: bearer tokens and signing secrets, their rotation, expiry and
addresses.

The inserting statement checks the limit under a lock, so that concurrent requests can't exceed it.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import msgspec

from sigservice.clock import format_iso, format_optional, parse_iso
from sigservice.crypto import secrets
from sigservice.crypto.encryption import Encryption, EncryptionError
from sigservice.db import Connection, Row
from sigservice.db.errors import UniqueViolation
from sigservice.errors import BadDataError, require_found
from sigservice.repository.signals import signal_endpoint_tokens, signal_endpoints
from sigservice.repository.signals.signal_endpoint_tokens import (
    ENCRYPTED_COLUMNS,
    SecretValues,
    TokenValues,
)
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems, build_duplicate_error, build_limit_error
from sigservice.services.signals import signal_endpoints as endpoint_service
from sigservice.services.signals.signature_schemes import SignatureSettings, find_scheme
from sigservice.services.signals.signature_settings import check_settings
from sigservice.services.signals.signatures import generate_secret
from sigservice.services.system import events
from sigservice.wording import plural

TOKEN_PREFIX = "signal_"
MAX_ADDRESSES = 50
DEFAULT_GRACE_HOURS, MAX_GRACE_HOURS = 24, 30 * 24


@dataclass(frozen=True)
class TokenFields:
    """The fields that users can change. `signature` is None for a bearer token. Addresses may be
    networks; if there are none, every address is allowed."""

    name: str
    expires_at: datetime | None = None
    allowed_addresses: Sequence[str] = ()
    signature: SignatureSettings | None = None


def parse_expiry(text: str | None) -> datetime | None:
    """The time of a date or date-time in ISO 8601; None without a text. Raises BadDataError."""
    if not text:
        return None
    moment = parse_iso(text)
    if moment is None:
        raise BadDataError(
            "The time of expiry must be a date or date-time in ISO 8601.", path="expiresAt"
        )
    return moment


def list_of_endpoint(conn: Connection, endpoint_id: int) -> list[Row]:
    """Raises NotFoundError."""
    endpoint_service.get(conn, endpoint_id)
    return signal_endpoint_tokens.list_for_endpoint(conn, endpoint_id)


def get(conn: Connection, endpoint_id: int, id: int) -> Row:
    """Raises NotFoundError."""
    return require_found(signal_endpoint_tokens.find(conn, endpoint_id, id), "Token not found.")


def lock(conn: Connection, endpoint_id: int, id: int) -> Row:
    """The token, which no other transaction changes before this one ends. Raises NotFoundError."""
    endpoint_service.lock(conn, endpoint_id)
    return get(conn, endpoint_id, id)


def create(
    conn: Connection,
    endpoint_id: int,
    fields: TokenFields,
    by: Identity,
    *,
    limit: int,
    now: datetime,
    encryption: Encryption,
    secret: str = "",
) -> tuple[Row, str]:
    """Returns the token and its secret: `secret` if the sender has one already, else a new one. A
    bearer token is stored as a hash, a signing secret encrypted.

    Raises NotFoundError, BadDataError, ExceedsLimitError, NameExistsError, EncryptionError.
    """
    fields = _check(fields, now, secret, needs_secret=True)
    endpoint_service.lock(conn, endpoint_id)
    columns, secret = _make_secret(fields.signature, secret, encryption)
    try:
        id = signal_endpoint_tokens.insert(
            conn,
            endpoint_id,
            _make_columns(fields),
            columns,
            type="bearer" if fields.signature is None else "signature",
            created_by_user_id=by.user_id,
            limit=limit,
        )
    except UniqueViolation as error:
        raise build_duplicate_error(fields.name) from error
    if id is None:
        raise build_limit_error(limit, "token", "signalTokensPerEndpoint", " of a signal endpoint")
    signal_endpoints.bump_version(conn, endpoint_id)
    row = get(conn, endpoint_id, id)
    events.record(conn, "signal-endpoint-token-created", by, data=to_event(row))
    return row, secret


def update(
    conn: Connection, endpoint_id: int, id: int, fields: TokenFields, by: Identity, *, now: datetime
) -> Row:
    """Replaces the fields; type and scheme stay.

    Raises NotFoundError, BadDataError, NameExistsError.
    """
    before = lock(conn, endpoint_id, id)
    signature = parse_signature(before)
    if (signature and signature.scheme) != (fields.signature and fields.signature.scheme):
        raise BadDataError("The type and the scheme of a token can't change.", path="signature")
    is_kept = fields.expires_at == before["expires_at"]
    fields = _check(fields, None if is_kept else now)
    try:
        signal_endpoint_tokens.update(conn, endpoint_id, id, _make_columns(fields))
    except UniqueViolation as error:
        raise build_duplicate_error(fields.name) from error
    return _record_update(conn, endpoint_id, before, by)


def rotate(
    conn: Connection,
    endpoint_id: int,
    id: int,
    by: Identity,
    *,
    grace_hours: int,
    now: datetime,
    encryption: Encryption,
    secret: str = "",
) -> tuple[Row, str]:
    """Returns the token and its new secret, as `create`. The old one is valid for the grace period.

    Raises NotFoundError, BadDataError, EncryptionError.
    """
    before = lock(conn, endpoint_id, id)
    problems = Problems()
    if not 0 <= grace_hours <= MAX_GRACE_HOURS:
        problems.add("graceHours", f"The grace period must be 0 to {MAX_GRACE_HOURS} hours.")
    signature = parse_signature(before)
    if signature is not None and signature.scheme == "aws-sns":
        raise BadDataError("Amazon SNS signs with certificates, without a secret.")
    _check_secret(signature, secret, problems)
    problems.raise_if_any()
    columns, secret = _make_secret(signature, secret, encryption)
    until = now + timedelta(hours=grace_hours)
    signal_endpoint_tokens.rotate(conn, endpoint_id, id, columns, previous_expires_at=until)
    return _record_update(conn, endpoint_id, before, by, "rotated"), secret


def delete_previous_secret(conn: Connection, endpoint_id: int, id: int, by: Identity) -> Row:
    """Ends the grace period. Raises NotFoundError."""
    before = lock(conn, endpoint_id, id)
    signal_endpoint_tokens.delete_previous_secret(conn, endpoint_id, id)
    return _record_update(conn, endpoint_id, before, by)


def delete(conn: Connection, endpoint_id: int, id: int, by: Identity) -> None:
    """Raises NotFoundError."""
    before = lock(conn, endpoint_id, id)
    signal_endpoint_tokens.delete(conn, endpoint_id, id)
    signal_endpoints.bump_version(conn, endpoint_id)
    events.record(conn, "signal-endpoint-token-deleted", by, pre_data=to_event(before))


def rotate_secrets(conn: Connection, encryption: Encryption) -> int:
    """Encrypts the signing secrets of all tokens with the first key, when the key changes. Returns
    their number. Raises EncryptionError if one can't be decrypted.

    New secrets are encrypted under the lock of their endpoint: this waits for the ones in progress
    and encrypts them again, and later ones have the new key.
    """
    signal_endpoints.lock_all(conn)
    signal_endpoints.lock_each(conn)
    signal_endpoint_tokens.delete_expired_previous_secrets(conn)
    rows, lost_ids = signal_endpoint_tokens.list_encrypted(conn), []
    secrets = [(row, name) for row in rows for name in ENCRYPTED_COLUMNS if row[name] is not None]
    for row, name in secrets:
        try:
            row[name] = encryption.rotate(bytes(row[name]))
        except EncryptionError:
            lost_ids.append(row["id"])
    if lost_ids:
        lost_ids = list(dict.fromkeys(lost_ids))
        ids = ", ".join(map(str, lost_ids[:10])) + (" …" if len(lost_ids) > 10 else "")
        tokens = plural(len(lost_ids), "signal token")
        raise EncryptionError(
            f"The keys don't decrypt the secrets of {tokens} (ID {ids}): "
            "restore their key, or delete these tokens."
        )
    signal_endpoint_tokens.update_encrypted(conn, rows)
    return len(secrets)


def to_json(row: Row) -> dict[str, Any]:
    """The token in the API. `secretPrefix` is the beginning of the secret, but not of a signing
    secret."""
    return to_event(row) | {
        "lastUsedAt": format_optional(row["used_at"]),
        "lastUsedFrom": row["used_from"] or None,
        "uses": row["uses"],
    }


def to_event(row: Row) -> dict[str, Any]:
    """The JSON without its use."""
    signature = parse_signature(row)
    return {
        "id": row["id"],
        "name": row["name"],
        "signalEndpointId": row["signal_endpoint_id"],
        "type": row["type"],
        **({} if signature is None else {"signature": signature}),
        "secretPrefix": row["secret_prefix"],
        "expiresAt": format_optional(row["expires_at"]),
        "allowedAddresses": row["allowed_addresses"],
        "previousSecretExpiresAt": format_optional(row["previous_expires_at"]),
        "createdAt": format_iso(row["created_at"]),
        "createdByUserId": row["created_by_user_id"],
    }


def parse_signature(row: Row) -> SignatureSettings | None:
    """None for a bearer token."""
    if row["signature"] is None:
        return None
    return msgspec.json.decode(row["signature"], type=SignatureSettings)


def _check(
    fields: TokenFields, now: datetime | None, secret: str = "", *, needs_secret: bool = False
) -> TokenFields:
    """The fields without surrounding spaces. The time of expiry must be after `now`, if given.
    Raises BadDataError."""
    problems = Problems()
    endpoint_service.check_token_name(fields.name, problems)
    if now is not None and fields.expires_at is not None and fields.expires_at <= now:
        problems.add("expiresAt", "The time of expiry must be in the future.")
    addresses = _check_addresses(fields.allowed_addresses, problems)
    if needs_secret:
        _check_secret(fields.signature, secret, problems)
    elif fields.signature is not None:
        check_settings(fields.signature, "", problems)
    problems.raise_if_any()
    return replace(fields, name=fields.name.strip(), allowed_addresses=addresses)


def _check_secret(signature: SignatureSettings | None, secret: str, problems: Problems) -> None:
    """Checks the settings too. A sender with a secret of its own needs `secret`."""
    if signature is None:
        if secret:
            problems.add("secret", "The service generates the secret of a bearer token.")
        return
    check_settings(signature, secret, problems)
    is_certified = signature.scheme == "aws-sns"
    if not (secret or is_certified) and find_scheme(signature).is_secret_of_sender:
        problems.add("secret", "Enter the secret of the sender.")


def _check_addresses(addresses: Sequence[str], problems: Problems) -> list[str]:
    if len(addresses) > MAX_ADDRESSES:
        problems.add("allowedAddresses", f"At most {MAX_ADDRESSES} addresses are allowed.")
    checked = []
    for index, text in enumerate(addresses[:MAX_ADDRESSES]):
        try:
            network = _parse_network(text.strip())
        except ValueError:
            path = f"allowedAddresses[{index}]"
            problems.add(path, "This is not an IP address or a network such as 10.0.0.0/8.")
        else:
            is_single = network.num_addresses == 1
            checked.append(str(network.network_address) if is_single else str(network))
    return checked


def _parse_network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """IPv4-mapped IPv6 becomes IPv4, as the addresses of callers do. Raises ValueError."""
    network = ipaddress.ip_network(text)
    if isinstance(network, ipaddress.IPv4Network):
        return network
    if network.network_address.scope_id:
        raise ValueError("The addresses of callers have no zone.")
    mapped = network.network_address.ipv4_mapped
    if mapped is None or network.prefixlen < 96:
        return network
    return ipaddress.IPv4Network(f"{mapped}/{network.prefixlen - 96}")


def _make_columns(fields: TokenFields) -> TokenValues:
    signature = fields.signature
    return {
        "name": fields.name,
        "expires_at": fields.expires_at,
        "allowed_addresses": [*fields.allowed_addresses],
        "signature": None if signature is None else msgspec.json.encode(signature).decode(),
    }


def _make_secret(
    signature: SignatureSettings | None, secret: str, encryption: Encryption
) -> tuple[SecretValues, str]:
    """(the columns of a secret, the secret)."""
    if signature is None:
        secret = TOKEN_PREFIX + secrets.generate_secret()
        return {
            "secret_hash": secrets.sha256(secret),
            "encrypted_secret": None,
            "secret_prefix": secret[: len(TOKEN_PREFIX) + 4],
        }, secret
    secret = secret or generate_secret(signature)
    return {
        "secret_hash": None,
        "encrypted_secret": encryption.encrypt(secret) if secret else None,
        "secret_prefix": "",
    }, secret


def _record_update(
    conn: Connection, endpoint_id: int, before: Row, by: Identity, change: str = ""
) -> Row:
    """The token after a change. The event has `change` if the fields don't show it."""
    row = get(conn, endpoint_id, before["id"])
    if change or to_event(row) != to_event(before):
        signal_endpoints.bump_version(conn, endpoint_id)
        data = to_event(row) | ({"change": change} if change else {})
        events.record(
            conn, "signal-endpoint-token-updated", by, data=data, pre_data=to_event(before)
        )
    return row
