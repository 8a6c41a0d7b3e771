"""Checks each connection of this process before it is made.

For a process whose libraries resolve and connect on their own: Python reports each connection of
any thread to an audit hook first, and the hook can refuse it.
"""

import socket
import sys
from collections.abc import Iterable
from typing import Any

from sigservice.outgoing.addresses import AddressPolicy, DestinationError, check_address, parse_ip

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


class ConnectionGuard:
    """`proxies` are (host, port) pairs that are always allowed. `refusals` has the reason of each
    refused connection, because libraries hide them."""

    def __init__(self, policy: AddressPolicy, proxies: Iterable[tuple[str, int]] = ()) -> None:
        self.refusals: list[str] = []
        self._policy, self._proxies = policy, set(proxies)
        self._names: dict[str, set[str]] = {}  # by the address that they resolve to
        self._proxy_addresses: set[tuple[str, int]] = set()
        self._getaddrinfo = socket.getaddrinfo

    def install(self) -> None:
        """Takes effect for the rest of the process: an audit hook can't be removed."""
        socket.getaddrinfo = self._resolve
        send: Any = socket.socket.sendto

        def sendto(sock: Any, data: Any, *more: Any) -> int:
            """Resolves the name of a datagram's receiver, because the hook requires an address."""
            *flags, (host, *rest) = more
            infos = socket.getaddrinfo(host, rest[0], sock.family, sock.type)
            return send(sock, data, *flags, infos[0][4])

        socket.socket.sendto = sendto  # type: ignore[method-assign]
        sys.addaudithook(self._hook)

    def check_host(self, host: str, port: int) -> None:
        """Checks the destination of a request through a proxy. Raises PermissionError."""
        try:
            for info in self._resolve(host, port, type=socket.SOCK_STREAM):
                self._check(str(info[4][0]), port)
        except (socket.gaierror, UnicodeError):
            pass  # only the proxy can resolve it

    def _resolve(self, host: Any, port: Any, *args: Any, **more: Any) -> list[Any]:
        infos = self._getaddrinfo(host, port, *args, **more)
        name = host.decode() if isinstance(host, bytes) else str(host or "")
        for info in infos:
            address = str(info[4][0])
            self._names.setdefault(address, set()).add(name)
            if (name, info[4][1]) in self._proxies:
                self._proxy_addresses.add((address, int(info[4][1])))
        return infos

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if event in _PROCESSES:
            self._refuse("The service runs a program on this machine, which is not allowed.")
        if event not in _CONNECTIONS or (event == "socket.sendmsg" and args[1] is None):
            return
        sock, address = args
        if sock.family not in (socket.AF_INET, socket.AF_INET6):
            self._refuse("The service uses this machine itself, which is not allowed.")
        self._check(str(address[0]), int(address[1]))

    def _check(self, host: str, port: int) -> None:
        if (host, port) in self._proxy_addresses:
            return
        address = parse_ip(host)
        if address is None:
            return self._refuse("The service connects without resolving the name first.")
        reason = ""
        for name in (host, *self._names.get(host, ())):
            try:
                return check_address(name, address, self._policy)
            except DestinationError as error:
                reason = str(error)
        self._refuse(reason)

    def _refuse(self, reason: str) -> None:
        self.refusals.append(reason)
        raise PermissionError(reason)
