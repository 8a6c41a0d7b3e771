"""The embedded PostgreSQL with real processes: shared, persistent, stopped; start errors."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from sigservice.db import data_directory
from sigservice.db.embedded import EmbeddedPostgres
from sigservice.db.pool import PROBE_SECONDS
from sigservice.errors import StartError
from tests.server.kills import connect
from tests.server.process import (
    OPEN_LIMITS,
    ROOT,
    Process,
    find_postmaster,
    list_children,
    list_processes,
    run_failing_service,
    run_service,
    until,
)
from tests.waiting import DEADLINE_SECONDS, take_time

pytestmark = pytest.mark.account
IS_ROOT = os.geteuid() == 0
as_root = pytest.mark.skipif(not IS_ROOT, reason="only root can change the account")


def environ(data: Path) -> dict[str, str]:
    return OPEN_LIMITS | {"SERVICE_DATA_DIR": str(data)}


def list_signal_ids(process: Process, endpoint: int) -> set[int]:
    status, page = process.request("GET", f"/api/admin/signal-endpoints/{endpoint}/signals")
    assert status == 200, page
    return {row["id"] for row in page["signalEndpointSignals"]}


def send_signal(process: Process, secret: str) -> int:
    status, answer = process.request("POST", "/api/signal-endpoint/deploys", {}, secret=secret)
    assert status == 200, answer
    return answer["signals"][0]["id"]


def wait_for_end(data: Path) -> None:
    """Waits for the end of a database that takes longer than the stop of the service."""
    until(lambda: not list_processes(data), "the end of the database")


def read_error(process: Process) -> str:
    """The only line of a failed start; exit code 1."""
    assert process.wait() == 1
    (line,) = process.stderr.splitlines()
    process.close()
    assert line.startswith("sigservice: ")
    return line


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_second_process_attaches_and_survives_the_first(data: Path, number: int):
    with run_service(environ(data)) as first:
        endpoint, secret = first.create_sender()
        send_signal(first, secret)
        server = find_postmaster(data)
        with run_service(environ(data)) as second:
            assert "shared with another process" in second.stdout
            assert find_postmaster(data) == server
            send_signal(second, secret)
            first.send(number)
            assert first.wait() == (0 if number == signal.SIGTERM else -number)
            for _ in range(5):
                send_signal(second, secret)
            assert len(list_signal_ids(second, endpoint)) == 7
            assert find_postmaster(data) == server
        assert second.wait() == 0
    wait_for_end(data)


def test_processes_started_together_share_one_new_database(folder: Path):
    data = folder / "data"
    started = [Process(environ(data)) for _ in range(3)]
    try:
        for process in started:
            process.wait_for_address()
        endpoint, secret = started[0].create_sender()
        ids = {send_signal(process, secret) for process in started}
        assert list_signal_ids(started[2], endpoint) == ids
        assert len(list_processes(data)) <= 3  # one supervisor, one postmaster; a child being born
        assert not list(data.glob("postgres.new-*"))
    finally:
        for process in started:
            process.close()


def test_restart_keeps_the_data_and_does_not_wait(data: Path):
    with run_service(environ(data)) as process:
        endpoint, secret = process.create_sender()
        before = {send_signal(process, secret)}
    wait_for_end(data)
    with run_service(environ(data)) as process:
        assert list_signal_ids(process, endpoint) == before
        send_signal(process, secret)


def test_starting_while_the_last_one_stops_waits_for_it(data: Path):
    first = Process(environ(data)).wait_for_address()
    try:
        endpoint, secret = first.create_sender()
        before = send_signal(first, secret)
        first.send(signal.SIGTERM)
        with run_service(environ(data)) as second:
            assert list_signal_ids(second, endpoint) == {before}
            assert first.wait() == 0
            until(lambda: send_signal(second, secret), "a signal")
    finally:
        first.close()


def remove_shared_memory(data: Path) -> None:
    """What systemd-logind removes of an account that logs out (RemoveIPC)."""
    pids = [*list_processes(data), *list_children(find_postmaster(data))]
    for line in {
        line for pid in pids for line in Path(f"/proc/{pid}/maps").read_text().split("\n")
    }:
        if "/dev/shm/" in line:
            Path(line.split()[5]).unlink(missing_ok=True)
        elif "/SYSV" in line:
            ctypes.CDLL(None).shmctl(int(line.split()[4]), 0, None)  # IPC_RMID


def test_database_accepts_connections_after_the_logout_of_its_account(data: Path):
    with run_service(environ(data)) as process:
        remove_shared_memory(data)
        assert process.request("GET", "/ready")[0] == 200
        with contextlib.closing(connect(data)) as conn, conn.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM features")
            assert cursor.fetchall() == [(0,)]


@contextlib.contextmanager
def use_all_connections(data: Path) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(psycopg2.OperationalError):
            while True:
                stack.enter_context(contextlib.closing(connect(data)))
        yield


@contextlib.contextmanager
def move_socket(data: Path) -> Iterator[None]:
    folder = (data / "socket").rename(data / "moved")
    yield
    folder.rename(data / "socket")


@contextlib.contextmanager
def allow_no_connections(data: Path) -> Iterator[None]:
    rules, server = data / "postgres" / "pg_hba.conf", find_postmaster(data)
    before = rules.read_text()
    rules.write_text("local all all reject\n")
    os.kill(server, signal.SIGHUP)
    yield
    rules.write_text(before)
    os.kill(server, signal.SIGHUP)


@pytest.mark.parametrize("fail", [use_all_connections, move_socket, allow_no_connections])
def test_service_is_not_ready_while_new_connections_fail(data: Path, fail: Any):
    with run_service(environ(data)) as process:
        assert process.request("GET", "/ready")[0] == 200
        with fail(data):
            take_time(PROBE_SECONDS)
            assert process.request("GET", "/ready")[0] == 503
        until(lambda: process.request("GET", "/ready")[0] == 200, "readiness")


@pytest.mark.parametrize(
    "name", ["a blank, an ümlaut, quo'te\"d, 100%", "d " * 60 + "/" + "e" * 120]
)
def test_folder_may_have_any_name(folder: Path, data: Path, name: str):
    """A comma separates hosts in libpq, a quote ends a name in PostgreSQL's settings, and a
    socket's path has 107 bytes at most."""
    there = folder / name
    there.parent.mkdir(exist_ok=True)
    there.parent.chmod(0o711)
    data.rename(there)
    database = EmbeddedPostgres(str(there))
    try:
        database.start()
        assert find_postmaster(there)
        moved = database.directory.socket_dir
        assert moved.stat().st_mode & 0o077 == 0
        assert len(str(moved)) < 90
        database.stop()
        wait_for_end(there)
    finally:
        database.stop()
        there.rename(data)
        if moved.parent == Path("/tmp"):
            shutil.rmtree(moved)


