"""POST /api/signal-endpoint/<name>: receives the signals of external systems."""

from types import MappingProxyType
from typing import Any, NoReturn

from bottle import HTTPResponse, request

from sigservice import secrets
from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import AppError, NotFoundError
from sigservice.services.signals import signals
from sigservice.web import respond
from sigservice.web.body import MISSING, read_json
from sigservice.web.client_ip import find_client_ip
from sigservice.web.guards import AuthenticationAttempt, Public, read_bearer_token
from sigservice.web.limits import build_rate_limit_error
from sigservice.web.router import Router

# A proxy, because bottle flattens dicts in a route's configuration.
DESCRIPTION = MappingProxyType(
    {
        "summary": "Send a signal",
        "description": "Needs a token of this endpoint. The payload is any JSON value.",
        "security": [{"token": []}],
        "requestBody": {"content": {"application/json": {"schema": {}}}},
    }
)


def _payload_limit(config: dict[str, Any]) -> int:
    limit: int = config["signals"]["payloadLimit"]
    return limit


router = Router(Public)


# No guard: the statement that stores the signals checks their tokens.
@router.post(
    "/api/signal-endpoint/<name>",
    described_as=DESCRIPTION,
    body_limit=_payload_limit,
    needs_credentials=True,
)
def receive_signal(context: Context, name: str) -> HTTPResponse:
    limiter, telemetry = context.limiter, context.telemetry.signals
    environ = request.environ
    secret = read_bearer_token(environ)
    if not secret:
        telemetry.count_signal("", "unauthorized")
        raise signals.build_unauthorized_error()
    key = secrets.sha256(f"{name}\n{secret}")
    is_allowed, headers = limiter.consume("signal", key)
    try:
        with AuthenticationAttempt(context, find_client_ip(environ, context.trusted_proxies), key):
            if not is_allowed:
                _refuse(context, name, secret, key, headers)
            signal = _store(context, environ, name, secret, key)
    except AppError as error:
        if error.status >= 500 and is_allowed:
            limiter.refund("signal", key)
        error.headers = headers | error.headers
        is_known = key in context.recent_credentials
        telemetry.count_signal(name if is_known else "", error.name)
        raise
    if signal["queued"]:
        context.signals_waiting.set()
    telemetry.count_signal(name, "accepted", signal["payload_bytes"])
    body = signals.to_json(signal) | {"createdBySourceTokenId": signal["token_id"]}
    response = respond.json({"signals": [body]})
    for header, value in headers.items():
        response.set_header(header, value)
    return response


def _refuse(
    context: Context, name: str, secret: str, key: bytes, headers: dict[str, str]
) -> NoReturn:
    """Raises RateLimitError; for an invalid token UnauthorizedError instead."""
    if key not in context.recent_credentials:
        _check_token(context, name, secret)
    raise build_rate_limit_error(headers)


def _store(context: Context, environ: dict[str, Any], name: str, secret: str, key: bytes) -> Row:
    """Stores the signal. For an invalid token raises UnauthorizedError, whatever the body is;
    NotFoundError if the token is valid and the endpoint is disabled."""
    try:
        value, data = read_json(environ, _payload_limit(context.config))
    except AppError:
        _check_token(context, name, secret)
        raise
    if key not in context.recent_credentials:  # wrong tokens don't wait together with valid ones
        _check_token(context, name, secret)
    body = b"{}" if value is MISSING else data
    signal = context.signal_commits.store(signals.make_signal(name, secret, body))
    if signal is None:
        _check_token(context, name, secret)
        raise NotFoundError("The signal endpoint is disabled.")
    return signal


def _check_token(context: Context, name: str, secret: str) -> None:
    """Raises UnauthorizedError."""
    with context.database.autocommit() as conn:
        signals.check_token(conn, name, secret)
