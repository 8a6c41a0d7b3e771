"""The program that sends by apprise; started by sender.py, with a socket to it as its argument.

A socket comes in for each message, and a child answers there. The child has the guard, a time in
which it ends whatever it does, and nothing that another message has left behind.
"""

from __future__ import annotations

import os
import signal
import socket

import msgspec

from sigservice.outgoing import apprise_service
from sigservice.outgoing.addresses import Reach, Refused
from sigservice.outgoing.apprise_service import Missing
from sigservice.outgoing.guard import Guard
from sigservice.outgoing.sender import SECONDS, Message, Sent

IDLE_SECONDS = 300.0
# What libraries are to know of the environment, which may hold the service's own secrets.
_ENVIRONMENT = {"PATH", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH"}
_ENVIRONMENT |= {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}


def main(descriptor: int) -> None:
    """Returns when there was nothing to send for long."""
    for name in set(os.environ) - _ENVIRONMENT:
        del os.environ[name]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    control = socket.socket(fileno=descriptor)
    control.settimeout(IDLE_SECONDS)
    apprise_service.load()
    while conn := _accept(control):
        if os.fork() == 0:
            try:
                control.close()
                _answer(conn)
            finally:
                os._exit(0)
        conn.close()


def _accept(control: socket.socket) -> socket.socket | None:
    """The next message's socket, None after a while without one. When the service has closed its
    end, this process and its children end here."""
    try:
        _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    except TimeoutError:
        return None
    if not descriptors:
        os.killpg(0, signal.SIGKILL)
    return socket.socket(fileno=descriptors[0])


def _answer(conn: socket.socket) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(SECONDS)  # which ends the process
    with conn.makefile("rb") as file:
        message = msgspec.json.decode(file.read(), type=Message)
    conn.sendall(msgspec.json.encode(_send(message)))


def _send(message: Message) -> Sent:
    os.environ.update(message.proxies.variables())
    reach = Reach(message.allow_private, message.allowed_hosts)
    guard = Guard(reach, message.proxies.endpoints())
    guard.install()
    if message.proxies.endpoints():
        apprise_service.watch_requests(guard.check_host)
    try:
        service = apprise_service.make_service(message.url, reach)
    except (Missing, Refused) as refused:
        return Sent(refused=str(refused))
    error = apprise_service.notify(service, message.title, message.body, message.tone)
    return Sent(error, guard.refusals[0] if error and guard.refusals else "")
