"""Chats, mails and pagers by apprise, which is optional: pip install 'sigservice[notify]'.

Apprise resolves names and connects by itself. So an address is judged right before it is used, not
the very connection, and what a service's own cloud does is not judged at all.
"""

from __future__ import annotations

import importlib
import ipaddress
import socket
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from sigservice.outgoing.addresses import Address, Reach, Refused, check_address, literal
from sigservice.services.notification_text import Text

CONNECT_SECONDS, READ_SECONDS = 5.0, 10.0
MISSING = "Apprise is not installed here (pip install 'sigservice[notify]')."

# They reach the machine itself: its desktop, log, devices, or files that the address names.
_LOCAL = {"blink1", "dbus", "glib", "gio", "gnome", "kde", "macosx", "qt", "syslog", "windows"}
_LOCAL |= {"deltachat", "deltachats", "fcm", "vapid"}
_FILES = {"keyfile", "pem", "pgp", "pgpkey", "subfile", "template"}


class Missing(Exception):
    """Apprise, or what one of its services needs, is not installed."""


def problem(url: str, reach: Reach) -> str:
    """What is wrong with an address, "" if nothing is. A name is not resolved."""
    try:
        service = _service(url)
        for host in _hosts(service):
            address = literal(host)
            if address is not None:
                check_address(host, address, reach)
    except (Missing, Refused) as error:
        return str(error)
    return ""


def send(url: str, text: Text, reach: Reach) -> str:
    """ "" when it was delivered, else what went wrong. Raises Missing, Refused."""
    service = _service(url)
    for host in _hosts(service):
        for address in _addresses(host):
            check_address(host, address, reach)
    service.socket_connect_timeout = min(service.socket_connect_timeout, CONNECT_SECONDS)
    service.socket_read_timeout = min(service.socket_read_timeout, READ_SECONDS)
    service.redirects = False
    apprise = _apprise()
    sender = apprise.Apprise(asset=service.asset)
    sender.add(service)
    try:
        done = sender.notify(
            body=text.body, title=text.title, notify_type=text.tone, body_format="text"
        )
    except Exception as error:  # noqa: BLE001  a hundred services, each with errors of its own
        return f"Apprise failed: {type(error).__name__}."
    return "" if done else "The service did not take it, or can't be reached."


def _service(url: str) -> Any:
    """Raises Missing, Refused."""
    apprise = _apprise()
    try:
        scheme = urlsplit(url).scheme.lower()
        arguments = {name.lower() for name, _ in parse_qsl(urlsplit(url).query)}
    except ValueError:
        raise Refused("This is no address.") from None
    if not url.isprintable():
        raise Refused("This is no address.")
    if scheme in _LOCAL or arguments & _FILES:
        raise Refused("Services and arguments that use this machine's own files are not allowed.")
    asset = apprise.AppriseAsset(
        app_id="sigservice",
        async_mode=False,
        http_redirects=False,
        secure_logging=True,
        service_timeout=0,
        storage_mode="memory",
    )
    service = apprise.Apprise.instantiate(url, asset=asset, suppress_exceptions=True)
    if service is None or not getattr(service, "enabled", True):
        raise Refused("Apprise does not know this kind of address, or it is not complete.")
    return service


def _hosts(service: Any) -> list[str]:
    """Those that the address itself names; a cloud's service has a token in their place."""
    names_one = any("{host}" in template for template in service.templates)
    hosts = [service.host if names_one else None, getattr(service, "smtp_host", None)]
    return [host.strip("[]") for host in hosts if isinstance(host, str) and host]


def _addresses(host: str) -> list[Address]:
    """None for a name that only a proxy can resolve."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [ipaddress.ip_address(str(item[4][0])) for item in found]


def _apprise() -> Any:
    try:
        return importlib.import_module("apprise")
    except ImportError:
        raise Missing(MISSING) from None
