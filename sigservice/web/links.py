"""Absolute URLs, built from SERVICE_URL and never from the Host header of a client, and paths of
pages."""

import ipaddress
import re
from typing import Any

from sigservice.context import Context
from sigservice.web.client_ip import is_https

_HOST = re.compile(r"(?P<name>localhost|\[[0-9a-fA-F:.]+\]|[0-9.]+)(:[0-9]{1,5})?")
_WEB_URL = re.compile(r"https?://[^\s/?#][^\s…]*", re.IGNORECASE)  # shortened texts end with …
_MAX_WEB_URL = 499  # the texts of a payload are cut at 500 characters


def make_own_url(context: Context, environ: dict[str, Any]) -> str:
    """The URL of the service. Without SERVICE_URL, the host of the request if it is an IP address
    or localhost, else localhost, so that a forged Host header never appears."""
    if context.public_url:
        return context.public_url
    host, scheme = environ.get("HTTP_HOST", ""), "http"
    if not _is_address(host):
        port = str(environ.get("SERVER_PORT", ""))
        host = f"localhost:{port}" if port.isdigit() else "localhost"
    elif is_https(environ, context.trusted_proxies):
        scheme = "https"
    return f"{scheme}://{host}{context.prefix}"


def make_mail_url(context: Context, environ: dict[str, Any]) -> str:
    """The URL for links in emails. It ignores the Host header, which an attacker chooses when
    requesting an email for another user."""
    return make_own_url(context, environ | {"HTTP_HOST": ""})


def make_signal_url(context: Context, environ: dict[str, Any], endpoint_name: str) -> str:
    return f"{make_own_url(context, environ)}/api/signal-endpoint/{endpoint_name}"


def _is_address(host: str) -> bool:
    match = _HOST.fullmatch(host)
    if not match:
        return False
    try:
        return match["name"] == "localhost" or bool(ipaddress.ip_address(match["name"].strip("[]")))
    except ValueError:
        return False


def find_web_url(text: str) -> str:
    """The text if it is an http or https URL that a page can link, else ""."""
    is_url = len(text) <= _MAX_WEB_URL and text.isprintable() and _WEB_URL.fullmatch(text)
    return text if is_url else ""


def flag_path(name: str) -> str:
    """The flag's page; /admin/features/new is the form of a new flag."""
    return f"/admin/features/{name}" + ("/flag" if name == "new" else "")
