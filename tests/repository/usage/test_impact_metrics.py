"""Impact metrics: what one statement adds, what it drops, and what retention deletes."""

import json
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec
import pytest

from sigservice.db.errors import DatabaseUnavailable
from sigservice.db.statements import single_transaction
from sigservice.repository.usage import client_applications, impact_metrics
from sigservice.repository.usage.impact_metrics import SeriesRow, SliceItem, WindowRow
from sigservice.services.usage.impact_windows import truncate_time
from tests.repository.kit import run, store_reports
from tests.waiting import DEADLINE_SECONDS


def make_windows(value=1.0, count=0.0):
    """The windows of a report of the last minute."""
    now = datetime.now(UTC)
    starts = [(seconds, truncate_time(now, seconds)) for seconds in (60, 3600)]
    return [WindowRow(*start, now, now, value, count, value, 1, []) for start in starts]


def make(number=1, value=1.0, type="counter", **more):
    values = {"sdk_type": "backend", "environment": "dev", "app_name": "shop", "name": "purchases"}
    values |= {"help": "", "labels": {}, "bounds": [], "count": 0.0, "buckets": [], "samples": 1}
    count = more.get("count", 0.0)
    values["windows"] = make_windows(value, count)
    values["group_key"] = UUID(int=1000 + number)
    return SeriesRow(key=UUID(int=number), value=value, type=type, **values | more)


def store(conn, *rows, limit=99, app_limit=99, bounds_limit=99):
    return impact_metrics.store_samples(
        conn, rows, limit=limit, app_limit=app_limit, bounds_limit=bounds_limit
    )


def list_totals(conn):
    rows = impact_metrics.list_series(conn)
    return [(row["value"], row["count"], row["buckets"]) for row in rows]


def count(conn, table):
    return run(conn, f"SELECT count(*) FROM {table}")[0][0]


def test_counters_and_histograms_add_and_gauges_are_replaced(conn):
    histogram = {"type": "histogram", "bounds": [0.5, 1], "count": 3, "buckets": [1, 2]}
    for value in (5, 2.5):
        rows = make(1, value), make(2, value, "gauge"), make(3, value, **histogram)
        assert store(conn, *rows) == 0
    assert list_totals(conn) == [(7.5, 0, []), (2.5, 0, []), (7.5, 6, [2, 4])]
    windows = run(
        conn,
        "SELECT seconds, value, count FROM impact_windows"
        " WHERE series IN (SELECT key FROM impact_series) ORDER BY series, seconds",
    )
    totals = [(7.5, 0), (2.5, 0), (7.5, 6)]
    assert windows == [(seconds, *pair) for pair in totals for seconds in (60, 3600)]


def test_new_series_over_a_limit_are_dropped_and_others_go_on(conn):
    assert store(conn, make(1), make(2, samples=3), make(3, samples=4), app_limit=2) == 4
    assert store(conn, make(4), make(2), app_limit=2) == 1
    assert store(conn, make(5, app_name="desk"), limit=2) == 1
    assert store(conn, make(6, app_name="desk"), make(7, app_name="desk"), limit=3) == 1
    assert store(conn, make(8, sdk_type="frontend"), limit=1, app_limit=1) == 0
    assert store(conn, make(9, environment="prod"), app_limit=2) == 0
    assert [value for value, *_ in list_totals(conn)] == [1, 2, 1, 1, 1]


def test_different_bounds_of_a_frontend_metric_are_limited(conn):
    def histograms(*numbers, **more):
        values = {"type": "histogram", "sdk_type": "frontend", "name": "latency", "buckets": [1]}
        values["windows"] = []
        return [make(n, **values | {"bounds": [n]} | more) for n in numbers]

    def store_some(*rows):
        return store(conn, *rows, bounds_limit=3)

    assert store_some(*histograms(1, 2)) == 0
    assert store_some(*histograms(2, 3, 4)) == 1
    assert store_some(*histograms(5, 6)) == 2
    assert (
        store_some(make(7, sdk_type="frontend", labels={"a": "b"}, group_key=UUID(int=1001))) == 0
    )
    assert store_some(*histograms(8, 9, app_name="desk"), *histograms(10, name="size")) == 0
    assert store_some(*histograms(*range(11, 20), sdk_type="backend")) == 0
    assert count(conn, "impact_groups") == 3 + 2 + 1 + 9


def test_windows_of_series_with_a_label_are_summed_by_its_value(conn):
    store(
        conn,
        make(1, labels={"one": "blue"}),
        make(2, 2, labels={"one": "blue", "two": "on"}),
        make(3, 4, labels={"one": "red"}),
        make(4, 8, labels={"two": "one"}),
        make(5, 1, "gauge", name="users", labels={"one": "blue"}),
        make(6, 2, "gauge", name="users", labels={"one": "blue", "two": "on"}),
    )
    run(conn, "UPDATE impact_series SET reported_at = 'epoch' WHERE key = %s", str(UUID(int=6)))
    rows = impact_metrics.list_windows(conn, "one", seconds=60, windows=60, limit=9)
    values = [(row["name"], row["variant"], row["value"]) for row in rows]
    assert values == [("purchases", "blue", 3), ("purchases", "red", 4), ("users", "blue", 1)]
    assert len(impact_metrics.list_windows(conn, "one", seconds=60, windows=60, limit=1)) == 1
    run(conn, "UPDATE impact_windows SET starts_at = starts_at - interval '61 minutes'")
    assert impact_metrics.list_windows(conn, "one", seconds=60, windows=60, limit=9) == []
    assert len(impact_metrics.list_windows(conn, "one", seconds=3600, windows=24, limit=9)) == 3


