"""POST /api/signal-endpoint/<name>: receives the signals of external systems."""

from types import MappingProxyType
from typing import Any

from sigservice import payload
from sigservice.errors import (
    AppError,
    BadDataError,
    NotFoundError,
    RateLimitError,
    UnavailableError,
)
from sigservice.repository.signals.signals import NewSignal
from sigservice.services.signals import (
    cloud_events,
    credentials,
    idempotency,
    refused_calls,
    signal_storage,
    sns,
)
from sigservice.services.signals.credentials import Caller
from sigservice.services.signals.endpoint_cache import EndpointSettings, TokenSettings
from sigservice.services.signals.signal_storage import NotStored
from sigservice.services.signals.signature_schemes import find_id_header
from sigservice.web import Context, HTTPResponse, Public, Router, Row, request, respond
from sigservice.web.body import MISSING, read_bytes, read_json
from sigservice.web.client_ip import find_client_ip
from sigservice.web.guards import AuthenticationAttempt
from sigservice.web.limits import build_rate_limit_error, consume
from sigservice.web.signal_credentials import make_signal_key, read_caller

# A proxy, because bottle flattens dicts in a route's configuration.
DESCRIPTION = MappingProxyType(
    {
        "summary": "Send a signal",
        "description": "Needs a token of this endpoint. The payload is any JSON value.",
        "security": [{"token": []}],
        "requestBody": {"content": {"application/json": {"schema": {}}}},
    }
)
OVER_LIMIT = "More signals than the limit of the endpoint allows."
TOO_MANY_FAILURES = "Too many failed authentications from this address."
MAX_ATTEMPTS = 3  # to store a signal while its endpoint changes or its key expires


def _payload_limit(config: dict[str, Any]) -> int:
    limit: int = config["signals"]["payloadLimit"]
    return limit


router = Router(Public)


# No guard: the caller is authenticated by the tokens of the endpoint.
@router.post(
    "/api/signal-endpoint/<name>",
    described_as=DESCRIPTION,
    body_limit=_payload_limit,
    needs_credentials=True,
)
def receive_signal(context: Context, name: str) -> HTTPResponse:
    """Body: the payload. See [signals.md](signals.md)."""
    environ, telemetry = request.environ, context.telemetry.signals
    address = find_client_ip(environ, context.trusted_proxies)
    caller = read_caller(environ, address, _payload_limit(context.config))
    is_authenticated = False
    try:
        endpoint, token = _authenticate(context, name, caller)
        is_authenticated = True
        if _confirm_subscription(context, endpoint, token, caller):
            return respond.json({"signals": []})
        signal, is_replayed, headers = _limit_and_store(context, environ, endpoint, token, caller)
    except AppError as error:
        telemetry.count_signal(name if is_authenticated else "", error.name)
        if error.status < 500 or isinstance(error, RateLimitError):
            _record_refusal(context, name, caller, error, is_authenticated=is_authenticated)
        raise
    context.token_uses.record(token.id, address, context.clock.now())
    if signal.get("queued"):
        context.signals_waiting.set()
    telemetry.count_signal(name, "replayed" if is_replayed else "accepted", signal["payload_bytes"])
    body = signal_storage.to_json(signal) | {"createdBySourceTokenId": signal["token_id"]}
    response = respond.json({"signals": [body]})
    for header, value in headers.items():
        response.set_header(header, value)
    if is_replayed:
        response.set_header("Idempotency-Replayed", "true")
    return response


def _record_refusal(
    context: Context, name: str, caller: Caller, error: AppError, *, is_authenticated: bool
) -> None:
    reason, prefix = getattr(error, "reason", error.message), caller.secret
    if isinstance(error, RateLimitError):
        reason = OVER_LIMIT if is_authenticated else TOO_MANY_FAILURES
        if not is_authenticated:  # unchecked: one caller could fill the list with inventions
            prefix = ""
            name = name if context.signal_endpoints.get_cached(name) else ""
    prefix = refused_calls.make_prefix(prefix)
    call = refused_calls.RefusedCall(name, error.status, reason, prefix, caller.address)
    context.refused_calls.record(call, caller.headers.get("user-agent", ""), context.clock.now())


