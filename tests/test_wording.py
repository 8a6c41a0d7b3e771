"""Numbers with their nouns, and durations."""

from datetime import timedelta

import pytest

from sigservice.wording import describe_hours, format_number, plural, spell_duration


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 flags"), (1, "1 flag"), (2, "2 flags"), (1234, "1,234 flags")]
)
def test_plural_has_an_s_unless_there_is_one(count: int, text: str):
    assert plural(count, "flag") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0812345, "0.08123"),
        (-12.345, "-12.35"),
        (12_345.6, "12,346"),
        (100, "100"),
        (1e-9, "1e-09"),
        (0.99999, "1"),
    ],
)
def test_number_has_four_digits_and_no_exponent(value: float, text: str):
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0 s"), (59, "59 s"), (720, "12 min"), (7860, "2 h 11 min"), (180_000, "2 d 2 h")],
)
def test_a_duration_has_its_largest_units(seconds: int, text: str):
    assert spell_duration(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(("count", "text"), [(720, "30 days"), (36, "36 hours"), (24, "1 day")])
def test_hours_are_days_if_they_are_whole_days(count: int, text: str):
    assert describe_hours(count) == text
