"""The audit log: order, filters, pages, and authors that are filled in later."""

from __future__ import annotations

import json

import pytest

from sigservice.db import queries
from sigservice.errors import BadDataError
from sigservice.repository.system import events
from sigservice.repository.system.events import EventFilter
from sigservice.services.system.events import list_page
from tests.repository.kit import add_user, attempt, ids, run

SYSTEM, TOKEN = -1337, -42


def add(conn, type="user-created", created_by="ada", created_by_user_id=1, **more):
    item = {"type": type, "created_by": created_by, "created_by_user_id": created_by_user_id}
    data = {name: json.loads(more.pop(name)) for name in ("data", "pre_data") if name in more}
    events.insert_many(conn, json.dumps([item | data | more]))
    ((id,),) = run(conn, "SELECT max(id) FROM events")
    return id


def newest(conn, type=None, **page):
    return events.list_newest(conn, by_type(type), **{"limit": 50} | page)


def by_type(type):
    return EventFilter(types=[type] if type else None)


def test_an_empty_log_is_empty(conn):
    assert newest(conn) == []
    assert events.count(conn, by_type(None)) == 0
    assert events.list_types(conn) == []
    assert events.fill_created_by(conn, system_id=SYSTEM, token_id=TOKEN) == 0


def add_large(conn, count, **more):
    """IDs of events of 1000 bytes, newest first. Stored, they are much smaller."""
    data = json.dumps({"x": "x" * 491})
    return [add(conn, data=data, pre_data=data, **more) for _ in range(count)][::-1]


def test_page_ends_early_at_its_bytes(conn):
    large = add_large(conn, 5)
    assert ids(newest(conn, max_bytes=2500)) == large[:3]
    assert ids(newest(conn, max_bytes=3000)) == large[:3]
    assert ids(newest(conn, max_bytes=1)) == large[:1]
    assert newest(conn, max_bytes=3000)[-1]["bytes"] == 3000


def test_events_that_were_inserted_together_have_their_bytes(conn):
    item = {"type": "x", "created_by": "ada", "data": {"x": "x" * 991}}
    events.insert_many(conn, json.dumps([item] * 3))
    assert [row["bytes"] for row in newest(conn)] == [1000, 2000, 3000]


def test_bytes_of_events_of_an_earlier_version_are_computed(conn):
    large = add_large(conn, 3)
    add(conn)
    run(conn, "UPDATE events SET data_bytes = NULL")
    assert ids(newest(conn, max_bytes=2000))[1:] == large[:2]


def test_pages_that_end_early_have_all_events(conn):
    large = add_large(conn, 5)
    pages, before = [], None
    while not pages or before:
        page = list_page(conn, by_type(None), limit=10, before=before, max_bytes=1500)
        pages.append(ids(page.rows))
        before = page.next_before
    assert pages == [large[:2], large[2:4], large[4:]]


def test_several_events_are_inserted_together(conn):
    changes = [
        {"project": "p", "environment": "e", "data": {"n": 1}},
        {"feature_name": "f", "pre_data": {"n": 2}},
    ]
    actor = {"created_by": "ada", "created_by_user_id": 7, "ip": "::1"}
    others = {"created_by": "bo", "created_by_user_id": 8, "ip": None}
    columns = [{"type": "x"} | actor, {"type": "y"} | others]
    items = [change | own for change, own in zip(changes, columns, strict=True)]
    events.insert_many(conn, json.dumps(items))
    second, first = newest(conn)
    assert columns[0].items() <= first.items()
    assert columns[1].items() <= second.items()
    assert (first["project"], first["environment"], first["data"]) == ("p", "e", '{"n": 1}')
    assert (second["feature_name"], second["pre_data"], second["project"]) == (
        "f",
        '{"n": 2}',
        None,
    )


def test_an_event_is_listed_with_all_columns(conn):
    more = {"ip": "::1", "project": "p", "environment": "e", "feature_name": "f"}
    id = add(conn, "x", "ada", 7, data='{"b":1,"a":[1.5]}', pre_data="[]", **more)
    (row,) = newest(conn)
    created_at = row.pop("created_at")
    assert created_at is not None
    assert row.pop("bytes") == len('{"a": [1.5], "b": 1}' + "[]")
    assert row == more | {
        "id": id,
        "type": "x",
        "created_by": "ada",
        "created_by_user_id": 7,
        "data": '{"a": [1.5], "b": 1}',
        "pre_data": "[]",
        "tags": "[]",
    }


RARE = {
    "environment": (EventFilter(environments=["rare"]), ["events_environment_id_idx"]),
    "author": (
        EventFilter(authors=["eve", "7"]),
        ["events_created_by_id_idx", "events_created_by_user_id_idx"],
    ),
}


