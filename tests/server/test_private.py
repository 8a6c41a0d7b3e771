"""What an embedded PostgreSQL must not give away: to other accounts, to its log, to strangers."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from sigservice.db.embedded import EmbeddedPostgres
from tests.server.process import (
    ADMIN_SECRET,
    OPEN_LIMITS,
    ROOT,
    Process,
    open_folder,
    parent,
    postmaster,
    processes_of,
    refused,
    running,
    until,
)

NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as path:
        yield path
        until(lambda: not processes_of(path), "the end of every database", 10)


def environ(data: Path) -> dict[str, str]:
    return OPEN_LIMITS | {"SERVICE_DATA_DIR": str(data)}


def test_log_and_environment_of_the_database_hold_no_secrets(folder: Path):
    """The log can be read by other accounts, the environment by the one that runs it."""
    data = folder / "data"
    user = {"username": "twice", "rootRole": "Viewer", "password": "Correct-Horse-7"}
    with running(environ(data)) as process:
        _, secret = process.sender()
        for _ in range(2):
            process.ask("POST", "/api/admin/user-admin", user)
        for each in (secret, "nobody"):
            body = b'{"password": "top-secret", "n": [1e-20000]}'
            process.ask("POST", "/api/signal-endpoint/deploys", body, secret=each)
        server = postmaster(data)
        for pid in (server, parent(server)):
            assert ADMIN_SECRET.encode() not in Path(f"/proc/{pid}/environ").read_bytes()
        log = (data / "postgres.log").read_text()
    for private in ("top-secret", "argon2", "secret_hash", "INSERT INTO"):
        assert private not in log


def test_what_the_database_cannot_store_is_401_for_a_stranger(folder: Path):
    data = folder / "data"
    with running(environ(data)) as process:
        process.sender()
        before = (data / "postgres.log").stat().st_size
        body = b'{"n": 1e-20000, "filler": "' + b"x" * 100_000 + b'"}'
        for number in range(5):
            path = "/api/signal-endpoint/deploys"
            assert process.ask("POST", path, body, secret=f"stranger{number}")[0] == 401
        assert (data / "postgres.log").stat().st_size - before < 10_000


def test_other_accounts_see_no_file_of_the_database(folder: Path):
    data = folder / "data"
    umask = os.umask(0)
    try:
        with running(environ(data)):
            for path in (*data.iterdir(), *(data / "postgres").glob("*")):
                assert path.stat().st_mode & 0o077 == 0, path
    finally:
        os.umask(umask)


@pytest.mark.parametrize(
    "variables",
    [{"PGPORT": "5433"}, {"PGSERVICE": "nowhere"}, {"PGOPTIONS": "-c nonsense=1", "PGTZ": "x"}],
    ids=lambda variables: next(iter(variables)),
)
def test_variables_of_another_postgres_do_not_matter(folder: Path, variables: dict[str, str]):
    process = Process(environ(folder / "data") | variables)
    try:
        process.await_address(8)
    finally:
        process.kill()
        process.close()


def test_foreign_socket_folder_is_refused_before_it_is_asked(folder: Path):
    """Its name can be computed by anybody, and /tmp is everybody's."""
    data = folder / ("d" * 120)
    moved = EmbeddedPostgres(str(data)).place.socket_dir
    moved.mkdir(mode=0o777)
    moved.chmod(0o777)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(moved / ".s.PGSQL.5432"))
    listening.listen()
    listening.settimeout(0.2)
    try:
        ended = refused(environ(data))
        assert ended.wait() == 1
        assert f"{moved} belongs to somebody else" in ended.stderr
        ended.close()
        asked = False
        with contextlib.suppress(TimeoutError):
            listening.accept()[0].close()
            asked = True
        assert not asked
    finally:
        listening.close()
        shutil.rmtree(moved)


def as_somebody(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs code that ends by raising StartError, as an ordinary user even when we are root."""
    drop = f"import os; os.geteuid() or (os.setegid({NOBODY}), os.seteuid({NOBODY}))"
    script = "import sys, sigservice.server\nfrom sigservice.db.place import find_place\n"
    script += f"from sigservice.errors import StartError\n{drop}\n{textwrap.dedent(code)}"
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


@pytest.mark.parametrize("below", ["", "data", "a/b/data"])
def test_ordinary_user_is_told_in_one_line_that_a_folder_is_closed(folder: Path, below: str):
    closed = folder / "closed"
    closed.mkdir()
    closed.chmod(0o000)
    code = """
        try:
            find_place(sys.argv[1], None)
            open(sys.argv[1] + "/users.lock", "w")
        except StartError as error:
            print(error)
        except PermissionError as error:
            print("PermissionError" if "users.lock" not in error.filename else "no lock")
    """
    done = as_somebody(code, str(closed / below))
    closed.chmod(0o700)
    assert "Traceback" not in done.stderr
    if below:
        assert str(closed) in done.stdout, "find_place lets a PermissionError out"


def test_place_of_an_ordinary_user_is_private(folder: Path):
    folder.chmod(0o777)
    code = "print(find_place(sys.argv[1], None).home)"
    home = folder / "a" / "data"
    done = as_somebody(code, str(home))
    assert done.stdout.strip() == str(home), done.stderr
    assert {path.stat().st_mode & 0o777 for path in (home, home.parent)} == {0o700}
