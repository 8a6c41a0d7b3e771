"""The `sigservice` command as people type it: a process, its output, its exit code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import webtest

import sigservice
from sigservice.crypto.encryption import Encryption, KeyFile
from tests.conftest import ENCRYPTION_KEY
from tests.server.process import ROOT, make_database_environ, run_command

pytestmark = pytest.mark.external

GOOD = "New-Horse-Staple-8"


@pytest.fixture
def command(database):
    """`command("migrate", stdin="…")`: the finished process, on the run's database, which has
    tables."""
    reached = database.options()
    options = {"db": reached, "logLevel": "error", "authentication": {"initialAdminUser": None}}
    sigservice.create(options, {}).stop()
    variables = {
        "DATABASE_HOST": reached["host"],
        "DATABASE_PORT": str(reached["port"]),
        "DATABASE_USERNAME": reached["user"],
        "DATABASE_NAME": reached["database"],
        "LOG_LEVEL": "error",
    }

    def run(*arguments, stdin="", **more):
        return run_command(arguments, os.environ | variables | more, stdin)

    return run


def read_errors(done):
    """The lines of standard error after the one that names the database."""
    first, *others = done.stderr.splitlines()
    assert first.startswith("sigservice: database: PostgreSQL at ")
    return others


def sign_in(web, username, password, status=200):
    body = {"username": username, "password": password}
    return web.post_json("/auth/simple", body, status=status)


def test_migrate_says_so(command):
    done = command("migrate")
    assert (done.returncode, done.stdout) == (0, "The database is up to date.\n")


@pytest.mark.parametrize("login", ["root", "root@example.com"])
def test_create_admin_makes_one_that_can_sign_in(command, make_service, login):
    done = command("create-admin", login, "--password-stdin", stdin=GOOD + "\n")
    assert done.returncode == 0, done.stderr
    assert GOOD not in done.stdout + done.stderr
    web = webtest.TestApp(make_service().app)
    assert sign_in(web, login, GOOD).json["role"] == "Admin"
    sign_in(web, "admin", "unleash4all", status=401)  # nor the built-in admin beside it …
    sign_in(web, "ada", "Correct-Horse-7", status=401)  # … nor the configured one
    second = command("create-admin", login, "--password-stdin", stdin=GOOD + "\n")
    assert second.returncode == 1
    assert "already exists" in second.stderr


def test_reset_password_sets_it_and_refuses_what_is_wrong(command, service, rows):
    web = webtest.TestApp(service.app)
    rows(
        "INSERT INTO personal_tokens (user_id, description, secret_hash, secret_prefix, expires_at)"
        " SELECT id, 'ci', '\\x00', 'user:', now() + interval '1 day' FROM users"
    )
    done = command("reset-password", "ada", "--password-stdin", stdin=GOOD + "\r\n")
    assert done.returncode == 0
    sign_in(web, "ada", GOOD)
    sign_in(web, "ada", "Correct-Horse-7", status=401)
    assert rows("SELECT count(*) FROM personal_tokens") == [(0,)]
    done = command("reset-password", "nobody", "--password-stdin", stdin=GOOD)
    assert (done.returncode, read_errors(done)) == (1, ["sigservice: User nobody not found."])
    done = command("reset-password", "ada", "--password-stdin", stdin="short")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)


def test_check_config_reports_and_fails_like_the_start(command):
    report = json.loads(command("check-config", "--format", "json").stdout)
    assert {row["option"] for row in report["options"]} >= {"server.port", "db.host"}
    done = command("check-config", HTTP_PORT="x", SESSION_TTL_HOURS="y")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 2


def test_version_and_unknown_commands(command):
    assert command("--version").stdout.startswith("sigservice ")
    assert command("nonsense").returncode == 2


COMMANDS = {
    "migrate": (),
    "create-admin": ("root", "--password-stdin"),
    "reset-password": ("root", "--password-stdin"),
    "rotate-key": (),
    "export": ("flags.json",),
    "import": (__file__,),
    "backup": ("flags.backup",),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_command_in_an_empty_folder_makes_no_database(tmp_path, name):
    data = tmp_path / "data"
    environ = os.environ | {"SERVICE_DATA_DIR": str(data)}
    done = run_command((name, *COMMANDS[name]), environ, stdin=GOOD)
    assert done.returncode == 1
    assert f"There is no database in {data}. Set SERVICE_DATA_DIR" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted({*COMMANDS} - {"migrate"}))
def test_command_on_a_database_without_tables_makes_none(temporary_database, tmp_path, name):
    options = temporary_database.create_database(f"no_tables_{name.replace('-', '_')}")
    environ = os.environ | make_database_environ(options) | {"DATABASE_PASSWORD": "p4ssw0rd"}
    arguments = [argument.replace("flags", f"{tmp_path}/flags") for argument in COMMANDS[name]]
    done = run_command((name, *arguments), environ, stdin=GOOD)
    assert done.returncode == 1
    database, error = done.stderr.splitlines()
    assert database.endswith(f", database {options['database']}")
    assert "no tables of the service" in error
    assert "p4ssw0rd" not in done.stderr
    assert list(tmp_path.iterdir()) == []
    with temporary_database.connect(options["database"]) as conn, conn.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        assert cursor.fetchall() == [(0,)]


def test_backup_is_restored_and_says_what_it_lacks(command, service, tmp_path, temporary_database):
    file = str(tmp_path / "flags.backup")
    done = command("backup", file, SERVICE_ENCRYPTION_KEY=ENCRYPTION_KEY)
    assert (done.returncode, read_errors(done)) == (0, [])
    assert re.match(rf"{re.escape(file)}: \d\.\d MB", done.stdout)
    assert "doesn't include the encryption key, SERVICE_ENCRYPTION_KEY." in done.stdout
    assert ENCRYPTION_KEY not in done.stdout
    temporary_database.create_database("restored")
    done = command(
        "restore", file, DATABASE_NAME="restored", SERVICE_DATA_DIR=str(tmp_path / "data")
    )
    assert (done.returncode, read_errors(done)) == (0, [])
    assert done.stdout.startswith(f"Restored {file}.")
    assert f"copy it to {tmp_path}/data/encryption.key" in done.stdout
    done = command("restore", file)
    assert done.returncode == 1
    assert "The database is not empty" in read_errors(done)[0]


def test_restore_into_a_temporary_directory_says_that_the_database_is_deleted(
    command, service, tmp_path
):
    file = str(tmp_path / "flags.backup")
    assert command("backup", file, SERVICE_ENCRYPTION_KEY=ENCRYPTION_KEY).returncode == 0
    done = run_command(["restore", file], os.environ | {"SERVICE_DATA_DIR": ":temporary:"})
    assert done.returncode == 0, done.stderr
    first, *others = done.stdout.splitlines()
    assert first == f"Restored {file}."
    assert others == ["The restored database was deleted: SERVICE_DATA_DIR is :temporary:."]


@pytest.mark.parametrize("name", ["create-admin", "reset-password"])
def test_password_without_a_terminal_is_refused(name):
    done = subprocess.run(
        [sys.executable, "-m", "sigservice", name, "root"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,  # without the terminal of the tests
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "sigservice: There is no terminal to enter the password: use --password-stdin.\n"
    )


@pytest.mark.parametrize(
    "name",
    [*COMMANDS, "run", "restore", "check-config", "routes", "send"],
)
def test_help_of_a_command_describes_it_and_its_arguments_with_an_example(name):
    done = run_command([name, "--help"], os.environ)
    usage, description, *_ = done.stdout.split("\n\n")
    assert done.returncode == 0
    assert usage.startswith(f"usage: sigservice {name} ")
    assert len(description) > 50
    assert f"sigservice {name}" in done.stdout.partition("Example:")[2]
    assert not re.search(r"^  \S+(?: [A-Z{]\S*)?\n(?! {20})", done.stdout, re.M), "without help"


def test_data_directory_that_can_not_be_created_names_the_variable():
    """/proc refuses new folders to root too."""
    done = run_command(["run"], os.environ | {"SERVICE_DATA_DIR": "/proc/sigservice/data"})
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "set SERVICE_DATA_DIR to a directory" in line


@pytest.fixture
def old_python():
    """A Python older than the supported ones; skips the test where there is none."""
    for version in ("3.8", "3.9", "3.10"):
        for python in Path.home().glob(f".pyenv/versions/{version}.*/bin/python"):
            return python
    pytest.skip("needs Python 3.8, 3.9 or 3.10")


def run_checkout(python, *options):
    return subprocess.run(
        [python, *options, "run.py"], cwd=ROOT, env={}, capture_output=True, text=True, check=False
    )


def test_start_with_an_old_python_names_the_supported_ones(old_python):
    done = run_checkout(old_python)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "needs Python 3.11 or later" in line


def test_start_without_packages_says_how_to_install_them():
    done = run_checkout(sys.executable, "-S")  # without site-packages
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "is not installed: python3 -m venv .venv && .venv/bin/pip install -e ." in line


def test_help_names_the_main_variables_and_the_guide(command):
    text = command("--help").stdout
    for name in ("HTTP_PORT", "SERVICE_DATA_DIR", "DATABASE_URL", "docs/quickstart.md"):
        assert name in text


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--port", "4242"], "set the environment variable HTTP_PORT: HTTP_PORT=4242 sigservice"),
        (["run", "--data-dir=a b"], "SERVICE_DATA_DIR: SERVICE_DATA_DIR='a b' sigservice"),
        (["--database-password", "p4ssw0rd"], "set the environment variable DATABASE_PASSWORD\n"),
        (["--nonsense"], "environment variables configure the service, see --help"),
    ],
)
def test_option_instead_of_a_variable_names_the_variable(arguments, hint):
    done = run_command(arguments, os.environ)
    assert done.returncode == 2
    assert hint in done.stderr
    assert "p4ssw0rd" not in done.stderr


def test_export_and_import_work_on_the_configured_database(command, tmp_path):
    file = str(tmp_path / "flags.json")
    assert command("export", file).stdout == f"{file}: 0 flags, 1 project\n"
    done = command("import", file)
    assert (done.returncode, done.stdout) == (0, "0 changed\n")
    done = command("import", "--from", "http://127.0.0.1:9", "--token-stdin", stdin="secret\n")
    assert done.returncode == 1
    assert len(read_errors(done)) == 1
    assert "secret" not in done.stderr
    assert command("import").returncode == 2


def test_rotate_key_encrypts_the_signing_secrets_again(command, service, make, rows, tmp_path):
    environ = {"SERVICE_DATA_DIR": str(tmp_path)}
    done = command("rotate-key", **environ)
    assert (done.returncode, done.stdout) == (0, "Secrets encrypted with the first key: 0.\n")
    encryption = Encryption(file=KeyFile(tmp_path / "encryption.key", is_own=True))
    rows(
        "INSERT INTO signal_endpoint_tokens (signal_endpoint_id, name, secret_prefix, "
        "created_by_user_id, type, signature, encrypted_secret) "
        "VALUES (%s, 'ci', '', 1, 'signature', '{}', %s)",
        make.endpoint()["id"],
        encryption.encrypt("secret"),
    )
    rows(
        "INSERT INTO metric_sources (name, url, auth, headers, timeout_seconds, encrypted_secret) "
        """VALUES ('main', 'http://example.com', '{"type": "bearer"}', '{}', 5, %s)""",
        encryption.encrypt("token"),
    )
    old = (tmp_path / "encryption.key").read_text().strip()
    done = command("rotate-key", **environ)
    assert (done.returncode, done.stdout) == (0, "Secrets encrypted with the new key: 2.\n")
    ((data,),) = rows("SELECT encrypted_secret FROM metric_sources")
    assert encryption.decrypt(bytes(data)) == "token"
    ((data,),) = rows("SELECT encrypted_secret FROM signal_endpoint_tokens")
    assert encryption.decrypt(bytes(data)) == "secret"
    done = command("rotate-key", SERVICE_ENCRYPTION_KEY=old)
    assert done.returncode == 1
    assert len(read_errors(done)) == 1
    assert old not in done.stderr
