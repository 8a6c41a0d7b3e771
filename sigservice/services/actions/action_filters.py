"""Filters of action sets: conditions on the payload of a signal.

The operator decides whether a value is compared as text, number, version or date: 500 equals "500",
and false, 0 and "" are values. A missing value never matches, not even an inverted filter; only
EXISTS tests for it. Filters of paths with the same beginning up to `[*]` are about one element: the
filters of `alerts[*].status` and `alerts[*].labels.team` match if one alert has both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

import msgspec
import re2

from sigservice.evaluation.constraints import REGEX_OPTIONS
from sigservice.semantic_version import SemanticVersion, parse_version
from sigservice.services.problems import Problems
from sigservice.services.signals import payload_paths
from sigservice.services.signals.payload_paths import to_text
from sigservice.services.signals.payload_times import parse_time
from sigservice.wording import plural

LIST_OPERATORS = ("IN", "NOT_IN", "STR_CONTAINS", "STR_STARTS_WITH", "STR_ENDS_WITH")
MAX_VALUE_LENGTH = 100
MAX_PATTERN_LENGTH = 500
MAX_TEXT_LENGTH = 10_000
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_FOLDING = "(?i)"
_WILDCARD = "[*]"


class Filter(msgspec.Struct, omit_defaults=True):
    """A condition on one path. `values` is for operators that compare with several values. If
    `alsoWhenResolved`, it must match signals that resolve an alert too."""

    path: str = ""
    operator: str = ""
    value: str | int | float | bool | None = None
    values: list[str | int | float | bool] | None = None
    inverted: bool = False
    caseInsensitive: bool = False
    alsoWhenResolved: bool = False
    any: list[Filter] | None = None


class FilterResult(msgspec.Struct, frozen=True, omit_defaults=True, rename={"value": "found"}):
    """The result of one filter (or one of an `any` group). `value` is the payload's value as text,
    None if it is missing."""

    path: str
    operator: str
    inverted: bool
    value: str | None
    matched: bool
    any: tuple[FilterResult, ...] = ()


Test = Callable[[Any], bool]


class Matcher:
    """The compiled filters of a set."""

    def __init__(self, filters: Iterable[Filter]) -> None:
        """`filters` must be valid."""
        filters = list(filters)
        self._tests = _build_tests([(f, f.path) for f in filters])
        self._resolved = _build_tests([(f, f.path) for f in filters if f.alsoWhenResolved])
        self._order = {id(filter): number for number, filter in enumerate(filters)}

    def matches(self, payload: Any) -> bool:
        """Whether all filters match; stops at the first that doesn't."""
        return all(test.matches(payload) for test in self._tests)

    def matches_resolved(self, payload: Any) -> bool:
        """Whether all filters match that must match signals that resolve an alert."""
        return all(test.matches(payload) for test in self._resolved)

    def explain(self, payload: Any) -> list[FilterResult]:
        """The result of each filter."""
        results = [pair for test in self._tests for pair in test.explain(payload)]
        results.sort(key=lambda pair: self._order[id(pair[0])])
        return [result for _, result in results]


def _build_tests(filters: Sequence[tuple[Filter, str]]) -> list[_FilterTest | _AnyOf | _OneElement]:
    """The tests of filters, with the path of each in the value that is tested."""
    groups: dict[str | int, list[tuple[Filter, str]]] = {}
    for number, (filter, path) in enumerate(filters):
        start, wildcard, _ = path.partition(_WILDCARD)
        groups.setdefault(start + wildcard if wildcard else number, []).append((filter, path))
    tests: list[_FilterTest | _AnyOf | _OneElement] = []
    for key, group in groups.items():
        filter, path = group[0]
        if len(group) > 1 and isinstance(key, str):
            tests.append(_OneElement(key, group))
        else:
            tests.append(_AnyOf(filter) if filter.any else _FilterTest(filter, path))
    return tests


class _FilterTest:
    def __init__(self, filter: Filter, path: str) -> None:
        self._filter, self._path = filter, path
        self._test = _compile_test(filter)

    def matches(self, payload: Any) -> bool:
        return self._evaluate(payload_paths.find_values(payload, self._path))

    def _evaluate(self, values: list[Any]) -> bool:
        if self._filter.operator == "EXISTS":
            return bool(values) is not self._filter.inverted
        scalars = [value for value in values if not isinstance(value, dict | list)]
        if not scalars:
            return False
        return any(self._test(value) for value in scalars) is not self._filter.inverted

    def may_match_element(self, payload: Any) -> bool:
        """False if the filter matches no element of a list in its path."""
        values = payload_paths.find_values(payload, self._path)
        if not self._filter.inverted:
            return self._evaluate(values)
        return self._filter.operator == "EXISTS" or bool(values)

    def explain(self, payload: Any) -> list[tuple[Filter, FilterResult]]:
        values = payload_paths.find_values(payload, self._path)
        text = ", ".join(to_text(value) for value in values[:10])[:200] if values else None
        filter, is_match = self._filter, self._evaluate(values)
        result = FilterResult(filter.path, filter.operator, filter.inverted, text, is_match)
        return [(filter, result)]


