"""Rate limits by address: the option `limit="login"` of a route."""

from collections.abc import Hashable
from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError, RateLimitError
from sigservice.web import respond
from sigservice.web.client_ip import find_client_ip, make_limit_key


def build_rate_limit_error(headers: dict[str, str], status: int = 429) -> RateLimitError:
    error = RateLimitError(
        f"Too many requests. Try again in {headers['Retry-After']} s.", headers=headers
    )
    error.status = status
    return error


def consume(context: Context, limit: str, key: Hashable) -> dict[str, str]:
    """Counts one request; returns the rate limit headers. Raises RateLimitError above the limit."""
    is_allowed, headers = context.limiter.consume(limit, key)
    if not is_allowed:
        raise build_rate_limit_error(headers)
    return headers


class LimitPlugin:
    """Counts all requests of a limited route, including failed ones, and sets the rate limit
    headers."""

    name, api = "limits", 2

    def __init__(self, context: Context) -> None:
        self._context = context

    def apply(self, callback: Any, route: Any) -> Any:
        limit = route.config.get("limit")
        if not limit:
            return callback
        context, trusted = self._context, self._context.trusted_proxies

        def limited(*args: Any, **kwargs: Any) -> Any:
            key = make_limit_key(find_client_ip(request.environ, trusted))
            headers = consume(context, limit, key)
            try:
                answer = callback(*args, **kwargs)
            except AppError as error:
                error.headers.update(headers)
                raise
            if isinstance(answer, HTTPResponse):
                respond.add_headers(answer, headers)
            return answer

        return limited
