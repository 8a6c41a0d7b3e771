"""OPTIONS /api/signal-endpoint/<name>: the handshake before a sender of CloudEvents, such as Azure
Event Grid, sends its first event (HTTP 1.1 Web Hooks for Event Delivery, 4)."""

import re

from sigservice.errors import BadDataError, MethodNotAllowedError
from sigservice.services.signals.credentials import InvalidCredentialsError, Reason
from sigservice.web import Context, HTTPResponse, Public, Router, request, respond
from sigservice.web.client_ip import find_client_ip, make_limit_key
from sigservice.web.guards import check_failed_auth, count_failed_auth

_ORIGIN = re.compile(r"[A-Za-z0-9.:\[\]-]{1,255}")  # a DNS name

router = Router(Public)


# No guard: senders send no token with the handshake, and it changes nothing.
@router.options("/api/signal-endpoint/<name>")
def allow_origin(context: Context, name: str) -> HTTPResponse:
    """The [handshake of CloudEvents](senders/cloudevents.md#limits-and-retries), with
    `WebHook-Request-Origin`.

    Allows each origin, because a signal needs a token. A wrong name counts as a failed
    authentication, so that names can't be tried at will.
    """
    origin = request.environ.get("HTTP_WEBHOOK_REQUEST_ORIGIN", "").strip(" \t")
    if not origin:
        text = "Method 'OPTIONS' is allowed here only with the header WebHook-Request-Origin."
        raise MethodNotAllowedError(text, headers={"Allow": "POST"})
    if not _ORIGIN.fullmatch(origin):
        text = "The header WebHook-Request-Origin is not a DNS name."
        raise BadDataError(text, path="webhook-request-origin")
    address = make_limit_key(find_client_ip(request.environ, context.trusted_proxies))
    check_failed_auth(context, address)
    endpoint = context.signal_endpoints.read_current().get(name)
    if endpoint is None:
        count_failed_auth(context, address)
        raise InvalidCredentialsError(Reason.NO_ENDPOINT)
    per_second = endpoint.options.rateLimit.perSecond
    if per_second is None:
        per_second = context.config["signals"]["maxPerSecond"]
    response = respond.empty()
    response.set_header("Allow", "POST")
    response.set_header("WebHook-Allowed-Origin", origin)
    response.set_header("WebHook-Allowed-Rate", str(max(1, int(per_second * 60))))  # per minute
    return response
