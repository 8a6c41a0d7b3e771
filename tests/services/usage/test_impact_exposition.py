"""Impact metrics as Prometheus reads them, with names that collide."""

import json
import time
from datetime import UTC, datetime

from prometheus_client.parser import text_string_to_metric_families

from sigservice.services.usage.impact_exposition import write_exposition

OLD, NEW = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)


def row(name, value=1.0, type="counter", labels=None, **more):
    values = {"environment": "dev", "app_name": "shop", "help": "", "bounds": [], "count": 0.0}
    values |= {
        "sdk_type": "backend",
        "buckets": [],
        "reported_at": OLD,
        "labels": json.dumps(labels or {}),
    }
    return {"name": name, "type": type, "value": value} | values | more


def histogram(name="lat", value=1.0, count=3.0, bounds=(1.0, 2.0), buckets=(1.0, 2.0), **more):
    more |= {"bounds": list(bounds), "buckets": list(buckets), "count": count}
    return row(name, value, "histogram", **more)


def scrape(*rows):
    """{(name, labels without those of the service): value} of all lines. Each line is there once
    and belongs to the metric above it."""
    text = write_exposition(rows).decode()
    samples = {}
    common = {"appName": "shop", "environment": "dev", "origin": "sdk"}
    for family in text_string_to_metric_families(text):
        for name, labels, value, *_ in family.samples:
            if family.type == "counter":
                name = name.removesuffix("_total")  # the parser adds it
            assert name.removeprefix(family.name) in ("", "_bucket", "_sum", "_count")
            assert labels.pop("metric_type") == family.type
            rest = tuple(sorted(pair for pair in labels.items() if pair not in common.items()))
            assert (name, rest) not in samples
            samples[name, rest] = value
    types = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(types) == len(set(types))
    return samples


def test_lines_have_the_labels_of_the_service_and_the_type():
    lines = write_exposition([row("purchases", 5, help="Pur\\chases\nall")]).decode().splitlines()
    assert lines == [
        "# HELP purchases Pur\\\\chases\\nall",
        "# TYPE purchases counter",
        'purchases{appName="shop",environment="dev",metric_type="counter",origin="sdk"} 5.0',
    ]


def test_histogram_has_cumulative_buckets():
    assert scrape(histogram()) == {
        ("lat_bucket", (("le", "1.0"),)): 1,
        ("lat_bucket", (("le", "2.0"),)): 2,
        ("lat_bucket", (("le", "+Inf"),)): 3,
        ("lat_sum", ()): 1,
        ("lat_count", ()): 3,
    }


def test_merging_grows_with_the_bounds_of_the_series_only():
    buckets = [float(n) for n in range(20)]
    rows = [
        histogram(bounds=[number + n / 20 for n in range(20)], buckets=buckets)
        for number in range(3000)
    ]
    start = time.thread_time()
    text = write_exposition(rows)
    assert time.thread_time() - start < 15  # some minutes for 3000 rows of 60 000 bounds
    assert text.count(b"lat_bucket") == 60_001


def test_series_that_become_equal_are_merged():
    rows = [row("a-b", 1), row("a.b", 2), row("a_b", 4, labels={"x": "1"})]
    assert scrape(*rows) == {("a_b", ()): 3, ("a_b", (("x", "1"),)): 4}
    gauges = [row("g", 7, "gauge", reported_at=NEW), row("g", 9, "gauge")]
    assert scrape(*gauges) == {("g", ()): 7}
    other = histogram(bounds=[0.5, 1.5], buckets=[1.0, 2.0], value=2.0, count=4.0)
    assert scrape(histogram(), other) == {
        ("lat_bucket", (("le", "0.5"),)): 1,
        ("lat_bucket", (("le", "1.0"),)): 2,
        ("lat_bucket", (("le", "1.5"),)): 3,
        ("lat_bucket", (("le", "2.0"),)): 4,
        ("lat_bucket", (("le", "+Inf"),)): 7,
        ("lat_sum", ()): 3,
        ("lat_count", ()): 7,
    }


def test_metrics_of_other_types_get_a_suffix_and_the_oldest_keeps_its_name():
    rows = [row("a"), row("a", 2, "gauge"), row("lat_count", 3), histogram(), row("lat_sum", 4)]
    samples = scrape(*rows)
    names = {name for name, _ in samples}
    lines = {f"lat_histogram_{line}" for line in ("bucket", "sum", "count")}
    assert names == {"a", "a_gauge", "lat_count", "lat_sum"} | lines
    assert scrape(histogram(), row("lat_sum", 4))["lat_sum_counter", ()] == 4


def test_hostile_names_and_values_are_parsed():
    text = 'a"b\\c\nd}é {x="1"} 5'
    labels = {"le": "1", "__name__": "x", "metric_type": "y", "1st": "z", "a-b": "p", "a.b": "q",
              "é": text, "origin": "edge"}  # fmt: skip
    assert scrape(row('1 bad"\n}', labels=labels)) == {
        ("_1_bad___", (
            ("_", text), ("a_b", "p"), ("exported_1st", "z"), ("exported___name__", "x"),
            ("exported_a_b", "q"), ("exported_le", "1"), ("exported_metric_type", "y"),
            ("origin", "edge"),
        )): 1,
    }  # fmt: skip


def test_nothing_is_a_valid_answer():
    assert scrape() == {}


FRONTEND = (("origin", "frontend"),)


def test_series_of_frontend_sdks_are_apart():
    rows = [row("a", 5), row("g", 7, "gauge"), histogram()]
    rows += [copy | {"sdk_type": "frontend", "value": -999.0, "reported_at": NEW} for copy in rows]
    samples = scrape(*rows)
    assert (samples["a", ()], samples["a", FRONTEND]) == (5, -999)
    assert (samples["g", ()], samples["g", FRONTEND]) == (7, -999)
    assert (samples["lat_sum", ()], samples["lat_sum", FRONTEND]) == (1, -999)


def test_no_label_changes_the_origin_of_a_series():
    labels = {"origin": "sdk", "exported_origin": "x"}
    frontend = row("a", 1, labels=labels, sdk_type="frontend")
    backend = row("a", 2, labels={"origin": "frontend"})
    edge = row("a", 4, labels={"origin": "edge"})
    assert {labels: value for (_, labels), value in scrape(frontend, backend, edge).items()} == {
        (("exported_exported_origin", "sdk"), ("exported_origin", "x"), *FRONTEND): 1,
        (("exported_origin", "frontend"),): 2,
        (("origin", "edge"),): 4,
    }
