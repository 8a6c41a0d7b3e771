"""Usage of a flag by hour, summed over applications."""

from __future__ import annotations

from sigservice.repository.usage import client_metrics
from tests.repository.kit import run

ADD = """INSERT INTO client_metrics (feature, app_name, environment, hour, yes, no)
VALUES (%s, %s, %s, date_trunc('hour', now()) - make_interval(hours => %s), %s, %s)"""


def test_hours_are_summed_oldest_first_and_end_after_a_day(conn):
    for flag, app, environment, ago, yes, no in (
        ("mine", "a", "production", 0, 1, 2),
        ("mine", "b", "production", 0, 10, 20),
        ("mine", "a", "default", 23, 3, 0),
        ("mine", "a", "production", 24, 5, 5),
        ("other", "a", "production", 0, 7, 7),
    ):
        run(conn, ADD, flag, app, environment, ago, yes, no)
    rows = client_metrics.list_hours(conn, "mine", 24)
    assert [(r["environment"], r["yes"], r["no"]) for r in rows] == [
        ("default", 3, 0),
        ("production", 11, 22),
    ]
    assert (rows[1]["hour"] - rows[0]["hour"]).total_seconds() == 23 * 3600
