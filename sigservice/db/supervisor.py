"""Parent of the embedded PostgreSQL: ends it when the last user is gone, restarts it when it dies.

Run as a file of its own (`python -I -S supervisor.py …`), with the standard library alone. Every
process that uses the database holds a shared lock on one file; the kernel gives it up whatever
ends the process, SIGKILL too. Whoever gets the exclusive lock knows that nobody is left.

usage: supervisor.py USERS_LOCK LOG_FILE ACCOUNT HOME SOCKETS postgres -D DATA ARGUMENT…
ACCOUNT runs postgres ("" = as we are); HOME and SOCKETS are folders to remove at the end
("" = none).
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
# How long starts may fail one after the other. After a kill the next ones do: a backend or the
# postmaster itself, not yet reaped, holds the data folder. A folder that never held a running
# database is given up sooner.
PATIENCE_SECONDS = {False: 3.0, True: 30.0}


def end_with_parent() -> Callable[[], object] | None:
    """Linux: even a SIGKILL of this supervisor stops the database (fast shutdown).

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


def is_ready(data: str) -> bool:
    """Whether postgres says in its pid file that it takes connections."""
    try:
        with open(os.path.join(data, "postmaster.pid")) as file:
            return file.read().splitlines()[7].strip() == "ready"
    except (OSError, IndexError):
        return False


def main(users_lock: str, log: str, account: str, throw_away: list[str], command: list[str]) -> int:
    lock = os.open(users_lock, os.O_RDWR | os.O_CLOEXEC)
    data = command[2]
    stop = False

    def ask_to_stop(*_: object) -> None:
        nonlocal stop
        stop = True

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, ask_to_stop)
    has_run = os.path.exists(os.path.join(data, "postmaster.pid"))
    failing_since = time.monotonic()
    pause = 0.05
    while True:
        server = start(command, log, account)
        came_up = False
        while server.poll() is None and not stop:
            came_up = came_up or is_ready(data)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                stop = True
            except OSError:
                time.sleep(POLL_SECONDS)
        if stop:
            if server.poll() is None:
                # What is thrown away need not be written down first.
                server.send_signal(signal.SIGQUIT if any(throw_away) else signal.SIGINT)
            server.wait()
            for folder in filter(None, throw_away):
                shutil.rmtree(folder, ignore_errors=True)
            return 0
        if came_up:
            has_run, failing_since, pause = True, time.monotonic(), 0.05
        elif time.monotonic() - failing_since > PATIENCE_SECONDS[has_run]:
            return 1
        time.sleep(pause)
        pause = min(2 * pause, 1.0)


if __name__ == "__main__":
    _, locked, log_file, account_name, home, sockets, *postgres = sys.argv
    sys.exit(main(locked, log_file, account_name, [home, sockets], postgres))
