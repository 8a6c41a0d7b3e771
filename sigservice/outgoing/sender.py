"""Sends by apprise in a process of its own, in which each connection is checked: see guard.py.

The process has imported apprise, which takes a second, and forks a child for each message. It is
started by the first message and ends when none has come for a while.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading

import msgspec

from sigservice.outgoing.addresses import Refused
from sigservice.outgoing.post import Failed
from sigservice.outgoing.proxies import Proxies

SECONDS = 40  # for one message, from the moment at which it is read
_START_SECONDS = 15
_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[2])
from sigservice.outgoing import sender_process
sender_process.main(int(sys.argv[1]))
"""


class Message(msgspec.Struct):
    """All that the process needs to know."""

    url: str
    title: str
    body: str
    tone: str
    allow_private: bool
    allowed_hosts: tuple[str, ...]
    proxies: Proxies


class Sent(msgspec.Struct):
    """`error` is "" for what was delivered; `refused` says what was not allowed."""

    error: str = ""
    refused: str = ""


class Sender:
    """Several threads may send at once."""

    def __init__(self) -> None:
        self._lock, self._is_closed = threading.Lock(), False
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def send(self, message: Message) -> None:
        """Returns when it was delivered. Raises Refused, Failed."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                self._hand_over(theirs)
            ours.settimeout(SECONDS + _START_SECONDS)
            try:
                ours.sendall(msgspec.json.encode(message))
                ours.shutdown(socket.SHUT_WR)
                with ours.makefile("rb") as file:
                    answer = msgspec.json.decode(file.read(), type=Sent)
            except (OSError, msgspec.DecodeError):
                raise Failed("There was no end to it, or its process was ended.") from None
        if answer.refused:
            raise Refused(answer.refused)
        if answer.error:
            raise Failed(answer.error)

    def close(self) -> None:
        """Ends the process and what it is sending. Nothing can be sent afterwards."""
        with self._lock:
            self._is_closed = True
            self._forget()

    def _hand_over(self, conn: socket.socket) -> None:
        """Starts a process where there is none, or the last one has ended. Raises Failed."""
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
        raise Failed("The process that sends can't be started.")

    def _start(self) -> None:
        self._control, theirs = socket.socketpair()
        path = msgspec.json.encode([os.path.abspath(entry) for entry in sys.path]).decode()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, str(theirs.fileno()), path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
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
