"""The plans of the statements that send events to integrations: whatever the statistics say, what
they read depends on what they return, and at most once on the length of the outbox."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import sigservice
from sigservice.db import queries
from sigservice.db.statements import number_parameters
from sigservice.testing import QuickPasswords
from tests.db.plan_cases import Case
from tests.db.test_plans import measure, measure_statement
from tests.repository.kit import run

pytestmark = pytest.mark.external

NOW = datetime.now(UTC)
PREPARED = (
    "lease_queues", "list_next_deliveries", "settle_delivery", "release_queue",
)  # fmt: skip
MAX_WORK = 10_000  # rows and pages: a millisecond
DELIVERIES = (100, 1000, 10_000)  # that wait; as many were sent
SENT = """
INSERT INTO outbox (kind, subject_id, target, event_id, attempts, sent_at)
SELECT 'integration', mod(n, 10) + 1, '{}', n, 1, now() FROM generate_series(1, %s) n
"""
WAITING = """
INSERT INTO outbox (kind, subject_id, target, event_id)
SELECT 'integration', mod(n, 10) + 1, '{}', n FROM generate_series(1, %s) n
"""
FILL = """
INSERT INTO integrations (provider, enabled, events)
SELECT 'webhook', true, '{*}' FROM generate_series(1, 10);
INSERT INTO events (type, created_by, created_at)
SELECT 'feature-created', 'ada', now() - interval '1 minute' FROM generate_series(1, %s) n;
INSERT INTO integration_leases SELECT id, 'one', 'epoch' FROM integrations
"""


def list_cases(first: int) -> list[Case]:
    """`first` is the ID of the first delivery that waits."""
    result = {"id": first, "attempts": 1, "result": "sent", "now": NOW, "due_at": NOW}
    result |= {"error": None, "payload": None}
    lease: dict[str, Any] = {"owner": "one", "now": NOW + timedelta(seconds=9)}
    page = {"limit": 50, "offset": 0, "attempted_only": False, "id": 1}
    path, due = "integrations/integrations", {"now": NOW, "until": NOW}
    return [
        Case(path, "lease_queues", lease | {"busy": []}),
        Case(path, "lease_queues", lease | {"busy": list(range(2, 11))}),
        Case(path, "list_next_deliveries", lease | {"id": 1, "limit": 50}),
        Case(path, "list_next_deliveries", lease | {"id": 1, "limit": 1}),
        Case(path, "settle_delivery", result),
        Case(path, "release_queue", {"id": 1, "owner": "one"}),
        Case(path, "list_deliveries", page),
        Case(path, "list_deliveries", page | {"limit": 1, "delivery_id": first}),
        Case("outbox", "lease_mail", due),
        Case("outbox", "retry_delivery", {"id": first}),
        Case("outbox", "delete_old_messages", {"days": 30, "chunk": 1000}),
    ]


@contextmanager
def fill_outbox(server: Any, name: str, count: int) -> Iterator[Any]:
    """A connection to a database without statistics: `count` deliveries were sent."""
    options = server.create_database(name)
    sigservice.create({"db": options, "logLevel": "error"}, {}, passwords=QuickPasswords()).stop()
    with closing(server.connect(name)) as conn:
        for table in ("events", "integrations", "outbox"):
            run(conn, f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
        run(conn, FILL, count)
        run(conn, SENT, count)
        yield conn


def find_first(conn: Any) -> int:
    ((id,),) = run(conn, "SELECT min(id) FROM outbox WHERE sent_at IS NULL")
    return int(id)


def find_slow(works: dict[str, float], count: int) -> dict[str, float]:
    """Reading a short outbox once as a whole is cheap."""
    return {text: work for text, work in works.items() if work > MAX_WORK + 3 * count}


@pytest.mark.parametrize("count", DELIVERIES)
def test_statements_need_no_statistics(temporary_database: Any, count: int):
    with fill_outbox(temporary_database, f"outbox_{count}", count) as conn:
        for _ in range(3):  # without statistics, with those from before the rest, and with all
            run(conn, WAITING, count)
            works = {str(case): measure(conn, case) for case in list_cases(find_first(conn))}
            assert find_slow(works, 3 * count) == {}
            run(conn, "VACUUM ANALYZE")


@pytest.mark.parametrize("is_analyzed", [False, True])
def test_plans_that_were_made_for_a_short_outbox_are_good_for_a_long_one(
    temporary_database: Any, is_analyzed: bool
):
    """A connection keeps its plans until autovacuum has analyzed the table."""
    name = f"outbox_growing_{is_analyzed}".lower()
    with fill_outbox(temporary_database, name, 100) as conn:
        run(conn, WAITING, 20)
        if is_analyzed:
            run(conn, "VACUUM ANALYZE")
        run(conn, "SET plan_cache_mode = force_generic_plan")
        cases = [case for case in list_cases(find_first(conn)) if case.statement in PREPARED]
        executions = [prepare(conn, f"s{n}", case) for n, case in enumerate(cases)]
        run(conn, WAITING, 10_000)
        works = {
            str(case): measure_statement(conn, execution, case.values)
            for case, execution in zip(cases, executions, strict=True)
        }
        assert find_slow(works, 10_000) == {}


def prepare(conn: Any, name: str, case: Case) -> str:
    """Plans the statement; returns the one that executes it."""
    text, names = number_parameters(queries.load(case.path)[case.statement])
    run(conn, f"PREPARE {name} AS {text.replace('%', '%%')}")
    arguments = ", ".join(f"%({one})s" for one in names)
    execution = f"EXECUTE {name}({arguments})" if names else f"EXECUTE {name}"
    measure_statement(conn, execution, case.values)
    return execution
