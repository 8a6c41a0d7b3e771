"""The identity of a request without a token, by authentication type, and the error if there is
none."""

import ipaddress
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from bottle import HTTPResponse

from sigservice.config.authentication_types import NO_HANDLER
from sigservice.context import Context
from sigservice.errors import AppError, AuthenticationRequired, BadDataError, ForbiddenError
from sigservice.log import format_trace
from sigservice.services.access.passwordless_users import find_custom_user
from sigservice.services.identity import UNKNOWN, Identity, make_identity
from sigservice.web import session
from sigservice.web.client_ip import find_client_ip


def find_identity(context: Context, environ: dict[str, Any]) -> Identity | None:
    """None if the user must sign in. Raises the AppError or HTTPResponse of a custom handler, and
    ForbiddenError for another site's Host if authentication is off."""
    type = context.authentication.type
    if type.is_open:
        _check_host(context, environ)
        return replace(UNKNOWN, ip=find_client_ip(environ, context.trusted_proxies))
    identity = _call_handler(context, environ) or session.find_identity(context, environ)
    if identity is None or type.has_passwords:
        return identity
    if is_locked_out(context, identity):
        return None
    return replace(identity, has_default_password=False, default_password_works=False)


def can_identify_without_cookie(context: Context) -> bool:
    """Whether a request with neither cookie nor token may have an identity."""
    custom = context.authentication.custom
    return context.authentication.type.is_open or bool(custom and custom.identify)


def is_locked_out(context: Context, identity: Identity) -> bool:
    """Whether this is an admin who signed in by email address alone although admins may not: the
    session may be older than the user's Admin role."""
    is_allowed = context.config["authentication"]["demoAllowAdminLogin"]
    return context.authentication.type.takes_email and identity.role == "Admin" and not is_allowed


def make_sign_in_error(context: Context) -> AuthenticationRequired:
    """The 401 that says where users sign in."""
    authentication = context.authentication
    if authentication.lacks_handler:
        return AuthenticationRequired(NO_HANDLER, extra={"error": NO_HANDLER})
    options = {}
    if authentication.oidc:
        message = f"Sign in with {authentication.oidc['name']}"
        path = f"{context.prefix}/auth/oidc"
        options["options"] = [{"type": "oidc", "message": message, "path": path}]
    path = authentication.custom.path if authentication.custom else ""
    return AuthenticationRequired(
        "You must sign in or send an API token.",
        extra={
            "path": context.prefix + (path or authentication.type.path),
            "type": authentication.type.api_name,
            "defaultHidden": authentication.type.has_passwords and not authentication.has_passwords,
            **options,
        },
    )


def _call_handler(context: Context, environ: dict[str, Any]) -> Identity | None:
    """The user that the custom handler returns. Its unexpected errors are logged and count as
    None, so that a bug never authenticates a request."""
    custom = context.authentication.custom
    if custom is None or custom.identify is None:
        return None
    logger = context.get_logger("authentication")
    try:
        data = custom.identify(environ)
    except (AppError, HTTPResponse):
        raise
    except Exception as error:  # noqa: BLE001  the handler may raise anything
        logger.error("customAuthHandler: %s", format_trace(error))
        return None
    if data is None:
        return None
    ip = find_client_ip(environ, context.trusted_proxies)
    try:
        with context.database.transaction() as conn:
            return make_identity(find_custom_user(conn, data, ip=ip), ip=ip)
    except BadDataError as error:
        logger.error("customAuthHandler returned an invalid user: %s", error.message)
        return None


def _check_host(context: Context, environ: dict[str, Any]) -> None:
    """Guards against DNS rebinding: any site can point its own name at this address, and a browser
    then treats the service as that site. A name without a dot, an IP address and the service's own
    name are safe."""
    host = _parse_name(environ.get("HTTP_HOST", ""))
    own_names = {_parse_name(urlsplit(context.public_url).netloc), context.config["server"]["host"]}
    if "." in host and not (host.endswith(".localhost") or host in own_names or _is_address(host)):
        raise ForbiddenError(
            "Authentication is off, so the service only answers under its own name. Set"
            " SERVICE_URL."
        )


def _parse_name(host: str) -> str:
    """The name in `name:port` or `[address]:port`."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower().rstrip(".")


def _is_address(host: str) -> bool:
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return False
