"""The embedded PostgreSQL discloses nothing to other accounts, its log or failed sign-ins."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from sigservice.db import data_directory
from sigservice.db.data_directory import packaged_binaries
from sigservice.db.embedded import EmbeddedPostgres
from sigservice.errors import StartError
from sigservice.testing import TemporaryDatabase
from tests.server.process import (
    ADMIN_SECRET,
    OPEN_LIMITS,
    ROOT,
    Process,
    create_open_folder,
    find_parent,
    find_postmaster,
    make_database_environ,
    run_failing_service,
    run_service,
)
from tests.waiting import DEADLINE_SECONDS

NOBODY = 65534
pytestmark = pytest.mark.account
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the account")


def environ(data: Path) -> dict[str, str]:
    return OPEN_LIMITS | {"SERVICE_DATA_DIR": str(data)}


def test_log_and_environment_of_the_database_hold_no_secrets(data: Path):
    """The log can be read by other accounts, the environment by the one that runs it."""
    user = {"username": "twice", "rootRole": "Viewer", "password": "Correct-Horse-7"}
    path = "/api/signal-endpoint/deploys"
    with run_service(environ(data)) as process:
        _, secret = process.create_sender()
        for _ in range(2):
            process.request("POST", "/api/admin/user-admin", user)
        body = b'{"password": "top-secret", "n": [1e-20000]}'
        process.request("POST", path, body, secret=secret)
        server = find_postmaster(data)
        for pid in (server, find_parent(server)):
            assert ADMIN_SECRET.encode() not in Path(f"/proc/{pid}/environ").read_bytes()
        log = (data / "postgres.log").read_text()
    for private in ("top-secret", "argon2", "secret_hash", "INSERT INTO"):
        assert private not in log


def test_unauthenticated_callers_write_nothing_to_the_log_of_the_database(data: Path):
    filler = b"x" * 100_000
    bodies = [b'{"n": 1e-20000, "f": "' + filler + b'"}', b'{"n": "\\u0000' + filler + b'"}']
    with run_service(environ(data)) as process:
        process.create_sender()
        before = (data / "postgres.log").stat().st_size
        for number, body in enumerate(bodies):
            path = "/api/signal-endpoint/deploys"
            assert process.request("POST", path, body, secret=f"unknown{number}")[0] == 401
        assert (data / "postgres.log").stat().st_size - before < 10_000


@pytest.fixture(scope="module")
def fresh() -> Iterator[tuple[Path, EmbeddedPostgres, list[tuple[int, int]]]]:
    """A new database, created with an open umask, and the modes of its parent directories."""
    with create_open_folder() as folder:
        before = _modes(folder)
        umask = os.umask(0)
        database = EmbeddedPostgres(str(folder / "a" / "data"))
        try:
            database.start()
            yield folder, database, before
        finally:
            os.umask(umask)
            database.stop()


def _modes(folder: Path) -> list[tuple[int, int]]:
    return [(path.stat().st_mode, path.stat().st_uid) for path in (folder, *folder.parents)]


def test_other_accounts_see_no_file_of_the_database(fresh: Any):
    home = fresh[1].directory.home
    for path in (*home.iterdir(), *(home / "postgres").glob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("access", ["g+rwX,g+s", "go+rX", "a+rwX"])
def test_files_that_a_volume_or_copy_opened_to_others_are_private_again(data: Path, access: str):
    """`fsGroup` of Kubernetes changes group and mode of all files, `cp -r` uses the umask."""
    unopened = EmbeddedPostgres(str(data))
    unopened.start()
    unopened.stop()
    subprocess.run(["chmod", "-R", access, str(data)], check=True)
    database = EmbeddedPostgres(str(data))
    database.start()
    try:
        assert query(database, "SELECT 1") == [(1,)]
        for path in data.iterdir():
            assert path.stat().st_mode & 0o7077 == 0, path
        assert data.stat().st_mode & 0o022 == 0
    finally:
        database.stop()


def test_mode_of_a_folder_with_other_files_is_kept(data: Path):
    (data / "notes").touch()
    data.chmod(0o777)
    database = EmbeddedPostgres(str(data))
    try:
        database.start()
        assert data.stat().st_mode & 0o777 == 0o777
    finally:
        database.stop()
        (data / "notes").unlink()
        data.chmod(0o711)


@as_root
def test_files_of_another_account_are_refused_with_a_command(data: Path):
    database = EmbeddedPostgres(str(data))
    cluster, planted = data / "postgres", data / "socket" / "planted"
    owner = cluster.stat()
    try:
        planted.touch()
        with pytest.raises(StartError, match="socket has a file of another account; remove it"):
            database.start()
        planted.unlink()
        os.chown(cluster, 0, 0)
        command = f"chown -R {database.directory.account} {cluster}"
        with pytest.raises(StartError, match=command):
            database.start()
    finally:
        planted.unlink(missing_ok=True)
        os.chown(cluster, owner.st_uid, owner.st_gid)
        database.stop()


RULES = "SELECT type, database, user_name, auth_method, options FROM pg_hba_file_rules"
ONLY_RULE = ("local", ["all"], ["sigservice"], "peer", ["map=sigservice"])


def query(database: EmbeddedPostgres, statement: str) -> list[tuple[Any, ...]]:
    with contextlib.closing(psycopg2.connect(**database.arguments())) as conn:
        with conn.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()


def test_database_accepts_only_its_account_and_root(fresh: Any):
    database = fresh[1]
    assert query(database, RULES) == [ONLY_RULE]
    accounts = {"root", database.directory.account or pwd.getpwuid(os.geteuid()).pw_name}
    mappings = query(database, "SELECT sys_name, pg_username FROM pg_ident_file_mappings")
    assert set(mappings) == {(account, "sigservice") for account in accounts}


def test_database_of_an_older_version_no_longer_uses_trust(data: Path):
    (data / "postgres" / "pg_hba.conf").write_text("local all all trust\n")
    database = EmbeddedPostgres(str(data))
    database.start()
    try:
        assert query(database, RULES) == [ONLY_RULE]
    finally:
        database.stop()


CONNECT = """
import os, sys, psycopg2
os.seteuid(int(sys.argv[1]))
psycopg2.connect(sys.argv[2]).close()
"""


@as_root
def test_another_account_with_access_to_the_socket_is_rejected(fresh: Any):
    """Directory and socket are open, so that only the authentication can reject."""
    database = fresh[1]
    sockets = database.directory.socket_dir
    dsn = f"host='{sockets}' user=sigservice dbname=postgres"

    def connect(account: str) -> str:
        uid = str(pwd.getpwnam(account).pw_uid)
        result = subprocess.run(
            [sys.executable, "-c", CONNECT, uid, dsn], capture_output=True, text=True, check=False
        )
        return result.stderr

    sockets.chmod(0o755)
    for file in sockets.glob(".s.PGSQL.*"):
        file.chmod(0o777)
    try:
        assert connect("root") == ""
        assert connect(database.directory.account) == ""
        assert "Peer authentication failed" in connect("daemon")
    finally:
        sockets.chmod(0o700)


@pytest.fixture
def no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with the account nobody, but none for the database."""
    real = pwd.getpwnam

    def getpwnam(name: str) -> pwd.struct_passwd:
        if name in data_directory.ACCOUNTS:
            raise KeyError(name)
        return real(name)

    monkeypatch.setattr(pwd, "getpwnam", getpwnam)


