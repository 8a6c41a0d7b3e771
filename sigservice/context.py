"""The application context: the parts of a running service, for routes and jobs."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from sigservice.clock import Clock
from sigservice.concurrency.limiter import Limiter, RecentKeys
from sigservice.concurrency.quotas import Quotas
from sigservice.concurrency.workers import (
    MAX_INTEGRATION_TESTS,
    MAX_STREAMED_FILES,
)
from sigservice.delivery.poll_intervals import PollIntervals
from sigservice.outgoing.smtp import MailServer
from sigservice.services.rules.query_order import QueryOrder
from sigservice.services.signals.token_uses import TokenUses
from sigservice.services.system.version_check import VersionStatus

if TYPE_CHECKING:
    from sigservice.concurrency.shared_body import SharedBody
    from sigservice.crypto.encryption import Encryption
    from sigservice.crypto.secrets import Passwords
    from sigservice.db import Database, Row
    from sigservice.db.group_commit import GroupCommit
    from sigservice.delivery.client_documents import ClientDocuments
    from sigservice.delivery.compiled_flags import CompiledFlagsCache
    from sigservice.delivery.cors_origins import CorsOrigins
    from sigservice.delivery.flag_states import FlagStates
    from sigservice.delivery.frontend_documents import FrontendDocuments
    from sigservice.delivery.last_used import LastUsedBuffer
    from sigservice.delivery.revision_cache import RevisionCache
    from sigservice.delivery.streams import Streams
    from sigservice.log import GetLogger
    from sigservice.render import Renderer
    from sigservice.repository.signals.signals import NewSignal
    from sigservice.services.access.authentication_scheme import AuthenticationScheme
    from sigservice.services.access.failed_sign_ins import FailedSignIns
    from sigservice.services.access.oidc.provider import Provider
    from sigservice.services.actions.action_evaluation import Evaluator
    from sigservice.services.releases.release_watch import ReleaseWatch
    from sigservice.services.rules.silence import Observer
    from sigservice.services.rules.source_locks import SourceLocks
    from sigservice.services.signals.endpoint_cache import EndpointCache
    from sigservice.services.signals.refused_calls import RefusedCallBuffer
    from sigservice.services.signals.signal_storage import NotStored
    from sigservice.services.signals.sns import SnsVerifier
    from sigservice.services.system.capped_log import CappedLog
    from sigservice.services.usage.evaluation_counts import EvaluationCounts
    from sigservice.services.usage.reports import Report
    from sigservice.telemetry import CachedExposition, Telemetry


@dataclass(frozen=True)
class Context:
    config: dict[str, Any]
    database: Database
    clock: Clock
    limiter: Limiter
    passwords: Passwords
    render: Renderer
    telemetry: Telemetry
    get_logger: GetLogger
    revision_cache: RevisionCache
    last_used: LastUsedBuffer
    flag_states: FlagStates
    client_documents: ClientDocuments
    compiled_flags: CompiledFlagsCache
    frontend_documents: FrontendDocuments
    streams: Streams
    cors_origins: CorsOrigins
    authentication: AuthenticationScheme
    encryption: Encryption
    provider: Provider | None
    sns: SnsVerifier
    failed_sign_ins: FailedSignIns
    refusals: CappedLog
    unavailable: CappedLog
    signal_commits: GroupCommit[NewSignal, Row | NotStored]
    report_commits: Mapping[str, GroupCommit[Report, None]]  # by the type of the token
    impact_exposition: CachedExposition
    signal_endpoints: EndpointCache
    evaluator: Evaluator
    evaluation_counts: EvaluationCounts
    refused_calls: RefusedCallBuffer
    source_locks: SourceLocks
    release_watch: ReleaseWatch
    silence_observer: Observer
    signals_waiting: threading.Event = field(default_factory=threading.Event)
    mails_waiting: threading.Event = field(default_factory=threading.Event)
    draining: threading.Event = field(default_factory=threading.Event)  # proxies should leave
    stopping: threading.Event = field(default_factory=threading.Event)
    recent_credentials: RecentKeys = field(default_factory=RecentKeys)
    recent_sign_ins: RecentKeys = field(default_factory=RecentKeys)
    offered_streams: RecentKeys = field(default_factory=RecentKeys)  # by connection ID
    poll_intervals: PollIntervals = field(default_factory=PollIntervals)
    token_uses: TokenUses = field(default_factory=TokenUses)
    streamed_files: Quotas = field(  # by user
        default_factory=lambda: Quotas(total=MAX_STREAMED_FILES, per_key=1)
    )
    query_order: QueryOrder = field(default_factory=QueryOrder)
    integration_tests: Quotas = field(  # by integration
        default_factory=lambda: Quotas(total=MAX_INTEGRATION_TESTS, per_key=1)
    )
    integration_senders: set[int] = field(default_factory=set)  # IDs that a thread sends for
    process_id: str = field(default_factory=lambda: uuid.uuid4().hex)  # of leases
    version_status: VersionStatus = field(default_factory=VersionStatus)
    api_documents: dict[str, SharedBody] = field(default_factory=dict)  # by own URL
    has_pages = True  # the relay has none

    @property
    def base(self) -> str:
        """The base path of incoming requests, "" or "/flags"."""
        return str(self.config["server"]["baseUriPath"])

    @cached_property
    def prefix(self) -> str:
        """The prefix of links, redirects and cookies."""
        return public_prefix(self.config)

    @property
    def public_url(self) -> str:
        """The public URL; "" if SERVICE_URL is not set."""
        return self.config["server"]["unleashUrl"] or ""

    @property
    def trusted_proxies(self) -> Sequence[str]:
        """The proxies whose forwarding headers web/client_ip.py trusts."""
        proxies: Sequence[str] = self.config["server"]["trustedProxy"]
        return proxies

    @property
    def mail_server(self) -> MailServer | None:
        """None if mails can't be sent."""
        return MailServer.from_config(
            self.config, urlsplit(self.public_url).hostname or "localhost"
        )

    @property
    def cookie_name(self) -> str:
        """The name of the session cookie."""
        return str(self.config["session"]["cookieName"])

    @property
    def session_idle(self) -> timedelta | None:
        """Idle time after which a session ends; None without a limit."""
        minutes = self.config["session"]["idleMinutes"]
        return timedelta(minutes=minutes) if minutes else None

    @property
    def reset_lifetime(self) -> timedelta:
        """How long the link of a reset mail is valid."""
        return timedelta(minutes=self.config["authentication"]["resetLinkMinutes"])

    @property
    def is_secure(self) -> bool:
        """Whether cookies are sent over HTTPS only."""
        return bool(self.config["secureHeaders"]) or self.public_url.startswith("https:")


def public_prefix(config: dict[str, Any]) -> str:
    """The base path in browsers: the path of SERVICE_URL, if a proxy strips a part of it."""
    base = str(config["server"]["baseUriPath"])
    parts = urlsplit(config["server"]["unleashUrl"] or "").path.split("/")
    path = "".join(f"/{quote(part, safe='%~')}" for part in parts if part)
    return path if path.endswith(base) else base
