"""`sigservice check-oidc` and `unlink-identities`: single sign-on."""

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from sigservice.application.service import Service
from sigservice.commands.parsers import add_parser
from sigservice.config import load_config
from sigservice.config.oidc import has_groups, is_enabled
from sigservice.errors import StartError
from sigservice.outgoing.provider import ProviderClient, ProviderError
from sigservice.outgoing.proxies import Proxies
from sigservice.services.access.oidc import id_token, metadata, users
from sigservice.services.identity import SYSTEM

MAX_SECONDS = 20.0
_CONNECTION = "(SERVICE_OIDC_ISSUER, SERVICE_OIDC_CA_FILE, HTTPS_PROXY)"


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
    try:
        problems = list(_find_problems(config))
    except ProviderError as error:
        problems = [f"{error} {_CONNECTION}"]
    print("\n".join(problems or ["The provider has no problems."]))
    return 1 if problems else 0


def _find_problems(config: dict[str, Any]) -> Iterator[str]:
    """Raises ProviderError."""
    settings = config["authentication"]["oidc"]
    client = ProviderClient(
        settings["issuer"],
        Proxies.from_config(config),
        settings["caFile"],
        lambda endpoint, result, seconds: None,
    )
    deadline = time.monotonic() + MAX_SECONDS
    url = metadata.make_discovery_url(settings["issuer"])
    answer = client.fetch("discovery", url, deadline)
    details = metadata.parse(answer.content, settings["issuer"])
    yield from _compare_clocks(answer.date)
    key_set = client.fetch("jwks", details.endpoints["jwks_uri"], deadline)
    if not id_token.import_keys(key_set.content):
        yield "The provider has no usable key: choose a signing key (RSA of 2048 bits or EC) there."
    yield from _compare_lists(settings, answer.content)


def _compare_clocks(date: str) -> Iterator[str]:
    try:
        difference = abs((parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return
    if difference > id_token.SKEW_SECONDS:
        yield f"The clocks of service and provider differ by {difference:.0f} s: synchronize them."


def _compare_lists(settings: dict[str, Any], content: dict[str, Any]) -> Iterator[str]:
    """What the provider announces is optional, so a list that is missing is no problem."""
    algorithms = content.get("id_token_signing_alg_values_supported")
    if isinstance(algorithms, list) and not set(map(str, algorithms)) & set(id_token.ALGORITHMS):
        yield "The provider announces no supported algorithm: choose a signing key there."
    scopes = content.get("scopes_supported")
    for scope in settings["scopes"]:
        if isinstance(scopes, list) and scope not in scopes:
            yield f"The provider doesn't announce the scope {scope} (SERVICE_OIDC_SCOPES)."
    claims, claim = content.get("claims_supported"), settings["groupsClaim"]
    names = (claim, claim.lstrip("/").partition("/")[0].partition(".")[0])
    if has_groups(settings) and isinstance(claims, list) and not set(names) & set(map(str, claims)):
        yield f"The provider doesn't announce the claim {claim} (SERVICE_OIDC_GROUPS_CLAIM)."


def unlink(login: str, create: Callable[[], Service]) -> int:
    """Returns the exit code. Raises NotFoundError."""
    service = create()
    try:
        with service.context.database.transaction() as conn:
            count = users.unlink_all(conn, login, SYSTEM)
    finally:
        service.stop()
    print(f"Identities disconnected: {count}.")
    return 0
