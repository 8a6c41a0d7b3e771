"""The options as data: what the specification lists, and ours beside it.

The documentation, `check-config` and the tests are made from this table; an option is added by
adding a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sigservice.config import addresses, database, parse, tls
from sigservice.config.parse import Kind, number

MINUTE_LIMIT = number(0, 1_000_000, "requests a minute for each address")
ACCOUNT_LIMIT = number(1, 1_000_000, "wrong passwords a minute for each account")

# Public: the documentation names it, and the first sign-in must set a new password.
BUILT_IN_ADMIN = {"username": "admin", "password": "unleash4all"}


@dataclass(frozen=True)
class Option:
    """`path` is the in-code name, `env` the variable ("" = code only)."""

    path: str
    env: str
    kind: Kind
    default: Any
    help: str
    section: str
    secret: bool = False
    in_code: bool = True


def _section(section: str, *rows: tuple[Any, ...]) -> list[Option]:
    made = []
    for path, env, kind, default, text, *more in rows:
        made.append(
            Option(
                path,
                env,
                kind,
                default,
                text,
                section,
                secret="secret" in more,
                in_code="env only" not in more,
            )
        )
    return made


# A table reads better as one.
# fmt: off
OPTIONS: tuple[Option, ...] = tuple(
    _section(
        "Server",
        ("server.port", "HTTP_PORT", number(0, 65535), 0,
         "TCP port. 0 or nothing: the system picks a free one. Ignored with `server.pipe`."),
        ("server.host", "HTTP_HOST", addresses.HOST, None,
         "Address to bind. Nothing: all addresses, IPv6 and IPv4."),
        ("server.pipe", "", parse.PATH, None,
         "Path of a unix socket to listen on instead of host and port, for its own account only."),
        ("server.serverMetrics", "", parse.BOOLEAN, True,
         "Prometheus metrics at `/internal-backstage/prometheus`; 404 there when off."),
        ("responseTimeWithAppNameKillSwitch", "SERVICE_RESPONSE_TIME_WITH_APP_NAME_KILL_SWITCH",
         parse.BOOLEAN, False,
         "Leaves the label appName of all metrics empty; names at random would use up memory."),
        ("server.metricsToken", "SERVICE_METRICS_TOKEN", parse.STRING, None,
         "Bearer token that the metrics then demand. Nothing: they are open.", "secret"),
        ("server.baseUriPath", "BASE_URI_PATH", addresses.BASE_PATH, "",
         "Base path of every route, cookie, link and redirect."),
        ("server.unleashUrl", "SERVICE_URL", addresses.URL, None,
         "Public address of the service, with its path when it has one: links, redirects and "
         "cookies are made for it. Cookies are Secure when it is https."),
        ("server.trustedProxy", "SERVICE_TRUSTED_PROXY", addresses.NETWORKS, (),
         "Addresses or networks of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are "
         "believed; `localhost` for who comes by `server.pipe`."),
        ("server.connectionsPerAddress", "SERVICE_CONNECTIONS_PER_ADDRESS",
         number(0, 100_000, "connections"), 500,
         "Connections that one address may have open at the same time; more are answered 503. "
         "0: no limit of its own. A proxy named in `server.trustedProxy` has none either."),
        ("server.gracefulShutdownEnable", "GRACEFUL_SHUTDOWN_ENABLE", parse.BOOLEAN, True,
         "SIGTERM, SIGINT and SIGHUP let running requests finish."),
        ("server.gracefulShutdownTimeout", "GRACEFUL_SHUTDOWN_TIMEOUT",
         number(0, 3_600_000, "milliseconds"), 1000,
         "After this, connections that are still busy are cut."),
        ("server.enableScheduledCreatedByMigration", "ENABLE_SCHEDULED_CREATED_BY_MIGRATION",
         parse.BOOLEAN, False,
         "2 to 30 s after the start and every 15 minutes, fills created_by_user_id of past events "
         "and flags, 100 of each at a time."),
        ("keepAliveTimeout", "SERVER_KEEPALIVE_TIMEOUT", number(0, 86_400, "seconds"), 15,
         "Idle time after which a kept connection is closed; 0 keeps it open."),
        ("disableCompression", "SERVER_DISABLE_COMPRESSION", parse.BOOLEAN, False,
         "Turns gzip of answers of 1 kB and more off."),
        ("preHook", "", parse.CALLABLE, None,
         "function(app), called before any route exists; may return a function that wraps the WSGI "
         "application, outermost."),
        ("preRouterHook", "", parse.CALLABLE, None,
         "function(app), called before the routes are added; may return a function that wraps the "
         "routes' WSGI application, innermost."),
    )
    + _section(
        "Logging",
        ("logLevel", "LOG_LEVEL", parse.choice("debug", "info", "warn", "error", "fatal"), "info",
         "Lowest level that is logged."),
        ("getLogger", "", parse.CALLABLE, None,
         "function(name) that returns debug, info, warn and error methods with printf arguments."),
        ("enableRequestLogger", "REQUEST_LOGGER_ENABLE", parse.BOOLEAN, False,
         "One line for each answered request by the logger HTTP: status, method, path. Written "
         "whatever the log level."),
    )
    + _section(
        "Database",
        ("dataDir", "SERVICE_DATA_DIR", parse.PATH, "data",
         "Where the embedded PostgreSQL keeps its data, used when no database is configured. "
         "`:temporary:` makes a throw-away one."),
        ("postgresBin", "SERVICE_POSTGRES_BIN", parse.PATH, None,
         "Folder with initdb and postgres for the embedded database."),
        ("databaseUrl", "DATABASE_URL", database.CONNECTION_STRING, None,
         "libpq connection string, one host. Overrides the parts; an in-code `db` overrides it.",
         "secret"),
        ("databaseUrlFile", "DATABASE_URL_FILE", parse.URL_FILE, None,
         "File whose content is exactly the connection string. Overrides DATABASE_URL."),
        ("db.user", "DATABASE_USERNAME", parse.STRING, "service_user", "Username."),
        ("db.password", "DATABASE_PASSWORD", parse.SECRET, "service_password",
         "Password.", "secret"),
        ("db.host", "DATABASE_HOST", addresses.DATABASE_HOST, "localhost",
         "Hostname, or the folder of a unix socket."),
        ("db.port", "DATABASE_PORT", number(1, 65535), 5432, "Port."),
        ("db.database", "DATABASE_NAME", parse.STRING, "service", "Database name."),
        ("db.ssl", "DATABASE_SSL", tls.SSL_JSON, False,
         "TLS: none, or an object {rejectUnauthorized, ca, cert, key}.", "secret"),
        ("db.sslCaConfig", "DATABASE_SSL_CA_CONFIG", tls.CA_CONFIG, None,
         "The same object as JSON; used when DATABASE_SSL is not set.", "secret", "env only"),
        ("db.sslCaFile", "DATABASE_SSL_CA_FILE", tls.PEM_FILE, None,
         "PEM file with the CA.", "secret", "env only"),
        ("db.sslCertFile", "DATABASE_SSL_CERT_FILE", tls.PEM_FILE, None,
         "PEM file with the client certificate.", "secret", "env only"),
        ("db.sslKeyFile", "DATABASE_SSL_KEY_FILE", tls.PEM_FILE, None,
         "PEM file with the client key.", "secret", "env only"),
        ("db.sslRejectUnauthorized", "DATABASE_SSL_REJECT_UNAUTHORIZED", parse.BOOLEAN, None,
         "Whether the server's certificate is checked. Nothing: true if CA, certificate and key "
         "are all set, else false.", "env only"),
        ("db.pool.min", "DATABASE_POOL_MIN", number(0, 1000), 0, "Fewest pooled connections."),
        ("db.pool.max", "DATABASE_POOL_MAX", number(1, 1000), 4, "Most pooled connections."),
        ("db.pool.idleTimeoutMillis", "DATABASE_POOL_IDLE_TIMEOUT_MS",
         number(1, 86_400_000, "milliseconds"), 30_000,
         "Idle time after which a connection may be closed."),
        ("db.applicationName", "DATABASE_APPLICATION_NAME", parse.STRING, "service",
         "Application name that the database sees."),
        ("db.schema", "DATABASE_SCHEMA", parse.SCHEMA, "public",
         "Schema that holds the tables; made when it is missing."),
    )
    + _section(
        "Authentication and sessions",
        ("authentication.type", "AUTH_TYPE",
         parse.choice("open-source", "custom", "demo", "none"), "open-source",
         "How people sign in: open-source by user name and password, custom by "
         "`customAuthHandler`, demo by an e-mail address alone, none not at all (deprecated). See "
         "[authentication.md](authentication.md)."),
        ("authentication.customAuthHandler", "", parse.CALLABLE, None,
         "function(app, config), called once at the start for the type custom; may add routes and "
         "returns a function of the WSGI environ that names who asks, or a "
         "`sigservice.authentication.Custom`. Without it only API tokens are let in."),
        ("authentication.demoAllowAdminLogin", "AUTH_DEMO_ALLOW_ADMIN_LOGIN", parse.BOOLEAN, False,
         "Lets admins sign in under the type demo: by `admin`, by their user name or address."),
        ("authentication.initialAdminUser", "", parse.ADMIN_USER,
         BUILT_IN_ADMIN,
         "Admin made at start when there are no users; None makes none. In code beats "
         "SERVICE_DEFAULT_ADMIN_USERNAME and SERVICE_DEFAULT_ADMIN_PASSWORD beat the built-in.",
         "secret"),
        ("authentication.initialAdminUsername", "SERVICE_DEFAULT_ADMIN_USERNAME", parse.ADMIN_NAME,
         None, "User name of the first admin; goes with the password.", "env only"),
        ("authentication.initialAdminPassword", "SERVICE_DEFAULT_ADMIN_PASSWORD", parse.PASSWORD,
         None, "Password of the first admin; goes with the user name.", "secret", "env only"),
        ("session.ttlHours", "SESSION_TTL_HOURS", number(1, 87_600, "hours"), 48,
         "Lifetime of a session."),
        ("session.idleMinutes", "SESSION_IDLE_MINUTES", number(0, 525_600, "minutes"), 0,
         "A session that is not used for so long ends; 0: only its lifetime ends it. The live "
         "refresh of a page is no use."),
        ("session.clearSiteDataOnLogout", "SESSION_CLEAR_SITE_DATA_ON_LOGOUT", parse.BOOLEAN, True,
         "Sign-out answers with Clear-Site-Data, which clears all cookies of the domain."),
        ("session.cookieName", "", parse.COOKIE_NAME, "service-session",
         "Name of the session cookie. When SERVICE_URL is https, it is `__Host-<name>`, below a "
         "path `__Secure-<name>`."),
        ("authentication.resetLinkMinutes", "PASSWORD_RESET_LINK_MINUTES",
         number(1, 10_080, "minutes"), 60,
         "How long the link of a reset mail works. Links of welcome mails and links that an admin "
         "hands over work for 24 hours."),
        ("authentication.personalTokenMaxLifetimeDays", "SERVICE_PERSONAL_TOKEN_MAX_LIFETIME_DAYS",
         number(1, 36_500, "days"), 365,
         "Longest lifetime of a personal token; a later `expiresAt` is answered 400. Tokens that "
         "exist keep their date, and those of service accounts have no limit."),
        ("rateLimiting.simpleLoginMaxPerMinute", "SIMPLE_LOGIN_LIMIT_PER_MINUTE",
         MINUTE_LIMIT, 10, "POST /auth/simple, /auth/simple/login and /sign-in together."),
        ("rateLimiting.loginMaxPerAccountPerMinute", "SERVICE_LOGIN_LIMIT_PER_ACCOUNT_PER_MINUTE",
         ACCOUNT_LIMIT, 10,
         "Wrong passwords for one account, whatever address they come from. An address that signed "
         "in to the account lately and a session of the account have as many of their own."),
        ("rateLimiting.createUserMaxPerMinute", "CREATE_USER_RATE_LIMIT_PER_MINUTE",
         MINUTE_LIMIT, 20, "POST /api/admin/user-admin."),
        ("rateLimiting.passwordResetMaxPerMinute", "PASSWORD_RESET_LIMIT_PER_MINUTE",
         MINUTE_LIMIT, 1, "POST /auth/reset/password-email, and the form for it."),
        ("rateLimiting.failedAuthMaxPerMinute", "FAILED_AUTH_LIMIT_PER_MINUTE",
         MINUTE_LIMIT, 60, "Wrong tokens from one address, before it is refused unseen."),
    )
    + _section(
        "API tokens",
        ("authentication.enableApiToken", "AUTH_ENABLE_API_TOKEN", parse.BOOLEAN, True,
         "Whether the client and frontend API demand a token. If not, or with the authentication "
         "type none, whoever has none gets all projects in the environment `default`; a token that "
         "is sent counts in any case, and a wrong one is refused."),
        ("authentication.initApiTokens", "", parse.TOKENS, [],
         "Tokens made at start when the database holds none, all or none of them; those of the "
         "variables are added. One whose environment or project there is not stops the start.",
         "secret"),
        ("authentication.initAdminApiTokens", "INIT_ADMIN_API_TOKENS", parse.ADMIN_SECRETS, (),
         "Secrets of admin tokens, each starting with `*:*.`", "secret", "env only"),
        ("authentication.initClientApiTokens", "INIT_CLIENT_API_TOKENS", parse.CLIENT_SECRETS, (),
         "Secrets of client tokens, `project:environment.secret`.", "secret", "env only"),
        ("authentication.initFrontendApiTokens", "INIT_FRONTEND_API_TOKENS",
         parse.CLIENT_SECRETS, (),
         "Secrets of frontend tokens, `project:environment.secret`.", "secret", "env only"),
    )
    + _section(
        "Signals",
        ("signals.maxPerSecond", "SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND", number(0, 100_000), 1,
         "Signals a second for each endpoint and token."),
        ("signals.burst", "SIGNAL_ENDPOINT_RATE_LIMIT_BURST", number(1, 100_000), None,
         "Signals at once for each endpoint and token. Nothing: the rate."),
        ("signals.endpointsLimit", "SERVICE_SIGNAL_ENDPOINTS_LIMIT", number(0, 10_000), 5,
         "Most signal endpoints."),
        ("signals.tokensPerEndpointLimit", "SERVICE_SIGNAL_TOKENS_PER_ENDPOINT_LIMIT",
         number(0, 1000), 5, "Most tokens of one endpoint."),
        ("signals.payloadLimit", "SERVICE_SIGNAL_PAYLOAD_LIMIT",
         number(1, 1_000_000, "bytes"), 102_400, "Largest payload, after inflating."),
        ("signals.retentionDays", "SERVICE_SIGNALS_RETENTION_DAYS", number(0, 36_500, "days"), 180,
         "Signals older than this are deleted; 0 keeps them."),
        ("signals.retentionCount", "SERVICE_SIGNALS_RETENTION_COUNT", number(0, 100_000_000),
         100_000, "Newest signals of one endpoint that are kept; 0 keeps all."),
    )
    + _section(
        "Security headers",
        ("secureHeaders", "SECURE_HEADERS", parse.BOOLEAN, False,
         "Strict-Transport-Security and upgrade-insecure-requests, for a service behind HTTPS. "
         "The other security headers are always sent."),
        *(
            (f"additionalCspAllowedDomains.{name}Src", f"CSP_ALLOWED_{name.upper()}",
             parse.CSP_LIST, (), f"More sources for {name}-src.")
            for name in ("default", "font", "style", "script", "img", "connect", "frame", "media",
                         "object")
        ),
    )
    + _section(
        "Client and frontend API",
        ("clientFeatureCaching.enabled", "CLIENT_FEATURE_CACHING_ENABLED", parse.BOOLEAN, True,
         "Keeps answers of /api/client/features in memory. A change is seen by the next request "
         "in any case."),
        ("clientFeatureCaching.maxAge", "CLIENT_FEATURE_CACHING_MAXAGE",
         number(0, 86_400_000, "milliseconds"), 600, "How long they are kept."),
        ("frontendApi.refreshIntervalInMs", "FRONTEND_API_REFRESH_INTERVAL_MS",
         number(1, 86_400_000, "milliseconds"), None,
         "Longest that an environment's flags, compiled for /api/frontend, are used before they "
         "are compiled anew; counted by the metric frontend_engine_builds_total. A change is seen "
         "by the next request in any case. Nothing: as long as nothing changes."),
        ("accessControlMaxAge", "ACCESS_CONTROL_MAX_AGE", number(0, 31_536_000, "seconds"), 86_400,
         "How long browsers keep the answer to a preflight of /api/frontend "
         "(Access-Control-Max-Age)."),
    )
    + _section(
        "Client metrics",
        ("metrics.hourlyRetentionHours", "SERVICE_CLIENT_METRICS_RETENTION_HOURS",
         number(1, 8760, "hours"), 48, "Metrics of flags older than this are deleted."),
        ("metrics.applicationsLimit", "SERVICE_CLIENT_APPLICATIONS_LIMIT",
         number(1, 100_000), 1000,
         "Most application names that client tokens report in an environment; reports of others "
         "are dropped. A name that isn't reported for two days makes room."),
        ("metrics.frontendApplicationsLimit", "SERVICE_FRONTEND_APPLICATIONS_LIMIT",
         number(1, 100_000), 100,
         "The same for frontend tokens, which are public: anybody can invent names."),
        ("metrics.instancesLimit", "SERVICE_CLIENT_INSTANCES_LIMIT", number(1, 1_000_000), 10_000,
         "Most instances of applications in an environment, once for frontend SDKs and once for "
         "the others; more are not listed. An instance is forgotten after two days."),
        ("metrics.variantsLimit", "SERVICE_CLIENT_METRICS_VARIANTS_LIMIT", number(1, 100_000), 5000,
         "Most variants whose counts one report brings; more are dropped."),
        ("experimentalEdgeBulkMetrics", "SERVICE_EXPERIMENTAL_EDGE_BULK_METRICS", parse.BOOLEAN,
         False, "Re-enables POST /edge/metrics; off, it answers 404."),
        # The two names below are crossed in the specification; they stay as they are there.
        ("metricsRateLimiting.clientMetricsMaxPerMinute", "REGISTER_CLIENT_RATE_LIMIT_PER_MINUTE",
         MINUTE_LIMIT, 6000,
         "POST /api/client/metrics and below it (the variable's name says register)."),
        ("metricsRateLimiting.clientRegisterMaxPerMinute", "CLIENT_METRICS_RATE_LIMIT_PER_MINUTE",
         MINUTE_LIMIT, 6000, "POST /api/client/register (the variable's name says metrics)."),
        ("metricsRateLimiting.frontendMetricsMaxPerMinute",
         "FRONTEND_METRICS_RATE_LIMIT_PER_MINUTE", MINUTE_LIMIT, 6000,
         "POST /api/frontend/client/metrics and /api/frontend/metrics together."),
        ("metricsRateLimiting.frontendRegisterMaxPerMinute",
         "REGISTER_FRONTEND_RATE_LIMIT_PER_MINUTE", MINUTE_LIMIT, 6000,
         "POST /api/frontend/client/register and /api/frontend/register together."),
    )
    + _section(
        "Actions",
        ("actions.setsPerProjectLimit", "SERVICE_ACTION_SETS_PER_PROJECT_LIMIT",
         number(0, 100_000), 5, "Most action sets in a project."),
        ("actions.filtersLimit", "SERVICE_ACTION_SET_FILTERS_LIMIT", number(0, 100_000), 5,
         "Most filters of an action set, those in groups included."),
        ("actions.filterValuesLimit", "SERVICE_ACTION_SET_FILTER_VALUES_LIMIT", number(1, 100_000),
         25, "Most values of a filter."),
        ("actions.actionsLimit", "SERVICE_ACTION_SET_ACTIONS_LIMIT", number(1, 100_000), 10,
         "Most actions of an action set."),
        ("actions.runRetentionDays", "SERVICE_ACTION_RUN_RETENTION_DAYS",
         number(0, 36_500, "days"), 90, "Runs older than this are deleted; 0 keeps all."),
        ("webhooks.allowedHosts", "SERVICE_WEBHOOK_ALLOWED_HOSTS", addresses.HOSTS, (),
         "Hosts that notifications may go to although they are private or this machine: names, "
         "`*.suffixes` (which don't open this machine), addresses, networks."),
        ("webhooks.allowPrivate", "SERVICE_WEBHOOK_ALLOW_PRIVATE", parse.BOOLEAN, False,
         "Whether notifications may go to any private address; never to this machine (127.0.0.0/8 "
         "and ::1), which `webhooks.allowedHosts` has to name."),
    )
    + _section(
        "Outgoing connections",
        ("outgoing.httpProxy", "HTTP_PROXY", addresses.PROXY, None,
         "Proxy for http addresses; `http_proxy` beats it, here and in the next three.", "secret"),
        ("outgoing.httpsProxy", "HTTPS_PROXY", addresses.PROXY, None, "Proxy for https addresses.",
         "secret"),
        ("outgoing.allProxy", "ALL_PROXY", addresses.PROXY, None,
         "Proxy for what the two above don't name.", "secret"),
        ("outgoing.noProxy", "NO_PROXY", parse.STRING, None,
         "Hosts that are reached without a proxy, separated by commas; `*`: all."),
    )
    + _section(
        "Version check",
        ("versionCheck.url", "SERVICE_VERSION_URL", addresses.ENDPOINT, None,
         "Where to ask for the latest version, 2 to 30 s after the start and every 48 hours; "
         "nothing: it is not asked."),
        ("versionCheck.enable", "CHECK_VERSION", parse.TRUE_OR_ANYTHING, True,
         "Whether it is asked; any value other than true disables."),
    )
    + _section(
        "Flags",
        ("environmentEnableOverrides", "ENABLED_ENVIRONMENTS", parse.LIST, (),
         "At start enables these environments and disables all others; every project is linked to "
         "those that were not enabled. A name that does not exist is only warned of. Nothing is "
         "deleted."),
        ("disableLegacyFeaturesApi", "DISABLE_LEGACY_FEATURES_API", parse.BOOLEAN, False,
         "Turns off the features API from before projects, `/api/admin/features`: 404 but for the "
         "list, validate and tags."),
        ("strategySegmentsLimit", "SERVICE_STRATEGY_SEGMENTS_LIMIT", number(0, 100_000), 5,
         "Most segments on one strategy; one more is answered 400."),
        ("segmentValuesLimit", "SERVICE_SEGMENT_VALUES_LIMIT", number(0, 10_000_000), 1000,
         "Most values across a segment's constraints; one more is answered 400."),
        ("ui", "", parse.UI, {},
         "UI overrides: environment (a badge in the head of each page), slogan (in its foot); told "
         "by `/api/admin/ui-config` too."),
    )
    + _section(
        "Mail",
        ("email.host", "EMAIL_HOST", addresses.HOST, None,
         "SMTP server. Nothing: no mails are sent, and users can't reset their own passwords."),
        ("email.port", "EMAIL_PORT", number(1, 65535), 465, "SMTP port."),
        ("email.secure", "EMAIL_SECURE", parse.BOOLEAN, None,
         "SMTPS: TLS from the first byte. Nothing: when the port is 465. Otherwise STARTTLS where "
         "the server offers it."),
        ("email.sender", "EMAIL_SENDER", addresses.SENDER, None,
         "Sender of mails. Nothing: the SMTP username if it is an address, else noreply at the "
         "host of SERVICE_URL."),
        ("email.smtpuser", "EMAIL_USER", parse.STRING, None,
         "SMTP username. Nothing: no authentication."),
        ("email.smtppass", "EMAIL_PASSWORD", parse.SECRET, None,
         "SMTP password; only sent over an encrypted connection, or to this machine.", "secret"),
    )
)
# fmt: on

REMOVED = {"eventHook": "eventHook was removed in version 5 and is ignored."}
ALIASES = {"server.serverUrl": "server.unleashUrl"}
