"""Risks of a configuration.

Each rule in RULES is a function of (config, sources). None opens a connection or a file.
"""

import ipaddress
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import urlsplit

from sigservice.config.addresses import is_this_machine, split_database_hosts
from sigservice.config.authentication_types import NO_HANDLER
from sigservice.config.file_risks import find_archive_risks, find_encryption_risks
from sigservice.config.oidc_risks import find_oidc_risks, find_unused_settings
from sigservice.config.parse import is_false
from sigservice.config.risk import Config, Risk, Sources

_SWAPPED_VARIABLES = {
    "metricsRateLimiting.clientMetricsMaxPerMinute": "REGISTER_CLIENT_RATE_LIMIT_PER_MINUTE",
    "metricsRateLimiting.clientRegisterMaxPerMinute": "CLIENT_METRICS_RATE_LIMIT_PER_MINUTE",
}
_UNSAFE_SOURCES = {"*", "'unsafe-inline'", "'unsafe-eval'", "http:", "https:", "data:"}
_SHORT = 16


def find_start_warnings(config: Config, sources: Sources, environ: Mapping[str, str]) -> list[Risk]:
    """Warnings that each start logs: settings that are probably mistakes."""
    return [
        *_find_swapped_limits(config, sources),
        *_find_unverified_database(config, sources),
        *_find_typo(config, sources, environ),
        *_find_socks_proxies(config, sources),
        *find_unused_settings(config),
    ]


def find_risks(config: Config, sources: Sources) -> list[Risk]:
    """All other risks, for `check-config`."""
    return [risk for rule in RULES for risk in rule(config, sources)]


def _find_swapped_limits(config: Config, sources: Sources) -> Iterator[Risk]:
    set_paths = [path for path in _SWAPPED_VARIABLES if sources[path] == _SWAPPED_VARIABLES[path]]
    if len(set_paths) == 1:
        yield Risk(
            "warning",
            set_paths[0],
            "REGISTER_CLIENT_RATE_LIMIT_PER_MINUTE limits client metrics and "
            "CLIENT_METRICS_RATE_LIMIT_PER_MINUTE limits client register: the names are swapped.",
        )


def _find_unverified_database(config: Config, sources: Sources) -> Iterator[Risk]:
    ssl = config["db"]["ssl"]
    if not ssl or ssl["rejectUnauthorized"]:
        return
    text = "The database's TLS certificate is not verified (rejectUnauthorized is false)"
    unused = "; the CA is set but not used" if ssl.get("ca") else ""
    yield Risk("warning", "db.ssl", f"{text}{unused}.")


def _find_typo(config: Config, sources: Sources, environ: Mapping[str, str]) -> Iterator[Risk]:
    text = environ.get("CHECK_VERSION", "")
    in_force = sources["versionCheck.enable"] == "CHECK_VERSION"
    if in_force and not config["versionCheck"]["enable"] and not is_false(text):
        yield Risk(
            "warning",
            "versionCheck.enable",
            "CHECK_VERSION is neither true nor false; every value except true disables the check.",
        )


def _find_socks_proxies(config: Config, sources: Sources) -> Iterator[Risk]:
    for name, proxy in config["outgoing"].items():
        if name != "noProxy" and (proxy or "").lower().startswith("socks"):
            path = f"outgoing.{name}"
            text = f"{sources[path]}: SOCKS proxies are not supported; requests that need one fail."
            yield Risk("warning", path, text)


def _find_admin_risks(config: Config, sources: Sources) -> Iterator[Risk]:
    block, path = config["authentication"], "authentication.initialAdminUser"
    if block["initialAdminIsBuiltIn"]:
        return  # the database knows whether that password is in use
    if block["initialAdminUser"] and len(block["initialAdminUser"]["password"] or "") < 12:
        yield Risk("warning", path, "The first admin's password has fewer than 12 characters.")


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


def find_authentication_risks(config: Config, sources: Sources) -> Iterator[Risk]:
    """Risks of the authentication type. Each start logs them too."""
    block, path = config["authentication"], "authentication.type"
    kind, handler = block["type"], block["customAuthHandler"]
    if kind == "demo":
        yield Risk(
            "danger",
            path,
            "AUTH_TYPE=demo is not for production: anyone can sign in with any email address.",
        )
    if kind == "none":
        yield Risk(
            "danger",
            path,
            "AUTH_TYPE=none is deprecated: every visitor is an admin, without sign-in.",
        )
        if not _is_local(config["server"]):
            yield Risk(
                "danger",
                "server.host",
                "AUTH_TYPE=none is reachable from other machines: set HTTP_HOST=127.0.0.1 unless "
                "a firewall or proxy restricts access.",
            )
    if kind == "custom" and handler is None:
        yield Risk("warning", path, f"{NO_HANDLER} Until then only API tokens work.")
    if kind != "custom" and handler is not None:
        path = "authentication.customAuthHandler"
        yield Risk("note", path, f"{path} is only used with AUTH_TYPE=custom.")
    if block["demoAllowAdminLogin"]:
        path = "authentication.demoAllowAdminLogin"
        if kind == "demo":
            yield Risk("danger", path, "Anyone can sign in as an admin by entering `admin`.")
        else:
            text = "AUTH_DEMO_ALLOW_ADMIN_LOGIN is only used with AUTH_TYPE=demo."
            yield Risk("note", path, text)