def _authenticate(
    context: Context, name: str, caller: Caller
) -> tuple[EndpointSettings, TokenSettings]:
    """The endpoint and the caller's token. Raises InvalidCredentialsError, RateLimitError after too
    many failures of the address, NotFoundError for a valid token of a disabled endpoint."""
    now, cache = context.clock.now(), context.signal_endpoints
    key = make_signal_key(name, caller.secret, caller.address)
    endpoint = cache.get_cached(name)
    try:
        token = credentials.authenticate(endpoint, caller, now, context.sns)
        context.recent_credentials.add(key)
    except credentials.InvalidCredentialsError:
        endpoint = None
    if endpoint is None or not endpoint.enabled:
        with AuthenticationAttempt(context, caller.address, key):
            endpoint = cache.read_current().get(name)
            token = credentials.authenticate(endpoint, caller, now, context.sns)
    assert endpoint is not None
    if not endpoint.enabled:
        raise NotFoundError("The signal endpoint is disabled.")
    return endpoint, token


def _confirm_subscription(
    context: Context, endpoint: EndpointSettings, token: TokenSettings, caller: Caller
) -> bool:
    """Whether the call was a request of Amazon SNS to confirm a subscription, which is no signal.
    Raises BadDataError, UnavailableError, RateLimitError, and what `_authenticate` raises."""
    if not _is_from_sns(token):
        return False
    message = sns.parse_message(caller.read_body())
    if message is None or not message.is_confirmation:
        return False
    # Unlike a signal's statement, no statement checks the token here: it may be deleted by now.
    _, token = _authenticate_again(context, endpoint.name, caller)
    consume(context, "signal", ("confirm", token.id))  # each is an outgoing request
    if reason := context.sns.confirm(message):
        raise BadDataError(reason)
    return True


def _is_from_sns(token: TokenSettings) -> bool:
    return token.signature is not None and token.signature.scheme == "aws-sns"


def _limit_and_store(
    context: Context,
    environ: dict[str, Any],
    endpoint: EndpointSettings,
    token: TokenSettings,
    caller: Caller,
) -> tuple[Row, bool, dict[str, str]]:
    """(the signal, whether an earlier call with its key stored it, the RateLimit headers)."""
    rate_limit = endpoint.options.rateLimit
    key = (endpoint.id, token.id)
    is_allowed, headers = context.limiter.consume(
        "signal", key, rate=rate_limit.perSecond, burst=rate_limit.find_burst()
    )
    try:
        if not is_allowed:
            _authenticate_again(context, endpoint.name, caller)  # 401 if the token is deleted
            raise build_rate_limit_error(headers, rate_limit.status)
        value, data = _read_payload(environ, token, caller, _payload_limit(context.config))
        signal, is_replayed = _store(context, endpoint, token, caller, value, data)
    except AppError as error:
        if error.status >= 500 and is_allowed:
            context.limiter.refund("signal", key)
        error.headers = headers | error.headers
        raise
    return signal, is_replayed, headers


def _read_payload(
    environ: dict[str, Any], token: TokenSettings, caller: Caller, limit: int
) -> tuple[Any, bytes]:
    """The payload and its JSON; {} for an empty body."""
    data = b""
    if _is_from_sns(token) and (message := sns.parse_message(caller.read_body())):
        data = sns.make_payload(message)
    elif cloud_events.is_binary_mode(caller.headers):
        if token.signature is not None:
            raise BadDataError(
                "The signature doesn't cover the headers of an event: use the structured mode."
            )
        content_type, body = environ.get("CONTENT_TYPE", ""), read_bytes(environ, limit)
        data = cloud_events.make_structured(caller.headers, content_type, body)
    if data:
        return payload.parse(data), data
    value, data = read_json(environ, limit)
    return ({}, b"{}") if value is MISSING else (value, data)


def _store(
    context: Context,
    endpoint: EndpointSettings,
    token: TokenSettings,
    caller: Caller,
    value: Any,
    data: bytes,
) -> tuple[Row, bool]:
    """(the stored signal, False), or (the first one with the same key, True)."""
    text = payload.unescape(data.decode())
    for _ in range(MAX_ATTEMPTS):
        key = idempotency.find_key(
            endpoint.options.idempotency, caller.headers, value, find_id_header(token.signature)
        )
        signal = NewSignal(
            endpoint.id,
            endpoint.version,
            token.id,
            text,
            len(data),
            key,
            endpoint.awaits_signals,
        )
        result = context.signal_commits.store(signal)
        if result is NotStored.ENDPOINT_CHANGED:
            endpoint, token = _authenticate_again(context, endpoint.name, caller)
        elif result is NotStored.KEY_EXISTS:
            with context.database.autocommit() as conn:
                first = signal_storage.find_first(conn, signal, endpoint.options.idempotency)
            if first is not None:
                return first, True
        else:
            return result, False
    raise UnavailableError("The signal endpoint is changing. Try again.")


def _authenticate_again(
    context: Context, name: str, caller: Caller
) -> tuple[EndpointSettings, TokenSettings]:
    context.signal_endpoints.read_current()
    return _authenticate(context, name, caller)
