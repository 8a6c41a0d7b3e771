"""Each row of the specification has a check that passes in each way of setting it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sigservice.testing import TemporaryDatabase
from tests.spec.kit import Case, Row, Services, list_cases
from tests.spec.rows import ROWS
from tests.spec.specification import OPTIONS, RULES


@pytest.fixture(scope="module")
def services(temporary_database: TemporaryDatabase) -> Iterator[Services]:
    shared = Services(temporary_database)
    yield shared
    shared.close()


def _id(part: Row | str) -> str:
    return part.variable or part.name if isinstance(part, Row) else part or "rule"


@pytest.mark.parametrize(("row", "way"), list(list_cases(ROWS)), ids=_id)
def test_row_holds(
    row: Row, way: str, services: Services, record_property: Callable[[str, str], None]
) -> None:
    record_property("row", row.name)
    try:
        row.check(Case(row, way, services, ROWS))
    finally:
        services.end_check()


def test_table_has_exactly_the_rows_of_the_specification() -> None:
    assert {row.name for row in ROWS} == {*OPTIONS, *RULES}


@pytest.mark.parametrize("name", OPTIONS)
def test_each_option_is_tested_by_its_variables_and_in_code(name: str) -> None:
    rows = [row for row in ROWS if row.name == name]
    assert {row.variable for row in rows if row.variable} >= set(OPTIONS[name])
    assert any(way in ("code", "") for row in rows for way in row.ways)
