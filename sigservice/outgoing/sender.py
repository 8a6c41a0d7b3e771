"""Sends with Apprise in a separate process that checks each connection (connection_guard.py).

The first message starts the process. It imports Apprise once, which takes a second, forks a child
for each message, and ends after a while without one.
"""

import os
import signal
import socket
import subprocess
import sys
import threading

import msgspec

from sigservice.outgoing.addresses import AddressPolicy, DestinationError
from sigservice.outgoing.post import DeliveryError
from sigservice.outgoing.proxies import Proxies

MESSAGE_SECONDS = 40  # from the moment at which the process reads a message
_START_SECONDS = 15
_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[2])
from sigservice.outgoing import sender_process
sender_process.main(int(sys.argv[1]))
"""


class Message(msgspec.Struct):
    """What the process needs to send one message."""

    url: str
    title: str
    body: str
    severity: str
    policy: AddressPolicy
    proxies: Proxies


class SendResult(msgspec.Struct):
    """`error` is "" if the message was delivered; `refusal` says what is not allowed."""

    error: str = ""
    refusal: str = ""


class Sender:
    """Thread-safe."""

    def __init__(self) -> None:
        self._lock, self._is_closed = threading.Lock(), False
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def send(self, message: Message) -> None:
        """Returns when it was delivered. Raises DestinationError, DeliveryError."""
        local, remote = socket.socketpair()
        with local:
            with remote:
                self._hand_over(remote)
            local.settimeout(MESSAGE_SECONDS + _START_SECONDS)
            try:
                local.sendall(msgspec.json.encode(message))
                local.shutdown(socket.SHUT_WR)
                with local.makefile("rb") as file:
                    result = msgspec.json.decode(file.read(), type=SendResult)
            except (OSError, msgspec.DecodeError):
                raise DeliveryError("Sending took too long, or its process ended.") from None
        if result.refusal:
            raise DestinationError(result.refusal)
        if result.error:
            raise DeliveryError(result.error)

    def close(self) -> None:
        """Ends the process and what it is sending. Nothing can be sent afterwards."""
        with self._lock:
            self._is_closed = True
            self._forget()

    def _hand_over(self, conn: socket.socket) -> None:
        """Starts a process where there is none, or the last one has ended. Raises DeliveryError."""
        with self._lock:
            for _ in range(0 if self._is_closed else 2):
                try:
                    if self._control is None:
                        self._start()
                    assert self._control is not None
                    socket.send_fds(self._control, [b"m"], [conn.fileno()])
                    return
                except OSError:
                    self._forget()
        raise DeliveryError("The process that sends can't be started.")

    def _start(self) -> None:
        self._control, remote = socket.socketpair()
        path = msgspec.json.encode([os.path.abspath(entry) for entry in sys.path]).decode()
        with remote:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, str(remote.fileno()), path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(remote.fileno(),),
                start_new_session=True,
                cwd="/",
            )

    def _forget(self) -> None:
        control, process = self._control, self._process
        self._control = self._process = None
        if control is not None:
            control.close()
        if process is not None and process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # its children too
            process.wait()
