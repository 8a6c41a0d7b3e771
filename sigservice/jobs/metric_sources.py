"""Asks metric sources for the alert rules and the guards of releases that are due. Each process
runs it; claims in the database decide which process queries a source, with all that is due. Sources
are asked outside of transactions, each by a thread of its own, so a slow one delays nothing of the
others."""

import queue
import threading
import time
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from sigservice.context import Context
from sigservice.db import Row
from sigservice.jobs.alert_rules import announce
from sigservice.repository.rules import metric_sources
from sigservice.services.deliveries import DeliverySettings
from sigservice.services.releases import guard_queries
from sigservice.services.releases.guard_queries import GuardLease
from sigservice.services.rules import rule_evaluation
from sigservice.services.rules.prometheus import MAX_AGE, Answer, PrometheusClient
from sigservice.services.rules.rule_conditions import PrometheusQuery
from sigservice.services.rules.rule_evaluation import Lease
from sigservice.services.rules.source_claims import SourceClaim, SourceClaims

LOOK_SECONDS = 5  # while a source is being asked
ROUND_SECONDS = (
    60  # no query is sent later; with the timeout of a source it is shorter than a lease
)
NO_TIME = "The source had no time for this query for five minutes: others took too long."

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
    """Sends each query once, one after the other, as long as the round has time. Without the claim,
    what is left is due again after its lease. Raises the last error of those that could not be
    stored."""
    client = PrometheusClient(DeliverySettings.from_config(context.config), context.encryption)
    groups: dict[str, _Leases] = {}
    for lease in leases:
        groups.setdefault(_get_query(lease)[1], []).append(lease)
    if source is None or claim is None:
        answer = Answer(reason="The metric source doesn't exist.")
        for group in groups.values():
            _store(context, group, answer, time.monotonic())
        return
    monotonic, order = context.clock.monotonic, context.query_order
    error: Exception | None = None
    ends_at = monotonic() + ROUND_SECONDS
    needs_guard = {query: bool(_split(group)[0]) for query, group in groups.items()}
    try:
        for query in order.sort(source["name"], needs_guard, monotonic()):
            if monotonic() >= ends_at or context.stopping.is_set():
                break
            if not claim.renew():
                return
            start, asked_at = time.monotonic(), monotonic()
            answer = client.query(source, query, context.clock.now())
            order.record(source["name"], query, asked_at, monotonic())
            try:
                _store(context, groups.pop(query), answer, start)
            except Exception as e:  # noqa: BLE001  the others must be asked
                error = e
        _return_leases(context, [lease for group in groups.values() for lease in group])
    finally:
        claim.release()
    if error is not None:
        raise error


def _return_leases(context: Context, leases: _Leases) -> None:
    """What the round had no time for is due again at once, and unknown if its last evaluation is
    too old."""
    if not leases:
        return
    with context.database.transaction() as conn:
        now = SourceClaims(context.database, context.clock).read_time(conn)
        old = [lease for lease in leases if _is_old(lease, now)]
        guards, rules = _split([lease for lease in leases if lease not in old])
        guard_queries.return_leases(conn, guards, now)
        rule_evaluation.return_leases(conn, rules, now)
    _store(context, old, Answer(reason=NO_TIME), time.monotonic())


def _store(context: Context, leases: _Leases, answer: Answer, start: float) -> None:
    """Guards first, because they roll back."""
    guards, rules = _split(leases)
    if guards:
        logger = context.get_logger("releases")
        with context.database.transaction() as conn:
            if guard_queries.store_answer(conn, logger, context.clock, guards, answer):
                context.mails_waiting.set()
    if rules:
        with context.database.transaction() as conn:
            now = SourceClaims(context.database, context.clock).read_time(conn)
            evaluation = rule_evaluation.store_answer(conn, rules, answer, now)
        announce(context, "prometheus", evaluation, start)
        if evaluation.error is not None:
            raise evaluation.error


def _is_old(lease: Lease | GuardLease, now: datetime) -> bool:
    age = MAX_AGE + timedelta(seconds=lease.condition.everySeconds)
    return lease.evaluated_at is not None and now - lease.evaluated_at > age


def _split(leases: _Leases) -> tuple[list[GuardLease], list[Lease]]:
    return (
        [lease for lease in leases if isinstance(lease, GuardLease)],
        [lease for lease in leases if isinstance(lease, Lease)],
    )


def _get_query(lease: Lease | GuardLease) -> tuple[str, str]:
    source = lease.condition.source
    assert isinstance(source, PrometheusQuery)
    return source.source, source.query
