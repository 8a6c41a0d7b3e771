"""Reads the credentials of a call to a signal endpoint, in all forms that senders can produce."""

import base64
import binascii
import re
from typing import Any
from urllib.parse import unquote_plus

from sigservice.crypto import secrets
from sigservice.errors import BadDataError
from sigservice.services.signals.credentials import Caller
from sigservice.web.body import read_query, read_sent_bytes
from sigservice.web.guards import read_bearer_token

QUERY_PARAMETER = "token"
# The names of Standard Webhooks that Svix uses, also for Clerk, Resend and others.
_ALIASES = {f"svix-{name}": f"webhook-{name}" for name in ("id", "timestamp", "signature")}


def read_caller(environ: dict[str, Any], address: str, body_limit: int) -> Caller:
    """The token is in the Authorization header (Bearer, bare, or the password of Basic), else
    of X-Gitlab-Token, else of the query. Raises BadDataError for an invalid query."""
    return Caller(
        read_signal_token(environ),
        not _read_header(environ),
        address,
        read_headers(environ),
        lambda: read_sent_bytes(environ, body_limit),
    )


def read_signal_token(environ: dict[str, Any]) -> str:
    """The token in a header or in the query, "" for none. Raises BadDataError.

    A proxy may send each token to one process, where its limit is counted. Tokens that it might
    parse differently are ignored or refused: the query may have the token only once, under its
    plain name, and not after a `;` or a second `?`.
    """
    if secret := _read_header(environ):
        return secret
    query = environ.get("QUERY_STRING", "")
    if QUERY_PARAMETER not in query:
        return ""
    token = read_query(environ).get(QUERY_PARAMETER, "")
    pairs = (part.partition("=") for part in re.split("[&;?]", query))
    values = [unquote_plus(text) for name, _, text in pairs if name == QUERY_PARAMETER]
    if values != [token] and (values or token):
        raise BadDataError("The query must contain the token once.")
    return token


def make_signal_key(endpoint_name: str, secret: str, address: str) -> bytes:
    """The key of a sender in the recent credentials, made of the secret or, for senders that sign,
    of the address."""
    credential = f"token {secret}" if secret else f"address {address}"
    return secrets.sha256(f"{endpoint_name}\n{credential}")


def _read_header(environ: dict[str, Any]) -> str:
    return _read_authorization(environ) or environ.get("HTTP_X_GITLAB_TOKEN", "").strip(" \t")


def _read_authorization(environ: dict[str, Any]) -> str:
    text: str = environ.get("HTTP_AUTHORIZATION", "").strip(" \t")
    scheme, _, rest = text.partition(" ")
    if scheme.lower() != "basic":
        return read_bearer_token(environ) or text  # `Bearer` alone is a wrong token, not none
    try:
        decoded = base64.b64decode(rest.strip(" "), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return text  # no token looks like this
    _, colon, password = decoded.partition(":")
    return password if colon and "\0" not in decoded else text


def read_headers(environ: dict[str, Any]) -> dict[str, str]:
    """The request headers with lower-case names, without Content-Type and Content-Length. Those of
    Svix have the names of Standard Webhooks."""
    headers = {
        name[5:].replace("_", "-").lower(): text
        for name, text in environ.items()
        if name.startswith("HTTP_")
    }
    for alias, name in _ALIASES.items():
        if alias in headers:
            headers.setdefault(name, headers[alias])
    return headers
