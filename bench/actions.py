"""Evaluation of filters, and of a queue of signals.

usage: python bench/actions.py [signals]
50 sets with 5 filters each against a payload of 10 kB; then a queue of 10 000 signals that arrives
at once, as after an outage: first none changes its flag, then each does.
"""

import contextlib
import json
import sys
import time
from typing import Any

import msgspec
import psycopg2
from service import ROOT, run_service

sys.path.insert(0, ROOT)
from sigservice.services.actions.action_filters import Filter, Matcher

SETS = 50
STATES = ("off", "on")
KINDS = ("nothing to change", "a change each")
FILTERS = (
    {"path": "status", "operator": "IN", "values": ["firing", "pending"]},
    {"path": "alerts[*].labels.severity", "operator": "STR_CONTAINS", "values": ["crit", "page"]},
    {"path": "alerts[*].annotations.runbook", "operator": "REGEX", "value": "^https://.*/[a-z-]+$"},
    {"path": "alerts[*].value", "operator": "NUM_GTE", "value": 0.5},
    {"path": "commonLabels.version", "operator": "SEMVER_LT", "value": "99.0.0"},
)


def build_payload() -> bytes:
    alert = {
        "labels": {"alertname": "HighErrorRate", "severity": "critical", "instance": "web-1:9090"},
        "annotations": {"runbook": "https://runbooks.example/high-errors", "text": "x" * 100},
        "value": 0.93,
        "startsAt": "2026-11-21T10:00:00Z",
    }
    body: dict[str, Any] = {"status": "firing", "commonLabels": {"version": "3.2.1"}, "alerts": []}
    while len(json.dumps(body)) < 10_000:
        body["alerts"].append(alert)
    return json.dumps(body).encode()


def measure_matching() -> None:
    data = build_payload()
    filters = [msgspec.convert(filter, Filter, strict=False) for filter in FILTERS]
    matchers = [Matcher(filters) for _ in range(SETS)]
    times_ms = []
    for _ in range(50):
        started_at = time.perf_counter()
        decoded = msgspec.json.decode(data)
        assert all(matcher.matches(decoded) for matcher in matchers)
        times_ms.append(1000 * (time.perf_counter() - started_at))
    times_ms.sort()
    print(f"{SETS} sets of {len(FILTERS)} filters, {len(data)} bytes, all matching:")
    print(f"  p50 {times_ms[25]:.2f} ms, maximum {times_ms[-1]:.2f} ms (target: 5 ms)")


def insert_signals(cursor: Any, endpoint: int, signals: int, states: tuple[str, ...]) -> None:
    """Inserts signals; the worker sees them at the commit."""
    cursor.execute(
        "WITH stored AS (INSERT INTO signals (endpoint_id, token_id, payload, payload_bytes) "
        "SELECT %s, 1, json_build_object('to', (%s::text[])[1 + n %% %s]), 12 "
        "FROM generate_series(1, %s) n ORDER BY n RETURNING id, endpoint_id) "
        "INSERT INTO signal_queue (signal_id, endpoint_id) SELECT id, endpoint_id FROM stored",
        (endpoint, list(states), len(states), signals),
    )


def wait_for_end(cursor: Any) -> None:
    while True:
        cursor.execute(
            "SELECT EXISTS (SELECT 1 FROM signal_queue) "
            "OR EXISTS (SELECT 1 FROM action_runs WHERE state = 'started')"
        )
        if not cursor.fetchone()[0]:
            return
        time.sleep(0.05)


def measure_queue(signals: int, processes: int, kinds: tuple[str, ...] = KINDS) -> dict[str, float]:
    """Signals per second for each kind of queue. Raises AssertionError if a signal has no run or
    two, if runs are out of order, or if one failed."""
    rates = {}
    with contextlib.ExitStack() as stack:
        service = stack.enter_context(run_service())
        for _ in range(processes - 1):
            stack.enter_context(run_service(SERVICE_DATA_DIR=service.data))
        endpoint, _ = service.create_signal_token("alerts")
        service.create_flag("checkout")
        actor = service.create_service_account()
        for state in STATES:
            service.create_action_set(state, actor, endpoint, state, "checkout")
        conn = psycopg2.connect(host=f"{service.data}/socket", user="sigservice", dbname="postgres")
        stack.callback(conn.close)
        conn.autocommit = True
        cursor = conn.cursor()
        for kind in kinds:
            insert_signals(cursor, endpoint, signals, STATES[: KINDS.index(kind) + 1])
            started_at = time.perf_counter()
            wait_for_end(cursor)
            rates[kind] = signals / (time.perf_counter() - started_at)
        cursor.execute(
            "SELECT count(*), count(DISTINCT signal_id), count(*) FILTER (WHERE finished_at < "
            "before), count(*) FILTER (WHERE state <> 'success') FROM (SELECT signal_id, state, "
            "finished_at, lag(finished_at) OVER (ORDER BY signal_id) AS before FROM action_runs) r"
        )
        expected = len(kinds) * signals
        assert cursor.fetchone() == (expected, expected, 0, 0)
    return rates


if __name__ == "__main__":
    measure_matching()
    signals = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    for processes in (1, 2):
        for kind, rate in measure_queue(signals, processes).items():
            print(f"{signals} waiting signals, {kind}, {processes} processes: {rate:.0f}/s")
    print("target: 1500/s with one process")
