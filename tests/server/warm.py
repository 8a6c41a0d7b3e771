"""Forks services from a process that has imported the service: imports are most of the cost
of a start. Each fork has its own environment, working directory and files. Passwords are hashed
with little work, as in other tests.

This module is also the program of that process. It ends with the process that started it.
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
MAX_BYTES = 1_000_000  # of an order


class ForkedProcess:
    """The interface of subprocess.Popen for a process that another process forked."""

    def __init__(self, pid: int, exit_pipe: int) -> None:
        self.pid, self._exit_pipe = pid, exit_pipe  # the pipe for its exit code
        self.returncode: int | None = None

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._exit_pipe], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a service", timeout or 0)
            self.returncode = int(os.read(self._exit_pipe, 100))
            os.close(self._exit_pipe)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


_lock = threading.Lock()


def start_forked(
    script: str,
    environ: Mapping[str, str],
    cwd: Path | str,
    stdout: IO[bytes],
    stderr: IO[bytes],
    stdin: IO[bytes] | None = None,
) -> ForkedProcess:
    """Runs `script` like `python -c`, or run.py if it is empty."""
    if stdin is None:
        with open(os.devnull, "rb") as nothing:
            return start_forked(script, environ, cwd, stdout, stderr, nothing)
    job = json.dumps([script, dict(environ), str(cwd)]).encode()
    files = [file.fileno() for file in (stdin, stdout, stderr)]
    exit_pipe, report_pipe = os.pipe()
    with _lock:
        socket.send_fds(_program(), [job], [*files, report_pipe])
        os.close(report_pipe)
        return ForkedProcess(int(_program().recv(100)), exit_pipe)


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


def main(jobs: socket.socket) -> str:
    """Forks for each job. Returns the script of the job, in the child only."""
    children: dict[int, int] = {}
    wake_reader, wake_writer = socket.socketpair()
    wake_writer.setblocking(False)
    signal.set_wakeup_fd(wake_writer.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    gc.freeze()
    while True:
        ready = select.select([jobs, wake_reader], [], [])[0]
        if wake_reader in ready:
            wake_reader.recv(1000)
            _report_ended(children)
        if jobs in ready:
            job, files, *_ = socket.recv_fds(jobs, MAX_BYTES, 4)
            if not job:
                os._exit(0)
            script, environ, cwd = json.loads(job)
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for descriptor in (jobs, wake_reader, wake_writer):
                    descriptor.close()
                for descriptor in children.values():
                    os.close(descriptor)
                _replace_process(environ, cwd, *files)
                return str(script)
            children[pid] = files[3]
            for descriptor in files[:3]:
                os.close(descriptor)
            jobs.send(str(pid).encode())


def _report_ended(children: dict[int, int]) -> None:
    for pid in list(children):
        ended_pid, status = os.waitpid(pid, os.WNOHANG)
        if ended_pid:
            report_pipe = children.pop(pid)
            with contextlib.suppress(BrokenPipeError):  # the starting process has ended
                os.write(report_pipe, str(os.waitstatus_to_exitcode(status)).encode())
            os.close(report_pipe)


def _replace_process(environ: Mapping[str, str], cwd: str, *files: int) -> None:
    os.setsid()
    for target, source in enumerate(files[:3]):
        os.dup2(source, target)
    for descriptor in files:
        os.close(descriptor)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(write_through=True)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)


if __name__ == "__main__":
    importlib.import_module("sigservice.application.service")
    importlib.import_module("sigservice.commands.cli")
    importlib.import_module("sigservice.application.start").Passwords = QuickPasswords
    code = main(socket.socket(fileno=int(sys.argv[1])))
    if code:
        sys.argv = ["-c"]
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = [str(ROOT / "run.py")]
        runpy.run_path(sys.argv[0], run_name="__main__")
