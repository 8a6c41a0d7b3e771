"""Parent of the embedded PostgreSQL: ends it when the last user is gone, restarts it when it dies.

Run as a file of its own (`python -I -S watchdog.py …`), with the standard library alone. Every
process that uses the database holds a shared lock on one file; the kernel gives it up whatever
ends the process, SIGKILL too. Whoever gets the exclusive lock knows that nobody is left.

usage: watchdog.py USERS_LOCK LOG_FILE ACCOUNT THROW_AWAY postgres ARGUMENT…
ACCOUNT runs postgres ("" = as we are); THROW_AWAY are folders to remove at the end, joined by a
colon ("" = none).
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

POLL_SECONDS = 0.1
# A backend that outlives a killed postmaster holds the data folder for a moment, so a start may
# fail and the next one work. What has never run for a while is given up sooner.
LIVED_SECONDS = 2.0
PATIENCE_SECONDS = {False: 3.0, True: 30.0}


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
    with open(log, "ab", opener=private) as stderr:
        return subprocess.Popen(
            command,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
            preexec_fn=end_with_parent(),
            **identity,
        )


def private(path: str, flags: int) -> int:
    """An opener: what it makes is the owner's alone, whatever the umask is."""
    return os.open(path, flags, 0o600)


def main(users_lock: str, log: str, account: str, throw_away: str, command: list[str]) -> int:
    lock = os.open(users_lock, os.O_RDWR | os.O_CLOEXEC)
    stop = False

    def ask_to_stop(*_: object) -> None:
        nonlocal stop
        stop = True

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, ask_to_stop)
    has_lived = False
    well_until = time.monotonic()
    pause = 0.05
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
            for folder in filter(None, throw_away.split(":")):
                shutil.rmtree(folder, ignore_errors=True)
            return 0
        now = time.monotonic()
        if now - started >= LIVED_SECONDS:
            has_lived, well_until, pause = True, now, 0.05
        if now - well_until > PATIENCE_SECONDS[has_lived]:
            return 1
        time.sleep(pause)
        pause = min(2 * pause, 1.0)


if __name__ == "__main__":
    _, locked, log_file, account_name, to_remove, *postgres = sys.argv
    sys.exit(main(locked, log_file, account_name, to_remove, postgres))