@as_root
def test_root_without_an_account_for_the_database_is_refused(no_account: None, folder: Path):
    with pytest.raises(StartError) as raised:
        EmbeddedPostgres(str(folder / "data"))
    assert "useradd --system sigservice" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not list(folder.iterdir())


@as_root
def test_a_database_of_the_account_nobody_is_refused(folder: Path):
    (folder / "data" / "postgres").mkdir(parents=True)
    os.chown(folder / "data" / "postgres", NOBODY, NOBODY)
    with pytest.raises(StartError, match="chown -R sigservice"):
        EmbeddedPostgres(str(folder / "data"))


@as_root
def test_root_hands_the_database_to_an_account_and_changes_no_folder(fresh: Any):
    folder, database, before = fresh
    lines = (
        Path(f"/proc/{find_postmaster(database.directory.home)}/status").read_text().splitlines()
    )
    named = {line.split(":")[0]: line.split()[1:] for line in lines}
    account = pwd.getpwnam(database.directory.account)
    assert account.pw_uid != 0
    assert set(named["Uid"]) == {str(account.pw_uid)}
    assert set(named["Gid"]) == {str(account.pw_gid)}
    assert "0" not in named["Groups"]
    assert _modes(folder) == before


def test_port_of_another_postgres_does_not_matter(data: Path):
    process = Process(environ(data) | {"PGPORT": "5433"})
    try:
        process.wait_for_address()
    finally:
        process.kill()
        process.close()