def test_database_killed_again_and_again_comes_back_each_time(data: Path):
    """Each start works although the database never runs for long."""
    database = EmbeddedPostgres(str(data))
    database.start()
    try:
        for _ in range(3):
            take_time(1.3)  # three times are longer than it has patience with one that never ran
            server = find_postmaster(data)
            os.kill(server, signal.SIGKILL)
            until(
                lambda server=server: find_postmaster(data) not in (0, server), "a new postmaster"
            )
    finally:
        database.stop()


def test_stop_ends_even_if_the_database_is_stuck(data: Path):
    with run_service(environ(data)) as process:
        server = find_postmaster(data)
        os.kill(server, signal.SIGSTOP)
        try:
            process.send(signal.SIGTERM)
            assert process.wait() == 0
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(server, signal.SIGCONT)


def test_temporary_database_leaves_nothing_behind():
    before = set(Path("/tmp").glob("sigservice-*"))
    script = "import sigservice\nprint(sigservice.create()._database._embedded.directory.home)\n"
    result = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"SERVICE_DATA_DIR": ":temporary:", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=True,
    )
    home = Path(result.stdout.strip())
    assert home not in before
    until(lambda: not list_processes(home), "the end of the database")
    try:
        until(lambda: not home.exists(), "the removal of its folder")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def test_temporary_database_removes_its_own_folders_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    """A colon in TMPDIR must not make the supervisor remove the path before it."""
    precious, home = folder / "a", folder / "a:b"
    for path in (precious, home):
        path.mkdir()
        path.chmod(0o711)
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    database = EmbeddedPostgres(data_directory.TEMPORARY)
    database.start()
    assert database.directory.home.parent == home
    database.stop()
    assert precious.exists(), "removed what was none of its own"
    until(lambda: not list(home.iterdir()), "the removal of its folder")