class _AnyOf:
    def __init__(self, filter: Filter) -> None:
        self._filter = filter
        self._tests = [_FilterTest(inner, inner.path) for inner in filter.any or ()]

    def matches(self, payload: Any) -> bool:
        return any(test.matches(payload) for test in self._tests)

    def explain(self, payload: Any) -> list[tuple[Filter, FilterResult]]:
        results = tuple(pair[1] for test in self._tests for pair in test.explain(payload))
        is_match = any(result.matched for result in results)
        return [(self._filter, FilterResult("", "ANY", False, None, is_match, results))]


class _OneElement:
    """Filters of one element of the list at `path`, which ends in `[*]`."""

    def __init__(self, path: str, filters: Sequence[tuple[Filter, str]]) -> None:
        rests = [(f, whole.removeprefix(path).removeprefix(".")) for f, whole in filters]
        self._path, self._tests = path, _build_tests(rests)
        self._quick_tests = [_FilterTest(filter, whole) for filter, whole in filters]

    def matches(self, payload: Any) -> bool:
        """Most signals match none of the filters: that costs less than to look at each element."""
        if not all(test.may_match_element(payload) for test in self._quick_tests):
            return False
        return any(map(self._matches_element, payload_paths.find_values(payload, self._path)))

    def _matches_element(self, element: Any) -> bool:
        return all(test.matches(element) for test in self._tests)

    def explain(self, payload: Any) -> list[tuple[Filter, FilterResult]]:
        """The results for the element that most filters match."""
        elements = payload_paths.find_values(payload, self._path) or [None]
        results = ([p for test in self._tests for p in test.explain(e)] for e in elements)
        return max(results, key=lambda pairs: sum(result.matched for _, result in pairs))


def check_filters(
    filters: list[Filter],
    problems: Problems,
    *,
    max_filters: int,
    max_values: int,
    path: str = "match.filters",
    paths: Sequence[str] | None = None,
) -> None:
    """Adds to `problems`, with paths such as match.filters[0].operator; `paths` replace the path of
    each filter."""
    leaves = sum(len(f.any) if f.any is not None else 1 for f in filters)
    if leaves > max_filters:
        problems.add(path, f"The maximum is {plural(max_filters, 'filter')}.")
        return
    for index, filter in enumerate(filters):
        place = paths[index] if paths else f"{path}[{index}]"
        if filter.any is None:
            check_filter(filter, problems, place, max_values)
            continue
        group = Filter(any=filter.any, alsoWhenResolved=filter.alsoWhenResolved)
        if not filter.any or filter != group:
            problems.add(f"{place}.any", "A group must contain filters and nothing else.")
        for position, inner in enumerate(filter.any):
            if inner.any is not None:
                problems.add(f"{place}.any[{position}].any", "A group must not contain groups.")
            else:
                check_filter(inner, problems, f"{place}.any[{position}]", max_values)


def check_filter(filter: Filter, problems: Problems, path: str, max_values: int) -> None:
    """Adds to `problems`, with paths below `path`."""
    if payload_paths.parse_path(filter.path) is None:
        problems.add(
            f"{path}.path", "The path must look like data.key or alerts[*].labels.severity."
        )
    if filter.operator in LIST_OPERATORS:
        values = filter.values or []
        if not values:
            problems.add(f"{path}.values", f"{filter.operator} needs at least one value.")
        if len({to_text(value) for value in values}) > max_values:
            problems.add(f"{path}.values", f"The maximum is {plural(max_values, 'value')}.")
        for index, value in enumerate(values):
            if not 1 <= len(to_text(value)) <= MAX_VALUE_LENGTH:
                problems.add(f"{path}.values[{index}]", "The value must have 1 to 100 characters.")
    elif filter.operator in _SINGLE:
        read, needs, _ = _SINGLE[filter.operator]
        if filter.operator == "REGEX" and filter.caseInsensitive:
            read = partial(_parse_pattern, prefix=_FOLDING)  # RE2 needs more memory for it
        if filter.value is None or read(filter.value) is None:
            problems.add(f"{path}.value", f"{filter.operator} needs {needs}.")
    elif filter.operator != "EXISTS":
        problems.add(f"{path}.operator", f"The operator must be one of {', '.join(OPERATORS)}.")


