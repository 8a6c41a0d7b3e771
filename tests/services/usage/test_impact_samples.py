"""Impact metrics of one report: what is valid, and what is ignored or dropped."""

from datetime import UTC, datetime, timedelta

import pytest

from sigservice.services.usage import impact_samples
from sigservice.services.usage.impact_samples import (
    BACKEND_LIMITS,
    FRONTEND_LIMITS,
    MAX_AMOUNT,
    MAX_BUCKETS,
    MAX_HELP,
    MAX_LABELS,
    MAX_LENGTH,
    ImpactSeries,
    Values,
    parse_metrics,
)
from sigservice.services.usage.impact_windows import find_period
from tests.table_tests import each

PERIOD = find_period(None, None, datetime.now(UTC))
LABELS = {"appName": "shop", "environment": "dev"}
GOOD = {"name": "good", "type": "counter", "samples": [{"labels": LABELS, "value": 1}]}


def parse(*items, app_name="page", find_environment=lambda label: label):
    parsed = parse_metrics(items, app_name, find_environment, PERIOD)
    return parsed.samples, parsed.dropped


def counter(**sample):
    return {"name": "a", "type": "counter", "samples": [{"labels": LABELS} | sample]}


def histogram(count=2, sum=1, **more):
    sample = {"labels": LABELS, "count": count, "sum": sum}
    buckets = [{"le": le, "count": n} for le, n in more.pop("pairs", ())]
    return {"name": "h", "type": "histogram", "samples": [sample | {"buckets": buckets} | more]}


BAD = [
    3,
    None,
    [],
    {},
    "counter",
    GOOD | {"name": ""},
    GOOD | {"name": None},
    GOOD | {"name": "n" * (MAX_LENGTH + 1)},
    GOOD | {"type": "summary"},
    GOOD | {"type": None},
    GOOD | {"samples": None},
    GOOD | {"samples": {}},
    GOOD | {"samples": [3]},
    GOOD | {"help": 3},
    {"name": "a", "type": "counter"},
    counter(),
    counter(value=-1),
    counter(value="1"),
    counter(value=True),
    counter(value=None),
    counter(value=MAX_AMOUNT * 10),
    counter(value=10**400),
    counter(value=1, labels=[]),
    counter(value=1, labels={"": "x"}),
    counter(value=1, labels={"a": None}),
    counter(value=1, labels={"a": True}),
    counter(value=1, labels={"a": {}}),
    counter(value=1, labels={"a": "x" * (MAX_LENGTH + 1)}),
    counter(value=1, labels={"a": 10**300}),
    counter(value=1, labels={"a" * (MAX_LENGTH + 1): "x"}),
    counter(value=1, labels={str(n): "x" for n in range(MAX_LABELS + 1)}),
    {"name": "g", "type": "gauge", "samples": [{"labels": LABELS, "value": 10**301}]},
    {"name": "g", "type": "gauge", "samples": [{"labels": LABELS}]},
    histogram(count=-1),
    histogram(count=None),
    histogram(sum="1"),
    histogram(pairs=[("1", 1)]),
    histogram(pairs=[("inf", 1)]),
    histogram(pairs=[(1, -1)]),
    histogram(pairs=[(1, 1), (1.0, 1)]),
    histogram(pairs=[(1, 2), (2, 1)]),
    histogram(pairs=[(1, 3)]),
    histogram(pairs=[(1, 1), ("+Inf", 1)]),
    histogram(pairs=[(n, 0) for n in range(MAX_BUCKETS + 1)]),
    histogram(buckets={}),
    histogram(buckets=None),
]


@each("bad", BAD, name=lambda bad: str(bad)[:60])
def test_bad_metric_is_dropped_without_the_others(bad):
    samples, dropped = parse(GOOD, bad, GOOD)
    assert ([sample.name for sample in samples], dropped) == (["good", "good"], 1)


def test_samples_have_sorted_labels_and_their_own_application():
    labels = {"z": 1.5, "a": "on", "n": 7, "none": ""} | LABELS
    (sample,), _ = parse(counter(value=2, labels=labels) | {"help": "h" * (MAX_HELP + 1)})
    assert (sample.app_name, sample.environment) == ("shop", "dev")
    assert sample.labels == (("a", "on"), ("n", "7"), ("z", "1.5"))
    assert (sample.values, len(sample.help)) == (Values(2.0), MAX_HELP)
    (sample,), _ = parse(counter(value=1, labels={}), find_environment=lambda label: "prod")
    assert (sample.app_name, sample.environment) == ("page", "prod")


