"""The program that sends with Apprise. sender.py starts it with a socket as its argument.

It receives a socket for each message, and a child process answers there. The child installs the
connection guard, has a time limit, and shares no state with other messages.
"""

import os
import signal
import socket

import msgspec

from sigservice.outgoing import apprise_service
from sigservice.outgoing.addresses import DestinationError
from sigservice.outgoing.apprise_service import AppriseMissingError
from sigservice.outgoing.connection_guard import ConnectionGuard
from sigservice.outgoing.sender import MESSAGE_SECONDS, Message, SendResult

IDLE_SECONDS = 300.0
# Libraries see only these variables: others may hold secrets of the service.
_ENVIRONMENT = {"PATH", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH"}
_ENVIRONMENT |= {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}


def main(descriptor: int) -> None:
    """Returns after IDLE_SECONDS without a message."""
    for name in set(os.environ) - _ENVIRONMENT:
        del os.environ[name]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies: nothing waits for the children
    control = socket.socket(fileno=descriptor)
    control.settimeout(IDLE_SECONDS)
    apprise_service.load()
    while conn := _accept(control):
        if os.fork() == 0:
            try:
                control.close()
                _handle(conn)
            finally:
                os._exit(0)
        conn.close()


def _accept(control: socket.socket) -> socket.socket | None:
    """The socket of the next message, None after IDLE_SECONDS. When the service closes its end,
    this process and its children end here."""
    try:
        _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    except TimeoutError:
        return None
    if not descriptors:
        os.killpg(0, signal.SIGKILL)
    return socket.socket(fileno=descriptors[0])


def _handle(conn: socket.socket) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(MESSAGE_SECONDS)  # ends the process
    with conn.makefile("rb") as file:
        message = msgspec.json.decode(file.read(), type=Message)
    conn.sendall(msgspec.json.encode(_send(message)))


def _send(message: Message) -> SendResult:
    os.environ.update(message.proxies.to_environment())
    endpoints = message.proxies.list_endpoints()
    guard = ConnectionGuard(message.policy, endpoints)
    guard.install()
    if endpoints:
        apprise_service.hook_requests(guard.check_host)
    try:
        service = apprise_service.make_service(message.url, message.policy)
    except (AppriseMissingError, DestinationError) as error:
        return SendResult(refusal=str(error))
    failure = apprise_service.notify(service, message.title, message.body, message.severity)
    return SendResult(failure, guard.refusals[0] if failure and guard.refusals else "")
