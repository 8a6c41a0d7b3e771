"""Who asks without a token, by the authentication type; and what nobody is told instead."""

from __future__ import annotations

import ipaddress
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from bottle import HTTPResponse

from sigservice.config.authentication_types import NO_HANDLER
from sigservice.context import Context
from sigservice.errors import AppError, AuthenticationRequired, BadDataError, ForbiddenError
from sigservice.log import format_trace
from sigservice.services.access import sessions
from sigservice.services.access.passwordless_users import find_custom_user
from sigservice.services.identity import UNKNOWN, Identity
from sigservice.web import session
from sigservice.web.client_ip import find_client_ip


def find_identity(context: Context, environ: dict[str, Any]) -> Identity | None:
    """None for who has to sign in. Raises what a custom handler raises on purpose, and
    ForbiddenError for a foreign Host where authentication is off."""
    kind = context.authentication.type
    if kind.is_open:
        _check_host(context, environ)
        return replace(UNKNOWN, ip=find_client_ip(environ, context.trusted_proxies))
    identity = _vouched(context, environ) or session.find_identity(context, environ)
    if identity is None or kind.has_passwords:
        return identity
    if is_locked_out(context, identity):
        return None
    return replace(identity, has_default_password=False, default_password_works=False)


def can_identify_without_cookie(context: Context) -> bool:
    """Whether somebody may be known who sends neither cookie nor token."""
    custom = context.authentication.custom
    return context.authentication.type.is_open or bool(custom and custom.identify)


def is_locked_out(context: Context, identity: Identity) -> bool:
    """Whether this is an admin known by an address alone, where those may not sign in: whoever
    typed the address before its owner became an admin."""
    allowed = context.config["authentication"]["demoAllowAdminLogin"]
    return context.authentication.type.takes_email and identity.role == "Admin" and not allowed


def make_sign_in_error(context: Context) -> AuthenticationRequired:
    """The 401 that tells a program where people sign in."""
    authentication = context.authentication
    if authentication.lacks_handler:
        return AuthenticationRequired(NO_HANDLER, extra={"error": NO_HANDLER})
    path = authentication.custom.path if authentication.custom else ""
    return AuthenticationRequired(
        "You must sign in or send an API token.",
        extra={
            "path": context.prefix + (path or authentication.type.path),
            "type": authentication.type.api_name,
            "defaultHidden": False,
        },
    )


def _vouched(context: Context, environ: dict[str, Any]) -> Identity | None:
    """Whom the custom handler names. Its bugs let nobody in: they are logged, it counts as None."""
    custom = context.authentication.custom
    if custom is None or custom.identify is None:
        return None
    logger = context.get_logger("authentication")
    try:
        given = custom.identify(environ)
    except (AppError, HTTPResponse):
        raise
    except Exception as error:  # noqa: BLE001  it is not our code
        logger.error("customAuthHandler: %s", format_trace(error))
        return None
    if given is None:
        return None
    ip = find_client_ip(environ, context.trusted_proxies)
    try:
        with context.database.transaction() as conn:
            return sessions.make_identity(find_custom_user(conn, given, ip=ip), ip=ip)
    except BadDataError as error:
        logger.error("customAuthHandler: the user it names is refused: %s", error.message)
        return None


def _check_host(context: Context, environ: dict[str, Any]) -> None:
    """Any site can point a name of its own at this address (DNS rebinding), and a browser then
    takes us for that site. A name without a dot, an address and our own name are safe."""
    host = _name(environ.get("HTTP_HOST", ""))
    ours = {_name(urlsplit(context.public_url).netloc), context.config["server"]["host"]}
    if "." not in host or host.endswith(".localhost") or host in ours or _is_address(host):
        return
    raise ForbiddenError(
        "Authentication is off, so this service answers only under its own name: set SERVICE_URL."
    )


def _name(host: str) -> str:
    """Of `name:port`, `[address]:port`."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower().rstrip(".")


def _is_address(host: str) -> bool:
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return False