def _is_local(server: Config) -> bool:
    return bool(server["pipe"]) or is_this_machine((server["host"] or "").strip("[]"))


def _find_token_risks(config: Config, sources: Sources) -> Iterator[Risk]:
    block = config["authentication"]
    if not block["enableApiToken"]:
        yield Risk(
            "warning",
            "authentication.enableApiToken",
            "Anyone who can reach the client and frontend API can read the flags of all projects.",
        )
    for kind in dict.fromkeys(token["type"] for token in block["initApiTokens"]):
        secrets = [token["secret"] for token in block["initApiTokens"] if token["type"] == kind]
        if any(len(secret.partition(".")[2]) < _SHORT for secret in secrets):
            severity = "note" if kind == "frontend" else "warning"  # browsers show theirs anyway
            token = f"an {kind} token" if kind == "admin" else f"a {kind} token"
            text = f"The secret of {token} has fewer than {_SHORT} characters after the dot."
            yield Risk(severity, "authentication.initApiTokens", text)


def _find_address_risks(config: Config, sources: Sources) -> Iterator[Risk]:
    server, path = config["server"], "server.unleashUrl"
    if not server["unleashUrl"]:
        yield Risk(
            "warning",
            path,
            "SERVICE_URL is not set: links use localhost and cookies are not Secure.",
        )
    else:
        url = urlsplit(server["unleashUrl"])
        if url.scheme == "http" and not is_this_machine(url.hostname or ""):
            yield Risk(
                "warning", path, "SERVICE_URL is http: passwords and tokens are sent unencrypted."
            )
        if server["baseUriPath"] and not url.path.endswith(server["baseUriPath"]):
            yield Risk(
                "warning",
                path,
                "SERVICE_URL must end with BASE_URI_PATH, which is not appended to it.",
            )
        if url.scheme == "https" and not server["trustedProxy"]:
            yield Risk(
                "warning",
                "server.trustedProxy",
                "Behind a proxy all clients share one address and its rate limits: set "
                "SERVICE_TRUSTED_PROXY to the address of the proxy.",
            )
    if not server["port"] and not server["pipe"]:
        yield Risk("note", "server.port", "HTTP_PORT is not set: each start uses another port.")


def _find_cookie_risks(config: Config, sources: Sources) -> Iterator[Risk]:
    url = config["server"]["unleashUrl"] or ""
    https = url.startswith("https:")
    if config["secureHeaders"] and not https:
        yield Risk(
            "warning",
            "secureHeaders",
            "SECURE_HEADERS is on, but SERVICE_URL is not https: over plain HTTP browsers drop the "
            "session cookie, so users can't stay signed in.",
        )
    if https and not config["secureHeaders"]:
        yield Risk(
            "note",
            "secureHeaders",
            "SERVICE_URL is https, but no Strict-Transport-Security is sent.",
        )
    name, path = config["session"]["cookieName"], "session.cookieName"
    if name.startswith(("__Host-", "__Secure-")) and not (https or config["secureHeaders"]):
        yield Risk("warning", path, "Browsers accept a cookie with this name over HTTPS only.")
    if name.startswith("__Host-") and (
        config["server"]["baseUriPath"] or urlsplit(url).path.strip("/")
    ):
        yield Risk("warning", path, "Browsers reject a __Host- cookie with a base path.")


def _find_proxy_risks(config: Config, sources: Sources) -> Iterator[Risk]:
    for text in config["server"]["trustedProxy"]:
        if text != "localhost" and _is_wide(text):
            yield Risk(
                "danger",
                "server.trustedProxy",
                f"{text}: almost any client can claim any address, so rate limits have no effect.",
            )


def _find_webhook_risks(config: Config, sources: Sources) -> Iterator[Risk]:
    block = config["webhooks"]
    if block["allowPrivate"]:
        yield Risk(
            "warning",
            "webhooks.allowPrivate",
            "Integrations can send to private addresses (SERVICE_WEBHOOK_ALLOW_PRIVATE).",
        )
    if any("/" in text and _is_wide(text) for text in block["allowedHosts"]):
        yield Risk(
            "warning", "webhooks.allowedHosts", "It contains a network with almost all addresses."
        )


