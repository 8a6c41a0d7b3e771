"""The search in payloads: by pattern, by literal text in the service, in a limited window."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from sigservice.repository.signals import signals
from sigservice.repository.signals.signals import LogPart
from sigservice.services.signals.signal_search import SignalFilter, list_page
from tests.repository.kit import add_endpoint, add_signal, add_token, ids, run


class World:
    def __init__(self, conn):
        self._conn = conn
        self.a, self.b = add_endpoint(conn, "a"), add_endpoint(conn, "b")
        self.ci, self.other = add_token(conn, self.a, "ci"), add_token(conn, self.a, "other")
        add_token(conn, self.b)
        self.row = {"id": self.a, "options": "{}"}

    def send(self, value, endpoint="a", token="ci"):
        endpoint_id = {"a": self.a, "b": self.b}[endpoint]
        text = json.dumps(value, ensure_ascii=False)
        return add_signal(self._conn, endpoint_id, text, endpoint=endpoint, token=token)


@pytest.fixture
def world(conn):
    return World(conn)


def search(conn, id, pattern, token_id=None, **options):
    part, none = LogPart(id, token_id, None, None), {"before": None, "oldest_id": 0, "limit": 50}
    return ids(signals.search(conn, part, pattern=pattern, **none | options))


def search_end(conn, id, token_id=None, before=None):
    return signals.find_search_end(conn, LogPart(id, token_id, None, None), before=before)


def limit_window(monkeypatch, **limits):
    monkeypatch.setattr(signals, "SEARCH_WINDOW", signals.SEARCH_WINDOW._replace(**limits))


def test_window_ends_at_the_oldest_signal_if_all_fit(conn, world):
    assert search_end(conn, world.a) == (0, False)
    signal_ids = [world.send(n, token="other" if n else "ci") for n in range(4)]
    world.send(0, "b")
    assert search_end(conn, world.a) == (signal_ids[0], False)
    assert search_end(conn, world.a, token_id=world.other) == (signal_ids[1], False)
    assert search_end(conn, world.a, before=signal_ids[1]) == (signal_ids[0], False)
    assert search_end(conn, world.a, before=signal_ids[0]) == (0, False)


def test_window_is_limited_by_rows(conn, world, monkeypatch):
    limit_window(monkeypatch, rows=3)
    signal_ids = [world.send(n) for n in range(5)]
    assert search_end(conn, world.a) == (signal_ids[2], True)
    assert search_end(conn, world.a, before=signal_ids[2]) == (signal_ids[0], False)


def test_window_is_limited_by_bytes_and_has_at_least_one_signal(conn, world, monkeypatch):
    signal_ids = [world.send("x" * 98) for _ in range(5)]  # 100 bytes each
    for size, oldest in ((1, 4), (100, 3), (150, 3), (200, 2), (399, 1)):
        limit_window(monkeypatch, bytes=size)
        assert search_end(conn, world.a) == (signal_ids[oldest], True)
    limit_window(monkeypatch, bytes=500)
    assert search_end(conn, world.a) == (signal_ids[0], False)


def test_window_begins_at_its_first_moment_and_ends_before_its_last(conn, world, monkeypatch):
    hours = [datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in range(4)]
    signal_ids = [world.send(n) for n in range(4)]
    for id, moment in zip(signal_ids, hours, strict=True):
        run(conn, "UPDATE signals SET created_at = %s WHERE id = %s", moment, id)
    part = LogPart(world.a, None, hours[1], hours[3])
    assert signals.find_search_end(conn, part, before=None) == (signal_ids[1], False)
    limit_window(monkeypatch, rows=1)
    assert signals.find_search_end(conn, part, before=None) == (signal_ids[2], True)


@pytest.mark.parametrize(
    "text",
    ["%", "_", "\\\\", "100%", "a_b", "\\\\%", "%%", "__", "\\n", "%s", "%(limit)s", "'", "é"],
)
def test_service_searches_every_character_literally(conn, world, text):
    world.send("harmless aXb 100 percent")
    raw = json.loads(f'"{text}"')
    hit = world.send(f"<{raw}>")
    page = list_page(conn, world.row, SignalFilter(text=f"<{text}>"), limit=10)
    assert ids(page.rows) == [hit]
    assert page.searched_to_end


def test_search_page_has_the_start_of_the_next_page(conn, world, monkeypatch):
    limit_window(monkeypatch, rows=3)
    signal_ids = [world.send("odd" if n % 2 else "even") for n in range(7)]
    all_ids, before, pages = [], None, 0
    while pages == 0 or before:
        page = list_page(conn, world.row, SignalFilter(text="odd"), limit=2, before=before)
        all_ids += ids(page.rows)
        before, pages = page.next_before, pages + 1
        assert pages < 10
    assert all_ids == signal_ids[1::2][::-1]
    assert page.searched_to_end


def test_last_page_has_no_next_page(conn, world):
    signal_ids = [world.send(n) for n in range(4)]
    page = list_page(conn, world.row, SignalFilter(), limit=4)
    assert (ids(page.rows), page.next_before) == (signal_ids[::-1], None)
    page = list_page(conn, world.row, SignalFilter(), limit=3)
    assert (ids(page.rows), page.next_before) == (signal_ids[1:][::-1], signal_ids[1])
    page = list_page(conn, world.row, SignalFilter(token_id=world.ci), limit=3, offset=1)
    assert (ids(page.rows), page.next_before) == (signal_ids[:3][::-1], None)
