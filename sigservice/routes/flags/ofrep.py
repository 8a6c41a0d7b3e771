"""OFREP, the OpenFeature Remote Evaluation Protocol: evaluates flags for every OpenFeature SDK."""

from typing import Any

import msgspec

from sigservice.crypto import secrets
from sigservice.delivery.event_stream import HEADERS
from sigservice.delivery.ofrep_streams import (
    INACTIVITY_SECONDS,
    OfrepSubscription,
    find_stream_access,
    make_stream_token,
)
from sigservice.delivery.revision_cache import Access
from sigservice.errors import NoStreamError, NotFoundError, UnauthorizedError
from sigservice.evaluation.fields import Fields
from sigservice.evaluation.ofrep import Result, encode_answer, evaluate_flag, read_variant
from sigservice.playground.evaluation_context import make_ofrep_context
from sigservice.routes.flags.frontend import find_fields, get_compiled
from sigservice.web import Context, HTTPResponse, Router, read_query, request, respond
from sigservice.web.client_ip import find_client_ip, make_connection_key
from sigservice.web.etag import matches
from sigservice.web.guards import (
    ARRIVED,
    REVISIONS,
    AuthenticationAttempt,
    OfrepGuard,
    Public,
    read_ofrep_token,
)
from sigservice.web.ofrep_errors import FLAG_NOT_FOUND

Attributes = dict[str, Any]


class EvaluationBody(msgspec.Struct):
    """`context` may have a `targetingKey`; its other values may be nested. Without it, the body is
    the context."""

    context: Attributes | msgspec.UnsetType = msgspec.UNSET


EVENTS = "/ofrep/v1/events"
router = Router(OfrepGuard, "client", "frontend")
stream_router = Router(Public)  # the token is in the query


@router.post("/ofrep/v1/evaluate/flags/<key:path>", takes=EvaluationBody)
def evaluate_flag_by_key(
    context: Context, access: Access, key: str, body: EvaluationBody
) -> HTTPResponse:
    """Body: `{"context": {…}}`. `{key, value, reason, variant, metadata}`; 404 `FLAG_NOT_FOUND`."""
    fields = _make_fields(context, access, body)
    flag = get_compiled(context, access).ofrep_flags.find(key, access.projects)
    if flag is None:
        raise NotFoundError("There is no such flag.", extra={"errorCode": FLAG_NOT_FOUND})
    result = evaluate_flag(flag, fields)
    _count(context, access, fields, key, result)
    answer = encode_answer(key, result)
    return respond.answer(answer, 200, {"Content-Type": respond.JSON, "Cache-Control": "no-cache"})


@router.post("/ofrep/v1/evaluate/flags", takes=EvaluationBody)
def evaluate_all_flags(context: Context, access: Access, body: EvaluationBody) -> HTTPResponse:
    """Body: `{"context": {…}}`. `{flags: […], metadata: {version}, eventStreams}` with a weak
    `ETag`; 304 for `If-None-Match`.

    The revision is read after each request has arrived, so that every answer is at least as new as
    the event that `flagConfigEtag` in the query is about.
    """
    fields = _make_fields(context, access, body)
    document = context.frontend_documents.get_ofrep(
        get_compiled(context, access), access.projects, fields, _list_streams(context, access)
    )
    headers = {"Etag": document.etag, "Content-Type": respond.JSON, "Cache-Control": "no-cache"}
    if matches(request.environ.get("HTTP_IF_NONE_MATCH", ""), document.etag):
        return respond.answer(b"", 304, headers)
    return respond.answer(document.text, 200, headers)


@stream_router.get(EVENTS)
def open_event_stream(context: Context) -> HTTPResponse:
    """Query: the signed `token` of `eventStreams`; no other is needed. An event stream that tells
    when to fetch.

    A provider whose stream is refused fetches all flags. That answer names the stream of now, or
    none if there is no room.
    """
    environ = request.environ
    token = read_query(environ).get("token", "")
    # For CORS too. A token that is revoked later ends the stream.
    revisions = environ[REVISIONS] = context.revision_cache.read_revisions(environ.get(ARRIVED))
    ip = find_client_ip(environ, context.trusted_proxies)
    with AuthenticationAttempt(context, ip, secrets.sha256(token)):
        with context.database.autocommit() as conn:
            access = find_stream_access(conn, token, context.clock.now())
        if access is None:
            raise UnauthorizedError("The address of the stream is invalid or has expired.")
    hand_over = environ.get("sigservice.hand_over")
    if hand_over is None:
        raise NoStreamError("Only the service's own listener has streams.")
    context.last_used.record_api_token(access.token_id)
    revision = revisions.of_environment(access.environment)
    subscription = OfrepSubscription(context.clock, access, revision, _find_browser(context))
    event = subscription.write_start(environ.get("HTTP_LAST_EVENT_ID", ""))
    if environ["REQUEST_METHOD"] != "HEAD":
        hand_over(context.streams.open(subscription))
    return respond.answer(iter([event]), 200, HEADERS)


def _list_streams(context: Context, access: Access) -> dict[str, Any]:
    """The stream of the token as a member of the bulk answer; nothing if it would be refused."""
    environ = request.environ
    is_possible = "sigservice.hand_over" in environ and not access.is_anonymous
    if not (is_possible and context.streams.has_room_for_browser(_find_browser(context))):
        return {}
    secret_hash = secrets.sha256(read_ofrep_token(environ))
    token = make_stream_token(access, secret_hash, context.clock.now())
    # Providers add this to the origin of their base URL, without its path.
    endpoint = {"requestUri": f"{context.prefix}{EVENTS}?token={token}"}
    stream = {"type": "sse", "endpoint": endpoint, "inactivityDelaySec": INACTIVITY_SECONDS}
    return {"eventStreams": [stream]}


def _count(context: Context, access: Access, fields: Fields, key: str, result: Result) -> None:
    """Not for the bulk answer: nobody knows which of its flags the application uses."""
    variant = read_variant(result)
    context.evaluation_counts.record(
        fields.get("appName") or access.token_name,
        access.environment,
        key,
        variant["name"] if variant else "",
        is_frontend=access.type == "frontend",
        is_anonymous=access.is_anonymous,
        is_enabled=result[0] is not None,
        now=context.clock.now(),
    )


def _find_browser(context: Context) -> str:
    """The address by which the streams of browsers are limited; "" for a trusted proxy that doesn't
    tell it."""
    ip = find_client_ip(request.environ, context.trusted_proxies)
    return make_connection_key(ip, context.trusted_proxies)


def _make_fields(context: Context, access: Access, body: EvaluationBody) -> Fields:
    fields, path = find_fields(None if body.context is msgspec.UNSET else body.context)
    return make_ofrep_context(
        fields,
        environment=access.environment,
        remote_address=find_client_ip(request.environ, context.trusted_proxies),
        path=path,
    )