@pytest.mark.parametrize(
    "variables",
    [
        {"PGSERVICE": "nowhere"},
        {"PGHOSTADDR": "203.0.113.9"},
        {"PGCLIENTENCODING": "LATIN1", "PGTZ": "Asia/Tokyo", "PGDATESTYLE": "German"},
        {"PGOPTIONS": "-c nonsense=1", "PGUSER": "x", "PGDATABASE": "x", "PGSSLMODE": "x"},
        {"PGTARGETSESSIONATTRS": "standby", "PGREQUIREAUTH": "gss", "PGPASSFILE": "/dev/zero"},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_variables_of_another_database_do_not_matter(
    temporary_database: TemporaryDatabase, variables: dict[str, str]
):
    environ = OPEN_LIMITS | make_database_environ(temporary_database.options())
    temporary_database.empty()
    process = Process(environ | variables)
    try:
        process.wait_for_address()
        _, secret = process.create_sender()
        path = "/api/signal-endpoint/deploys"
        status, answer = process.request("POST", path, {"text": "漢ü"}, secret=secret)
        assert status == 200
        assert answer["signals"][0]["payload"] == {"text": "漢ü"}
    finally:
        process.kill()
        process.close()


def test_foreign_socket_folder_is_refused_before_it_is_asked(folder: Path):
    """Every account can compute its name and write to /tmp."""
    data = folder / ("d" * 120)
    moved = EmbeddedPostgres(str(data)).directory.socket_dir
    moved.mkdir(mode=0o777)
    moved.chmod(0o777)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(moved / ".s.PGSQL.5432"))
    listening.listen()
    listening.settimeout(0.2)
    try:
        process = run_failing_service(environ(data))
        assert process.wait() == 1
        assert str(moved) in process.stderr
        assert "; remove it." in process.stderr
        process.close()
        has_connected = False
        with contextlib.suppress(TimeoutError):
            listening.accept()[0].close()
            has_connected = True
        assert not has_connected
    finally:
        listening.close()
        shutil.rmtree(moved)


def run_as_other_user(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs code that raises StartError, as an ordinary user even for root."""
    if os.geteuid() == 0:
        for part in (packaged_binaries() / "initdb", ROOT / "run.py"):
            reached = ["/usr/bin/env", "test", "-r", str(part)]
            if subprocess.run(
                reached, user=NOBODY, extra_groups=[], cwd="/", check=False
            ).returncode:
                pytest.skip("an ordinary account can't reach this checkout")
    drop = f"import os; os.geteuid() or (os.setegid({NOBODY}), os.seteuid({NOBODY}))"
    script = "import sys, sigservice.application.service\n"
    script += "from sigservice.db.data_directory import find_data_directory\n"
    script += f"from sigservice.errors import StartError\n{drop}\n{textwrap.dedent(code)}"
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )


@pytest.mark.parametrize("below", ["data", "a/b/data"])
def test_inaccessible_directory_of_an_ordinary_user_is_one_line(folder: Path, below: str):
    closed = folder / "closed"
    closed.mkdir()
    closed.chmod(0o000)
    code = """
        try:
            find_data_directory(sys.argv[1], None)
            open(sys.argv[1] + "/users.lock", "w")
        except StartError as error:
            print(error)
        except PermissionError as error:
            print("PermissionError" if "users.lock" not in error.filename else "no lock")
    """
    result = run_as_other_user(code, str(closed / below))
    closed.chmod(0o700)
    assert "Traceback" not in result.stderr
    assert str(closed) in result.stdout, "find_data_directory lets a PermissionError out"


def test_place_of_an_ordinary_user_is_private(folder: Path):
    folder.chmod(0o777)
    code = "print(find_data_directory(sys.argv[1], None).home)"
    home = folder / "a" / "data"
    result = run_as_other_user(code, str(home))
    assert result.stdout.strip() == str(home), result.stderr
    assert {path.stat().st_mode & 0o777 for path in (home, home.parent)} == {0o700}
