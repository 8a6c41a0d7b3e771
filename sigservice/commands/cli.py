"""The `sigservice` command: run the service, set up its database, back it up, export, import, send
signals."""

import argparse
import contextlib
import getpass
import os
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from sigservice.application.service import Service, find_database_risks
from sigservice.application.start import create_on_existing
from sigservice.commands import backup, demo, oidc, relay, release, run, send
from sigservice.commands.parsers import add_parser
from sigservice.commands.transfer import apply, import_export
from sigservice.config import check, load_config
from sigservice.config.options import OPTIONS
from sigservice.config.risk import SEVERITIES
from sigservice.db.migrate import Prepare, migrate, migrate_existing
from sigservice.errors import StartError
from sigservice.log import escape_line
from sigservice.repository.access import users as user_rows
from sigservice.routes import route_list
from sigservice.services.access import passwords, users
from sigservice.services.identity import SYSTEM
from sigservice.services.integrations import integrations
from sigservice.services.rules import metric_sources
from sigservice.services.signals import signal_endpoint_tokens
from sigservice.version import VERSION_WITH_COMMIT

_HELP = """\
The service has no command-line options: environment variables configure it. The main ones:

  HTTP_PORT, HTTP_HOST   where it listens; without a port it chooses a free one and prints it
  SERVICE_URL            its public URL, for links and cookies
  SERVICE_DATA_DIR       data directory of the embedded PostgreSQL, by default data in the current
                         directory
  DATABASE_URL           your own PostgreSQL instead of the embedded one
  EMAIL_HOST             mail server

Example: HTTP_PORT=4242 SERVICE_DATA_DIR=/var/lib/sigservice/data sigservice
`sigservice check-config --all` prints all variables. The guide is docs/quickstart.md,
docs/run.md for servers, and /docs/guide of the running service."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 success, 1 failure, 2 invalid configuration or usage, 3 risks."""
    parser = argparse.ArgumentParser(
        prog="sigservice",
        description=__doc__,
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"sigservice {VERSION_WITH_COMMIT}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_parsers(commands)
    backup.add_parsers(commands)
    import_export.add_parsers(commands)
    oidc.add_parsers(commands)
    demo.add_arguments(commands)
    send.add_arguments(commands.add_parser("send", help="send a signal to an endpoint"))
    release.add_arguments(commands.add_parser("release", help="start and steer a release"))
    apply.add_arguments(commands.add_parser("apply", help="bring files of flags into a service"))
    arguments = sys.argv[1:] if arguments is None else arguments
    if hint := _find_variable(arguments):
        parser.error(hint)
    options = parser.parse_args(arguments)
    return run.call(lambda: _call(options))


def _call(options: argparse.Namespace) -> int:
    if options.command == "check-config":
        return check.main(
            os.environ,
            options.format,
            options.fail_on,
            find_database_risks,
            has_defaults=options.all,
        )
    if options.command == "routes":
        return _print_routes(options.format)
    if options.command == "send":
        return send.run_command(options, os.environ)
    if options.command == "release":
        return release.run_command(options, os.environ)
    if options.command == "relay":
        return relay.main(os.environ)
    if options.command == "apply":
        return apply.run_command(options, os.environ)
    if options.command == "demo":
        return demo.run_command(options, os.environ)
    if options.command == "migrate":
        return _migrate()
    if options.command in ("create-admin", "reset-password"):
        return _set_password(options.command, options.login, options.password_stdin)
    if options.command == "check-oidc":
        return oidc.check(os.environ)
    if options.command == "unlink-identities":
        with _open_service() as service:
            return oidc.unlink(options.login, service.context)
    if options.command == "rotate-key":
        return _rotate_key()
    if options.command in backup.COMMANDS:
        return backup.run_command(options.command, options.file, os.environ, _announce)
    if options.command in import_export.COMMANDS:
        return _transfer(options)
    return run.run()


def _add_parsers(commands: Any) -> None:
    """Adds the commands of this module."""
    add_parser(
        commands,
        "run",
        "start the service (the default)",
        "Environment variables configure it, see `sigservice --help`. Creates and migrates the "
        "database. Ctrl-C or SIGTERM stops it.",
        "HTTP_PORT=4242 sigservice run",
    )
    add_parser(
        commands,
        "relay",
        "serve the flags of another service, without a database",
        "Environment variables configure it: docs/relay.md.",
        "RELAY_UPSTREAM_URLS=https://flags.example.com RELAY_TOKENS=… sigservice relay",
    )
    add_parser(
        commands,
        "migrate",
        "migrate the database and exit",
        "Creates the tables in an empty database of your own, and changes the tables of an "
        "older version. `run` does it too. docs/run.md describes upgrades.",
        "DATABASE_URL=postgres://flags:secret@db/flags sigservice migrate",
    )
    checking = add_parser(
        commands,
        "check-config",
        "print the risks, and each option that is set with its source",
        "Changes nothing. Exit codes: 0 success, 2 invalid configuration, 3 a risk of --fail-on.",
        "sigservice check-config --fail-on danger",
    )
    checking.add_argument(
        "--fail-on", choices=SEVERITIES, default="", help="exit with 3 if a risk is this severe"
    )
    checking.add_argument(
        "--all", action="store_true", help="print the options that have their defaults too"
    )
    routing = add_parser(
        commands,
        "routes",
        "print all routes with their permissions",
        "Needs no database.",
        "sigservice routes --format json",
    )
    for command in (checking, routing):
        command.add_argument(
            "--format", choices=("text", "json"), default="text", help="default: text"
        )
    for name, summary, details in (
        (
            "create-admin",
            "create an admin user",
            "Asks for the password. The database must exist; the service may run.",
        ),
        (
            "reset-password",
            "set a user's password, end their sessions and revoke their tokens",
            "Asks for the new password. The service may run.",
        ),
    ):
        example = f"sigservice {name} ada@example.com --password-stdin <password.txt"
        command = add_parser(commands, name, summary, details, example)
        command.add_argument("login", metavar="LOGIN", help="username or email")
        command.add_argument(
            "--password-stdin", action="store_true", help="read the password from standard input"
        )
    add_parser(
        commands,
        "rotate-key",
        "encrypt all signing secrets with a new key",
        "Replaces the key in encryption.key of the data directory; with SERVICE_ENCRYPTION_KEY it "
        "uses the first key of the variable. The service may run. docs/security.md has details.",
        "SERVICE_DATA_DIR=/var/lib/sigservice/data sigservice rotate-key",
    )


def _print_routes(form: str) -> int:
    routes = route_list.list_routes(load_config(None, os.environ).config)
    render = route_list.render_json if form == "json" else route_list.render_text
    sys.stdout.write(render(routes))
    return 0


def _find_variable(arguments: Sequence[str]) -> str:
    """The message for an option such as --port instead of a command or after `run`, else ""."""
    options = arguments[1:] if arguments[:1] == ["run"] else arguments
    name, _, value = options[0].partition("=") if options else ("", "", "")
    if not name.startswith("--") or name in ("--", "--help", "--version"):
        return ""
    suffix = name.strip("-").replace("-", "_").upper()
    option = next((row for row in OPTIONS if f"_{row.env}".endswith(f"_{suffix}")), None)
    if option is None:
        return f"unknown option {name}: environment variables configure the service, see --help"
    value = value or " ".join(options[1:2])
    is_shown = value and not option.secret
    example = f": {option.env}={shlex.quote(value)} sigservice" if is_shown else ""
    return f"unknown option {name}: set the environment variable {option.env}{example}"


def _announce(database: str) -> None:
    print(escape_line(f"sigservice: database: {database}"), file=sys.stderr)


@contextlib.contextmanager
def _open_service(prepare: Prepare = migrate_existing) -> Iterator[Service]:
    """A service for a command, which creates no database and no admin: the first start of the
    service does."""
    options = {"authentication": {"initialAdminUser": None}}
    service = create_on_existing(options, _announce, prepare)
    try:
        yield service
    finally:
        service.stop()


def _migrate() -> int:
    with _open_service(migrate):  # in a configured database it creates the tables
        pass
    print("The database is up to date.")
    return 0


def _rotate_key() -> int:
    with _open_service() as service:
        context = service.context
        with context.encryption.rotate_keys() as is_new, context.database.transaction() as conn:
            count = signal_endpoint_tokens.rotate_secrets(conn, context.encryption)
            count += integrations.rotate_secrets(conn, context.encryption)
            count += metric_sources.rotate(conn, context.encryption)
    print(f"Secrets encrypted with the {'new' if is_new else 'first'} key: {count}.")
    return 0


def _transfer(options: argparse.Namespace) -> int:
    import_export.check_arguments(options)
    with _open_service() as service:
        return import_export.run_command(options, service.context)


def _set_password(command: str, login: str, from_stdin: bool) -> int:
    password = sys.stdin.readline().rstrip("\r\n") if from_stdin else _ask_password()
    passwords.check(password, login)
    with _open_service() as service:
        context = service.context
        password_hash = context.passwords.hash(password)
        with context.database.transaction() as conn:
            if command == "create-admin":
                fields = users.parse_login(login)
                profile = users.check_profile(**fields, name=None, root_role="Admin")
                users.create(conn, profile, password_hash, SYSTEM)
            else:
                user = user_rows.find_by_login(conn, login)
                if user is None:
                    raise StartError(f"User {login} not found.")
                users.set_password(conn, user["id"], password_hash, SYSTEM)
    print("Done.")
    return 0


def _ask_password() -> str:
    """Raises StartError without a terminal, where the password would be shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            return getpass.getpass("Password: ")
        except (getpass.GetPassWarning, EOFError, OSError):
            raise StartError(
                "There is no terminal to enter the password: use --password-stdin."
            ) from None
