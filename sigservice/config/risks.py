"""Risks of a configuration: a table of what is risky, and when."""

import ipaddress
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from sigservice.config import oidc
from sigservice.config.addresses import is_this_machine, split_database_hosts
from sigservice.config.authentication_types import NO_HANDLER
from sigservice.config.encryption import PUBLIC_KEY
from sigservice.config.options import OPTIONS
from sigservice.config.parse import is_false
from sigservice.config.risk import Config, Risk, Sources
from sigservice.crypto.encryption import KEY_FILE, describe_exposure

_METRICS_VARIABLE = "CLIENT_METRICS_RATE_LIMIT_PER_MINUTE"
_REGISTER_VARIABLE = "REGISTER_CLIENT_RATE_LIMIT_PER_MINUTE"
_METRICS_LIMIT = "metricsRateLimiting.clientMetricsMaxPerMinute"
_REGISTER_LIMIT = "metricsRateLimiting.clientRegisterMaxPerMinute"
_UNSAFE_SOURCES = {"*", "'unsafe-inline'", "'unsafe-eval'", "http:", "https:", "data:"}
_SHORT = 16
_MAX_SESSION_HOURS = 24
# Issuers at which anyone can register.
_PUBLIC_ISSUERS = (
    "https://accounts.google.com",
    "https://gitlab.com",
    "https://login.microsoftonline.com/consumers",
    "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad",
)


@dataclass(frozen=True)
class Settings:
    """A configuration whose options are found by their path."""

    config: Config
    sources: Sources
    environ: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, path: str) -> Any:
        return reduce(lambda block, name: block[name], path.split("."), self.config)

    @property
    def url(self) -> SplitResult:
        return urlsplit(self["server.unleashUrl"] or "")

    @property
    def has_key(self) -> bool:
        return bool(self["signals.encryptionKey"] or self["signals.encryptionKeyFile"])

    @property
    def has_server(self) -> bool:
        """Whether the database isn't the embedded one."""
        return not self["db.embedded"]

    @property
    def uses_socket(self) -> bool:
        return str(self["db.host"]).startswith(("/", "@"))

    @property
    def oidc(self) -> dict[str, Any]:
        """The options of single sign-on; empty if it is off."""
        return self["authentication.oidc"] if oidc.is_enabled(self.config) else {}

    @property
    def is_public_provider(self) -> bool:
        return str(self.oidc.get("issuer")).removesuffix("/v2.0").lower() in _PUBLIC_ISSUERS

    @property
    def needs_provider(self) -> bool:
        """Whether nobody can sign in without the provider."""
        block = self["authentication"]
        return bool(self.oidc) and not (block["passwordSignIn"] or block["breakGlassUsers"])


def _list_swapped(s: Settings) -> list[str]:
    pairs = ((_METRICS_LIMIT, _REGISTER_VARIABLE), (_REGISTER_LIMIT, _METRICS_VARIABLE))
    return [path for path, variable in pairs if s.sources[path] == variable]


def _is_wide(network: str) -> bool:
    """Whether a network contains at least 1/256 of all addresses."""
    return ipaddress.ip_network(network, strict=False).prefixlen <= 7


def _is_public(host: str) -> bool:
    """Whether the host is neither a private address nor a name without a dot, such as that of a
    container."""
    try:
        return not ipaddress.ip_address(host).is_private
    except ValueError:
        return "." in host and not is_this_machine(host)


def _is_misspelled(s: Settings) -> bool:
    in_force = s.sources["versionCheck.enable"] == "CHECK_VERSION"
    return in_force and not s["versionCheck.enable"] and not is_false(s.environ["CHECK_VERSION"])


def _has_weak_admin(s: Settings, admin: dict[str, Any] | None) -> bool:
    """The database knows whether the built-in password is in use."""
    is_built_in = s["authentication.initialAdminIsBuiltIn"]
    return bool(admin) and not is_built_in and len((admin or {})["password"] or "") < 12


def _list_short_tokens(tokens: list[dict[str, Any]]) -> list[str]:
    """Without frontend tokens, which browsers show anyway."""
    names = {"admin": "an admin token", "client": "a client token"}
    short = [token for token in tokens if len(token["secret"].partition(".")[2]) < _SHORT]
    return sorted({names[token["type"]] for token in short if token["type"] in names})


