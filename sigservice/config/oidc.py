"""The options of single sign-on (OpenID Connect), their types, and what must be set together."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from sigservice.config import parse
from sigservice.config.addresses import URL, is_this_machine
from sigservice.config.option import Option, build_section
from sigservice.config.parse import LIST, InvalidValue, ValueType, number, read_words, text_type
from sigservice.config.tls import parse_pem, read_text

BLOCK = "authentication.oidc"
DISCOVERY = "/.well-known/openid-configuration"
GROUP_OPTIONS = ("adminGroups", "editorGroups", "viewerGroups")
MAX_NAME, MAX_GROUPS = 60, 100
_FIXED_PARAMETERS = {
    "response_type", "client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge",
    "code_challenge_method", "response_mode", "request", "request_uri", "max_age",
}  # fmt: skip


def _issuer(text: str) -> str:
    if "?" in text or "#" in text:
        raise InvalidValue("it has a query or a fragment")
    url = str(URL.parse(text)).removesuffix(DISCOVERY).rstrip("/")
    parts = urlsplit(url)
    if parts.scheme == "http" and not is_this_machine(parts.hostname or ""):
        raise InvalidValue("http is allowed for a provider on this machine only")
    return url


def _name(text: str) -> str:
    if len(parse.STRING.parse(text)) > MAX_NAME:
        raise InvalidValue(f"it is longer than {MAX_NAME} characters")
    return text.strip()


def _file(text: str) -> str:
    read_text(parse.check_path(text))
    return text


def _pem_file(text: str) -> str:
    parse_pem(read_text(parse.check_path(text)))
    return text


def _claim(text: str) -> str:
    if not parse.STRING.parse(text).strip():
        raise ValueError
    return text.strip()


def _list_type(
    expected: str,
    example: str,
    check: Callable[[list[str]], list[str]],
    split: Callable[[str], list[str]] = LIST.parse,
) -> ValueType:
    return ValueType(
        expected, example, lambda text: check(split(text)), lambda v: check(read_words(v))
    )


def _split_groups(text: str) -> list[str]:
    """A JSON list is for names with commas."""
    if not text.lstrip().startswith("["):
        return list(LIST.parse(text))
    try:
        return read_words(json.loads(text))
    except RecursionError:
        raise ValueError from None


def _groups(names: list[str]) -> list[str]:
    if len(names) > MAX_GROUPS:
        raise InvalidValue(f"there are more than {MAX_GROUPS} groups")
    return names


def _domains(names: list[str]) -> list[str]:
    if not all(re.fullmatch(r"[^\s@.]+(\.[^\s@.]+)*", name) for name in names):
        raise ValueError
    return [name.lower() for name in names]


def _scopes(names: list[str]) -> list[str]:
    if not all(re.fullmatch(r"[!#-\[\]-~]+", name) for name in names):  # RFC 6749, 3.3
        raise ValueError
    return list(dict.fromkeys(["openid", *names]))


def _pairs(items: list[str]) -> list[str]:
    if not all(re.fullmatch(r"[^=]+=.*", item) for item in items):
        raise ValueError
    return items


def _parameters(items: list[str]) -> list[str]:
    for item in _pairs(items):
        if item.partition("=")[0] in _FIXED_PARAMETERS or item == "prompt=none":
            raise InvalidValue("the service itself sets one of these parameters")
    return items


ISSUER = text_type(
    "an https URL without query and fragment (http for this machine only)",
    "https://id.example.com",
    _issuer,
)
SECRET_FILE = text_type(
    "a readable file that contains only the secret", "/run/secrets/oidc-client", _file
)
CA_FILE = text_type("a readable PEM file", "/etc/ssl/provider/ca.pem", _pem_file)
NAME = text_type("text on one line, at most 60 characters", "Keycloak", _name)
CLAIM = text_type("the name of a claim, or a path", "groups", _claim)
GROUPS = _list_type("a comma-separated list or a JSON list", "platform,sre", _groups, _split_groups)
DOMAINS = _list_type("a comma-separated list of domains", "example.com,example.org", _domains)
SCOPES = _list_type(
    "a list separated by commas or spaces",
    "openid,email,profile",
    _scopes,
    lambda text: LIST.parse(text.replace(" ", ",")),
)
REQUIRED_CLAIMS = _list_type("a comma-separated list of claim=value", "hd=example.com", _pairs)
PARAMETERS = _list_type("a comma-separated list of name=value", "acr_values=mfa", _parameters)
_MINUTE_LIMIT = number(0, 1_000_000, "requests per minute and address")

# fmt: off
OPTIONS: list[Option] = build_section(
    "Single sign-on",
    (f"{BLOCK}.issuer", "SERVICE_OIDC_ISSUER", ISSUER, None,
     "Issuer of the provider. Its discovery URL is accepted too. Not set: no single sign-on. See "
     "[single-sign-on.md](single-sign-on.md)."),
    (f"{BLOCK}.clientId", "SERVICE_OIDC_CLIENT_ID", parse.STRING, None,
     "Client ID. Required with an issuer."),
    (f"{BLOCK}.clientSecret", "SERVICE_OIDC_CLIENT_SECRET", parse.SECRET, None,
     "Client secret. With neither this nor the file: a public client (PKCE alone).", "secret"),
    (f"{BLOCK}.clientSecretFile", "SERVICE_OIDC_CLIENT_SECRET_FILE", SECRET_FILE, None,
     "The same as a file, read at each token request, so that it can be replaced without a "
     "restart. The variable overrides it."),
    (f"{BLOCK}.name", "SERVICE_OIDC_NAME", NAME, "single sign-on",
     "Name of the provider: *Sign in with NAME*."),
    (f"{BLOCK}.scopes", "SERVICE_OIDC_SCOPES", SCOPES, ("openid", "email", "profile"),
     "Scopes; `openid` is always sent."),
    (f"{BLOCK}.createUsers", "SERVICE_OIDC_CREATE_USERS", parse.BOOLEAN, False,
     "Creates a user at the first sign-in."),
    (f"{BLOCK}.linkByEmail", "SERVICE_OIDC_LINK_BY_EMAIL", parse.BOOLEAN, True,
     "Connects the provider to an existing user, not an admin, with the same verified address at "
     "the first sign-in."),
    (f"{BLOCK}.trustEmail", "SERVICE_OIDC_TRUST_EMAIL", parse.BOOLEAN, False,
     "Takes every address of the provider as verified, whatever `email_verified` says. Only if "
     "users can't choose their address there."),
    (f"{BLOCK}.emailClaim", "SERVICE_OIDC_EMAIL_CLAIM", CLAIM, "email",
     "Claim with the address. Another one than `email` counts as verified only with `trustEmail`."),
    (f"{BLOCK}.emailDomains", "SERVICE_OIDC_EMAIL_DOMAINS", DOMAINS, (),
     "Only addresses of these domains (not of their subdomains) can sign in."),
    (f"{BLOCK}.requiredClaims", "SERVICE_OIDC_REQUIRED_CLAIMS", REQUIRED_CLAIMS, (),
     "Claims that each sign-in must have."),
    (f"{BLOCK}.groupsClaim", "SERVICE_OIDC_GROUPS_CLAIM", CLAIM, "groups",
     "Claim with the groups: a name, a path such as `realm_access.roles`, or a JSON pointer."),
    *((f"{BLOCK}.{kind}Groups", f"SERVICE_OIDC_{kind.upper()}_GROUPS", GROUPS, (),
       f"Groups whose members are {kind.title()}s. A JSON list is for names with commas.")
      for kind in ("admin", "editor", "viewer")),
    (f"{BLOCK}.defaultRole", "SERVICE_OIDC_DEFAULT_ROLE",
     parse.choice("viewer", "editor", "none"), "viewer",
     "Role of new users, and with groups configured of users in none of them. none: they can't "
     "sign in."),
    (f"{BLOCK}.autoRedirect", "SERVICE_OIDC_AUTO_REDIRECT", parse.BOOLEAN, False,
     "The sign-in page redirects to the provider at once."),
    (f"{BLOCK}.signOut", "SERVICE_OIDC_SIGN_OUT", parse.BOOLEAN, False,
     "*Sign out* ends the session at the provider too."),
    (f"{BLOCK}.authorizationParameters", "SERVICE_OIDC_AUTHORIZATION_PARAMETERS", PARAMETERS, (),
     "Further parameters of the authorization request, such as "
     "`acr_values=mfa,prompt=select_account`."),
    (f"{BLOCK}.caFile", "SERVICE_OIDC_CA_FILE", CA_FILE, None,
     "Certificate authorities of the provider, instead of the system's."),
    ("authentication.passwordSignIn", "SERVICE_PASSWORD_SIGN_IN", parse.BOOLEAN, True,
     "Whether users sign in with passwords. false needs an issuer."),
    ("authentication.breakGlassUsers", "SERVICE_BREAK_GLASS_USERS", LIST, (),
     "Usernames or addresses of accounts that may sign in with a password although passwords are "
     "off, and are never connected to the provider."),
    ("rateLimiting.oidcMaxPerMinute", "SERVICE_OIDC_LIMIT_PER_MINUTE", _MINUTE_LIMIT, 60,
     "/auth/oidc and its callback together."),
)
# fmt: on


def list_missing(config: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(variable, variable that needs it) of each variable that must be set too."""
    block, issuer = config["authentication"]["oidc"], "SERVICE_OIDC_ISSUER"
    if not block["issuer"]:
        if block["clientId"]:
            yield issuer, "SERVICE_OIDC_CLIENT_ID"
        if not config["authentication"]["passwordSignIn"]:
            yield issuer, "SERVICE_PASSWORD_SIGN_IN=false"
        return
    if not block["clientId"]:
        yield "SERVICE_OIDC_CLIENT_ID", issuer
    if not config["server"]["unleashUrl"]:
        yield "SERVICE_URL", issuer


def is_enabled(config: dict[str, Any]) -> bool:
    """Whether the configuration has single sign-on: an issuer, and the type open-source."""
    block = config["authentication"]
    return bool(block["oidc"]["issuer"]) and block["type"] == "open-source"


def list_addresses(config: dict[str, Any]) -> list[tuple[str, str]]:
    """(name, URL) of what must be registered at the provider; [] without single sign-on."""
    if not is_enabled(config):
        return []
    base = f"{config['server']['unleashUrl']}/auth/oidc"
    signs_out = config["authentication"]["oidc"]["signOut"]
    after = [("post-logout redirect URI", f"{base}/signed-out")] if signs_out else []
    logout = ("back-channel logout URI", f"{base}/backchannel-logout")
    return [("redirect URI", f"{base}/callback"), *after, logout]


def has_groups(block: Mapping[str, Any]) -> bool:
    """Whether groups decide about roles; `block` is `authentication.oidc`."""
    return any(block[name] for name in GROUP_OPTIONS)
