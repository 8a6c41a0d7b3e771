"""Filters of action sets: which payloads a set wants.

A payload's value is compared as text, as a number, a version or a date, whatever the operator asks
for: 500 equals "500", and false, 0 and "" are values like others. What is missing matches nothing,
inverted or not; only EXISTS asks about that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import re2

from sigservice.semantic_version import SemanticVersion, parse_version
from sigservice.services.actions import payload_paths
from sigservice.services.problems import Problems

LIST_OPERATORS = ("IN", "NOT_IN", "STR_CONTAINS", "STR_STARTS_WITH", "STR_ENDS_WITH")
LONGEST_VALUE = 100
LONGEST_PATTERN = 500
LONGEST_TEXT = 10_000
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_EPOCH_MILLISECONDS_FROM = 10**11
_RE2 = re2.Options()
_RE2.log_errors = False
_RE2.max_mem = 1 << 20
_FOLDING = "(?i)"


class Filter(msgspec.Struct, omit_defaults=True):
    """One question about one path. `values` for operators that compare with several."""

    path: str = ""
    operator: str = ""
    value: str | int | float | bool | None = None
    values: list[str | int | float | bool] | None = None
    inverted: bool = False
    caseInsensitive: bool = False
    any: list[Filter] | None = None


@dataclass(frozen=True)
class Verdict:
    """What one filter (or one of an `any` group) said. `found` is the value as text, None when it
    is missing."""

    path: str
    operator: str
    inverted: bool
    found: str | None
    matched: bool
    any: tuple[Verdict, ...] = ()


Test = Callable[[Any], bool]


class Matcher:
    """The filters of a set, ready to be asked often."""

    def __init__(self, filters: Iterable[Filter]) -> None:
        """`filters` have been checked."""
        self._tests = [_Group(f.any) if f.any else _One(f) for f in filters]

    def matches(self, payload: Any) -> bool:
        """Whether all filters do; asks no more than it must."""
        return all(test.matches(payload) for test in self._tests)

    def explain(self, payload: Any) -> list[Verdict]:
        """What each filter says."""
        return [test.explain(payload) for test in self._tests]


class _One:
    def __init__(self, filter: Filter) -> None:
        self._filter = filter
        self._steps = payload_paths.parse(filter.path) or []
        self._test = _test(filter)

    def matches(self, payload: Any) -> bool:
        return self._judge(payload_paths.values(payload, self._filter.path, self._steps))

    def _judge(self, found: list[Any]) -> bool:
        if self._filter.operator == "EXISTS":
            return bool(found) is not self._filter.inverted
        scalars = [value for value in found if not isinstance(value, dict | list)]
        if not scalars:
            return False
        return any(self._test(value) for value in scalars) is not self._filter.inverted

    def explain(self, payload: Any) -> Verdict:
        found = payload_paths.values(payload, self._filter.path, self._steps)
        shown = ", ".join(canonical(value) for value in found[:10])[:200] if found else None
        return Verdict(
            self._filter.path,
            self._filter.operator,
            self._filter.inverted,
            shown,
            self._judge(found),
        )


class _Group:
    def __init__(self, filters: list[Filter]) -> None:
        self._tests = [_One(filter) for filter in filters]

    def matches(self, payload: Any) -> bool:
        return any(test.matches(payload) for test in self._tests)

    def explain(self, payload: Any) -> Verdict:
        verdicts = tuple(test.explain(payload) for test in self._tests)
        return Verdict("", "ANY", False, None, any(v.matched for v in verdicts), verdicts)


def canonical(value: Any) -> str:
    """A value as the text that operators compare: 500 and 500.0 are "500", true is "true"."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        value = int(value)
    return msgspec.json.encode(value).decode()


def check(
    filters: list[Filter],
    problems: Problems,
    *,
    most: int,
    most_values: int,
    paths: Sequence[str] | None = None,
) -> None:
    """What is wrong goes to `problems`, with paths such as match.filters[0].operator; `paths` tell
    of filters that stand elsewhere."""
    leaves = sum(len(f.any) if f.any is not None else 1 for f in filters)
    if leaves > most:
        problems.add("match.filters", f"There can't be more than {most} filters.")
        return
    for n, filter in enumerate(filters):
        at = paths[n] if paths else f"match.filters[{n}]"
        if filter.any is None:
            check_one(filter, problems, at, most_values)
            continue
        if not filter.any or filter != Filter(any=filter.any):
            problems.add(f"{at}.any", "A group holds filters, and nothing stands beside them.")
        for k, inner in enumerate(filter.any):
            if inner.any is not None:
                problems.add(f"{at}.any[{k}].any", "Groups don't hold groups.")
            else:
                check_one(inner, problems, f"{at}.any[{k}]", most_values)


