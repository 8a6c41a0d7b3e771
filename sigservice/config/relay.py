"""The options of the relay."""

import re

from sigservice.config import addresses, parse, tls
from sigservice.config.option import Option, build_section
from sigservice.config.parse import InvalidValue, ValueType, number, text_type

MAX_TOKENS = 100
MAX_TOKEN_LENGTH = 500
_TOKEN = re.compile(r"[!-~]+:[!-~]+\.[!-~]+")


def is_token(text: str) -> bool:
    """Whether the text has the form of each API token of Unleash and of the service."""
    return len(text) <= MAX_TOKEN_LENGTH and _TOKEN.fullmatch(text) is not None


def parse_tokens(values: list[str]) -> list[str]:
    """Raises InvalidValue."""
    if not 1 <= len(values) <= MAX_TOKENS:
        raise InvalidValue(f"it must have 1 to {MAX_TOKENS} tokens")
    if not all(map(is_token, values)):
        raise InvalidValue("a token must have the form projects:environment.secret")
    return values


def read_token_file(path: str) -> list[str]:
    """The tokens in a file, one a line. Raises InvalidValue."""
    lines = [line.strip() for line in tls.read_text(path).splitlines()]
    return parse_tokens([line for line in lines if line])


def _parse_upstream(text: str) -> str:
    url = addresses.URL.parse(text)
    if url.endswith("/api"):
        raise InvalidValue("it must not end in /api")
    return str(url)


def _parse_origins(values: list[str]) -> list[str]:
    origins = [value.lower() for value in values]
    if not origins or not all(map(addresses.is_origin, origins)):
        raise ValueError
    return origins


def _parse_name(text: str) -> str:
    if not re.fullmatch(r"[!-~]([ -~]{0,98}[!-~])?", text.strip()):
        raise ValueError
    return text.strip()


def _check_pem_path(text: str) -> str:
    tls.PEM_FILE.parse(text.strip())
    return text.strip()


TOKENS = ValueType(
    f"1 to {MAX_TOKENS} client tokens, separated by commas",
    "*:production.964a287e1b728cb5f4f3e0120df92cb5",
    lambda text: parse_tokens(parse.LIST.parse(text)),
    lambda value: parse_tokens(parse.read_words(value)),
)
UPSTREAM = text_type(
    "an http or https URL without /api", "https://flags.example.com", _parse_upstream
)
ORIGINS = ValueType(
    "a comma-separated list of origins, or *",
    "https://www.example.com",
    lambda text: _parse_origins(parse.LIST.parse(text)),
    lambda value: _parse_origins(parse.read_words(value)),
)
CA_FILE = text_type("a readable PEM file", "/etc/ssl/upstream-ca.pem", _check_pem_path)
NAME = text_type("1 to 100 printable ASCII characters", "relay-eu", _parse_name)

# fmt: off
OPTIONS: list[Option] = build_section(
    "Relay",
    ("relay.upstreamUrl", "RELAY_UPSTREAM_URLS", UPSTREAM, None,
     "Required by `sigservice relay`, as all of this section is for it alone: the service, Unleash "
     "server or relay from which it reads flags, with its base path."),
    ("relay.tokens", "RELAY_TOKENS", TOKENS, None,
     "Client tokens with which the relay reads flags. It needs them, or the file.",
     "secret"),
    ("relay.tokensFile", "RELAY_TOKENS_FILE", parse.PATH, None,
     "File with such tokens, one a line, instead of RELAY_TOKENS."),
    ("relay.environments", "RELAY_ENVIRONMENTS", parse.LIST, (),
     "Serves only tokens of these environments. Not set: of all."),
    ("relay.scopesLimit", "RELAY_SCOPES_LIMIT", number(0, 1000), 20,
     "Maximum number of scopes that the relay reads besides those of its own tokens, for client "
     "tokens of SDKs; 0: none."),
    ("relay.refreshSeconds", "RELAY_REFRESH_INTERVAL_SECONDS", number(1, 3600, "seconds"), 15,
     "Interval at which the relay asks the upstream for changes."),
    ("relay.tokenSeconds", "RELAY_TOKEN_INTERVAL_SECONDS", number(1, 3600, "seconds"), 60,
     "Interval at which the relay asks whether the tokens of its clients are still valid."),
    ("relay.timeoutSeconds", "RELAY_UPSTREAM_TIMEOUT_SECONDS", number(1, 60, "seconds"), 10,
     "Maximum time of a request to the upstream."),
    ("relay.caFile", "RELAY_UPSTREAM_CA_FILE", CA_FILE, None,
     "PEM file with the authorities that sign the certificate of the upstream, instead of the "
     "system's."),
    ("relay.corsOrigins", "RELAY_CORS_ORIGINS", ORIGINS, ("*",),
     "Origins of pages that may use the frontend API and OFREP; `*`: all."),
    ("relay.name", "RELAY_NAME", NAME, "sigservice-relay",
     "Name of the relay in its requests to the upstream."),
)
# fmt: on
