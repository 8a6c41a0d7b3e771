"""RecentRows: what a process has stored in the last seconds."""

import pytest

from sigservice.services.usage import recent_rows
from sigservice.services.usage.recent_rows import RecentRows
from sigservice.testing import FakeClock


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def rows(clock):
    return RecentRows(clock.monotonic, 5)


def test_row_is_recent_for_five_to_ten_seconds(rows, clock):
    rows.add([("a", 1)])
    clock.advance(4.9)
    rows.add([("b", 1)])
    for seconds, others in ((0, []), (4.9, []), (0.2, ["a", "b"])):
        clock.advance(seconds)
        assert [key for key, _ in rows.list_others([("a", 1), ("b", 1)])] == others


def test_row_with_another_value_is_not_recent(rows):
    rows.add([("a", 1)])
    rows.add([("a", 2)])
    assert rows.list_others([("a", 1), ("a", 2), ("a", None), ("b", None)]) == [
        ("a", 1),
        ("b", None),
    ]


def test_many_rows_are_forgotten_earlier(rows, monkeypatch):
    monkeypatch.setattr(recent_rows, "MAX_ROWS", 3)
    for key in range(9):
        rows.list_others([])
        rows.add([(key, None)])
    others = rows.list_others([(key, None) for key in range(9)])
    assert [key for key, _ in others] == [0, 1, 2, 3, 4, 5]
