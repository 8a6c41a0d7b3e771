"""Each row of the specification has a check that passes on a started service."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sigservice.testing import TemporaryDatabase
from tests.spec.kit import Case, Row, Services
from tests.spec.rows import ROWS
from tests.spec.specification import OPTIONS, RULES


@pytest.fixture(scope="module")
def services(temporary_database: TemporaryDatabase) -> Iterator[Services]:
    shared = Services(temporary_database)
    yield shared
    shared.close()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.variable or row.name)
def test_row_holds(
    row: Row, services: Services, record_property: Callable[[str, str], None]
) -> None:
    record_property("row", row.name)
    try:
        row.check(Case(row, services, ROWS))
    finally:
        services.end_check()


def test_table_has_exactly_the_rows_of_the_specification() -> None:
    assert {row.name for row in ROWS} == {*OPTIONS, *RULES}


def test_each_option_is_tested_by_each_of_its_variables() -> None:
    pairs = {(name, variable) for name, variables in OPTIONS.items() for variable in variables}
    assert pairs <= {(row.name, row.variable) for row in ROWS}
