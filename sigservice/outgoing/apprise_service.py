"""One of apprise's services, made from its address: what is accepted, and how it sends.

apprise is optional and takes a second to import, so it is imported on use.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from urllib3.util import parse_url

from sigservice.outgoing.addresses import DEFAULT_PORTS, Reach, Refused, check_address, literal
from sigservice.outgoing.special_addresses import Address

CONNECT_SECONDS, READ_SECONDS = 5.0, 10.0
MISSING = "Apprise is not installed here (pip install 'sigservice[notify]')."

# They reach the machine itself: its desktop, log, devices, or files that the address names.
_LOCAL = {"blink1", "dbus", "glib", "gio", "gnome", "kde", "macosx", "qt", "syslog", "windows"}
_LOCAL |= {"deltachat", "deltachats", "fcm", "vapid"}
_FILES = {"keyfile", "pem", "pgp", "pgpkey", "pgpprv", "pgppub", "subfile", "template"}


class Missing(Exception):
    """Apprise, or what one of its services needs, is not installed."""


def is_installed() -> bool:
    """Without importing it."""
    try:
        return importlib.util.find_spec("apprise") is not None
    except ValueError:
        return False


def load() -> None:
    """Imports apprise and all its services. Raises Missing."""
    _apprise().Apprise.instantiate("json://localhost")


def watch_requests(check: Callable[[str, int], None]) -> None:
    """For the rest of the process: `check(host, port)` comes before each HTTP request and may
    raise. Where there is a proxy a connection alone does not show whom a request is for."""
    adapter = importlib.import_module("requests.adapters").HTTPAdapter
    send = adapter.send

    def checked(self: Any, request: Any, *args: Any, **more: Any) -> Any:
        url = parse_url(request.url)
        check((url.host or "").strip("[]"), url.port or DEFAULT_PORTS.get(url.scheme or "", 0))
        return send(self, request, *args, **more)

    adapter.send = checked


def make_service(url: str, reach: Reach) -> Any:
    """Resolves and connects to nothing. Raises Missing, Refused."""
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
    if not service.verify_certificate:
        raise Refused("Certificates are always verified: verify=no is not allowed.")
    for host, address in _literals(service).items():
        check_address(host, address, reach)
    return service


def notify(service: Any, title: str, body: str, tone: str) -> str:
    """ "" when it was delivered, else what went wrong."""
    service.socket_connect_timeout = min(service.socket_connect_timeout, CONNECT_SECONDS)
    service.socket_read_timeout = min(service.socket_read_timeout, READ_SECONDS)
    service.redirects = False
    sender = _apprise().Apprise(asset=service.asset)
    sender.add(service)
    try:
        done = sender.notify(body=body, title=title, notify_type=tone, body_format="text")
    except Exception as error:  # noqa: BLE001  a hundred services, each with errors of its own
        return f"Apprise failed: {type(error).__name__}."
    return "" if done else "The service did not take it, or can't be reached."


def _literals(service: Any) -> dict[str, Address]:
    """The hosts that are addresses in numbers. Where a cloud's service has a token in their place,
    it may look like one number, which no host is."""
    names_host = any("{host}" in template for template in service.templates)
    hosts = {str(getattr(service, name, None) or "") for name in ("host", "smtp_host")}
    addresses = {host: literal(host.strip("[]")) for host in hosts}
    return {
        host: address
        for host, address in addresses.items()
        if address is not None and (names_host or "." in host or ":" in host)
    }


def _apprise() -> Any:
    try:
        return importlib.import_module("apprise")
    except ImportError:
        raise Missing(MISSING) from None
