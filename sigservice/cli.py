"""The `sigservice` command: run the service, set up its database, back it up, export, import, send
signals."""

import argparse
import getpass
import os
import shlex
import sys
from collections.abc import Sequence

from sigservice import backup_commands, send_command, server
from sigservice.config import check, load_config
from sigservice.config.database import LIBPQ_VARIABLES
from sigservice.config.options import OPTIONS
from sigservice.config.risk import SEVERITIES
from sigservice.db.migrate import Prepare, migrate, migrate_existing
from sigservice.errors import AppError, ConfigError, StartError
from sigservice.log import escape_line
from sigservice.repository.access import users as user_repository
from sigservice.routes import route_list
from sigservice.services.access import passwords, users
from sigservice.services.identity import SYSTEM
from sigservice.services.signals import encrypted_secrets
from sigservice.transfer import commands as transfer
from sigservice.version import __version__

_HELP = """\
The service has no command-line options: environment variables configure it. The main ones:

  HTTP_PORT, HTTP_HOST   where it listens; without a port it chooses a free one and prints it
  SERVICE_URL            its public URL, for links and cookies
  SERVICE_DATA_DIR       data directory of the embedded PostgreSQL, by default data in the current
                         directory
  DATABASE_URL           your own PostgreSQL instead of the embedded one
  EMAIL_HOST             mail server

Example: HTTP_PORT=4242 SERVICE_DATA_DIR=/var/lib/sigservice/data sigservice
`sigservice check-config` prints all variables. The guide is docs/quickstart.md,
docs/production.md for servers, and /docs/guide of the running service."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 success, 1 failure, 2 invalid configuration or usage, 3 risks."""
    parser = argparse.ArgumentParser(
        prog="sigservice",
        description=__doc__,
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"sigservice {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("run", help="start the service (the default)")
    commands.add_parser("migrate", help="migrate the database and exit")
    checking = commands.add_parser("check-config", help="print each option, its source and risks")
    checking.add_argument(
        "--fail-on", choices=SEVERITIES, default="", help="exit with 3 if a risk is this severe"
    )
    routing = commands.add_parser("routes", help="print all routes with their permissions")
    for command in (checking, routing):
        command.add_argument("--format", choices=("text", "json"), default="text")
    for name, text in (
        ("create-admin", "create an admin user"),
        ("reset-password", "set a user's password, end their sessions and revoke their tokens"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("login", help="username or email")
        command.add_argument(
            "--password-stdin", action="store_true", help="read the password from standard input"
        )
    commands.add_parser("rotate-key", help="encrypt all signing secrets with a new key")
    backup_commands.add_parsers(commands)
    transfer.add_parsers(commands)
    send_command.add_arguments(commands.add_parser("send", help="send a signal to an endpoint"))
    arguments = sys.argv[1:] if arguments is None else arguments
    if hint := _find_variable(arguments):
        parser.error(hint)
    options = parser.parse_args(arguments)
    for name in LIBPQ_VARIABLES:  # libpq would read them
        os.environ.pop(name, None)
    try:
        if options.command == "check-config":
            return check.main(
                os.environ, options.format, options.fail_on, server.find_database_risks
            )
        if options.command == "routes":
            return _print_routes(options.format)
        if options.command == "send":
            return send_command.run_command(options, os.environ)
        if options.command == "migrate":
            return _migrate()
        if options.command in ("create-admin", "reset-password"):
            return _set_password(options.command, options.login, options.password_stdin)
        if options.command == "rotate-key":
            return _rotate_key()
        if options.command in backup_commands.COMMANDS:
            return backup_commands.run_command(options.command, options.file, os.environ, _announce)
        if options.command in transfer.COMMANDS:
            return _transfer(options)
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


def _create(prepare: Prepare = migrate_existing) -> server.Service:
    """A service for a command, which creates no database and no admin: the first start of the
    service does."""
    options = {"authentication": {"initialAdminUser": None}}
    return server.create_on_existing(options, _announce, prepare)


def _migrate() -> int:
    service = _create(prepare=migrate)  # in a configured database it creates the tables
    service.stop()
    print("The database is up to date.")
    return 0


def _rotate_key() -> int:
    service = _create()
    try:
        context = service.context
        with context.encryption.rotate_keys() as is_new, context.database.transaction() as conn:
            count = encrypted_secrets.rotate(conn, context.encryption)
    finally:
        service.stop()
    print(f"Secrets encrypted with the {'new' if is_new else 'first'} key: {count}.")
    return 0


def _transfer(options: argparse.Namespace) -> int:
    transfer.check_arguments(options)
    service = _create()
    try:
        return transfer.run_command(options, service.context)
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
                fields = users.parse_login(login)
                profile = users.check_profile(**fields, name=None, root_role="Admin")
                users.create(conn, profile, password_hash, SYSTEM)
            else:
                user = user_repository.find_by_login(conn, login)
                if user is None:
                    raise StartError(f"User {login} not found.")
                users.set_password(conn, user["id"], password_hash, SYSTEM)
    finally:
        service.stop()
    print("Done.")
    return 0