@pytest.mark.parametrize("statement", ["list_events", "count_events"])
@pytest.mark.parametrize("column", RARE)
def test_a_rare_value_is_found_by_its_index(conn, column, statement):
    run(
        conn,
        "INSERT INTO events (type, created_by, created_by_user_id, environment)"
        " SELECT 'x', 'ada', 1, 'often' FROM generate_series(1, 5000)",
    )
    add(conn, created_by="eve", created_by_user_id=7, environment="rare")
    run(conn, "ANALYZE events")
    event_filter, indexes = RARE[column]
    paging = {"before": None, "limit": 50, "offset": 0, "page_bytes": 1000}
    with conn.cursor() as cursor:
        text = queries.load("system/events")[statement]
        cursor.execute(f"EXPLAIN {text}", event_filter.to_parameters() | paging)
        plan = "\n".join(row[0] for row in cursor.fetchall())
    for index in indexes:
        assert index in plan, plan
    assert events.count(conn, event_filter) == 1


def test_missing_columns_are_null(conn):
    add(conn, created_by_user_id=None)
    (row,) = newest(conn)
    absent = {name for name, value in row.items() if value is None}
    assert absent == {
        "created_by_user_id", "ip", "project", "environment", "feature_name", "data", "pre_data",
    }  # fmt: skip


@pytest.mark.parametrize("data", ["{", "", '"\\u0000"', "NaN"])
def test_invalid_json_is_rejected(conn, data):
    with pytest.raises(BadDataError), attempt(conn):
        events.insert_many(conn, f'[{{"type": "x", "created_by": "ada", "data": {data}}}]')
    assert events.count(conn, by_type(None)) == 0


def test_any_text_is_stored_unchanged(conn):
    value = {"é\u0301\U0001f600": ["'; DROP TABLE events; --", "%s %(x)s", "\\", '"', "\n"]}
    add(conn, data=json.dumps(value))
    assert json.loads(newest(conn)[0]["data"]) == value


def test_the_newest_event_is_first(conn):
    added = [add(conn) for _ in range(4)]
    assert ids(newest(conn)) == added[::-1]


def test_pages_by_key_and_by_offset_are_the_same(conn):
    added = [add(conn) for _ in range(5)][::-1]
    assert ids(newest(conn, limit=2)) == added[:2]
    assert ids(newest(conn, limit=2, before=added[1])) == added[2:4]
    assert ids(newest(conn, limit=2, offset=2)) == added[2:4]
    assert ids(newest(conn, limit=2, before=added[1], offset=2)) == added[4:]
    assert newest(conn, before=added[-1]) == []
    assert newest(conn, limit=0) == []
    assert newest(conn, offset=5) == []
    assert ids(newest(conn, before=2**62)) == added


def test_a_type_filter_matches_the_whole_type(conn):
    added = [add(conn, type) for type in ("a", "b", "a", "ab")]
    assert ids(newest(conn, type="a")) == [added[2], added[0]]
    assert ids(newest(conn, type="a", before=added[2])) == [added[0]]
    assert newest(conn, type="A") == []
    assert newest(conn, type="%") == []
    assert events.count(conn, by_type("a")) == 2
    assert events.count(conn, by_type("none")) == 0
    assert events.count(conn, by_type(None)) == 4


def test_types_are_listed_once_in_order(conn):
    for type in ("b", "a", "b", "c", "a"):
        add(conn, type)
    assert events.list_types(conn) == ["a", "b", "c"]


def authors(conn):
    return dict(run(conn, "SELECT created_by, created_by_user_id FROM events"))


def test_authors_are_found_by_username_and_email_in_any_case(conn):
    id = add_user(conn, "ada", email="Ada@Example.org")
    for author in ("ADA", "ada@example.ORG", "system", "nobody", "migration"):
        add(conn, created_by=author, created_by_user_id=None)
    assert events.fill_created_by(conn, system_id=SYSTEM, token_id=TOKEN) == 4
    assert authors(conn) == {
        "ADA": id,
        "ada@example.ORG": id,
        "system": SYSTEM,
        "nobody": None,
        "migration": SYSTEM,
    }


def test_an_author_with_an_id_is_not_changed(conn):
    add_user(conn, "ada")
    add(conn, created_by="ada", created_by_user_id=5)
    add(conn, created_by="system", created_by_user_id=6)
    assert events.fill_created_by(conn, system_id=SYSTEM, token_id=TOKEN) == 0
    assert authors(conn) == {"ada": 5, "system": 6}


def test_unknown_authors_do_not_block_the_batch(conn):
    old = add(conn, created_by="system", created_by_user_id=None)
    for n in range(120):
        add(conn, created_by=f"unknown {n}", created_by_user_id=None)
    assert events.fill_created_by(conn, system_id=SYSTEM, token_id=TOKEN) == 1
    assert run(conn, "SELECT created_by_user_id FROM events WHERE id = %s", old) == [(SYSTEM,)]


def test_a_batch_has_the_newest_hundred_events(conn):
    added = [add(conn, created_by="system", created_by_user_id=None) for _ in range(103)]
    assert events.fill_created_by(conn, system_id=SYSTEM, token_id=TOKEN) == 100
    remaining = run(conn, "SELECT id FROM events WHERE created_by_user_id IS NULL ORDER BY id")
    assert [id for (id,) in remaining] == added[:3]
    assert events.fill_created_by(conn, system_id=SYSTEM, token_id=TOKEN) == 3