def check_one(filter: Filter, problems: Problems, at: str, most_values: int) -> None:
    """One filter, whose fields stand below `at`."""
    if payload_paths.parse(filter.path) is None:
        problems.add(f"{at}.path", "A path looks like data.key or alerts[*].labels.severity.")
    if filter.operator in LIST_OPERATORS:
        values = filter.values or []
        if not values:
            problems.add(f"{at}.values", f"{filter.operator} needs at least one value.")
        if len({canonical(value) for value in values}) > most_values:
            problems.add(f"{at}.values", f"There can't be more than {most_values} values.")
        for n, value in enumerate(values):
            if not 1 <= len(canonical(value)) <= LONGEST_VALUE:
                problems.add(f"{at}.values[{n}]", "A value has 1 to 100 characters.")
    elif filter.operator in _SINGLE:
        read, needs, _ = _SINGLE[filter.operator]
        if filter.operator == "REGEX" and filter.caseInsensitive:
            read = _folding_pattern
        if filter.value is None or read(filter.value) is None:
            problems.add(f"{at}.value", f"{filter.operator} needs {needs}.")
    elif filter.operator != "EXISTS":
        known = ", ".join(OPERATORS)
        problems.add(f"{at}.operator", f"The operator is one of {known}.")


def _test(filter: Filter) -> Test:
    fold = str.casefold if filter.caseInsensitive else str
    if filter.operator in LIST_OPERATORS:
        wanted = [fold(canonical(value)) for value in filter.values or []]
        return _text_test(filter.operator, wanted, fold)
    if filter.operator == "REGEX":
        prefix = _FOLDING if filter.caseInsensitive else ""
        pattern = re2.compile(prefix + canonical(filter.value), options=_RE2)
        return lambda value: pattern.search(canonical(value)[:LONGEST_TEXT]) is not None
    if filter.operator == "EXISTS":
        return lambda value: True
    read, _, compare = _SINGLE[filter.operator]
    right = read(filter.value)

    def test(value: Any) -> bool:
        left = read(value)
        return left is not None and compare(left, right)

    return test


def _text_test(operator: str, wanted: list[str], fold: Callable[[str], str]) -> Test:
    if operator in ("IN", "NOT_IN"):
        known, is_in = frozenset(wanted), operator == "IN"
        return lambda value: (fold(canonical(value)) in known) is is_in
    if operator == "STR_CONTAINS":
        return lambda value: any(text in fold(canonical(value)) for text in wanted)
    ends = tuple(wanted)
    if operator == "STR_STARTS_WITH":
        return lambda value: fold(canonical(value)).startswith(ends)
    return lambda value: fold(canonical(value)).endswith(ends)


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return Decimal(str(value))
    text = value.strip() if isinstance(value, str) else ""
    return Decimal(text) if len(text) <= 100 and _NUMBER.fullmatch(text) else None


def _semver(value: Any) -> SemanticVersion | None:
    return parse_version(value) if isinstance(value, str) else None


def _moment(value: Any) -> datetime | None:
    """ISO 8601 (UTC unless it says otherwise), or seconds or milliseconds since 1970."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        seconds = value / 1000 if abs(value) >= _EPOCH_MILLISECONDS_FROM else value
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _pattern(value: Any, prefix: str = "") -> str | None:
    text = canonical(value)
    if not 1 <= len(text) <= LONGEST_PATTERN:
        return None
    try:
        re2.compile(prefix + text, options=_RE2)
    except re2.error:
        return None
    return text


def _folding_pattern(value: Any) -> str | None:
    """One that ignores case needs more of RE2's memory."""
    return _pattern(value, _FOLDING)


Read = Callable[[Any], Any]
Compare = Callable[[Any, Any], bool]
_ORDER: dict[str, Compare] = {
    "EQ": lambda left, right: left == right,
    "GT": lambda left, right: left > right,
    "GTE": lambda left, right: left >= right,
    "LT": lambda left, right: left < right,
    "LTE": lambda left, right: left <= right,
}
_SINGLE: dict[str, tuple[Read, str, Compare]] = {
    **{f"NUM_{n}": (_number, "a number", compare) for n, compare in _ORDER.items()},
    **{f"SEMVER_{n}": (_semver, "a version such as 1.2.3", c) for n, c in _ORDER.items()},
    "DATE_AFTER": (_moment, "an ISO 8601 date", _ORDER["GT"]),
    "DATE_BEFORE": (_moment, "an ISO 8601 date", _ORDER["LT"]),
    "REGEX": (_pattern, "a pattern of RE2's syntax", lambda left, right: False),
}
OPERATORS = (*LIST_OPERATORS, *_SINGLE, "EXISTS")
