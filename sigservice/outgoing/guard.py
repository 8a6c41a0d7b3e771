"""Checks each connection of this process at the moment in which it is made.

For a process that sends by libraries that resolve and connect on their own: whatever they do, in
whichever thread, Python reports it to an audit hook before it happens, and the hook can refuse it.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterable
from typing import Any

from sigservice.outgoing.addresses import Reach, Refused, check_address, literal

_CONNECTIONS = {"socket.connect", "socket.sendto", "socket.sendmsg"}
_PROCESSES = {
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.fork",
    "os.forkpty",
    "pty.spawn",
}


class Guard:
    """`proxies` are the (host, port) that may be reached wherever they are. `refusals` has the
    reasons of what was refused: libraries keep them to themselves."""

    def __init__(self, reach: Reach, proxies: Iterable[tuple[str, int]] = ()) -> None:
        self.refusals: list[str] = []
        self._reach, self._proxies = reach, set(proxies)
        self._names: dict[str, set[str]] = {}  # by the address that they resolved to
        self._proxy_addresses: set[tuple[str, int]] = set()
        self._getaddrinfo = socket.getaddrinfo

    def install(self) -> None:
        """For the rest of the process: an audit hook can't be removed."""
        socket.getaddrinfo = self._resolve
        send: Any = socket.socket.sendto

        def sendto(sock: Any, data: Any, *more: Any) -> int:
            """A datagram to a name: resolved here, because the hook demands an address."""
            *flags, (host, *rest) = more
            found = socket.getaddrinfo(host, rest[0], sock.family, sock.type)
            return send(sock, data, *flags, found[0][4])

        socket.socket.sendto = sendto  # type: ignore[method-assign]
        sys.addaudithook(self._hook)

    def check_host(self, host: str, port: int) -> None:
        """What a proxy is asked for. Raises PermissionError."""
        try:
            for item in self._resolve(host, port, type=socket.SOCK_STREAM):
                self._check(str(item[4][0]), port)
        except (socket.gaierror, UnicodeError):
            pass  # only the proxy can resolve it

    def _resolve(self, host: Any, port: Any, *args: Any, **more: Any) -> list[Any]:
        found = self._getaddrinfo(host, port, *args, **more)
        name = host.decode() if isinstance(host, bytes) else str(host or "")
        for item in found:
            address = str(item[4][0])
            self._names.setdefault(address, set()).add(name)
            if (name, item[4][1]) in self._proxies:
                self._proxy_addresses.add((address, int(item[4][1])))
        return found

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if event in _PROCESSES:
            self._refuse("Its service runs a program on this machine, which is not allowed.")
        if event not in _CONNECTIONS or (event == "socket.sendmsg" and args[1] is None):
            return
        sock, address = args
        if sock.family not in (socket.AF_INET, socket.AF_INET6):
            self._refuse("Its service uses this machine itself, which is not allowed.")
        self._check(str(address[0]), int(address[1]))

    def _check(self, host: str, port: int) -> None:
        if (host, port) in self._proxy_addresses:
            return
        address = literal(host)
        if address is None:
            return self._refuse("Its address was not resolved before it was used.")
        reason = ""
        for name in (host, *self._names.get(host, ())):
            try:
                return check_address(name, address, self._reach)
            except Refused as refused:
                reason = str(refused)
        self._refuse(reason)

    def _refuse(self, reason: str) -> None:
        self.refusals.append(reason)
        raise PermissionError(reason)
