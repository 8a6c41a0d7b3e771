"""The routes of the relay: those of the service for flags, and its own."""

from collections.abc import Iterator
from typing import Any

import msgspec

from sigservice.config.relay import is_token
from sigservice.crypto import secrets
from sigservice.errors import BadDataError, UnavailableError
from sigservice.relay.context import RelayContext
from sigservice.relay.guard import TokenGuard
from sigservice.relay.tokens import BATCH
from sigservice.routes.flags import client, frontend, ofrep
from sigservice.web import HTTPResponse, Public, Router, respond
from sigservice.web.router import BoundRouter, Route


class TokensBody(msgspec.Struct):
    tokens: list[str]


router = Router(Public)
# Of the service's routes for SDKs, the relay has none that need changes or store usage.
_LACKING = ("/api/client/delta", "/api/client/streaming")


def bind_routes(context: Any) -> Iterator[Route]:
    """`context` is the RelayContext."""
    yield from router.bind(context)
    for of_service, *types in (
        (client.router, "client"),
        (frontend.router, "frontend"),
        (frontend.proxy_router, "frontend"),
        (ofrep.router, "client", "frontend"),
    ):
        bound = BoundRouter(context, TokenGuard(context, *types), {})
        for declaration in of_service.routes if of_service.is_enabled(context.config) else ():
            if declaration.path not in _LACKING:
                yield Route(declaration, bound)


@router.get("/health")
def check_health(context: RelayContext) -> HTTPResponse:
    if context.draining.is_set():
        raise UnavailableError("The relay is stopping.")
    return respond.json({"health": "GOOD", "upstream": context.sources.describe_contact()})


@router.get("/ready")
def check_readiness(context: RelayContext) -> HTTPResponse:
    problem = _find_problem(context)
    if problem:
        raise UnavailableError(problem)
    return respond.json({"health": "GOOD"})


@router.get("/internal-backstage/health")
def check_edge_health(context: RelayContext) -> HTTPResponse:
    is_good = not context.draining.is_set()
    return respond.json({"status": "OK" if is_good else "NOT_OK"}, 200 if is_good else 503)


@router.get("/internal-backstage/ready")
def check_edge_readiness(context: RelayContext) -> HTTPResponse:
    is_ready = not _find_problem(context)
    status = "READY" if is_ready else "NOT_READY"
    return respond.json({"status": status}, 200 if is_ready else 503)


@router.post("/edge/validate", takes=TokensBody, limit="edge_validate")
def validate_tokens(context: RelayContext, body: TokensBody) -> HTTPResponse:
    """The valid tokens that this relay serves, without admin tokens."""
    if len(body.tokens) > BATCH:
        raise BadDataError(f"At most {BATCH} tokens at once.", path="tokens")
    tokens = {secrets.sha256(token): token for token in body.tokens if is_token(token)}
    scopes = context.tokens.check(tokens)
    answer = [
        {
            "token": tokens[key],
            "type": scope.type,
            "projects": list(scope.projects),
            "environment": scope.environment,
        }
        for key, scope in scopes.items()
        if scope.type != "admin" and context.tokens.allows(scope)
    ]
    return respond.json({"tokens": answer})


def _find_problem(context: RelayContext) -> str:
    if context.draining.is_set():
        return "The relay is stopping."
    return context.tokens.find_problem()