def _find_metrics_risks(config: Config, sources: Sources) -> Iterator[Risk]:
    server, path = config["server"], "server.metricsToken"
    if server["serverMetrics"] and not server["metricsToken"]:
        yield Risk(
            "note", path, "The metrics are public: set SERVICE_METRICS_TOKEN to protect them."
        )
    elif server["serverMetrics"] and len(server["metricsToken"]) < _SHORT:
        yield Risk("warning", path, f"It has fewer than {_SHORT} characters.")


def _find_csp_risks(config: Config, sources: Sources) -> Iterator[Risk]:
    for name in ("defaultSrc", "scriptSrc", "objectSrc"):
        if _UNSAFE_SOURCES & set(config["additionalCspAllowedDomains"][name]):
            yield Risk(
                "warning",
                f"additionalCspAllowedDomains.{name}",
                "It allows scripts from almost any source, which the policy should prevent.",
            )


def _find_limit_risks(config: Config, sources: Sources) -> Iterator[Risk]:
    for group in ("rateLimiting", "metricsRateLimiting"):
        for name, value in config[group].items():
            if value == 0:
                yield Risk("warning", f"{group}.{name}", "0 rejects every request.")
    if config["signals"]["maxPerSecond"] == 0:
        yield Risk("warning", "signals.maxPerSecond", "0 rejects every signal.")
    if config["keepAliveTimeout"] == 0:
        yield Risk(
            "warning",
            "keepAliveTimeout",
            "0 never closes idle connections, so they can use up all connections.",
        )
    if not config["server"]["gracefulShutdownEnable"]:
        yield Risk("note", "server.gracefulShutdownEnable", "A stop aborts running requests.")


def _find_database_risks(config: Config, sources: Sources) -> Iterator[Risk]:
    db = config["db"]
    if db["embedded"]:
        if config["dataDir"] == ":temporary:":
            yield Risk("danger", "dataDir", "All data is lost when the service stops.")
        else:
            text = "No database is configured: the embedded PostgreSQL is used, not db.*."
            yield Risk("note", "db", text)
        return
    host = db["host"]
    hosts = [name for name, _ in split_database_hosts(host)]
    local = host.startswith(("/", "@")) or all(map(is_this_machine, hosts))
    if sources["db.password"] == "default" and not host.startswith(("/", "@")):
        yield Risk("warning", "db.password", "The database uses the public default password.")
    if not db["ssl"] and not local:
        yield Risk(
            "note" if all(map(_is_private, hosts)) else "warning",
            "db.ssl",
            "The database is on another machine and the connection is not encrypted.",
        )
    if db["ssl"] and host.startswith(("/", "@")):
        yield Risk("warning", "db.ssl", "Connections over a unix socket have no TLS.")
    if db["ssl"] and not db["ssl"].get("checkHost", True):
        yield Risk("note", "db.ssl", "The host name in the database's certificate is not checked.")


def _find_mail_risks(config: Config, sources: Sources) -> Iterator[Risk]:
    mail = config["email"]
    if not mail["host"]:
        yield Risk(
            "warning",
            "email.host",
            "No mail server is set: users can't reset their passwords.",
        )
        return
    if not mail["sender"]:
        yield Risk(
            "warning",
            "email.sender",
            "No sender is set: it is the SMTP username or made from SERVICE_URL.",
        )
    if bool(mail["smtpuser"]) != bool(mail["smtppass"]):
        missing = "smtppass" if mail["smtpuser"] else "smtpuser"
        yield Risk("warning", f"email.{missing}", "Username and password must be set together.")
    secure = mail["port"] == 465 if mail["secure"] is None else mail["secure"]
    if not secure and not is_this_machine(mail["host"]):
        yield Risk(
            "warning",
            "email.secure",
            "Mails, which contain reset links, are encrypted only if the server supports it.",
        )


def _is_private(host: str) -> bool:
    """Whether the host is a private address, or a name without a dot such as a container's."""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host


def _is_wide(network: str) -> bool:
    """Whether a network contains at least 1/256 of all addresses."""
    return ipaddress.ip_network(network, strict=False).prefixlen <= 7


RULES: tuple[Callable[[Config, Sources], Iterator[Risk]], ...] = (
    _find_admin_risks,
    find_authentication_risks,
    find_oidc_risks,
    _find_token_risks,
    _find_address_risks,
    _find_cookie_risks,
    _find_proxy_risks,
    _find_webhook_risks,
    _find_metrics_risks,
    _find_csp_risks,
    _find_limit_risks,
    _find_database_risks,
    find_encryption_risks,
    find_archive_risks,
    _find_mail_risks,
)
