"""Notifies systemd of the start and the stop (sd_notify), for units with Type=notify."""

import contextlib
import socket
from collections.abc import Mapping

READY, STOPPING = "READY=1", "STOPPING=1"


def notify_service_manager(state: str, environ: Mapping[str, str]) -> None:
    """Sends `state` to the socket that systemd named in NOTIFY_SOCKET; without one does nothing.

    A socket that can't be reached is ignored: the service works without its manager.
    """
    address = environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    if address.startswith("@"):  # an abstract socket
        address = "\0" + address[1:]
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.settimeout(1)
        sock.sendto(state.encode(), address)
