"""The options as data, from the specification and our own.

The documentation, `check-config` and the tests are generated from this table. A new option is a new
row.
"""

from sigservice.config import addresses, database, encryption, oidc, parse, relay, tls
from sigservice.config.option import Option
from sigservice.config.option import build_section as _section
from sigservice.config.parse import number

MINUTE_LIMIT = number(0, 1_000_000, "requests per minute and address")
ACCOUNT_LIMIT = number(1, 1_000_000, "wrong passwords per minute and account")

# Public in the documentation; the first sign-in must set a new password.
DEFAULT_ADMIN = {"username": "admin", "password": "unleash4all"}


# The formatter would break up the table.
# fmt: off
OPTIONS: tuple[Option, ...] = tuple(
    _section(
        "Server",
        ("server.port", "HTTP_PORT", number(0, 65535), 0,
         "TCP port. 0 or not set: a free port. Ignored with `server.pipe`."),
        ("server.host", "HTTP_HOST", addresses.HOST, None,
         "Address to bind. Not set: all addresses, IPv6 and IPv4."),
        ("server.pipe", "", parse.PATH, None,
         "Path of a unix socket to listen on instead of host and port, private to the account."),
        ("server.serverMetrics", "", parse.BOOLEAN, True,
         "Prometheus metrics at `/internal-backstage/prometheus`; if off, it answers 404."),
        ("responseTimeWithAppNameKillSwitch", "SERVICE_RESPONSE_TIME_WITH_APP_NAME_KILL_SWITCH",
         parse.BOOLEAN, False,
         "Leaves the label appName of all metrics empty; random names would use up memory."),
        ("server.metricsToken", "SERVICE_METRICS_TOKEN", parse.STRING, None,
         "Bearer token that the metrics require. Not set: they are public.", "secret"),
        ("server.baseUriPath", "BASE_URI_PATH", addresses.BASE_PATH, "",
         "Base path of every route, cookie, link and redirect."),
        ("server.unleashUrl", "SERVICE_URL", addresses.URL, None,
         "Public URL of the service, with its path if it has one, for links, redirects and "
         "cookies. Cookies are Secure if it is https."),
        ("server.trustedProxy", "SERVICE_TRUSTED_PROXY", addresses.NETWORKS, (),
         "Addresses or networks of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are "
         "trusted; `localhost` for connections over `server.pipe`."),
        ("server.connectionsPerAddress", "SERVICE_CONNECTIONS_PER_ADDRESS",
         number(0, 100_000, "connections"), 500,
         "Maximum number of open connections per address; more are answered 503. 0: no limit. "
         "Proxies in `server.trustedProxy` have no limit."),
        ("server.gracefulShutdownEnable", "GRACEFUL_SHUTDOWN_ENABLE", parse.BOOLEAN, True,
         "SIGTERM, SIGINT and SIGHUP stop the service after running requests are finished."),
        ("server.gracefulShutdownDelay", "GRACEFUL_SHUTDOWN_DELAY",
         number(0, 3_600_000, "milliseconds"), 1000,
         "Time after SIGTERM in which the service still accepts requests, while `/health` answers "
         "503, so that a proxy notices before connections are refused. 0: it stops at once."),
        ("server.gracefulShutdownTimeout", "GRACEFUL_SHUTDOWN_TIMEOUT",
         number(0, 3_600_000, "milliseconds"), 1000,
         "Time after which busy connections are closed at a stop."),
        ("server.enableScheduledCreatedByMigration", "ENABLE_SCHEDULED_CREATED_BY_MIGRATION",
         parse.BOOLEAN, False,
         "Fills created_by_user_id of past events and flags, 100 of each at a time, 2 to 30 s "
         "after the start and every 15 minutes."),
        ("keepAliveTimeout", "SERVER_KEEPALIVE_TIMEOUT", number(0, 86_400, "seconds"), 15,
         "Idle time after which a keep-alive connection is closed; 0: never."),
        ("disableCompression", "SERVER_DISABLE_COMPRESSION", parse.BOOLEAN, False,
         "Disables gzip for responses of 1 kB and more."),
        ("preHook", "", parse.CALLABLE, None,
         "function(app), called before any route exists; may return a function that wraps the "
         "whole WSGI application."),
        ("preRouterHook", "", parse.CALLABLE, None,
         "function(app), called before the routes are added; may return a function that wraps the "
         "WSGI application of the routes."),
    )
    + _section(
        "Logging",
        ("logLevel", "LOG_LEVEL", parse.choice("debug", "info", "warn", "error", "fatal"), "info",
         "Minimum level of the log."),
        ("logFormat", "LOG_FORMAT", parse.choice("text", "json"), "text",
         "Format of a line of the log: text, or a JSON object. Not used with `getLogger`."),
        ("getLogger", "", parse.CALLABLE, None,
         "function(name) that returns debug, info, warn and error methods with printf arguments."),
        ("enableRequestLogger", "REQUEST_LOGGER_ENABLE", parse.BOOLEAN, False,
         "Logs one line for each request with the logger HTTP: status, method, path, at any log "
         "level."),
    )
    + _section(
        "Database",
        ("dataDir", "SERVICE_DATA_DIR", parse.PATH, "data",
         "Data directory of the embedded PostgreSQL, which is used if no database is configured. "
         "`:temporary:` deletes the data at the end."),
        ("postgresBin", "SERVICE_POSTGRES_BIN", parse.PATH, None,
         "Folder with initdb and postgres of the embedded database, and pg_dump for backups."),
        ("databaseUrl", "DATABASE_URL", database.CONNECTION_STRING, None,
         "libpq connection string. Overrides the options below, except in-code `db`.",
         "secret"),
        ("databaseUrlFile", "DATABASE_URL_FILE", parse.URL_FILE, None,
         "File that contains only the connection string. Overrides DATABASE_URL."),
        ("db.user", "DATABASE_USERNAME", parse.STRING, "service_user", "Username."),
        ("db.password", "DATABASE_PASSWORD", parse.SECRET, "service_password",
         "Password.", "secret"),
        ("db.host", "DATABASE_HOST", addresses.DATABASE_HOST, "localhost",
         "Hostname, or several such as `db1,db2:5433`, or the folder of a unix socket."),
        ("db.port", "DATABASE_PORT", number(1, 65535), 5432, "Port."),
        ("db.database", "DATABASE_NAME", parse.STRING, "service", "Database name."),
        ("db.ssl", "DATABASE_SSL", tls.SSL_JSON, False,
         "TLS: none, or an object {rejectUnauthorized, ca, cert, key}.", "secret"),
        ("db.sslCaConfig", "DATABASE_SSL_CA_CONFIG", tls.CA_CONFIG, None,
         "The same object as JSON or file, if DATABASE_SSL is not set.", "secret", "env only"),
        ("db.sslCaFile", "DATABASE_SSL_CA_FILE", tls.PEM_FILE, None,
         "PEM file with the CA.", "secret", "env only"),
        ("db.sslCertFile", "DATABASE_SSL_CERT_FILE", tls.PEM_FILE, None,
         "PEM file with the client certificate.", "secret", "env only"),
        ("db.sslKeyFile", "DATABASE_SSL_KEY_FILE", tls.PEM_FILE, None,
         "PEM file with the client key.", "secret", "env only"),
        ("db.sslRejectUnauthorized", "DATABASE_SSL_REJECT_UNAUTHORIZED", parse.BOOLEAN, None,
         "Whether the server's certificate is verified. Not set: true if CA, certificate and key "
         "are all set, otherwise false.", "env only"),
        ("db.pool.min", "DATABASE_POOL_MIN", number(0, 1000), 0,
         "Minimum number of pooled connections."),
        ("db.pool.max", "DATABASE_POOL_MAX", number(1, 1000), 4,
         "Maximum number of pooled connections, of your own database only."),
        ("db.pool.idleTimeoutMillis", "DATABASE_POOL_IDLE_TIMEOUT_MS",
         number(1, 86_400_000, "milliseconds"), 30_000,
         "Idle time after which a connection is closed."),
        ("db.applicationName", "DATABASE_APPLICATION_NAME", parse.STRING, "service",
         "Application name of the database sessions."),
        ("db.schema", "DATABASE_SCHEMA", parse.SCHEMA, "public",
         "Schema of the tables; created if it doesn't exist."),
    )
    + _section(
        "Authentication and sessions",
        ("authentication.type", "AUTH_TYPE",
         parse.choice("open-source", "custom", "demo", "none"), "open-source",
         "How users sign in: open-source with username and password, custom with "
         "`customAuthHandler`, demo with any email address, none without sign-in (deprecated). See "
         "[authentication.md](authentication.md)."),
        ("authentication.customAuthHandler", "", parse.CALLABLE, None,
         "function(app, config), called once at the start with the type custom; may add routes, "
         "and returns a function that identifies the user from the WSGI environ, or a "
         "`sigservice.authentication.Custom`. Without it only API tokens work."),
        ("authentication.demoAllowAdminLogin", "AUTH_DEMO_ALLOW_ADMIN_LOGIN", parse.BOOLEAN, False,
         "Allows admins to sign in with the type demo: as `admin`, by username or email."),
        ("authentication.initialAdminUser", "", parse.ADMIN_USER,
         DEFAULT_ADMIN,
         "Admin that the start creates if there are no users; None creates none. Overrides "
         "SERVICE_DEFAULT_ADMIN_USERNAME and SERVICE_DEFAULT_ADMIN_PASSWORD.",
         "secret"),
        ("authentication.initialAdminUsername", "SERVICE_DEFAULT_ADMIN_USERNAME", parse.ADMIN_NAME,
         None, "Username of the first admin; needs the password too.", "env only"),
        ("authentication.initialAdminPassword", "SERVICE_DEFAULT_ADMIN_PASSWORD", parse.PASSWORD,
         None, "Password of the first admin; needs the username too.", "secret", "env only"),
        ("session.ttlHours", "SESSION_TTL_HOURS", number(1, 87_600, "hours"), 48,
         "Lifetime of a session."),
        ("session.idleMinutes", "SESSION_IDLE_MINUTES", number(0, 525_600, "minutes"), 0,
         "Idle time after which a session ends; 0: no idle limit. The live refresh of a page "
         "doesn't count as use."),
        ("session.clearSiteDataOnLogout", "SESSION_CLEAR_SITE_DATA_ON_LOGOUT", parse.BOOLEAN, True,
         "Sends Clear-Site-Data at sign-out, which clears all cookies of the domain."),
        ("session.cookieName", "", parse.COOKIE_NAME, "service-session",
         "Name of the session cookie. If SERVICE_URL is https, the default is "
         "`__Host-service-session`, or `__Secure-service-session` with a path."),
        ("authentication.resetLinkMinutes", "PASSWORD_RESET_LINK_MINUTES",
         number(1, 10_080, "minutes"), 60,
         "How long the link of a reset mail is valid. Links in welcome mails and links that an "
         "admin creates are valid for 24 hours."),
        ("authentication.personalTokenMaxLifetimeDays", "SERVICE_PERSONAL_TOKEN_MAX_LIFETIME_DAYS",
         number(1, 36_500, "days"), 365,
         "Maximum lifetime of a personal token; a later `expiresAt` is answered 400. Existing "
         "tokens keep their date. Tokens of service accounts have no limit."),
        ("rateLimiting.simpleLoginMaxPerMinute", "SIMPLE_LOGIN_LIMIT_PER_MINUTE",
         MINUTE_LIMIT, 10, "POST /auth/simple, /auth/simple/login and /sign-in together."),
        ("rateLimiting.loginMaxPerAccountPerMinute", "SERVICE_LOGIN_LIMIT_PER_ACCOUNT_PER_MINUTE",
         ACCOUNT_LIMIT, 10,
         "Wrong passwords for one account from all addresses. Addresses that recently signed in "
         "to the account, and its sessions, have the same limit separately."),
        ("rateLimiting.createUserMaxPerMinute", "CREATE_USER_RATE_LIMIT_PER_MINUTE",
         MINUTE_LIMIT, 20, "POST /api/admin/user-admin."),
        ("rateLimiting.passwordResetMaxPerMinute", "PASSWORD_RESET_LIMIT_PER_MINUTE",
         MINUTE_LIMIT, 1, "POST /auth/reset/password-email and its form."),
        ("rateLimiting.failedAuthMaxPerMinute", "FAILED_AUTH_LIMIT_PER_MINUTE",
         MINUTE_LIMIT, 60, "Invalid tokens from one address, until its requests are answered 429."),
    )
    + oidc.OPTIONS
    + _section(
        "API tokens",
        ("authentication.enableApiToken", "AUTH_ENABLE_API_TOKEN", parse.BOOLEAN, True,
         "Whether the client and frontend API require a token. If not, or with the authentication "
         "type none, requests without a token get all projects in the environment `default`. A "
         "token in the request always counts, and an invalid one is rejected."),
        ("authentication.initApiTokens", "", parse.TOKENS, [],
         "Tokens that the start creates if the database has none, in addition to the tokens in "
         "the variables. A token with an unknown environment or project stops the start.",
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
         "Signals per second, endpoint and token."),
        ("signals.burst", "SIGNAL_ENDPOINT_RATE_LIMIT_BURST", number(1, 100_000), None,
         "Signals at once per endpoint and token. Not set: the rate."),
        ("signals.endpointsLimit", "SERVICE_SIGNAL_ENDPOINTS_LIMIT", number(0, 10_000), 5,
         "Maximum number of signal endpoints."),
        ("signals.tokensPerEndpointLimit", "SERVICE_SIGNAL_TOKENS_PER_ENDPOINT_LIMIT",
         number(0, 1000), 5, "Maximum number of tokens of an endpoint."),
        ("signals.alertRulesLimit", "SERVICE_ALERT_RULES_LIMIT", number(0, 1000), 50,
         "Maximum number of alert rules."),
        ("signals.payloadLimit", "SERVICE_SIGNAL_PAYLOAD_LIMIT",
         number(1, 1_000_000, "bytes"), 102_400, "Maximum size of a payload, after decompression."),
        ("signals.retentionDays", "SERVICE_SIGNALS_RETENTION_DAYS", number(0, 36_500, "days"), 180,
         "Age after which signals are deleted; 0: never."),
        ("signals.retentionCount", "SERVICE_SIGNALS_RETENTION_COUNT", number(0, 100_000_000),
         100_000, "Maximum number of signals stored per endpoint, the newest ones; 0: no limit."),
        ("signals.encryptionKey", "SERVICE_ENCRYPTION_KEY", encryption.KEYS, None,
         "Keys that encrypt signing secrets: the first one encrypts, all of them decrypt. It "
         "overrides SERVICE_ENCRYPTION_KEY_FILE. With neither, the first signing secret creates "
         "`encryption.key` in the data directory. See [security.md](security.md#encryption).",
         "secret"),
        ("signals.encryptionKeyFile", "SERVICE_ENCRYPTION_KEY_FILE", encryption.KEY_FILE, None,
         "File with such keys, one per line; read again when it changes."),
    )
    + _section(
        "Audit log and archive",
        ("events.retentionDays", "SERVICE_EVENTS_RETENTION_DAYS", number(0, 36_500, "days"), 0,
         "Age after which events of the audit log are deleted; 0: never."),
        ("archiveDir", "SERVICE_ARCHIVE_DIR", parse.PATH, None,
         "Existing directory to which events and signals are written before they are deleted "
         "because of their age or number. Not set: they are deleted without that."),
    )
    + _section(
        "Security headers",
        ("secureHeaders", "SECURE_HEADERS", parse.BOOLEAN, False,
         "Strict-Transport-Security and upgrade-insecure-requests, for a service behind HTTPS. "
         "The other security headers are always sent. See "
         "[run.md](run.md#behind-another-proxy)."),
        ("strictTransportSecurity", "SERVICE_STRICT_TRANSPORT_SECURITY", parse.HSTS,
         "max-age=63072000",
         "The header that SECURE_HEADERS sends. `includeSubDomains` binds all subdomains of the "
         "host too, whatever serves them; `preload` takes months to take back."),
        *(
            (f"additionalCspAllowedDomains.{name}Src", f"CSP_ALLOWED_{name.upper()}",
             parse.CSP_LIST, (), f"Additional sources for {name}-src.")
            for name in ("default", "font", "style", "script", "img", "connect", "frame", "media",
                         "object")
        ),
    )
    + _section(
        "Client and frontend API",
        ("clientFeatureCaching.enabled", "CLIENT_FEATURE_CACHING_ENABLED", parse.BOOLEAN, True,
         "Caches responses of /api/client/features in memory. Changes take effect at the next "
         "request in any case."),
        ("clientFeatureCaching.maxAge", "CLIENT_FEATURE_CACHING_MAXAGE",
         number(0, 86_400_000, "milliseconds"), 600, "How long they are cached."),
        ("frontendApi.refreshIntervalInMs", "FRONTEND_API_REFRESH_INTERVAL_MS",
         number(1, 86_400_000, "milliseconds"), None,
         "Maximum age of the compiled flags of an environment for /api/frontend and /ofrep; the "
         "metric frontend_engine_builds_total counts compilations. Changes take effect at the next "
         "request in any case. Not set: until a change."),
        ("frontendApi.proxyPaths", "SERVICE_PROXY_PATHS", parse.BOOLEAN, True,
         "Answers /api/proxy and below, which SDKs of Unleash Proxy and Edge call, like "
         "/api/frontend; if off, they are 404."),
        ("streaming.maxStreams", "SERVICE_STREAMS_LIMIT", number(0, 100_000, "streams"), 2500,
         "Maximum number of open streams; more are answered 429, and SDKs poll. 0: no streams. The "
         "limit of open files is raised for them as far as the system allows."),
        ("streaming.upgradePollers", "SERVICE_STREAMING_UPGRADE", parse.BOOLEAN, False,
         "Asks each Node SDK that polls once to stream instead. First check that the path to the "
         "service passes streams (docs/streaming.md)."),
        ("accessControlMaxAge", "ACCESS_CONTROL_MAX_AGE", number(0, 31_536_000, "seconds"), 86_400,
         "How long browsers cache the response to a preflight of /api/frontend and /ofrep "
         "(Access-Control-Max-Age)."),
    )
    + _section(
        "Client metrics",
        ("metrics.hourlyRetentionHours", "SERVICE_CLIENT_METRICS_RETENTION_HOURS",
         number(1, 8760, "hours"), 720, "Age after which metrics of flags are deleted."),
        ("metrics.applicationsLimit", "SERVICE_CLIENT_APPLICATIONS_LIMIT",
         number(1, 100_000), 1000,
         "Maximum number of application names that client tokens report per environment; reports "
         "of others are dropped. Names expire two days after their last report."),
        ("metrics.frontendApplicationsLimit", "SERVICE_FRONTEND_APPLICATIONS_LIMIT",
         number(1, 100_000), 100,
         "The same for frontend tokens, which are public, so that names can be made up."),
        ("metrics.instancesLimit", "SERVICE_CLIENT_INSTANCES_LIMIT", number(1, 1_000_000), 10_000,
         "Maximum number of instances per environment, separately for frontend SDKs and others; "
         "more are not listed. Instances expire after two days."),
        ("metrics.variantsLimit", "SERVICE_CLIENT_METRICS_VARIANTS_LIMIT", number(1, 100_000), 5000,
         "Maximum number of variants in one report; more are dropped."),
        ("metrics.impactSeriesLimit", "SERVICE_IMPACT_SERIES_LIMIT", number(1, 100_000), 10_000,
         "Maximum number of series of impact metrics per SDK type, a tenth of it per application."),
        ("experimentalEdgeBulkMetrics", "SERVICE_EXPERIMENTAL_EDGE_BULK_METRICS", parse.BOOLEAN,
         False, "Enables POST /edge/metrics; if off, it answers 404."),
        # The specification swaps the next two names, so they stay that way.
        ("metricsRateLimiting.clientMetricsMaxPerMinute", "REGISTER_CLIENT_RATE_LIMIT_PER_MINUTE",
         MINUTE_LIMIT, 6000,
         "POST /api/client/metrics, below it and /edge/metrics (the variable says register)."),
        ("metricsRateLimiting.clientRegisterMaxPerMinute", "CLIENT_METRICS_RATE_LIMIT_PER_MINUTE",
         MINUTE_LIMIT, 6000, "POST /api/client/register (the variable says metrics)."),
        ("metricsRateLimiting.frontendMetricsMaxPerMinute",
         "FRONTEND_METRICS_RATE_LIMIT_PER_MINUTE", MINUTE_LIMIT, 6000,
         "All metrics below /api/frontend and /api/proxy together."),
        ("metricsRateLimiting.frontendRegisterMaxPerMinute",
         "REGISTER_FRONTEND_RATE_LIMIT_PER_MINUTE", MINUTE_LIMIT, 6000,
         "All registrations below /api/frontend and /api/proxy together."),
    )
    + _section(
        "Actions",
        ("actions.setsPerProjectLimit", "SERVICE_ACTION_SETS_PER_PROJECT_LIMIT",
         number(0, 100_000), 50, "Maximum number of action sets per project."),
        ("actions.filtersLimit", "SERVICE_ACTION_SET_FILTERS_LIMIT", number(0, 100_000), 5,
         "Maximum number of filters per action set, including those in groups."),
        ("actions.filterValuesLimit", "SERVICE_ACTION_SET_FILTER_VALUES_LIMIT", number(1, 100_000),
         25, "Maximum number of values per filter."),
        ("actions.actionsLimit", "SERVICE_ACTION_SET_ACTIONS_LIMIT", number(1, 100_000), 10,
         "Maximum number of actions per action set."),
        ("actions.runRetentionDays", "SERVICE_ACTION_RUN_RETENTION_DAYS",
         number(0, 36_500, "days"), 90,
         "Age after which runs and ended releases are deleted; 0: never."),
        ("webhooks.allowedHosts", "SERVICE_WEBHOOK_ALLOWED_HOSTS", addresses.HOSTS, (),
         "Hosts that integrations can send to although they are private or "
         "this machine: names, `*.suffixes` (not for this machine), addresses, networks."),
        ("webhooks.allowPrivate", "SERVICE_WEBHOOK_ALLOW_PRIVATE", parse.BOOLEAN, False,
         "Whether integrations can send to any private address. This machine "
         "(127.0.0.0/8 and ::1) must be in `webhooks.allowedHosts`."),
    )
    + _section(
        "Integrations",
        ("integrations.limit", "SERVICE_INTEGRATIONS_LIMIT", number(0, 10_000), 100,
         "Maximum number of integrations."),
        ("integrations.slackApiUrl", "SERVICE_SLACK_API_URL", addresses.URL,
         "https://slack.com/api", "URL of Slack's API, for App for Slack."),
        ("audit.log", "SERVICE_AUDIT_LOG", parse.STRING, None,
         "Where each event of the audit log is written as a line of JSON: the path of a file, or "
         "`-` for standard output."),
    )
    + _section(
        "Outgoing connections",
        ("outgoing.httpProxy", "HTTP_PROXY", addresses.PROXY, None,
         "Proxy for http URLs. Lowercase `http_proxy` overrides it, as below.", "secret"),
        ("outgoing.httpsProxy", "HTTPS_PROXY", addresses.PROXY, None, "Proxy for https URLs.",
         "secret"),
        ("outgoing.allProxy", "ALL_PROXY", addresses.PROXY, None,
         "Proxy for all other URLs.", "secret"),
        ("outgoing.noProxy", "NO_PROXY", parse.STRING, None,
         "Hosts without a proxy, separated by commas; `*`: all."),
    )
    + _section(
        "Version check",
        ("versionCheck.url", "SERVICE_VERSION_URL", addresses.ENDPOINT, None,
         "URL of the version check, 2 to 30 s after the start and every 48 hours; not set: no "
         "check."),
        ("versionCheck.enable", "CHECK_VERSION", parse.TRUE_OR_ANYTHING, True,
         "Whether the version is checked; every value except true disables it."),
    )
    + _section(
        "Flags",
        ("environmentEnableOverrides", "ENABLED_ENVIRONMENTS", parse.LIST, (),
         "At the start, enables these environments, disables all others, and adds the newly "
         "enabled ones to every project. Unknown names are logged as a warning. Nothing is "
         "deleted."),
        ("disableLegacyFeaturesApi", "DISABLE_LEGACY_FEATURES_API", parse.BOOLEAN, False,
         "Disables the features API without projects, `/api/admin/features`: it answers 404 except "
         "for the list, validate and tags."),
        ("strategySegmentsLimit", "SERVICE_STRATEGY_SEGMENTS_LIMIT", number(0, 100_000), 5,
         "Maximum number of segments per strategy."),
        ("staleFlagDays", "SERVICE_STALE_FLAG_DAYS", number(1, 36_500, "days"), 30,
         "Days without a change or an evaluation after which a flag is ready to be removed."),
        ("segmentValuesLimit", "SERVICE_SEGMENT_VALUES_LIMIT", number(0, 10_000_000), 1000,
         "Maximum number of values in all constraints of a segment."),
        ("ui", "", parse.UI, {},
         "Texts of the pages: environment (a badge in the header), slogan (in the footer). "
         "`/api/admin/ui-config` returns them too."),
    )
    + _section(
        "Mail",
        ("email.host", "EMAIL_HOST", addresses.HOST, None,
         "SMTP server. Not set: no mails are sent, and users can't reset their passwords."),
        ("email.port", "EMAIL_PORT", number(1, 65535), 465, "SMTP port."),
        ("email.secure", "EMAIL_SECURE", parse.BOOLEAN, None,
         "SMTPS: TLS from the first byte. Not set: if the port is 465. Otherwise STARTTLS if the "
         "server supports it."),
        ("email.sender", "EMAIL_SENDER", addresses.SENDER, None,
         "Sender of mails. Not set: the SMTP username if it is an address, otherwise noreply at "
         "the host of SERVICE_URL."),
        ("email.smtpuser", "EMAIL_USER", parse.STRING, None,
         "SMTP username. Not set: no authentication."),
        ("email.smtppass", "EMAIL_PASSWORD", parse.SECRET, None,
         "SMTP password; sent only over an encrypted connection or to this machine.", "secret"),
    )
    + relay.OPTIONS
)
# fmt: on

REMOVED = {"eventHook": "eventHook was removed in version 5 and is ignored."}
ALIASES = {"server.serverUrl": "server.unleashUrl"}
