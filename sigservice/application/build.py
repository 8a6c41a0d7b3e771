"""Builds the application context: loggers, rate limits, metrics and renderer."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sigservice.clock import Clock
from sigservice.concurrency.limiter import Limiter
from sigservice.concurrency.quotas import Quotas
from sigservice.concurrency.workers import (
    MAX_FRONTEND_WAITING,
    MAX_SOURCE_QUERIES,
    MAX_WAITING,
)
from sigservice.config.oidc import is_enabled
from sigservice.context import Context, public_prefix
from sigservice.crypto.encryption import KEY_FILE, Encryption, KeyFile, parse_keys
from sigservice.crypto.secrets import Passwords
from sigservice.db import Connection, Database, Row, single_transaction
from sigservice.db.group_commit import GroupCommit, Item, Result
from sigservice.delivery.client_documents import ClientDocuments
from sigservice.delivery.compiled_flags import CompiledFlagsCache
from sigservice.delivery.cors_origins import CorsOrigins
from sigservice.delivery.flag_states import FlagStates
from sigservice.delivery.frontend_documents import FrontendDocuments
from sigservice.delivery.last_used import LastUsedBuffer
from sigservice.delivery.revision_cache import RevisionCache
from sigservice.delivery.streams import Streams
from sigservice.errors import ExceedsLimitError
from sigservice.log import GetLogger
from sigservice.outgoing.addresses import AddressPolicy
from sigservice.outgoing.post import get
from sigservice.outgoing.provider import ProviderClient
from sigservice.outgoing.proxies import Proxies
from sigservice.render import Renderer
from sigservice.repository.releases.releases import read_time
from sigservice.repository.signals.signals import NewSignal
from sigservice.repository.usage import impact_metrics, statistics
from sigservice.senders import find_times
from sigservice.services.access.authentication_scheme import AuthenticationScheme
from sigservice.services.access.failed_sign_ins import FailedSignIns
from sigservice.services.access.oidc.provider import Provider
from sigservice.services.actions.action_evaluation import Evaluator
from sigservice.services.actions.action_kinds.table import add_kinds
from sigservice.services.projects.resource_limits import list_resource_limits
from sigservice.services.releases import release_actions
from sigservice.services.releases.release_journal import ReleaseEventNote
from sigservice.services.releases.release_watch import ReleaseWatch
from sigservice.services.rules.rule_evaluation import end_silence
from sigservice.services.rules.silence import Observer
from sigservice.services.rules.source_locks import SourceLocks
from sigservice.services.signals import signal_storage
from sigservice.services.signals.endpoint_cache import EndpointCache
from sigservice.services.signals.refused_calls import RefusedCallBuffer
from sigservice.services.signals.signal_storage import NotStored
from sigservice.services.signals.sns import FETCH_SECONDS, SnsVerifier
from sigservice.services.system.capped_log import CappedLog
from sigservice.services.system.events import FlagEventNote
from sigservice.services.system.mails import MAX_PER_HOUR
from sigservice.services.usage.evaluation_counts import EvaluationCounts
from sigservice.services.usage.impact_exposition import write_exposition
from sigservice.services.usage.reports import (
    BACKEND,
    FRONTEND,
    Report,
    ReportLimits,
    ReportWriter,
)
from sigservice.telemetry import CachedExposition, Telemetry
from sigservice.version import __version__
from sigservice.web.helpers import template_helpers

LIMIT_LABELS = {
    "login": ("/auth/simple", "POST"),
    "oidc": ("/auth/oidc", "GET"),
    "account_login": ("(passwords of one account)", ""),
    "password_reset": ("/auth/reset/password-email", "POST"),
    "password_reset_account": ("(password resets of one account)", ""),
    "own_password": ("(new passwords and personal tokens of one session)", ""),
    "create_user": ("/api/admin/user-admin", "POST"),
    "signal": ("/api/signal-endpoint/:name", "POST"),
    "client_metrics": ("/api/client/metrics", "POST"),
    "client_register": ("/api/client/register", "POST"),
    "frontend_metrics": ("/api/frontend/metrics", "POST"),
    "frontend_register": ("/api/frontend/register", "POST"),
    "edge_validate": ("/edge/validate", "POST"),
    "failed_auth": ("(refused credentials)", ""),
}


SIGNAL_WAIT_SECONDS, REPORT_WAIT_SECONDS = 2.0, 0.5
MAX_GROUP_BYTES = 1_000_000  # one group has more only if one item has
MAX_FRONTEND_GROUP_BYTES = 200_000
EDGE_VALIDATIONS_PER_MINUTE = 60
OWN_PASSWORDS_PER_MINUTE = 20


def build_context(
    config: dict[str, Any],
    database: Database,
    clock: Clock,
    passwords: Passwords,
    encryption: Encryption,
    get_logger: GetLogger,
) -> Context:
    add_kinds(release_actions.KINDS)
    limiter = build_limiter(config, clock)
    caching = config["clientFeatureCaching"]
    telemetry = Telemetry(
        enabled=config["server"]["serverMetrics"],
        with_app_names=not config["responseTimeWithAppNameKillSwitch"],
        version=__version__,
        monotonic=clock.monotonic,
        count=lambda feature_names: _count_resources(database, feature_names),
    )
    _register_gauges(telemetry, config, limiter, database)
    if telemetry.enabled:
        database.observer = _DatabaseObserver(telemetry)
    last_used = LastUsedBuffer(clock)
    revision_cache = RevisionCache(database, clock, last_used)
    streams = Streams(
        database,
        revision_cache,
        clock,
        get_logger("streams"),
        limit=config["streaming"]["maxStreams"],
    )
    telemetry.add_gauge("streams", "Open streams of SDKs.", [], lambda: [([], streams.count)])
    refresh = config["frontendApi"]["refreshIntervalInMs"]
    flag_states = FlagStates(database, clock, revision_cache, telemetry)
    compiled_flags = CompiledFlagsCache(
        flag_states,
        clock,
        telemetry,
        max_age_seconds=None if refresh is None else refresh / 1000,
    )
    return Context(
        config=config,
        database=database,
        clock=clock,
        limiter=limiter,
        passwords=passwords,
        render=Renderer(template_helpers(public_prefix(config), clock)),
        telemetry=telemetry,
        get_logger=get_logger,
        revision_cache=revision_cache,
        last_used=last_used,
        flag_states=flag_states,
        client_documents=ClientDocuments(
            flag_states,
            clock,
            telemetry,
            enabled=caching["enabled"],
            max_age_seconds=caching["maxAge"] / 1000,
        ),
        compiled_flags=compiled_flags,
        frontend_documents=FrontendDocuments(),
        streams=streams,
        cors_origins=CorsOrigins(database, revision_cache),
        authentication=AuthenticationScheme(config["authentication"]),
        encryption=encryption,
        sns=SnsVerifier(
            partial(
                get,
                policy=AddressPolicy(),
                proxies=Proxies.from_config(config),
                seconds=FETCH_SECONDS,
            ),
            clock.monotonic,
        ),
        provider=_build_provider(config, clock, telemetry, get_logger),
        failed_sign_ins=FailedSignIns(clock.monotonic),
        refusals=CappedLog(get_logger("refusals"), clock.monotonic),
        unavailable=CappedLog(get_logger("errors"), clock.monotonic),
        signal_endpoints=EndpointCache(database, encryption),
        signal_commits=_build_group_commit(
            "signals", database, partial(_store_signals, clock), telemetry, SIGNAL_WAIT_SECONDS
        ),
        report_commits=_build_report_commits(config, database, clock, telemetry),
        impact_exposition=CachedExposition(
            lambda: _write_impact_metrics(database), clock.monotonic
        ),
        evaluator=Evaluator(find_times),
        evaluation_counts=EvaluationCounts(),
        refused_calls=RefusedCallBuffer(),
        source_locks=SourceLocks(Quotas(total=MAX_SOURCE_QUERIES, per_key=MAX_SOURCE_QUERIES // 2)),
        release_watch=ReleaseWatch(),
        silence_observer=Observer(),
    )


def _build_provider(
    config: dict[str, Any], clock: Clock, telemetry: Telemetry, get_logger: GetLogger
) -> Provider | None:
    if not is_enabled(config):
        return None
    settings = config["authentication"]["oidc"]
    client = ProviderClient.from_config(config, telemetry.sign_ins.observe_provider)
    return Provider(settings, client, clock, get_logger("oidc"))


def build_encryption(config: dict[str, Any], home: Path | None) -> Encryption:
    """With the configured keys, or a key file in `home`, the data directory if there is one."""
    signals = config["signals"]
    if signals["encryptionKey"]:
        return Encryption(parse_keys(signals["encryptionKey"]))
    if signals["encryptionKeyFile"]:
        return Encryption(file=KeyFile(Path(signals["encryptionKeyFile"])))
    if home is not None:
        return Encryption(file=KeyFile(home / KEY_FILE, is_own=True))
    return Encryption(
        reason="A signing secret can't be stored: there is no data directory for its encryption "
        "key. Set SERVICE_ENCRYPTION_KEY."
    )


def build_limiter(config: dict[str, Any], clock: Clock) -> Limiter:
    rate_limits, signals = config["rateLimiting"], config["signals"]
    limiter = Limiter(clock.monotonic)
    limiter.add("login", amount=rate_limits["simpleLoginMaxPerMinute"], window=60)
    limiter.add("oidc", amount=rate_limits["oidcMaxPerMinute"], window=60)
    limiter.add("account_login", amount=rate_limits["loginMaxPerAccountPerMinute"], window=60)
    limiter.add("password_reset", amount=rate_limits["passwordResetMaxPerMinute"], window=60)
    limiter.add("password_reset_account", amount=1, window=3600, burst=MAX_PER_HOUR)
    limiter.add("own_password", amount=OWN_PASSWORDS_PER_MINUTE, window=60)
    limiter.add("create_user", amount=rate_limits["createUserMaxPerMinute"], window=60)
    limiter.add("failed_auth", amount=rate_limits["failedAuthMaxPerMinute"], window=60)
    metrics = config["metricsRateLimiting"]
    limiter.add("client_metrics", amount=metrics["clientMetricsMaxPerMinute"], window=60)
    limiter.add("client_register", amount=metrics["clientRegisterMaxPerMinute"], window=60)
    limiter.add("frontend_metrics", amount=metrics["frontendMetricsMaxPerMinute"], window=60)
    limiter.add("frontend_register", amount=metrics["frontendRegisterMaxPerMinute"], window=60)
    limiter.add("edge_validate", amount=EDGE_VALIDATIONS_PER_MINUTE, window=60)
    limiter.add("signal", amount=signals["maxPerSecond"], window=1, burst=signals["burst"])
    return limiter


def _store_signals(
    clock: Clock, conn: Connection, signals: Sequence[NewSignal]
) -> list[Row | NotStored]:
    """In one transaction with the end of silence, where a rule waits for one of the signals."""
    endpoint_ids = sorted({signal.endpoint_id for signal in signals if signal.is_awaited})
    if not endpoint_ids:
        return signal_storage.store_all(conn, signals)
    with single_transaction(conn):
        results = signal_storage.store_all(conn, signals)
        now = read_time(conn, clock.fixed_now)
        has_ended = bool(end_silence(conn, now, endpoint_ids, clock.choose_now).changes)
    return (
        [
            result if isinstance(result, NotStored) else result | {"queued": True}
            for result in results
        ]
        if has_ended
        else results
    )


def _build_group_commit(
    kind: str,
    database: Database,
    write: Callable[[Connection, Sequence[Item]], Sequence[Result]],
    telemetry: Telemetry,
    wait_seconds: float,
    max_waiting: int = MAX_WAITING,
    max_bytes: int = MAX_GROUP_BYTES,
) -> GroupCommit[Item, Result]:
    """`kind` is for the metrics."""
    commits = GroupCommit(
        database,
        write,
        max_waiting=max_waiting,
        max_bytes=max_bytes,
        wait_seconds=wait_seconds,
        observe=lambda count: telemetry.internals.observe_group(count, kind),
    )
    telemetry.add_gauge(
        f"group_commit_waiting_{kind}",
        "Requests that wait until their items are stored.",
        [],
        lambda: [([], float(commits.waiting))],
    )
    return commits


def _build_report_commits(
    config: dict[str, Any], database: Database, clock: Clock, telemetry: Telemetry
) -> dict[str, GroupCommit[Report, None]]:
    """By the type of the token. Frontend tokens are public: their reports, in small groups, keep
    those of servers neither waiting nor from being stored."""
    limits = ReportLimits.from_config(config)
    kinds = {
        BACKEND: ("reports", MAX_WAITING, MAX_GROUP_BYTES),
        FRONTEND: ("frontend_reports", MAX_FRONTEND_WAITING, MAX_FRONTEND_GROUP_BYTES),
    }
    return {
        sdk_type: _build_group_commit(
            kind,
            database,
            partial(_store_reports, telemetry, ReportWriter(limits, clock.monotonic)),
            telemetry,
            REPORT_WAIT_SECONDS,
            max_waiting,
            max_bytes,
        )
        for sdk_type, (kind, max_waiting, max_bytes) in kinds.items()
    }


def _store_reports(
    telemetry: Telemetry, writer: ReportWriter, conn: Connection, group: Sequence[Report]
) -> list[None]:
    """Counts what it has stored in the metrics. No report has a result of its own."""
    result = writer.store(conn, group)
    flags = telemetry.flags
    for kind, amount in result.dropped.items():
        flags.count_dropped(kind, amount)
    for name in result.unknown_flags:
        flags.unknown.limit(name)
    for counts in result.counts:
        flags.count_usage(*counts)
    return [None] * len(group)


class _DatabaseObserver:
    """Counts statements, changes and reached limits for the metrics."""

    def __init__(self, telemetry: Telemetry) -> None:
        self.on_query = telemetry.internals.observe_query
        self._telemetry = telemetry

    def on_commit(self, notes: Sequence[Any]) -> None:
        for note in notes:
            if isinstance(note, FlagEventNote):
                self._telemetry.flags.count_change(*note)
            elif isinstance(note, ReleaseEventNote):
                self._telemetry.flags.count_release_event(note.type)

    def on_rollback(self, error: BaseException) -> None:
        if isinstance(error, ExceedsLimitError) and error.resource:
            self._telemetry.internals.count_exceeded_limit(error.resource, str(error.limit))


def _count_resources(database: Database, feature_names: list[str]) -> Row:
    with database.autocommit() as conn:
        return statistics.count_for_metrics(conn, feature_names)


def _write_impact_metrics(database: Database) -> bytes:
    with database.autocommit() as conn:
        rows = impact_metrics.list_series(conn)
    return write_exposition(rows)


def _register_gauges(
    telemetry: Telemetry, config: dict[str, Any], limiter: Limiter, database: Database
) -> None:
    def rates() -> Iterable[tuple[list[str], float]]:
        for name, rate in limiter.list_rates().items():
            yield list(LIMIT_LABELS[name]), rate

    telemetry.add_gauge(
        "rate_limits", "Maximum requests per minute.", ["endpoint", "method"], rates
    )
    limits = [([name], float(limit)) for name, limit in list_resource_limits(config).items()]
    telemetry.add_gauge(
        "resource_limit", "Maximum number of each resource.", ["resource"], lambda: limits
    )
    for name, text in (
        ("min", "Minimum number of connections."),
        ("max", "Maximum number of connections."),
        ("free", "Idle connections."),
        ("used", "Connections in use."),
        ("pending_creates", "Connections that are being opened."),
        ("pending_acquires", "Requests waiting for a connection."),
    ):
        telemetry.add_gauge(f"db_pool_{name}", text, [], _read_pool(database, name))


def _read_pool(database: Database, name: str) -> Callable[[], Iterable[tuple[list[str], float]]]:
    return lambda: [([], float(database.statistics()[name]))]
