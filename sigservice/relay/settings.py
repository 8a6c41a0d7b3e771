"""The configuration of the relay."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sigservice.config.load import read_config
from sigservice.config.names import find_unknown
from sigservice.config.option import example
from sigservice.config.parse import InvalidValue
from sigservice.config.relay import OPTIONS, read_token_file
from sigservice.errors import ConfigError, Problem

# The variables of the service that the relay reads too.
# fmt: off
SHARED = (
    "HTTP_PORT", "HTTP_HOST", "BASE_URI_PATH", "SERVICE_TRUSTED_PROXY",
    "SERVICE_CONNECTIONS_PER_ADDRESS", "SERVER_KEEPALIVE_TIMEOUT", "SERVER_DISABLE_COMPRESSION",
    "GRACEFUL_SHUTDOWN_ENABLE", "GRACEFUL_SHUTDOWN_DELAY", "GRACEFUL_SHUTDOWN_TIMEOUT",
    "LOG_LEVEL", "LOG_FORMAT", "REQUEST_LOGGER_ENABLE", "SERVICE_PROXY_PATHS",
    "ACCESS_CONTROL_MAX_AGE", "SECURE_HEADERS", "SERVICE_STRICT_TRANSPORT_SECURITY",
    "FAILED_AUTH_LIMIT_PER_MINUTE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
)
# fmt: on


class Settings(NamedTuple):
    """`config` has the structure of the service's; `tokens` are those of RELAY_TOKENS or of its
    file. The start logs the `warnings`."""

    config: dict[str, Any]
    tokens: list[str]
    warnings: list[str]


def load_settings(environ: Mapping[str, str]) -> Settings:
    """Raises ConfigError with all problems of the variables that the relay reads."""
    names = {*SHARED, *(option.env for option in OPTIONS)}
    loaded = read_config(None, {name: environ[name] for name in environ if name.upper() in names})
    problems, relay = list(loaded.problems), loaded.config["relay"]
    invalid = {problem.variable for problem in problems}
    tokens: list[str] = relay["tokens"] or []
    if not relay["upstreamUrl"] and "RELAY_UPSTREAM_URLS" not in invalid:
        problems.append(_describe("RELAY_UPSTREAM_URLS", "it is required"))
    if relay["tokensFile"] and (tokens or "RELAY_TOKENS" in invalid):
        problems.append(_describe("RELAY_TOKENS_FILE", "RELAY_TOKENS is set too"))
    elif relay["tokensFile"]:
        try:
            tokens = read_token_file(relay["tokensFile"])
        except InvalidValue as error:
            problems.append(_describe("RELAY_TOKENS_FILE", str(error)))
    elif not tokens and not invalid & {"RELAY_TOKENS", "RELAY_TOKENS_FILE"}:
        problems.append(_describe("RELAY_TOKENS", "it or RELAY_TOKENS_FILE is required"))
    if problems:
        raise ConfigError(problems)
    own = {name: "" for name in environ if name.startswith("RELAY_")}
    return Settings(loaded.config, tokens, [risk.message for risk in find_unknown(own)])


def _describe(variable: str, reason: str) -> Problem:
    option = next(option for option in OPTIONS if option.env == variable)
    return Problem(variable, option.type.expected, example(option), reason)
