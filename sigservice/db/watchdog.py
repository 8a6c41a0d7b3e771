"""Parent of the embedded PostgreSQL: ends it when the last user is gone, restarts it when it dies.

Run as a file of its own (`python -I -S watchdog.py …`), with the standard library alone. Every
process that uses the database holds a shared lock on one file; the kernel gives it up whatever
ends the process, SIGKILL too. Whoever gets the exclusive lock knows that nobody is left.

usage: watchdog.py USERS_LOCK LOG_FILE ACCOUNT postgres ARGUMENT…    (ACCOUNT "" = as we are)
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

POLL_SECONDS = 0.1
TRIES = 20


def end_with_parent() -> Callable[[], object] | None:
    """Linux: even a SIGKILL of this watchdog stops the database (fast shutdown).

    The library is found here, before the account changes: it may not reach this Python.
    """
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(1, signal.SIGINT)  # PR_SET_PDEATHSIG


def start(command: list[str], log: str, account: str) -> subprocess.Popen[bytes]:
    identity: dict[str, Any] = {}
    if account:
        user = pwd.getpwnam(account)
        identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    with open(log, "ab") as stderr:
        return subprocess.Popen(
            command,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
            preexec_fn=end_with_parent(),
            **identity,
        )


def main(users_lock: str, log: str, account: str, command: list[str]) -> int:
    lock = os.open(users_lock, os.O_RDWR | os.O_CLOEXEC)
    stop = False

    def ask_to_stop(*_: object) -> None:
        nonlocal stop
        stop = True

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, ask_to_stop)
    failures = 0
    while True:
        started = time.monotonic()
        server = start(command, log, account)
        while server.poll() is None and not stop:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                stop = True
            except OSError:
                time.sleep(POLL_SECONDS)
        if stop:
            if server.poll() is None:
                server.send_signal(signal.SIGINT)
            server.wait()
            return 0
        # It died by itself. A backend that outlives a killed postmaster holds the data
        # directory for a moment, so the next try may fail too.
        failures = failures + 1 if time.monotonic() - started < 5 else 1
        if failures >= TRIES:
            return 1
        time.sleep(min(0.05 * failures, 1.0))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