@as_root
def test_closed_folder_that_was_asked_for_is_refused_with_one_line(folder: Path):
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    line = read_error(run_failing_service(environ(closed / "data")))
    assert str(closed / "data") in line
    assert "SERVICE_DATA_DIR" in line
    assert closed.stat().st_mode & 0o777 == 0o700
    assert not list(closed.iterdir())


@as_root
def test_closed_default_folder_falls_back_and_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.chdir(closed)
    had_home = data_directory.SHARED_HOME.exists()
    first, second = (EmbeddedPostgres(data_directory.DEFAULT_DATA_DIR) for _ in range(2))
    try:
        first.start()
        second.start()
        assert second.is_attached
        assert first.directory.home == second.directory.home
        assert first.directory.home.parent == data_directory.SHARED_HOME
        assert "can't access" in first.directory.note
        assert closed.stat().st_mode & 0o777 == 0o700
        assert not list(closed.iterdir())
    finally:
        second.stop()
        first.stop()
        shutil.rmtree(first.directory.home)
        if not had_home:
            shutil.rmtree(data_directory.SHARED_HOME)


@as_root
def test_database_of_an_account_that_is_gone_is_refused_with_one_line(folder: Path):
    data = folder / "data"
    (data / "postgres").mkdir(parents=True)
    os.chown(data / "postgres", 54321, 54321)
    with pytest.raises(StartError):
        EmbeddedPostgres(str(data))


def test_file_instead_of_a_folder_is_refused_with_one_line(folder: Path):
    (folder / "data").write_text("precious")
    line = read_error(run_failing_service(environ(folder / "data")))
    assert str(folder / "data") in line
    assert (folder / "data").read_text() == "precious"


@pytest.mark.parametrize("name", ["n" * 300, "/".join(["n" * 200] * 30)])
def test_name_that_no_file_system_takes_is_refused_with_one_line(folder: Path, name: str):
    with pytest.raises(StartError) as raised:
        EmbeddedPostgres(str(folder / name))
    assert "\n" not in str(raised.value)


def test_full_disk_is_one_line_without_advice_about_accounts():
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert str(data_directory.make_access_error(Path("/data"), error)) == (
        "Can't use the data directory /data: No space left on device."
    )


def test_database_of_another_version_is_refused_and_kept(data: Path):
    before = sorted(path.name for path in (data / "postgres").iterdir())
    version = data / "postgres" / "PG_VERSION"
    right = version.read_text()
    version.write_text("12\n")
    try:
        assert "PostgreSQL 12" in read_error(run_failing_service(environ(data)))
    finally:
        version.write_text(right)
    assert sorted(path.name for path in (data / "postgres").iterdir()) == before


def test_database_that_cannot_start_is_soon_one_line(data: Path):
    """The error comes before the 30 s for a database that is unavailable."""
    settings = data / "postgres" / "postgresql.conf"
    right = settings.read_text()
    settings.write_text("nonsense = 'yes'\n")
    try:
        assert "postgresql.conf" in read_error(run_failing_service(environ(data), seconds=25))
    finally:
        settings.write_text(right)
