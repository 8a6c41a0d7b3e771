"""Asks metric sources for the rules that are due, alert rules and those of guards. Each process
runs it; the leases of rules decide which process queries a source, with all that is due. Sources
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
from sigservice.jobs.alert_rules import announce, make_decide
from sigservice.repository.rules import metric_sources
from sigservice.services.deliveries import DeliverySettings
from sigservice.services.rules import rule_evaluation
from sigservice.services.rules.prometheus import BUSY, MAX_AGE, Answer, PrometheusClient
from sigservice.services.rules.rule_conditions import PrometheusQuery
from sigservice.services.rules.rule_evaluation import Lease

LOOK_SECONDS = 5  # while a source is being asked
ROUND_SECONDS = (
    60  # no query is sent later; with the timeout of a source it is shorter than a lease
)
NO_TIME = "The source had no time for this query for five minutes: others took too long."

_Results = queue.SimpleQueue[Exception | None]  # one for each source that was asked


def run_once(context: Context) -> None:
    """Returns when no source is being asked: the next run asks for what is due by then."""
    results: _Results = queue.SimpleQueue()
    count = 0
    while True:
        for work in [] if context.stopping.is_set() else _lease(context):
            # Not a thread of a pool: the process would wait for it at its end.
            arguments = (context, results, *work)
            threading.Thread(target=_ask, args=arguments, name="metric-source", daemon=True).start()
            count += 1
        with suppress(queue.Empty):
            error = results.get(timeout=LOOK_SECONDS) if count else None
            count = max(0, count - 1)
            if error is not None:
                raise error
        if not count:
            return


def _lease(context: Context) -> list[tuple[Row | None, list[Lease]]]:
    """The sources that have due queries and that no process queries at the moment, with the leases
    of these; None for a source that doesn't exist."""
    with context.database.transaction() as conn:
        sources = {row["name"]: row for row in metric_sources.lock_all(conn)}
        leases = rule_evaluation.lease_queries(conn, context.clock.fixed_now)
    leases.sort(key=_get_query)
    return [
        (sources.get(name), [*group])
        for name, group in groupby(leases, lambda lease: _get_query(lease)[0])
    ]


def _ask(context: Context, results: _Results, *work: Any) -> None:
    try:
        _ask_source(context, *work)
    except Exception as error:  # noqa: BLE001  the job raises it
        results.put(error)
    else:
        results.put(None)


def _ask_source(context: Context, source: Row | None, leases: list[Lease]) -> None:
    """Sends each query once, one after the other, as long as the round has time. Raises the last
    error of those that could not be stored."""
    groups: dict[str, list[Lease]] = {}
    for lease in leases:
        groups.setdefault(_get_query(lease)[1], []).append(lease)
    if source is None:
        _store(context, leases, Answer(reason="The metric source doesn't exist."))
        return
    settings = DeliverySettings.from_config(context.config)
    client = PrometheusClient(settings, context.encryption, context.source_locks.hold)
    monotonic, order = context.clock.monotonic, context.query_order
    error: Exception | None = None
    ends_at = monotonic() + ROUND_SECONDS
    needs_guard = {
        query: any(lease.is_watched for lease in group) for query, group in groups.items()
    }
    for query in order.sort(source["name"], needs_guard, monotonic()):
        if monotonic() >= ends_at or context.stopping.is_set():
            break
        asked_at = monotonic()
        answer = client.query(source, query, context.clock.now())
        if answer.reason == BUSY:  # requests query the source
            break
        order.record(source["name"], query, asked_at, monotonic())
        try:
            _store(context, groups.pop(query), answer)
        except Exception as e:  # noqa: BLE001  the others must be asked
            error = e
    if groups:
        now = leases[0].row["now"] + timedelta(seconds=monotonic() - ends_at + ROUND_SECONDS)
        _end_leases(context, [lease for group in groups.values() for lease in group], now)
    if error is not None:
        raise error


def _end_leases(context: Context, leases: list[Lease], now: datetime) -> None:
    """What the round had no time for is due again at once, and unknown if its last evaluation is
    too old."""
    old = [lease for lease in leases if _is_old(lease, now)]
    with context.database.autocommit(is_write=True) as conn:
        rule_evaluation.end_leases(conn, [lease for lease in leases if lease not in old])
    if old:
        _store(context, old, Answer(reason=NO_TIME))


def _store(context: Context, leases: list[Lease], answer: Answer) -> None:
    start = time.monotonic()
    with context.database.transaction() as conn:
        evaluation = rule_evaluation.store_answer(
            conn, leases, answer, make_decide(context), context.clock.fixed_now
        )
    announce(context, "prometheus", evaluation, start)
    if evaluation.error is not None:
        raise evaluation.error


def _is_old(lease: Lease, now: datetime) -> bool:
    age = MAX_AGE + timedelta(seconds=lease.condition.everySeconds)
    evaluated_at = lease.row["evaluated_at"]
    return evaluated_at is not None and now - evaluated_at > age


def _get_query(lease: Lease) -> tuple[str, str]:
    source = lease.condition.source
    assert isinstance(source, PrometheusQuery)
    return source.source, source.query
