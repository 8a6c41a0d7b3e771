"""The plans of statements on large tables without statistics: after an import, after a restored
backup, or while autovacuum is slow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

import sigservice
from sigservice.db import queries
from sigservice.testing import QuickPasswords
from tests.db.large_tables import fill_large_tables
from tests.db.plan_cases import Case, list_cases
from tests.repository.kit import run
from tests.table_tests import each

pytestmark = pytest.mark.external

CASES = list_cases()
MAX_FACTOR = 5
SMALL = 100_000  # rows and pages: about 10 ms
_CHANGE = re.compile(r"\b(INSERT INTO|UPDATE \w|DELETE FROM|FOR UPDATE|FOR NO KEY)")
_COUNTS = (
    "Actual Rows",
    "Rows Removed by Filter",
    "Rows Removed by Index Recheck",
    "Rows Removed by Join Filter",
)


def measure(conn: Any, case: Case) -> float:
    """The rows that all steps of the plan read and the pages that they visit, which doesn't depend
    on the machine as a time does. Rolls back."""
    text = queries.load(case.path)[case.statement]
    names = re.findall(r"%\((\w+)\)s", text)
    return measure_statement(conn, text, {name: case.values.get(name) for name in names})


def measure_statement(conn: Any, text: str, values: dict[str, Any]) -> float:
    """Like `measure`."""
    with conn.cursor() as cursor:
        cursor.execute("BEGIN; SET LOCAL session_replication_role = replica")
        try:
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {text}", values)
            plan = cursor.fetchone()[0][0]["Plan"]
        finally:
            cursor.execute("ROLLBACK")
    rows = sum(
        node["Actual Loops"] * sum(node.get(count, 0) for count in _COUNTS)
        for node in _list_nodes(plan)
    )
    return rows + plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] + plan["Temp Read Blocks"]


def _list_nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _list_nodes(child)


def _measure_all(conn: Any) -> dict[str, float]:
    """By case. Those that read are first, because the others leave dead rows."""
    is_change = {
        case.path + case.statement: bool(_CHANGE.search(queries.load(case.path)[case.statement]))
        for case in CASES
    }
    ordered = sorted(CASES, key=lambda case: is_change[case.path + case.statement])
    return {str(case): measure(conn, case) for case in ordered}


@pytest.fixture(scope="module")
def measured(temporary_database: Any) -> tuple[dict[str, float], dict[str, float]]:
    """The work of each case without statistics and with them."""
    options = temporary_database.create_database("large")
    sigservice.create({"db": options, "logLevel": "error"}, {}, passwords=QuickPasswords()).stop()
    with closing(temporary_database.connect("large")) as conn:
        fill_large_tables(conn)
        run(conn, "SET statement_timeout = '20s'")
        without = _measure_all(conn)
        run(conn, "ANALYZE")
        return without, _measure_all(conn)


@each("case", CASES)
def test_statements_need_no_statistics(measured, case):
    without, with_statistics = (work[str(case)] for work in measured)
    assert without <= max(MAX_FACTOR * with_statistics, SMALL)
