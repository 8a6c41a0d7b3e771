"""Runs a mounted image in namespaces as a container engine does: PID 1, not root, no capabilities,
a read-only root file system, a volume, a tmpfs; checks health, data and stop.

    python3 run_image.py MOUNTED_ROOT CONFIG.json VOLUME [VARIABLE=VALUE…]
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

CHROOT = 'exec chroot --userspec="$USER_ID" "$ROOT" setpriv --no-new-privs "$@"'
MOUNTS = """
mount --bind "$ROOT" "$ROOT"
mount -o remount,bind,ro "$ROOT"
mount -t proc proc "$ROOT/proc"
mount --rbind /dev "$ROOT/dev"
mount -t tmpfs tmpfs "$ROOT/dev/shm"
mount -t tmpfs tmpfs "$ROOT/tmp"
mount --bind "$VOLUME" "$ROOT/var/lib/sigservice"
"""


class Container:
    def __init__(self, root: str, config: dict, volume: str, variables: list[str]) -> None:
        self._config = config
        with socket.create_server(("127.0.0.1", 0)) as sock:
            self.port = sock.getsockname()[1]
        listen = [f"HTTP_PORT={self.port}", "HTTP_HOST=127.0.0.1"]
        environ = dict(text.split("=", 1) for text in [*config["Env"], *listen, *variables])
        self._environ = [f"{name}={value}" for name, value in environ.items()]
        user = config["User"]
        os.chown(volume, int(user), int(user))
        self._shell = {"ROOT": root, "VOLUME": volume, "USER_ID": user, "PATH": os.environ["PATH"]}
        command = ["env", "-i", *self._environ, *config["Entrypoint"], *config["Cmd"]]
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
        self._parent = subprocess.Popen(
            [*unshare, "sh", "-ec", MOUNTS + CHROOT, "sh", *command], env=self._shell
        )

    @property
    def pid(self) -> int:
        """The child of `unshare`, PID 1 in its namespace."""
        children = Path(f"/proc/{self._parent.pid}/task/{self._parent.pid}/children")
        while not (pids := children.read_text().split()):
            assert self._parent.poll() is None, "the container ended"
            time.sleep(0.05)
        return int(pids[0])

    def run(self, command: list[str]) -> int:
        """The exit code of a command inside."""
        enter = [
            "nsenter",
            "--target",
            str(self.pid),
            "--mount",
            "--pid",
            "sh",
            "-ec",
            CHROOT,
            "sh",
        ]
        inside = ["env", "-i", *self._environ, *command]
        result = subprocess.run([*enter, *inside], env=self._shell, stderr=subprocess.DEVNULL)
        return result.returncode

    def wait_until_healthy(self) -> float:
        """The seconds until the health check of the image succeeds."""
        kind, *check = self._config["Healthcheck"]["Test"]
        assert kind == "CMD", kind
        started_at = time.monotonic()
        while self.run(check) != 0:
            assert self._parent.poll() is None, "the container ended"
            assert time.monotonic() - started_at < 60, "not healthy after a minute"
            time.sleep(0.2)
        return time.monotonic() - started_at

    def stop(self) -> float:
        """The seconds until it has ended; fails unless it ends with exit code 0."""
        os.kill(self.pid, signal.SIGTERM)
        started_at = time.monotonic()
        code = self._parent.wait(30)
        assert code == 0, f"exit code {code} after SIGTERM"
        return time.monotonic() - started_at

    def kill(self) -> None:
        self._parent.kill()
        self._parent.wait()


@contextlib.contextmanager
def run_container(
    root: str, config: dict, volume: str, variables: list[str]
) -> Iterator[Container]:
    container = Container(root, config, volume, variables)
    try:
        yield container
    finally:
        container.kill()


def check_image(root: str, config: dict, volume: str, variables: list[str]) -> None:
    with run_container(root, config, volume, variables) as container:
        ready = container.wait_until_healthy()
        status = Path(f"/proc/{container.pid}/status").read_text()
        assert f"\nUid:\t{config['User']}\t" in status, "runs as another user"
        assert "\nCapEff:\t0000000000000000\n" in status, "has capabilities"
        assert container.run(["touch", "/opt/sigservice/x"]) != 0, "the root is writable"
        page = urllib.request.urlopen(f"http://127.0.0.1:{container.port}/sign-in").read()
        assert b"Sign in" in page, "no sign-in page"
        stopped = container.stop()
    print(f"healthy after {ready:.1f} s, stopped after {stopped:.1f} s")
    assert stopped < 10, "container engines kill after 10 s"


def main() -> None:
    root, config_file, volume, *variables = sys.argv[1:]
    config = json.loads(Path(config_file).read_text())["Docker"]["config"]
    check_image(root, config, volume, variables)
    data = Path(volume, "data")
    if variables:
        assert not data.exists(), "an embedded database was created"
        return
    assert not list(data.rglob("postmaster.pid")), "the database was killed, not stopped"
    (version,) = data.rglob("base/1/PG_VERSION")
    created_at = version.stat().st_mtime_ns
    check_image(root, config, volume, variables)
    assert version.stat().st_mtime_ns == created_at, "the second start created another database"


main()
