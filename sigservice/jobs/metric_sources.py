"""Asks metric sources for the alert rules and the guards of releases that are due. Each process
runs it; claims in the database decide which process queries a source, with all that is due. Sources
are asked outside of transactions, each by a thread of its own, so a slow one delays nothing of the
others."""

import queue
import threading
import time
from contextlib import suppress
from itertools import groupby
from typing import Any

from sigservice.context import Context
from sigservice.db import Row
from sigservice.jobs.alert_rules import announce
from sigservice.repository.rules import metric_sources
from sigservice.services.channel_delivery import DeliverySettings
from sigservice.services.releases import guard_queries
from sigservice.services.releases.guard_queries import GuardLease
from sigservice.services.rules import rule_evaluation
from sigservice.services.rules.prometheus import Answer, PrometheusClient
from sigservice.services.rules.rule_conditions import PrometheusQuery
from sigservice.services.rules.rule_evaluation import Lease
from sigservice.services.rules.source_claims import SourceClaim, SourceClaims

LOOK_SECONDS = 5  # while a source is being asked

_Leases = list[Lease | GuardLease]
_Results = queue.SimpleQueue[Exception | None]  # one for each source that was asked


def run_once(context: Context) -> None:
    """Returns when no source is being asked."""
    results: _Results = queue.SimpleQueue()
    count = 0
    while True:
        for work in [] if context.stopping.is_set() else _claim(context):
            # Not a thread of a pool: the process would wait for it at its end.
            arguments = (context, results, *work)
            threading.Thread(target=_ask, args=arguments, name="metric-source", daemon=True).start()
            count += 1
        if not count:
            return
        with suppress(queue.Empty):
            error = results.get(timeout=LOOK_SECONDS)
            count -= 1
            if error is not None:
                raise error


def _claim(context: Context) -> list[tuple[Row | None, SourceClaim | None, _Leases]]:
    """The sources that have due queries and that nothing queries at the moment; None for one that
    doesn't exist."""
    claims = SourceClaims(context.database, context.clock)
    with context.database.transaction() as conn:
        now = claims.read_time(conn)
        sources = {row["name"]: row for row in metric_sources.lock_all(conn)}
        busy = [name for name, row in sources.items() if (row["claimed_until"] or now) > now]
        leases: _Leases = [
            *guard_queries.lease_queries(conn, now, busy),
            *rule_evaluation.lease_queries(conn, now, busy),
        ]
        leases.sort(key=_get_query)
        groups = {name: [*group] for name, group in groupby(leases, lambda x: _get_query(x)[0])}
        claimed = claims.claim(conn, list(groups), now) if groups else {}
    return [(sources.get(name), claimed.get(name), group) for name, group in groups.items()]


def _ask(context: Context, results: _Results, *work: Any) -> None:
    try:
        _ask_source(context, *work)
    except Exception as error:  # noqa: BLE001  the job raises it
        results.put(error)
    else:
        results.put(None)


def _ask_source(
    context: Context, source: Row | None, claim: SourceClaim | None, leases: _Leases
) -> None:
    """Sends each query once, one after the other. A source that doesn't answer isn't asked
    again. Without the claim, what is left is due again after its lease."""
    client = PrometheusClient(DeliverySettings.from_config(context.config), context.encryption)
    answer = Answer(reason="The metric source doesn't exist.", is_available=source is not None)
    try:
        for (_, query), group in groupby(leases, _get_query):
            start = time.monotonic()
            if source is not None and claim is not None and answer.is_available:
                if not claim.renew():
                    return
                answer = client.query(source, query, context.clock.now())
            _store(context, [*group], answer, start)
    finally:
        if claim is not None:
            claim.release()


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
            now = SourceClaims(context.database, context.clock).read_time(conn)
            evaluation = rule_evaluation.store_answer(conn, rules, answer, now)
        announce(context, "prometheus", evaluation, start)


def _get_query(lease: Lease | GuardLease) -> tuple[str, str]:
    source = lease.condition.source
    assert isinstance(source, PrometheusQuery)
    return source.source, source.query
