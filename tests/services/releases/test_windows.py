"""The hours in which releases go on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sigservice.services.releases.windows import Window, is_open
from tests.table_tests import each

BERLIN = "Europe/Berlin"
WORK = Window(BERLIN, ["mon", "tue", "wed", "thu"], "09:00", "16:00")
NIGHT = Window(BERLIN, ["fri"], "22:00", "06:00")


@each(
    "moment expected",
    [
        ("2026-11-23T07:59:59+00:00", False),  # Monday, 08:59 in Berlin
        ("2026-11-23T08:00:00+00:00", True),
        ("2026-11-23T14:59:59+00:00", True),
        ("2026-11-23T15:00:00+00:00", False),
        ("2026-11-27T10:00:00+00:00", False),  # Friday
        ("2026-07-20T07:00:00+00:00", True),  # summer: 09:00 in Berlin
        ("2026-07-20T06:59:00+00:00", False),
    ],
)
def test_a_window_follows_the_clock_on_the_wall(moment, expected):
    assert is_open(WORK, datetime.fromisoformat(moment)) is expected


@each(
    "moment expected",
    [
        ("2026-11-27T20:59:00+00:00", False),  # Friday, 21:59
        ("2026-11-27T21:00:00+00:00", True),
        ("2026-11-28T04:59:00+00:00", True),  # Saturday, 05:59
        ("2026-11-28T05:00:00+00:00", False),
        ("2026-11-27T03:00:00+00:00", False),  # Friday, 04:00, belongs to Thursday
        ("2026-11-28T22:00:00+00:00", False),  # Saturday, 23:00
    ],
)
def test_a_window_over_midnight_belongs_to_the_day_on_which_it_begins(moment, expected):
    assert is_open(NIGHT, datetime.fromisoformat(moment)) is expected


@pytest.mark.parametrize(
    ("day", "hours"), [("2026-03-29", 1), ("2026-10-25", 3), ("2026-11-22", 2)]
)
def test_an_hour_that_a_change_of_clocks_skips_or_repeats(day, hours):
    window = Window(BERLIN, ["sun"], "01:30", "03:30")
    start = datetime.fromisoformat(f"{day}T00:00:00+01:00").astimezone(UTC) - timedelta(hours=3)
    minutes = sum(is_open(window, start + timedelta(minutes=n)) for n in range(48 * 60))
    assert minutes == hours * 60


def test_without_a_window_it_is_always_open():
    assert is_open(None, datetime.now(UTC))