def _compile_test(filter: Filter) -> Test:
    fold = str.casefold if filter.caseInsensitive else str
    if filter.operator in LIST_OPERATORS:
        values = [fold(to_text(value)) for value in filter.values or []]
        return _compile_text_test(filter.operator, values, fold)
    if filter.operator == "REGEX":
        prefix = _FOLDING if filter.caseInsensitive else ""
        pattern = re2.compile(prefix + to_text(filter.value), options=REGEX_OPTIONS)
        return lambda value: pattern.search(to_text(value)[:MAX_TEXT_LENGTH]) is not None
    if filter.operator == "EXISTS":
        return lambda value: True
    read, _, compare = _SINGLE[filter.operator]
    expected = read(filter.value)

    def test(value: Any) -> bool:
        actual = read(value)
        return actual is not None and compare(actual, expected)

    return test


def _compile_text_test(operator: str, values: list[str], fold: Callable[[str], str]) -> Test:
    if operator in ("IN", "NOT_IN"):
        members, is_in = frozenset(values), operator == "IN"
        return lambda value: (fold(to_text(value)) in members) is is_in
    if operator == "STR_CONTAINS":
        return lambda value: any(text in fold(to_text(value)) for text in values)
    ends = tuple(values)
    if operator == "STR_STARTS_WITH":
        return lambda value: fold(to_text(value)).startswith(ends)
    return lambda value: fold(to_text(value)).endswith(ends)


def _parse_number(value: Any) -> Decimal | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return Decimal(str(value))
    text = value.strip() if isinstance(value, str) else ""
    return Decimal(text) if len(text) <= 100 and _NUMBER.fullmatch(text) else None


def _parse_semver(value: Any) -> SemanticVersion | None:
    return parse_version(value) if isinstance(value, str) else None


def _parse_pattern(value: Any, prefix: str = "") -> str | None:
    text = to_text(value)
    if not 1 <= len(text) <= MAX_PATTERN_LENGTH:
        return None
    try:
        re2.compile(prefix + text, options=REGEX_OPTIONS)
    except re2.error:
        return None
    return text


Read = Callable[[Any], Any]
Compare = Callable[[Any, Any], bool]
_ORDER: dict[str, Compare] = {
    "EQ": lambda a, b: a == b,
    "GT": lambda a, b: a > b,
    "GTE": lambda a, b: a >= b,
    "LT": lambda a, b: a < b,
    "LTE": lambda a, b: a <= b,
}
_SINGLE: dict[str, tuple[Read, str, Compare]] = {
    **{f"NUM_{n}": (_parse_number, "a number", compare) for n, compare in _ORDER.items()},
    **{f"SEMVER_{n}": (_parse_semver, "a version such as 1.2.3", c) for n, c in _ORDER.items()},
    "DATE_AFTER": (parse_time, "an ISO 8601 date", _ORDER["GT"]),
    "DATE_BEFORE": (parse_time, "an ISO 8601 date", _ORDER["LT"]),
    "REGEX": (_parse_pattern, "a pattern in RE2 syntax", lambda a, b: False),
}
OPERATORS = (*LIST_OPERATORS, *_SINGLE, "EXISTS")


def split_filters(filters: list[Filter]) -> tuple[dict[str, Any], list[Filter]]:
    """(a map with one filter for each path, as in Unleash; the other filters)."""
    payload: dict[str, Any] = {}
    mapped, rest = partition(filters)
    for filter in mapped:
        item: dict[str, Any] = {"operator": filter.operator}
        if filter.values is not None:
            item["values"] = filter.values
        if filter.value is not None:
            item["value"] = filter.value
        item |= {"inverted": filter.inverted, "caseInsensitive": filter.caseInsensitive}
        payload[filter.path] = item
    return payload, rest


def partition(filters: list[Filter]) -> tuple[list[Filter], list[Filter]]:
    """(filters that the map can express, the others)."""
    mapped: dict[str, Filter] = {}
    rest: list[Filter] = []
    for filter in filters:
        is_more = filter.any is not None or filter.alsoWhenResolved
        if is_more or filter.operator == "EXISTS" or filter.path in mapped:
            rest.append(filter)
        else:
            mapped[filter.path] = filter
    return list(mapped.values()), rest
