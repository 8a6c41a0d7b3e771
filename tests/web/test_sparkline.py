"""The bars and lines of charts."""

from __future__ import annotations

import random

from sigservice.web.sparkline import (
    HEIGHT,
    HOURS,
    MARGIN,
    STEP,
    Point,
    build_bars,
    build_guard_chart,
    build_line,
)
from tests.table_tests import each


@each("signals", [{}, {0: 0}, {5: 0, 6: 0}, {24: 5}, {-1: 5}])
def test_without_signals_in_24_hours_there_is_no_bar(signals):
    assert build_bars(signals) == []


def test_current_hour_is_at_the_right_and_the_oldest_at_the_left():
    assert build_bars({0: 1}) == [{"x": 138, "y": 0, "height": 24}]
    assert build_bars({23: 1}) == [{"x": 0, "y": 0, "height": 24}]


def test_heights_are_in_proportion_to_the_busiest_hour():
    assert build_bars({2: 50, 1: 100, 0: 25}) == [
        {"x": 126, "y": 12, "height": 12},
        {"x": 132, "y": 0, "height": 24},
        {"x": 138, "y": 18, "height": 6},
    ]


def test_single_signal_is_visible_beside_a_million():
    assert [bar["height"] for bar in build_bars({1: 1, 0: 10**6})] == [2, 24]


def test_hours_outside_the_chart_do_not_flatten_it():
    assert build_bars({0: 1, 24: 1000, -1: 1000}) == build_bars({0: 1})


def test_every_bar_is_on_the_base_line_within_the_chart():
    random_ = random.Random(3)
    for _ in range(200):
        hours = random_.sample(range(HOURS), random_.randrange(1, HOURS + 1))
        bars = build_bars(
            {hour: random_.randrange(1, 10 ** random_.randrange(1, 7)) for hour in hours}
        )
        assert [bar["x"] for bar in bars] == sorted((HOURS - 1 - hour) * STEP for hour in hours)
        assert all(bar["y"] + bar["height"] == HEIGHT for bar in bars)
        assert all(2 <= bar["height"] <= HEIGHT for bar in bars)
        assert max(bar["height"] for bar in bars) == HEIGHT


def test_a_line_has_a_gap_where_there_is_no_value():
    points = [Point(0, 0), Point(0.25, 10), Point(0.5, None), Point(0.75, 5)]
    line = build_line("l", points, 0, width=100, height=24)
    assert line.segments == ["0.0,22.0 25.0,2.0", "74.0,12.0 75.0,12.0"]


def test_the_limit_is_on_the_scale_of_the_line():
    line = build_line("l", [Point(0, 1), Point(1, 2)], 4, height=104)
    assert line.limit_y == MARGIN
    assert line.segments[0].endswith(",68.7")


def test_a_line_of_equal_values_is_in_the_middle():
    line = build_line("l", [Point(0, 7), Point(1, 7)], 7)
    assert line.limit_y == HEIGHT / 2


def test_a_band_covers_the_time_in_which_a_rule_fires():
    points = [Point(n / 10, 1) for n in range(11)]
    line = build_line("l", points, 0, bands=[(0.2, 0.4), (0.8, 0.8)], width=100)
    assert line.bands == [{"x": 20.0, "width": 20.0}, {"x": 80.0, "width": 2.0}]


def test_a_chart_of_a_guard_has_its_limit_and_its_broken_points():
    chart = build_guard_chart([(None, False), (0.05, False), (0.1, True)], 0.05)
    assert chart["limit_y"] == 13
    assert [(bar["height"], bar["is_broken"]) for bar in chart["bars"]] == [(11, False), (22, True)]


def test_a_chart_of_a_guard_without_values_shows_when_it_was_broken():
    chart = build_guard_chart([(None, False), (None, True)], None)
    assert [bar["is_broken"] for bar in chart["bars"]] == [True]
    assert chart["limit_y"] is None