def _has_plain_mail(mail: dict[str, Any]) -> bool:
    is_secure = mail["port"] == 465 if mail["secure"] is None else mail["secure"]
    return bool(mail["host"]) and not is_secure and not is_this_machine(mail["host"])


def _list_exposures(path: Path | str) -> list[str]:
    exposure = describe_exposure(Path(path))
    return [exposure] if exposure else []


def _can_keep_key(directory: str) -> bool:
    home = Path(directory).absolute()
    # Path.exists raises for a folder that this account can't enter.
    existing = next(folder for folder in (home, *home.parents) if os.path.exists(folder))
    return directory != ":temporary:" and os.access(existing, os.W_OK | os.X_OK)


def _is_writable(folder: str) -> bool:
    return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)


# Severity, options, when, message. `when` gets the settings and the value of the option; it says
# whether there is the risk, or lists the texts that replace {} in the message, one for each risk.
_Row = tuple[str, str, Callable[[Settings, Any], bool | list[str]], str]
_SWAPPED = (f"{_REGISTER_VARIABLE} limits client metrics and {_METRICS_VARIABLE} limits client "
            "register: the names are swapped.")  # fmt: skip

# fmt: off
# Settings that are probably mistakes.
_MISTAKES: tuple[_Row, ...] = (
    ("warning", _METRICS_LIMIT, lambda s, _: _list_swapped(s) == [_METRICS_LIMIT], _SWAPPED),
    ("warning", _REGISTER_LIMIT, lambda s, _: _list_swapped(s) == [_REGISTER_LIMIT], _SWAPPED),
    ("warning", "db.ssl",
     lambda s, ssl: [] if not ssl or ssl["rejectUnauthorized"]
     else ["; the CA is set but not used" if ssl.get("ca") else ""],
     "The database's TLS certificate is not verified (rejectUnauthorized is false){}."),
    ("warning", "versionCheck.enable", lambda s, _: _is_misspelled(s),
     "CHECK_VERSION is neither true nor false; every value except true disables the check."),
    ("warning", "outgoing.httpProxy outgoing.httpsProxy outgoing.allProxy",
     lambda s, proxy: (proxy or "").lower().startswith("socks"),
     "{source}: SOCKS proxies are not supported; requests that need one fail."),
    ("note", "authentication.oidc.issuer",
     lambda s, issuer: [s["authentication.type"]] if issuer and not s.oidc else [],
     "SERVICE_OIDC_* and SERVICE_PASSWORD_SIGN_IN have no effect with AUTH_TYPE={}."),
)
_AUTHENTICATION: tuple[_Row, ...] = (
    ("danger", "authentication.type", lambda s, kind: kind == "demo",
     "AUTH_TYPE=demo is not for production: anyone can sign in with any email address."),
    ("danger", "authentication.type", lambda s, kind: kind == "none",
     "AUTH_TYPE=none is deprecated: every visitor is an admin, without sign-in."),
    ("danger", "server.host",
     lambda s, host: s["authentication.type"] == "none" and not s["server.pipe"]
     and not is_this_machine((host or "").strip("[]")),
     "AUTH_TYPE=none is reachable from other machines: set HTTP_HOST=127.0.0.1 unless a firewall "
     "or proxy restricts access."),
    ("warning", "authentication.type",
     lambda s, kind: kind == "custom" and s["authentication.customAuthHandler"] is None,
     f"{NO_HANDLER} Until then only API tokens work."),
    ("danger", "authentication.demoAllowAdminLogin",
     lambda s, allows: allows and s["authentication.type"] == "demo",
     "Anyone can sign in as an admin by entering `admin`."),
)
_OTHERS: tuple[_Row, ...] = (
    ("warning", "authentication.initialAdminUser", _has_weak_admin,
     "The first admin's password has fewer than 12 characters."),
    ("danger", "authentication.oidc.createUsers",
     lambda s, creates: creates and s.is_public_provider and s.oidc["defaultRole"] != "none"
     and not (s.oidc["emailDomains"] or s.oidc["requiredClaims"]),
     "Anyone can register at this provider and gets a user here: set SERVICE_OIDC_EMAIL_DOMAINS or "
     "SERVICE_OIDC_REQUIRED_CLAIMS."),
    ("warning", "authentication.oidc.trustEmail", lambda s, trusts: trusts and s.is_public_provider,
     "Anyone can register at this provider, with an address that it may not verify."),
    ("warning", "authentication.oidc.emailClaim",
     lambda s, claim: bool(s.oidc) and claim != "email" and not s.oidc["trustEmail"],
     "Without SERVICE_OIDC_TRUST_EMAIL nobody can be connected or created by this claim."),
    ("warning", "authentication.oidc.issuer", lambda s, _: bool(s.oidc) and s.url.scheme == "http",
     "SERVICE_URL is http: codes of the provider are sent unencrypted."),
    ("warning", "session.ttlHours",
     lambda s, hours: bool(s.oidc) and oidc.has_groups(s.oidc) and hours > _MAX_SESSION_HOURS,
     "Groups change a role at the next sign-in only: set SESSION_TTL_HOURS to 24 or less."),
    ("danger", "authentication.passwordSignIn",
     lambda s, _: s.needs_provider and not s.oidc["adminGroups"],
     "Passwords are off, and neither SERVICE_OIDC_ADMIN_GROUPS nor SERVICE_BREAK_GLASS_USERS is "
     "set: there may be no admin."),
    ("warning", "authentication.passwordSignIn", lambda s, _: s.needs_provider,
     "Passwords are off, and without SERVICE_BREAK_GLASS_USERS nobody can sign in while the "
     "provider is down."),
    ("warning", "authentication.enableApiToken", lambda s, needs_token: not needs_token,
     "Anyone who can reach the client and frontend API can read the flags of all projects."),
    ("warning", "authentication.initApiTokens", lambda s, tokens: _list_short_tokens(tokens),
     f"The secret of {{}} has fewer than {_SHORT} characters after the dot."),
    ("warning", "server.unleashUrl", lambda s, url: not url,
     "SERVICE_URL is not set: links use localhost and cookies are not Secure."),
    ("warning", "server.unleashUrl",
     lambda s, _: s.url.scheme == "http" and not is_this_machine(s.url.hostname or ""),
     "SERVICE_URL is http: passwords and tokens are sent unencrypted."),
    ("warning", "server.unleashUrl",
     lambda s, url: bool(url) and not s.url.path.endswith(s["server.baseUriPath"]),
     "SERVICE_URL must end with BASE_URI_PATH, which is not appended to it."),
    ("warning", "server.trustedProxy", lambda s, names: s.url.scheme == "https" and not names,
     "Behind a proxy all clients share one address and its rate limits: set SERVICE_TRUSTED_PROXY "
     "to the address of the proxy."),
    ("warning", "secureHeaders", lambda s, is_on: is_on and s.url.scheme != "https",
     "SECURE_HEADERS is on, but SERVICE_URL is not https: over plain HTTP browsers drop the "
     "session cookie, so users can't stay signed in."),
    ("warning", "session.cookieName",
     lambda s, name: name.startswith(("__Host-", "__Secure-")) and s.url.scheme != "https"
     and not s["secureHeaders"],
     "Browsers accept a cookie with this name over HTTPS only."),
    ("warning", "session.cookieName",
     lambda s, name: name.startswith("__Host-")
     and bool(s["server.baseUriPath"] or s.url.path.strip("/")),
     "Browsers reject a __Host- cookie with a base path."),
    ("danger", "server.trustedProxy",
     lambda s, names: [name for name in names if name != "localhost" and _is_wide(name)],
     "{}: almost any client can claim any address, so rate limits have no effect."),
    ("warning", "webhooks.allowPrivate", lambda s, allows: allows,
     "Integrations can send to private addresses (SERVICE_WEBHOOK_ALLOW_PRIVATE)."),
    ("warning", "webhooks.allowedHosts",
     lambda s, hosts: any("/" in host and _is_wide(host) for host in hosts),
     "It contains a network with almost all addresses."),
    ("warning", "server.metricsToken",
     lambda s, token: s["server.serverMetrics"] and 0 < len(token or "") < _SHORT,
     f"It has fewer than {_SHORT} characters."),
    ("warning", " ".join(f"additionalCspAllowedDomains.{name}"
                         for name in ("defaultSrc", "scriptSrc", "objectSrc")),
     lambda s, allowed: bool(_UNSAFE_SOURCES & set(allowed)),
     "It allows scripts from almost any source, which the policy should prevent."),
    ("warning", " ".join(option.path for option in OPTIONS
                         if option.path.startswith(("rateLimiting.", "metricsRateLimiting."))),
     lambda s, limit: limit == 0, "0 rejects every request."),
    ("warning", "signals.maxPerSecond", lambda s, limit: limit == 0, "0 rejects every signal."),
    ("warning", "keepAliveTimeout", lambda s, seconds: seconds == 0,
     "0 never closes idle connections, so they can use up all connections."),
    ("danger", "dataDir", lambda s, path: s["db.embedded"] and path == ":temporary:",
     "All data is lost when the service stops."),
    ("warning", "db.password",
     lambda s, _: s.has_server and s.sources["db.password"] == "default" and not s.uses_socket,
     "The database uses the public default password."),
    ("warning", "db.ssl",
     lambda s, ssl: s.has_server and not ssl and not s.uses_socket
     and any(_is_public(name) for name, _ in split_database_hosts(s["db.host"])),
     "The database is on another machine and the connection is not encrypted."),
    ("warning", "db.ssl", lambda s, ssl: s.has_server and bool(ssl) and s.uses_socket,
     "Connections over a unix socket have no TLS."),
    ("danger", "signals.encryptionKey", lambda s, keys: PUBLIC_KEY in (keys or ()),
     "Signing secrets are encrypted with the public key of the documentation."),
    ("warning", "signals.encryptionKeyFile",
     lambda s, file: _list_exposures(file) if file and not s["signals.encryptionKey"] else [],
     "{}."),
    ("warning", "signals.encryptionKey",
     lambda s, _: [] if s.has_key else _list_exposures(Path(s["dataDir"]).absolute() / KEY_FILE),
     "{}."),
    ("warning", "signals.encryptionKey",
     lambda s, _: s.has_server and not s.has_key and not _can_keep_key(s["dataDir"]),
     "Signing secrets can't be stored, because SERVICE_DATA_DIR can't keep their encryption key: "
     "set SERVICE_ENCRYPTION_KEY."),
    ("warning", "archiveDir", lambda s, folder: folder is not None and not _is_writable(folder),
     "It is not a directory that this account can write to: old signals and events are not "
     "deleted."),
    ("warning", "email.host", lambda s, host: not host,
     "No mail server is set: users can't reset their passwords."),
    ("warning", "email.sender", lambda s, sender: s["email.host"] and not sender,
     "No sender is set: it is the SMTP username or made from SERVICE_URL."),
    ("warning", "email.smtppass",
     lambda s, password: s["email.host"] and s["email.smtpuser"] and not password,
     "Username and password must be set together."),
    ("warning", "email.smtpuser",
     lambda s, user: s["email.host"] and s["email.smtppass"] and not user,
     "Username and password must be set together."),
    ("warning", "email.secure", lambda s, _: _has_plain_mail(s["email"]),
     "Mails, which contain reset links, are encrypted only if the server supports it."),
)
# fmt: on


