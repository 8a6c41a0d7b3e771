"""The `sigservice` command as people type it: a process, its output, its exit code."""

from __future__ import annotations

import json
import os

import pytest
import webtest

from sigservice.encryption import Encryption, KeyFile
from tests.server.process import run_command

GOOD = "New-Horse-Staple-8"


@pytest.fixture
def command(database):
    """`command("migrate", stdin="…")`: the finished process, on the run's database."""
    reached = database.options()
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
    assert command("reset-password", "ada", "--password-stdin", stdin=GOOD).returncode == 0
    sign_in(web, "ada", GOOD)
    sign_in(web, "ada", "Correct-Horse-7", status=401)
    assert rows("SELECT count(*) FROM personal_tokens") == [(0,)]
    for login, password in (("nobody", GOOD), ("ada", "short")):
        done = command("reset-password", login, "--password-stdin", stdin=password)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1


def test_check_config_reports_and_fails_like_the_start(command):
    report = json.loads(command("check-config", "--format", "json").stdout)
    assert {row["option"] for row in report["options"]} >= {"server.port", "db.host"}
    done = command("check-config", HTTP_PORT="x", SESSION_TTL_HOURS="y")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 2


def test_version_and_unknown_commands(command):
    assert command("--version").stdout.startswith("sigservice ")
    assert command("nonsense").returncode == 2


def test_export_and_import_work_on_the_configured_database(command, tmp_path):
    file = str(tmp_path / "flags.json")
    assert command("export", file).stdout == f"{file}: 0 flags, 1 projects\n"
    done = command("import", file)
    assert (done.returncode, done.stdout) == (0, "0 changed\n")
    done = command("import", "--from", "http://127.0.0.1:9", "--token-stdin", stdin="secret\n")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
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
    old = (tmp_path / "encryption.key").read_text().strip()
    done = command("rotate-key", **environ)
    assert (done.returncode, done.stdout) == (0, "Secrets encrypted with the new key: 1.\n")
    ((data,),) = rows("SELECT encrypted_secret FROM signal_endpoint_tokens")
    assert encryption.decrypt(bytes(data)) == "secret"
    done = command("rotate-key", SERVICE_ENCRYPTION_KEY=old)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert old not in done.stderr
