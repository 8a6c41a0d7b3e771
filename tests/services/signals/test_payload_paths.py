"""Paths into payloads: what they find, and that what is suggested is found."""

from __future__ import annotations

import random
import time

from sigservice.services.signals.payload_paths import find_values, flatten_payload, parse_path
from tests.properties.generate import make_text
from tests.table_tests import each

ALERTS = {
    "status": "firing",
    "a.b": 1,
    "a": {"b.c": 2, "c": None, "": 3},
    "alerts": [
        {"labels": {"severity": "page", "app.kubernetes.io/name": "shop"}, "n": [0, False]},
        {"labels": {"severity": "info"}},
        "text",
    ],
    "*": "star",
    "ключ": {"é": ""},
    "x[0]": "bracket",
    "x.y[0]": "dotted bracket",
}


def find(payload, path):
    assert parse_path(path) is not None, path
    return find_values(payload, path)


@each(
    "path values",
    [
        ("status", ["firing"]),
        ("x[0]", ["bracket"]),
        ("Status", []),
        ("a.b", [1]),
        ("a.b.c", [2]),
        ("a.c", [None]),
        ("a.x", []),
        ("alerts[0].labels.severity", ["page"]),
        ("alerts[00].labels.severity", ["page"]),
        ("alerts[*].labels.severity", ["page", "info"]),
        ("alerts[0].labels.app.kubernetes.io/name", ["shop"]),
        ("alerts[*].labels.app.kubernetes.io/name", ["shop"]),
        ("alerts[0].n[*]", [0, False]),
        ("alerts[0].n[1]", [False]),
        ("alerts[3]", []),
        ("alerts[999999999]", []),
        ("alerts[2]", ["text"]),
        ("alerts[2].x", []),
        ("alerts.0", []),
        ("status[0]", []),
        ("status[*]", []),
        ("[0]", []),
        ("[*]", []),
        ("*", ["star"]),
        ("ключ.é", [""]),
        ("x.y[0]", ["dotted bracket"]),
        ("a[*]", []),
    ],
)
def test_a_path_returns_its_values(path, values):
    assert find(ALERTS, path) == values


@each(
    "payload path values",
    [
        ([{"a": 1}, {"a": 2}], "[0].a", [1]),
        ([{"a": 1}, {"a": 2}], "[*].a", [1, 2]),
        ([[1, 2], [3]], "[*][*]", [1, 2, 3]),
        ([[1, 2], [3]], "[1][0]", [3]),
        ([], "[*]", []),
        ("text", "a", []),
        (None, "a", []),
        (0, "[0]", []),
        ({"a": {"b": 1}, "a.b": 2}, "a.b", [1]),
        ({"a": {}, "a.b": 2}, "a.b", [2]),
        ({"a": {"b": {}}, "a.b": {"c": 2}}, "a.b.c", [2]),
        ([{"k.l": 1}, {"k": {"l": 2}}], "[0].k.l", [1]),
    ],
)
def test_other_payloads(payload, path, values):
    assert find(payload, path) == values


@each(
    "path",
    [
        "",
        ".",
        ".a",
        "a.",
        "a..b",
        "a[",
        "a]",
        "a[]",
        "a[-1]",
        "a[x]",
        "a[1.5]",
        "a[**]",
        "[",
        "a[٣]",
        "a[1234567890]",
        "a" * 501,
        "a.[0]",
        "[*",
        "*]",
    ],
)
def test_what_is_no_path(path):
    assert parse_path(path) is None


def test_a_path_has_up_to_500_characters():
    assert find({"a" * 500: 1}, "a" * 500) == [1]
    deep = 1
    for _ in range(250):
        deep = {"a": deep}
    assert find(deep, ".".join("a" * 250)) == [1]


def test_what_is_suggested_is_found():
    flat = flatten_payload(ALERTS)
    assert list(flat)[:3] == ["status", "a.b", "a.b.c"]
    assert "alerts[0].labels.app.kubernetes.io/name" in flat
    for path, value in flat.items():
        assert value in find(ALERTS, path), path
    assert flatten_payload(5) == flatten_payload([]) == {}
    assert (
        flatten_payload({"": {"a": 1}, "a]": 2, "b.": 3, "c..d": 4, "e": {"": 5}, "f" * 501: 6})
        == {}
    )
    assert flatten_payload([0, {"a": ""}]) == {"[0]": 0, "[1].a": ""}
    assert len(flatten_payload(list(range(1000)))) == 500


def test_random_payloads_suggest_what_is_found():
    rng = random.Random(4)
    for _ in range(150):
        payload = json_of(rng, 4)
        for path, value in flatten_payload(payload).items():
            values = find(payload, path)
            assert values, (payload, path)
            if "." not in path:
                assert values == [value]


def json_of(rng, depth):
    kind = rng.randrange(5) if depth else 4
    if kind < 2:
        keys = [rng.choice(["a", "b", "a.b", "", "c[0]", make_text(rng, 3)]) for _ in range(4)]
        return {key: json_of(rng, depth - 1) for key in keys}
    if kind == 2:
        return [json_of(rng, depth - 1) for _ in range(rng.randrange(4))]
    return rng.choice([None, True, False, 0, "", "x", 1.5])


def test_hostile_shapes_take_no_time():
    started = time.thread_time()
    find({str(n): n for n in range(12_000)}, "a." * 249 + "a")
    find([[0] * 20_000] * 2, "[*][*]")
    find({".".join("a" * n): {"a": 1} for n in range(1, 300)}, ".".join("a" * 250))
    bush = {}
    for _ in range(14):
        bush = {"a": bush, "a.a": bush}  # as many ways as leaves
    find(bush, ".".join("a" * 20) + ".b")
    find([{}] * 30_000, "[*]." + ".".join("a" * 16) + ".b")
    find([{"a": {"a.a": {"a.a.a": {"a": [1]}}}}] * 3_000, "[*].a.a.a.a[*]")
    assert time.thread_time() - started < 1
