"""`sigservice check-oidc` and `unlink-identities`: single sign-on."""

from collections.abc import Mapping
from typing import Any

from sigservice.commands.parsers import add_parser
from sigservice.config import load_config
from sigservice.config.oidc import is_enabled
from sigservice.context import Context
from sigservice.errors import StartError
from sigservice.outgoing.provider import ProviderClient
from sigservice.services.access.oidc import users
from sigservice.services.access.oidc.check import find_problems
from sigservice.services.identity import SYSTEM


def add_parsers(commands: Any) -> None:
    add_parser(
        commands,
        "check-oidc",
        "check the OpenID provider",
        "Asks the provider for its metadata and keys, and compares them with the configuration and "
        "the clock. Needs no database. Exit codes: 0 without problems, 1 otherwise.",
        "SERVICE_OIDC_ISSUER=https://id.example.com SERVICE_OIDC_CLIENT_ID=flags "
        "SERVICE_URL=https://flags.example.com sigservice check-oidc",
    )
    unlinking = add_parser(
        commands,
        "unlink-identities",
        "disconnect one user or all from the OpenID provider",
        "Ends the sessions that the provider opened. For another provider, or another client whose "
        "subjects differ. The service may run.",
        "sigservice unlink-identities eva@example.com",
    )
    unlinking.add_argument(
        "login", metavar="LOGIN", nargs="?", default="", help="username or email; without it all"
    )


def check(environ: Mapping[str, str]) -> int:
    """Prints the problems; returns the exit code. Raises ConfigError, StartError."""
    config = load_config(None, environ).config
    if not is_enabled(config):
        raise StartError("Single sign-on is off: set SERVICE_OIDC_ISSUER.")
    client = ProviderClient.from_config(config, lambda endpoint, result, seconds: None)
    problems = find_problems(config["authentication"]["oidc"], client)
    print("\n".join(problems or ["The provider has no problems."]))
    return 1 if problems else 0


def unlink(login: str, context: Context) -> int:
    """Returns the exit code. Raises NotFoundError."""
    with context.database.transaction() as conn:
        count = users.unlink_all(conn, login, SYSTEM)
    print(f"Identities disconnected: {count}.")
    return 0
