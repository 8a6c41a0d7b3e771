"""The parent process of the embedded PostgreSQL: restarts it when it dies and stops it when
no process uses it.

Runs as a script (`python -I -S supervisor.py …`) with only the standard library. Every process that
uses the database holds a shared lock on one file. The kernel releases the lock when the process
ends, even after SIGKILL. So the exclusive lock is available only when no process uses the database.

usage: supervisor.py USERS_LOCK LOG_FILE ACCOUNT HOME SOCKETS postgres -D DATA ARGUMENT…
ACCOUNT runs postgres ("" = the current account); HOME and SOCKETS are folders to remove at the end
("" = none).
"""

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
# How long consecutive starts may fail. After a kill they do: a backend, or the postmaster until it
# is reaped, still uses the data directory. If no database ever ran in it, the time is shorter.
MAX_FAILING_SECONDS = {False: 3.0, True: 30.0}


def make_death_signal() -> Callable[[], object] | None:
    """A function for the child process: on Linux a SIGKILL of the supervisor stops the database
    too.

    The library is loaded here because the other account may have no access to it.
    """
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(1, signal.SIGINT)  # PR_SET_PDEATHSIG


def start_server(command: list[str], log: str, account: str) -> subprocess.Popen[bytes]:
    identity: dict[str, Any] = {}
    if account:
        user = pwd.getpwnam(account)
        identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    with open(log, "ab", opener=open_private) as stderr:
        return subprocess.Popen(
            command,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
            preexec_fn=make_death_signal(),
            **identity,
        )


def open_private(path: str, flags: int) -> int:
    """An opener for files that only the owner can read, independent of the umask."""
    return os.open(path, flags, 0o600)


def is_ready(data: str) -> bool:
    """Whether the pid file of postgres says that it accepts connections."""
    try:
        with open(os.path.join(data, "postmaster.pid")) as file:
            return file.read().splitlines()[7].strip() == "ready"
    except (OSError, IndexError):
        return False


def main(
    users_lock: str, log: str, account: str, temporary_folders: list[str], command: list[str]
) -> int:
    lock = os.open(users_lock, os.O_RDWR | os.O_CLOEXEC)
    data = command[2]
    is_stopping = False

    def request_stop(*_: object) -> None:
        nonlocal is_stopping
        is_stopping = True

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, request_stop)
    has_run = os.path.exists(os.path.join(data, "postmaster.pid"))
    failing_since = time.monotonic()
    pause = 0.05
    while True:
        server = start_server(command, log, account)
        was_ready = False
        while server.poll() is None and not is_stopping:
            was_ready = was_ready or is_ready(data)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_stopping = True
            except OSError:
                time.sleep(POLL_SECONDS)
        if is_stopping:
            if server.poll() is None:
                # Temporary data needs no checkpoint.
                server.send_signal(signal.SIGQUIT if any(temporary_folders) else signal.SIGINT)
            server.wait()
            for folder in filter(None, temporary_folders):
                shutil.rmtree(folder, ignore_errors=True)
            return 0
        if was_ready:
            has_run, failing_since, pause = True, time.monotonic(), 0.05
        elif time.monotonic() - failing_since > MAX_FAILING_SECONDS[has_run]:
            return 1
        time.sleep(pause)
        pause = min(2 * pause, 1.0)


if __name__ == "__main__":
    _, locked, log_file, account_name, home, sockets, *postgres = sys.argv
    sys.exit(main(locked, log_file, account_name, [home, sockets], postgres))
