"""Processes that are forked from one that has imported the service: a start without the imports,
which are most of its cost. Each is a process of its own with its own environment, folder and files.
Passwords are hashed with little work, as in other tests.

Run as a program it is that one process; `start` asks it. It ends with the process that made it.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from sigservice.testing import QuickPasswords

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 1_000_000  # of an order


class Started:
    """What subprocess.Popen offers, of a process that another one forked."""

    def __init__(self, pid: int, ended: int) -> None:
        self.pid, self._ended = pid, ended  # where its exit code will be written
        self.returncode: int | None = None

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a service", timeout or 0)
            self.returncode = int(os.read(self._ended, 100))
            os.close(self._ended)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


_lock = threading.Lock()


def start(
    script: str,
    environ: Mapping[str, str],
    cwd: Path | str,
    stdout: IO[bytes],
    stderr: IO[bytes],
    stdin: IO[bytes] | None = None,
) -> Started:
    """Runs `script` as `python -c` would, run.py if it is empty."""
    if stdin is None:
        with open(os.devnull, "rb") as nothing:
            return start(script, environ, cwd, stdout, stderr, nothing)
    order = json.dumps([script, dict(environ), str(cwd)]).encode()
    files = [file.fileno() for file in (stdin, stdout, stderr)]
    ended, tell = os.pipe()
    with _lock:
        socket.send_fds(_program(), [order], [*files, tell])
        os.close(tell)
        return Started(int(_program().recv(100)), ended)


@functools.cache
def _program() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "tests.server.warm", str(theirs.fileno())]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        pass_fds=[theirs.fileno()],
        start_new_session=True,
    )
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def main(orders: socket.socket) -> str:
    """Forks for each order; returns in the children, with what they are to run."""
    children: dict[int, int] = {}
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    gc.freeze()
    while True:
        ready = select.select([orders, woken], [], [])[0]
        if woken in ready:
            woken.recv(1000)
            _tell_of_ended(children)
        if orders in ready:
            order, files, *_ = socket.recv_fds(orders, MOST_BYTES, 4)
            if not order:
                os._exit(0)
            script, environ, cwd = json.loads(order)
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for each in (orders, woken, wake):
                    each.close()
                for each in children.values():
                    os.close(each)
                _become(environ, cwd, *files)
                return str(script)
            children[pid] = files[3]
            for each in files[:3]:
                os.close(each)
            orders.send(str(pid).encode())


def _tell_of_ended(children: dict[int, int]) -> None:
    for pid in list(children):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            tell = children.pop(pid)
            with contextlib.suppress(BrokenPipeError):  # nobody wants to know any more
                os.write(tell, str(os.waitstatus_to_exitcode(status)).encode())
            os.close(tell)


def _become(environ: Mapping[str, str], cwd: str, *files: int) -> None:
    os.setsid()
    for target, source in enumerate(files[:3]):
        os.dup2(source, target)
    for each in files:
        os.close(each)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(write_through=True)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)


if __name__ == "__main__":
    server = importlib.import_module("sigservice.server")
    importlib.import_module("sigservice.cli")
    server.Passwords = QuickPasswords
    code = main(socket.socket(fileno=int(sys.argv[1])))
    if code:
        sys.argv = ["-c"]
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = [str(ROOT / "run.py")]
        runpy.run_path(sys.argv[0], run_name="__main__")