FILTERS = {
    "flag": (EventFilter(features=["f"]), ["c", "b"]),
    "project": (EventFilter(projects=["p", "q"]), ["c", "b"]),
    "environment": (EventFilter(environments=["e"]), ["b"]),
    "author by name": (EventFilter(authors=["ada"]), ["c", "b"]),
    "author by id": (EventFilter(authors=["9"]), ["a"]),
    "text in data": (EventFilter(text="NEEDLE"), ["b"]),
    "text in a name": (EventFilter(text="eve"), ["a"]),
    "projects only": (EventFilter(projects_only=True), ["c", "b"]),
    "types": (EventFilter(types=["a", "c"]), ["c", "a"]),
    "nothing": (EventFilter(features=["x"]), []),
}


@pytest.mark.parametrize("name", FILTERS)
def test_each_filter_limits_list_and_count(conn, name):
    add(conn, "a", "eve", 9)
    add(conn, "b", project="p", environment="e", feature_name="f", data='{"x": "needle"}')
    actor = {"created_by": "ada", "created_by_user_id": 1, "ip": "::1"}
    change = {"project": "q", "feature_name": "f", "pre_data": {"y": 1}}
    events.insert_many(conn, json.dumps([{"type": "c"} | actor | change]))
    event_filter, expected = FILTERS[name]
    rows = events.list_newest(conn, event_filter, limit=10)
    assert [row["type"] for row in rows] == expected
    assert events.count(conn, event_filter) == len(expected)


def search_window(conn, event_filter=None, before=None):
    return events.find_search_window(conn, event_filter or EventFilter(), before=before)


def test_search_window_of_an_empty_log_is_empty(conn):
    assert search_window(conn) == (0, 0, False)
    id = add(conn, data='{"x": "needle"}')
    assert search_window(conn, before=id) == (0, 0, False)
    page = list_page(conn, EventFilter(text="needle"), limit=10, before=id)
    assert (page.rows, page.next_before, page.searched_to_end) == ([], None, True)
    assert events.count(conn, page.event_filter) == 0


def test_search_window_is_limited_by_events(conn, monkeypatch):
    monkeypatch.setattr(events, "SEARCH_ROWS", 3)
    added = [add(conn) for _ in range(5)]
    assert search_window(conn) == (added[2], added[4], True)
    assert search_window(conn, before=added[2]) == (added[0], added[1], False)


def test_search_window_is_limited_by_bytes_and_has_at_least_one_event(conn, monkeypatch):
    added = [add(conn, data=json.dumps("x" * 100), pre_data=json.dumps("y")) for _ in range(4)]
    for size, oldest in ((1, 3), (150, 2), (250, 1)):
        monkeypatch.setattr(events, "SEARCH_BYTES", size)
        assert search_window(conn) == (added[oldest], added[3], True)
    monkeypatch.setattr(events, "SEARCH_BYTES", 1000)
    assert search_window(conn) == (added[0], added[3], False)


def test_search_window_includes_the_event_that_reaches_its_bytes(conn, monkeypatch):
    added = [add(conn, data=json.dumps("x" * 100), pre_data=json.dumps("y")) for _ in range(3)]
    ((size,),) = run(
        conn, "SELECT DISTINCT pg_column_size(data) + pg_column_size(pre_data) FROM events"
    )
    for count, window in ((2, (added[0], added[2], True)), (3, (added[0], added[2], False))):
        monkeypatch.setattr(events, "SEARCH_BYTES", count * size)
        assert search_window(conn) == window


@pytest.mark.parametrize(
    "name", sorted(FILTERS.keys() - {"text in data", "text in a name", "nothing"})
)
def test_search_window_has_only_events_that_match_the_other_filters(conn, name, monkeypatch):
    monkeypatch.setattr(events, "SEARCH_ROWS", 3)
    added = {"a": add(conn, "a", "eve", 9)}
    change = {"project": "p", "environment": "e", "feature_name": "f"}
    added["b"] = add(conn, "b", **change)
    added["c"] = add(conn, "c", **change | {"environment": None})
    add(conn, "others", "bo", 3)
    event_filter, expected = FILTERS[name]
    assert search_window(conn, event_filter) == (added[expected[-1]], added[expected[0]], False)


def test_search_pages_cover_the_whole_log(conn, monkeypatch):
    monkeypatch.setattr(events, "SEARCH_ROWS", 3)
    added = [add(conn, "odd" if n % 2 else "even") for n in range(8)]
    all_ids, totals, before = [], [], None
    while len(totals) < 10 and (before or not totals):
        page = list_page(conn, EventFilter(text="ODD"), limit=1, before=before)
        all_ids += ids(page.rows)
        totals.append(events.count(conn, page.event_filter))
        before = page.next_before
    assert all_ids == added[1::2][::-1]
    assert page.searched_to_end
    assert max(totals) == 2


def test_events_are_listed_in_the_order_of_their_ids(conn):
    added = [add(conn) for _ in range(3)]
    run(conn, "UPDATE events SET ip = '::1' WHERE id = %s", added[0])  # moves the row to the end
    assert ids(events.list_by_ids(conn, [added[1], added[2], added[0]])) == added
