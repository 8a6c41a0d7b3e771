"""Creates one of the services of Apprise from its URL, and sends through it.

Apprise is optional and takes a second to import, so it is imported on first use.
"""

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from urllib3.util import parse_url

from sigservice.outgoing.addresses import (
    DEFAULT_PORTS,
    AddressPolicy,
    DestinationError,
    check_address,
    parse_ip,
)
from sigservice.outgoing.special_addresses import Address

CONNECT_SECONDS, READ_SECONDS = 5.0, 10.0
MISSING = "Apprise is not installed (pip install '.[notify]')."

# These use the machine itself: its desktop, log, devices, or files that the URL names.
_LOCAL = {"blink1", "dbus", "glib", "gio", "gnome", "kde", "macosx", "qt", "syslog", "windows"}
_LOCAL |= {"deltachat", "deltachats", "fcm", "vapid"}
_FILES = {"keyfile", "pem", "pgp", "pgpkey", "pgpprv", "pgppub", "subfile", "template"}


class AppriseMissingError(Exception):
    """Apprise, or a dependency of one of its services, is not installed."""


def is_installed() -> bool:
    """Whether Apprise is there; doesn't import it."""
    try:
        return importlib.util.find_spec("apprise") is not None
    except ValueError:
        return False


def load() -> None:
    """Imports Apprise and all its services. Raises AppriseMissingError."""
    _apprise().Apprise.instantiate("json://localhost")


def hook_requests(check: Callable[[str, int], None]) -> None:
    """Calls `check(host, port)`, which may raise, before each HTTP request of this process. A
    connection to a proxy doesn't show the destination of the request."""
    adapter = importlib.import_module("requests.adapters").HTTPAdapter
    send = adapter.send

    def send_checked(self: Any, request: Any, *args: Any, **more: Any) -> Any:
        url = parse_url(request.url)
        check((url.host or "").strip("[]"), url.port or DEFAULT_PORTS.get(url.scheme or "", 0))
        return send(self, request, *args, **more)

    adapter.send = send_checked


def make_service(url: str, policy: AddressPolicy) -> Any:
    """Doesn't resolve or connect. Raises AppriseMissingError, DestinationError."""
    apprise = _apprise()
    try:
        scheme = urlsplit(url).scheme.lower()
        arguments = {name.lower() for name, _ in parse_qsl(urlsplit(url).query)}
    except ValueError:
        raise DestinationError("This is not a valid URL.") from None
    if not url.isprintable():
        raise DestinationError("This is not a valid URL.")
    if scheme in _LOCAL or arguments & _FILES:
        raise DestinationError(
            "Services and parameters that use files of this machine are not allowed."
        )
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
        raise DestinationError("Apprise does not support this URL, or it is incomplete.")
    if not service.verify_certificate:
        raise DestinationError("verify=no is not allowed: certificates are always verified.")
    for host, address in _list_ip_hosts(service).items():
        check_address(host, address, policy)
    return service


def notify(service: Any, title: str, body: str, severity: str) -> str:
    """Sends a message; returns "" or an error."""
    service.socket_connect_timeout = min(service.socket_connect_timeout, CONNECT_SECONDS)
    service.socket_read_timeout = min(service.socket_read_timeout, READ_SECONDS)
    service.redirects = False
    sender = _apprise().Apprise(asset=service.asset)
    sender.add(service)
    try:
        is_sent = sender.notify(body=body, title=title, notify_type=severity, body_format="text")
    except Exception as error:  # noqa: BLE001  each of a hundred services raises its own
        return f"Apprise failed: {type(error).__name__}."
    return "" if is_sent else "The service rejected the message or can't be reached."


def _list_ip_hosts(service: Any) -> dict[str, Address]:
    """The hosts that are IP addresses. The URL of a cloud service has a token in their place, which
    may look like one number; a host never does."""
    names_host = any("{host}" in template for template in service.templates)
    hosts = {str(getattr(service, name, None) or "") for name in ("host", "smtp_host")}
    addresses = {host: parse_ip(host.strip("[]")) for host in hosts}
    return {
        host: address
        for host, address in addresses.items()
        if address is not None and (names_host or "." in host or ":" in host)
    }


def _apprise() -> Any:
    try:
        return importlib.import_module("apprise")
    except ImportError:
        raise AppriseMissingError(MISSING) from None
