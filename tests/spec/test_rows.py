"""Each row of the specification holds, in each way it can be given; none is without a check."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sigservice.testing import TemporaryDatabase
from tests.spec.kit import Asked, Row, Services, cases
from tests.spec.rows import ROWS
from tests.spec.specification import OPTIONS, RULES


@pytest.fixture(scope="module")
def services(temporary_database: TemporaryDatabase) -> Iterator[Services]:
    started = Services(temporary_database)
    yield started
    started.close()


def _id(part: Row | str) -> str:
    return part.variable or part.name if isinstance(part, Row) else part or "rule"


@pytest.mark.parametrize(("row", "way"), list(cases(ROWS)), ids=_id)
def test_the_row_holds(
    row: Row, way: str, services: Services, record_property: Callable[[str, str], None]
) -> None:
    record_property("row", row.name)
    try:
        row.check(Asked(row, way, services, ROWS))
    finally:
        services.end_check()


def test_each_row_of_the_table_is_one_of_the_specification() -> None:
    assert {row.name for row in ROWS} <= {*OPTIONS, *RULES}
