"""Authenticates requests to the relay by what the upstream says about their tokens."""

from typing import Any

from bottle import request

from sigservice.config.relay import is_token
from sigservice.crypto import secrets
from sigservice.delivery.revision_cache import Access
from sigservice.errors import NoPermissionError, UnauthorizedError
from sigservice.relay.context import SOURCE, RelayContext
from sigservice.relay.sources import Source
from sigservice.relay.upstream import Scope
from sigservice.web.client_ip import find_client_ip
from sigservice.web.guards import (
    REVISIONS,
    AuthenticationAttempt,
    read_bearer_token,
    read_ofrep_token,
)
from sigservice.web.request_log import HAS_TOKEN

TOKEN_NAME = "ofrep"  # of applications without a name


class TokenGuard:
    """A token of one of `types` (of both for OFREP) that a source covers. Passes an Access to the
    handler, and the source and the revisions of its state in the environ."""

    name, api, is_open = "guard", 2, False

    def __init__(self, context: RelayContext, *types: str) -> None:
        self._context, self._types = context, types
        self._read_token = read_bearer_token if len(types) == 1 else read_ofrep_token
        self._shared: Any = context  # for what takes a Context

    def apply(self, callback: Any, route: Any) -> Any:
        def guarded(**kwargs: Any) -> Any:
            environ = request.environ
            secret = self._read_token(environ)
            if not is_token(secret):
                raise UnauthorizedError("Send an API token in the Authorization header.")
            key = secrets.sha256(secret)
            scope = self._find_scope(environ, key, secret)
            environ[HAS_TOKEN] = True
            if scope.type not in self._types:
                names = " or ".join(self._types)
                raise NoPermissionError(f"The token must be of type {names}.")
            source = self._find_source(scope, secret)
            state = self._context.sources.wait_for_state(source)
            environ[SOURCE], environ[REVISIONS] = source, state.revisions
            token_id = int.from_bytes(key[:7], "big") + 1
            access = Access(token_id, TOKEN_NAME, scope.type, scope.environment, scope.projects)
            return callback(access, **kwargs)

        return guarded

    def _find_scope(self, environ: dict[str, Any], key: bytes, secret: str) -> Scope:
        context = self._context
        scope = context.tokens.find_known(key)
        if scope is not None:
            return scope
        ip = find_client_ip(environ, context.trusted_proxies)
        with AuthenticationAttempt(self._shared, ip, key):
            scope = context.tokens.check({key: secret}).get(key)
            if scope is None:
                raise UnauthorizedError("The API token is unknown or has expired.")
        return scope

    def _find_source(self, scope: Scope, secret: str) -> Source:
        context = self._context
        if not context.tokens.allows(scope):
            raise NoPermissionError("This relay doesn't serve the environment of the token.")
        source = context.sources.find(scope)
        if source is None and scope.type != "client":
            if scope not in context.uncovered:
                context.uncovered.add(scope)
                log = context.get_logger("relay")
                log.warn("no token of RELAY_TOKENS covers %s", scope.describe())
            raise NoPermissionError(
                "The relay needs a client token for the environment and projects of this token in "
                "RELAY_TOKENS."
            )
        return source or context.sources.add(scope, secret, is_configured=False)
