"""The parent process of the embedded PostgreSQL: restarts it when it dies and stops it when
no process uses it.

Runs as a script (`python -I -S supervisor.py …`) with only the standard library. Three files carry
locks, which the kernel releases when their holders end, even after SIGKILL:

* users.lock: every process that uses the database holds it shared. So the exclusive lock is
  available only when no process uses the database.
* supervisor.lock: the supervisor holds it, so there is only one. It inherits the lock from the
  process that starts it.
* server.lock: postgres and its backends inherit it from the supervisor. So it is available only
  when no process of an earlier server is left.

usage: supervisor.py SUPERVISOR_LOCK HOME ACCOUNT SOCKETS postgres -D DATA ARGUMENT…
SUPERVISOR_LOCK is a file descriptor; HOME the data directory; ACCOUNT runs postgres ("" = the
current account); SOCKETS a folder to remove at the end together with HOME ("" = remove none).
"""

import contextlib
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
# How long consecutive starts may fail; shorter if no database has ever run in the directory.
MAX_FAILING_SECONDS = {False: 3.0, True: 30.0}
# How long the processes of an earlier server may take to end before they are killed. It is shorter
# if the postmaster is dead, because the others then have nothing to write. A postmaster that gets
# SIGINT while it handles the death of a backend may wait 5 s for its children, which have nothing
# to write.
GRACE_SECONDS = {False: 0.3, True: 1.0}


def make_preparation() -> Callable[[], object] | None:
    """A function for the child process: on Linux a SIGKILL of the supervisor stops the database
    too.

    The library is loaded here because the other account may have no access to it.
    """
    if sys.platform != "linux":
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def prepare() -> None:
        prctl(1, signal.SIGINT)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:  # the supervisor was killed before that call
            os._exit(1)

    return prepare


def start_server(
    command: list[str], log: str, account: str, server_lock: int
) -> subprocess.Popen[bytes]:
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
            pass_fds=[server_lock],
            preexec_fn=make_preparation(),
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


def take_lock(path: str) -> int | None:
    """The descriptor of the locked file, or None if another process holds the lock."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def list_leftovers(data: str) -> list[int]:
    """The process IDs of an earlier server on Linux: postgres works in the data directory."""
    pids = []
    for entry in os.listdir("/proc") if sys.platform == "linux" else []:
        with contextlib.suppress(OSError):
            if entry.isdigit() and os.path.samefile(f"/proc/{entry}/cwd", data):
                program = os.path.basename(os.readlink(f"/proc/{entry}/exe"))
                if program.startswith("postgres"):
                    pids.append(int(entry))
    return pids


def read_postmaster_pid(data: str) -> int:
    try:
        with open(os.path.join(data, "postmaster.pid")) as file:
            return int(file.readline())
    except (OSError, ValueError):
        return 0


def is_zombie(pid: int) -> bool:
    """Whether the process is dead but not reaped by its parent, on Linux."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False


def remove_stale_files(data: str) -> None:
    """Removes the lock files of a postmaster that was not reaped: PostgreSQL takes it for running.

    Such a postmaster remains if the supervisor was killed too and the first process of the system
    or container reaps late or never. Call with the lock of the server.
    """
    if not is_zombie(read_postmaster_pid(data)) or list_leftovers(data):
        return
    path = os.path.join(data, "postmaster.pid")
    with open(path) as file:
        lines = file.read().splitlines()
    if len(lines) > 4:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(lines[4], f".s.PGSQL.{lines[3]}.lock"))
    os.unlink(path)


def end_leftovers(data: str, seconds: float) -> None:
    """Waits up to `seconds` for the end of an earlier server, then kills its remaining processes.

    Only for the holder of the supervisor's lock: no other supervisor needs that server. The
    write-ahead log keeps what was committed.
    """
    pids = list_leftovers(data)
    if seconds > GRACE_SECONDS[read_postmaster_pid(data) in pids]:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def main(
    supervisor_lock: int, home: str, account: str, temporary_folders: list[str], command: list[str]
) -> int:
    fcntl.flock(supervisor_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises if it isn't inherited
    users_lock = os.open(os.path.join(home, "users.lock"), os.O_RDWR | os.O_CLOEXEC)
    data, log = command[2], os.path.join(home, "postgres.log")
    is_stopping = False

    def request_stop(*_: object) -> None:
        nonlocal is_stopping
        is_stopping = True

    def wait_for_event() -> None:
        """Waits a moment. If no process uses the database, requests the stop instead."""
        nonlocal is_stopping
        try:
            fcntl.flock(users_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_stopping = True
        except OSError:
            time.sleep(POLL_SECONDS)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, request_stop)
    has_run = os.path.exists(os.path.join(data, "postmaster.pid"))
    failing_since = ended_at = time.monotonic()
    pause = 0.05
    while not is_stopping:
        server_lock = take_lock(os.path.join(home, "server.lock"))
        if server_lock is None:
            end_leftovers(data, time.monotonic() - ended_at)
            wait_for_event()
            continue
        remove_stale_files(data)
        server = start_server(command, log, account, server_lock)
        os.close(server_lock)
        was_ready = False
        while server.poll() is None and not is_stopping:
            was_ready = was_ready or is_ready(data)
            wait_for_event()
        ended_at = time.monotonic()
        if is_stopping:
            if server.poll() is None:
                # Temporary data needs no checkpoint.
                server.send_signal(signal.SIGQUIT if any(temporary_folders) else signal.SIGINT)
            server.wait()
        elif was_ready:
            has_run, failing_since, pause = True, ended_at, 0.05
        elif ended_at - failing_since > MAX_FAILING_SECONDS[has_run]:
            return 1
        else:
            time.sleep(pause)
            pause = min(2 * pause, 1.0)
    for folder in filter(None, temporary_folders):
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    _, lock, home_folder, account_name, sockets, *postgres = sys.argv
    folders = [home_folder, sockets] if sockets else []
    sys.exit(main(int(lock), home_folder, account_name, folders, postgres))