def test_old_windows_are_deleted_and_totals_stay(conn):
    run(conn, "INSERT INTO environments VALUES ('dev', 'test', 1)")
    store_reports(conn, instances=[("shop", "a", "dev", None, "backend", None, None)])
    store(conn, make(), make(2, app_name="gone"), make(3, environment="gone"))
    run(conn, "UPDATE impact_windows SET starts_at = now() - interval '4 hours'")
    assert impact_metrics.delete_old_windows(conn, seconds=60, hours=3, chunk=9) == 6
    assert impact_metrics.delete_old_windows(conn, seconds=3600, hours=5, chunk=9) == 0
    assert impact_metrics.delete_orphaned_series(conn, chunk=9) == 2
    assert impact_metrics.delete_orphaned_groups(conn, chunk=9) == 2
    assert list_totals(conn) == [(1, 0, [])]
    assert client_applications.delete(conn, "shop")
    assert count(conn, "impact_series") == count(conn, "impact_groups") == 0


def make_item(labels):
    """All of today's windows."""
    times = datetime.now(UTC) - timedelta(hours=2), datetime.now(UTC) + timedelta(hours=1)
    types = ["counter", "gauge", "histogram"]
    return SliceItem(0, "purchases", "dev", types, None, labels, 3600, *times)


def read_slices(conn, labels, has_buckets=False):
    """What rules read."""
    read = impact_metrics.list_bucket_counts if has_buckets else impact_metrics.list_slices
    return read(conn, [make_item(labels)])


@pytest.mark.parametrize(
    "values",
    [
        {"type": "counter"},
        {"type": "gauge"},
        {"type": "histogram", "bounds": [0.5, 1], "count": 3, "buckets": [1, 2]},
    ],
)
def test_group_has_the_sums_of_its_series(conn, values):
    group_key = UUID(int=1000)
    for part in (range(3), range(1, 5)):
        for row in (rows := [make(n, n + 1, group_key=group_key, **values) for n in part]):
            row.labels = {"user": f"{row.key}", "all": "yes"}
            for window in row.windows:
                window.buckets = list(row.buckets)
        assert store(conn, *rows) == 0
    for has_buckets in (False, True):
        group, series = (read_slices(conn, x, has_buckets) for x in ({}, {"all": "yes"}))
        assert group == series
    assert read_slices(conn, {})[0]["total"] == 6 + 14


def test_reading_grows_with_the_number_of_groups_only(conn):
    pages = []
    for first in (1, 2001):
        run(
            conn,
            "INSERT INTO impact_groups SELECT md5(n::text)::uuid, 'frontend', 'dev', 'shop',"
            " 'purchases', 'histogram', ARRAY[n] FROM generate_series(%s, %s) n",
            first,
            first + 1999,
        )
        run(conn, "ANALYZE impact_groups")
        values = {"items": msgspec.json.encode([make_item({})]).decode()}
        with conn.cursor() as cursor:
            text = impact_metrics._SQL["list_impact_slices"]
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {text}", values)
            (plan,) = json.loads(cursor.fetchone()[0])
        pages.append(plan["Plan"]["Shared Hit Blocks"])
    assert pages[1] < 2.5 * pages[0]


def test_group_leaves_out_dropped_series(conn):
    rows = [make(n, group_key=UUID(int=1000)) for n in (1, 2, 3)]
    assert store(conn, *rows, app_limit=2) == 1
    assert read_slices(conn, {})[0]["total"] == 2


def test_concurrent_statements_count_once_and_do_not_deadlock(pool):
    errors = []

    def store_all(direction):
        rows = [make(n, group_key=UUID(int=1000 + n % 3)) for n in range(8)][::direction]
        for _ in range(25):
            try:
                with pool.autocommit() as conn:
                    store(conn, *rows)
            except DatabaseUnavailable as error:
                errors.append(error.sqlstate)

    threads = [threading.Thread(target=store_all, args=(n,)) for n in (1, -1, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
    assert errors == []
    with pool.autocommit() as conn:
        assert list_totals(conn) == [(75, 0, [])] * 8
        for table in ("impact_series", "impact_groups"):
            ((sums,),) = run(
                conn,
                f"SELECT sum(w.value) FROM impact_windows w JOIN {table} t ON t.key = w.series"
                " WHERE seconds = 3600",
            )
            assert sums == 600


def test_single_transaction_is_rolled_back_as_a_whole(pool):
    with pool.autocommit() as conn:
        with suppress(ZeroDivisionError), single_transaction(conn):
            store(conn, make(value=1 / store(conn, make())))
        assert count(conn, "impact_series") == 0
        with single_transaction(conn):
            store(conn, make())
    with pool.autocommit() as conn:
        assert count(conn, "impact_series") == 1