def find_start_warnings(config: Config, sources: Sources, environ: Mapping[str, str]) -> list[Risk]:
    """Warnings that each start logs: settings that are probably mistakes."""
    return _find(_MISTAKES, Settings(config, sources, environ))


def find_authentication_risks(config: Config, sources: Sources) -> list[Risk]:
    """Risks of the authentication type. Each start logs them too."""
    return _find(_AUTHENTICATION, Settings(config, sources))


def find_risks(config: Config, sources: Sources) -> list[Risk]:
    """All other risks, for `check-config`."""
    return _find(_AUTHENTICATION + _OTHERS, Settings(config, sources))


def _find(rows: Iterable[_Row], settings: Settings) -> list[Risk]:
    risks = []
    for severity, paths, when, message in rows:
        for path in paths.split():
            result = when(settings, settings[path])
            texts = result if isinstance(result, list) else [""] * bool(result)
            source = settings.sources.get(path)
            risks += [Risk(severity, path, message.format(text, source=source)) for text in texts]
    return risks


def find_unknown_password_risk(config: Config, reason: str) -> Risk:
    """The risk of the default password if the database can't be asked, for a `reason`."""
    is_built_in = config["authentication"]["initialAdminIsBuiltIn"]
    consequence = (
        " If it has no users, the first admin gets that password: set "
        "SERVICE_DEFAULT_ADMIN_USERNAME and SERVICE_DEFAULT_ADMIN_PASSWORD."
    )
    return Risk(
        "danger" if is_built_in else "warning",
        "authentication.initialAdminUser",
        "The database can't be asked whether a user has the public default password: "
        f"{reason}{consequence if is_built_in else ''}",
    )
