"""The evaluation of hostile documents and contexts takes bounded time."""

from __future__ import annotations

import time

from sigservice.evaluation.fields import Fields
from sigservice.playground.evaluation_context import MAX_LENGTH
from tests.delivery.kit import compile_flags, constraint, flag, strategy
from tests.table_tests import each

NETWORKS = [f"10.{n >> 8}.{n & 255}.0/{24 + n % 8}" for n in range(20_000)]
LONG = "a" * MAX_LENGTH


@each(
    "item text",
    [
        (constraint("x", "IN_CIDR", *NETWORKS), "11.0.0.1"),
        (constraint("x", "IN", *map(str, range(20_000))), "x"),
        (constraint("x", "STR_ENDS_WITH", *(f"b{n}" for n in range(250))), LONG),
        (constraint("x", "STR_CONTAINS", *(f"a{n}" for n in range(250))), LONG),
        (constraint("x", "REGEX", value="(a*)*(a|aa)+[^a]"), LONG),
        (constraint("x", "REGEX", value="(?:a?){100}(?:a{5}){20}b"), LONG),
        (constraint("x", "NUM_GT", value="1e5"), "9" * MAX_LENGTH),
        (constraint("x", "SEMVER_GT", value="1.0.0"), "1.0.0-" + "a." * (MAX_LENGTH // 2)),
        (constraint("x", "DATE_AFTER", value="2026-01-01T00:00:00Z"), " " * MAX_LENGTH),
    ],
)
def test_time_of_a_hostile_constraint_is_bounded(item, text):
    (own,) = compile_flags(flag("f", strategy(constraints=[item]))).by_name.values()
    began = time.thread_time()
    assert not own.is_enabled(Fields({"x": text}))
    assert time.thread_time() - began < 0.5


def test_thousands_of_children_are_compiled_and_evaluated_quickly():
    parent = flag("parent", strategy(constraints=[constraint("x", "IN", "a")]))
    dependencies = [{"feature": "parent", "enabled": True}]
    children = [flag(f"c{n}", dependencies=dependencies) for n in range(5000)]
    began = time.thread_time()
    flags = compile_flags(parent, *children)
    assert flags.by_name["c4999"].is_enabled(Fields({"x": "a"}))
    assert time.thread_time() - began < 2