@pytest.mark.parametrize("labels", [{}, None])
def test_zeros_without_labels_are_ignored(labels):
    none = {} if labels is None else {"labels": labels}
    zeros = [
        {"name": "c", "type": "counter", "samples": [{"value": 0} | none]},
        {"name": "g", "type": "gauge", "samples": []},
        {"name": "h", "type": "histogram", "samples": [{"count": 0, "sum": 0} | none]},
    ]
    assert parse(*zeros) == ([], 0)


def test_samples_of_no_environment_are_ignored_and_those_of_no_application_dropped():
    assert parse(GOOD, find_environment=lambda label: "") == ([], 0)
    assert parse(counter(value=1, labels={"environment": "dev"}), app_name="") == ([], 1)


def test_buckets_are_sorted_and_infinity_is_the_count():
    (sample,), _ = parse(histogram(pairs=[("+Inf", 2), (1, 1), (0.1, 0)]))
    assert sample.values == Values(1.0, 2.0, (0.1, 1.0), (0.0, 1.0))


def test_series_of_a_group_are_merged_by_labels_and_bounds():
    series, name = ImpactSeries(), ("dev", "backend", "shop")
    others = [histogram(pairs=[(2, 1)]), counter(value=1, labels=LABELS | {"a": "b"})]
    gauge = {"name": "g", "type": "gauge"}
    gauges = [gauge | {"samples": [{"labels": LABELS, "value": n}]} for n in (9, -3)]
    items = [counter(value=1), counter(value=0.5), histogram(pairs=[(1, 1)]), *gauges, *others]
    for sample in parse(*items, histogram(pairs=[(1, 2)]))[0]:
        series.add(name, sample)
    rows = series.list_rows({name})
    values = [(row.type, row.value, row.count, row.samples) for row in rows]
    assert values == [
        ("counter", 1.5, 0, 2),
        ("histogram", 2, 4, 2),
        ("gauge", -3, 0, 2),
        ("histogram", 1, 2, 1),
        ("counter", 1, 0, 1),
    ]
    assert list(rows[1].buckets) == [3]
    assert len({row.key for row in rows}) == 5
    assert series.list_rows({("prod", "backend", "shop")}) == []


def test_key_of_a_series_does_not_depend_on_the_process():
    assert str(impact_samples._hash((("dev", "backend", "shop"), "a", "counter", (), ()))) == (
        "76290025-b75a-3896-e39b-de7c6bd26a73"
    )


def test_a_metric_with_too_many_samples_is_dropped_and_the_others_stay():
    sample = {"labels": LABELS, "value": 1}
    items = [GOOD, {"name": "many", "type": "counter", "samples": [sample] * 3}, GOOD]
    limits = BACKEND_LIMITS._replace(samples=3)
    parsed = parse_metrics(items, "page", lambda label: label, PERIOD, limits)
    assert ([sample.name for sample in parsed.samples], parsed.dropped) == (["good", "good"], 1)


@each(
    "limits minutes bounds count",
    [
        (FRONTEND_LIMITS, 1, 0, 200),
        (FRONTEND_LIMITS, 1, 50, 5000 // (2 * 51)),
        (FRONTEND_LIMITS, 60, 0, 200),
        (FRONTEND_LIMITS, 60, 50, 5000 // (11 * 51)),
        (BACKEND_LIMITS, 60, 50, 300_000 // (61 * 51)),
        (BACKEND_LIMITS, 60, 0, 300_000 // 61),
    ],
)
def test_values_of_a_report_are_limited_in_all_its_windows(limits, minutes, bounds, count):
    """Minutes and one hour, of which each has the number of observations up to each bound."""
    stop = datetime(2026, 1, 1, 9, tzinfo=UTC)
    period = find_period(stop - timedelta(minutes=minutes), stop, stop, limits.longest)
    pairs = [(n, 0) for n in range(bounds)]
    items = [histogram(pairs=pairs) | {"name": f"h{n}"} for n in range(min(limits.samples, 5000))]
    parsed = parse_metrics(items, "page", lambda label: label, period, limits)
    assert (len(parsed.samples), parsed.dropped) == (count, len(items) - count)
    assert parsed.values <= limits.values
