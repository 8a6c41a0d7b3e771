"""The `sigservice` command: the service, its database, first users, moving in and out."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from collections.abc import Sequence

from sigservice import server
from sigservice.config import check
from sigservice.config.database import LIBPQ_VARIABLES
from sigservice.config.risks import SEVERITIES
from sigservice.errors import AppError, ConfigError, StartError
from sigservice.repository.access import users as user_repository
from sigservice.services.access import passwords, users
from sigservice.services.identity import SYSTEM
from sigservice.transfer import commands as moving
from sigservice.version import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 done, 1 it can't, 2 wrong configuration or usage, 3 risks to fail on."""
    parser = argparse.ArgumentParser(prog="sigservice", description=__doc__)
    parser.add_argument("--version", action="version", version=f"sigservice {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("run", help="start the service (the default)")
    commands.add_parser("migrate", help="bring the database up to date and exit")
    checking = commands.add_parser("check-config", help="print each option and where it came from")
    checking.add_argument("--format", choices=("text", "json"), default="text")
    checking.add_argument(
        "--fail-on", choices=SEVERITIES, default="", help="exit with 3 where a risk is that grave"
    )
    for name, text in (
        ("create-admin", "add an admin user"),
        (
            "reset-password",
            "set a user's password, end the user's sessions, revoke the user's tokens",
        ),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("login", help="user name or e-mail address")
        command.add_argument(
            "--password-stdin", action="store_true", help="read the password from standard input"
        )
    moving.add_to(commands)
    chosen = parser.parse_args(arguments)
    for name in LIBPQ_VARIABLES:  # this process is ours
        os.environ.pop(name, None)
    try:
        if chosen.command == "check-config":
            return check.main(os.environ, chosen.format, chosen.fail_on)
        if chosen.command == "migrate":
            return _migrate()
        if chosen.command in ("create-admin", "reset-password"):
            return _set_password(chosen.command, chosen.login, chosen.password_stdin)
        if chosen.command in moving.COMMANDS:
            return _move(chosen)
        return _run()
    except ConfigError as error:
        for problem in error.problems:
            print(f"sigservice: {problem}", file=sys.stderr)
        return 2
    except (StartError, AppError) as error:
        print(f"sigservice: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _run() -> int:
    service = server.start()
    print("\n".join(service.describe()), flush=True)
    service.wait()
    return 0


def _create() -> server.Service:
    """For a command: the first admin is made by the first start of the service itself."""
    return server.create({"authentication": {"initialAdminUser": None}})


def _migrate() -> int:
    service = _create()
    service.stop()
    print("The database is up to date.")
    return 0


def _move(chosen: argparse.Namespace) -> int:
    moving.check(chosen)
    service = _create()
    try:
        return moving.run(chosen, service.context)
    finally:
        service.stop()


def _set_password(command: str, login: str, from_stdin: bool) -> int:
    password = sys.stdin.readline().rstrip("\n") if from_stdin else getpass.getpass("Password: ")
    passwords.check(password, login)
    service = _create()
    try:
        context = service.context
        password_hash = context.passwords.hash(password)
        with context.database.transaction() as conn:
            if command == "create-admin":
                who = users.check_profile(**users.parse_login(login), name=None, root_role="Admin")
                users.create(conn, who, password_hash, SYSTEM)
            else:
                found = user_repository.find_by_login(conn, login)
                if found is None:
                    raise StartError(f"There is no user {login}.")
                users.set_password(conn, found["id"], password_hash, SYSTEM)
    finally:
        service.stop()
    print("Done.")
    return 0
