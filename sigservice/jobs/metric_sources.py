"""Asks metric sources for the alert rules and the guards of releases that are due. Each process
runs it; leases in the database decide which process sends a query. Sources are asked outside of
transactions, each by a thread of its own, so a slow one delays nothing of the others."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import groupby

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.jobs.alert_rules import announce
from sigservice.repository.releases import releases as release_rows
from sigservice.repository.rules import metric_sources
from sigservice.services.channel_delivery import DeliverySettings
from sigservice.services.releases import guard_queries
from sigservice.services.releases.guard_queries import GuardLease
from sigservice.services.rules import rule_evaluation
from sigservice.services.rules.metric_sources import MAX_SOURCES
from sigservice.services.rules.prometheus import Answer, PrometheusClient
from sigservice.services.rules.rule_conditions import PrometheusQuery
from sigservice.services.rules.rule_evaluation import Lease

LOOK_SECONDS = 5  # while a source is being asked

_Leases = list[Lease | GuardLease]


def run_once(context: Context) -> int:
    """Returns 0, so that nothing is logged but the changes."""
    running: dict[str, Future[None]] = {}
    with ThreadPoolExecutor(MAX_SOURCES, "metric-source") as executor:
        while True:
            leases, sources = _lease(context, list(running))
            for name, group in groupby(leases, lambda lease: _get_query(lease)[0]):
                source = sources.get(name)
                running[name] = executor.submit(_ask_source, context, source, [*group])
            if not running or context.stopping.is_set():
                return 0
            done, _ = wait(running.values(), LOOK_SECONDS, FIRST_COMPLETED)
            for future in done:
                future.result()
            running = {name: future for name, future in running.items() if future not in done}


def _lease(context: Context, busy: Sequence[str]) -> tuple[_Leases, Mapping[str, Row]]:
    """What is due, ordered by source and query, and the sources by name."""
    with context.database.transaction() as conn:
        now = context.clock.choose_now(release_rows.read_time(conn))
        leases: _Leases = [
            *guard_queries.lease_queries(conn, now, busy),
            *rule_evaluation.lease_queries(conn, context.clock.now(), busy),
        ]
        rows = metric_sources.list_all(conn) if leases else []
    return sorted(leases, key=_get_query), {row["name"]: row for row in rows}


def _ask_source(context: Context, source: Row | None, leases: _Leases) -> None:
    """Sends each query once, one after the other. A source that doesn't answer isn't asked
    again."""
    client = PrometheusClient(DeliverySettings.from_config(context.config), context.encryption)
    answer = Answer(reason="The metric source doesn't exist.", is_available=source is not None)
    for (_, query), group in groupby(leases, _get_query):
        start = time.monotonic()
        if source is not None and answer.is_available:
            answer = client.query(source, query, context.clock.now())
        _store(context, [*group], answer, start)


def _store(context: Context, leases: _Leases, answer: Answer, start: float) -> None:
    """Guards first, because they roll back."""
    guards = [lease for lease in leases if isinstance(lease, GuardLease)]
    rules = [lease for lease in leases if isinstance(lease, Lease)]
    if guards:
        logger = context.get_logger("releases")
        with context.database.transaction() as conn:
            if guard_queries.store_answer(conn, logger, context.clock, guards, answer):
                context.outbox_waiting.set()
    if rules:
        with context.database.transaction() as conn:
            evaluation = rule_evaluation.store_answer(conn, rules, answer, context.clock.now())
        announce(context, "prometheus", evaluation, start)


def _get_query(lease: Lease | GuardLease) -> tuple[str, str]:
    source = lease.condition.source
    assert isinstance(source, PrometheusQuery)
    return source.source, source.query
