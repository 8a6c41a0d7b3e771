"""Compiles constraints of strategies and segments.

A test of an absent field fails, so that an inverted constraint matches. An invalid constraint never
matches, inverted or not.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec
import re2

from sigservice.evaluation.addresses import compile_networks
from sigservice.evaluation.fields import Fields, Predicate, never
from sigservice.semantic_version import parse_version

Test = Callable[[str], bool]

_EPSILON = 2.0**-52  # numbers that differ by less are equal


def _is_close(number: float, limit: float) -> bool:
    return abs(number - limit) < _EPSILON


_ORDERS = {"GT": operator.gt, "GTE": operator.ge, "LT": operator.lt, "LTE": operator.le}
_COMPARE: dict[tuple[str, str], Callable[[Any, Any], bool]] = {
    **{("NUM", name): compare for name, compare in _ORDERS.items()},
    **{("SEMVER", name): compare for name, compare in _ORDERS.items()},
    ("NUM", "EQ"): _is_close,
    ("SEMVER", "EQ"): operator.eq,
    ("DATE", "AFTER"): operator.gt,
    ("DATE", "BEFORE"): operator.lt,
}
# Longer texts are no numbers, dates or versions. Many constraints parse the same few texts of a
# context, so these are cached, as are the results of regular expressions.
MAX_LENGTH = 200
CACHED_TEXTS = 1000
CACHED_CONSTRAINTS = 1000
_DATE = re.compile(
    r"\s*\d{4}-\d\d-\d\d[Tt ](?!24)\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)\s*", re.ASCII
)
REGEX_OPTIONS = re2.Options()
REGEX_OPTIONS.log_errors = False
REGEX_OPTIONS.max_mem = 1 << 20


def compile_constraint(constraint: Mapping[str, Any]) -> Predicate:
    """Returns whether the context matches the constraint, which is in the API's format. Equal
    constraints share a function, which saves memory, and time after a change."""
    return _compile_constraint(msgspec.json.encode(constraint))


@lru_cache(CACHED_CONSTRAINTS)
def _compile_constraint(text: bytes) -> Predicate:
    constraint = msgspec.json.decode(text)
    name, kind = constraint["contextName"], constraint["operator"]
    is_inverted = bool(constraint.get("inverted"))
    if kind in ("IN", "NOT_IN"):
        values = frozenset(constraint.get("values") or ())
        if (kind == "NOT_IN") != is_inverted:
            return lambda fields: fields[name] not in values
        return lambda fields: fields[name] in values
    if kind.startswith(("NUM_", "DATE_", "SEMVER_")):
        return _compile_comparison(name, kind, constraint.get("value") or "", is_inverted)
    test = _compile_test(constraint, kind)
    if test is None:
        return never
    if is_inverted:
        return lambda fields: (text := fields[name]) is None or not test(text)
    return lambda fields: (text := fields[name]) is not None and test(text)


def _compile_comparison(name: str, kind: str, value: str, is_inverted: bool) -> Predicate:
    family, _, comparison = kind.partition("_")
    parse, compare = _PARSE[family], _COMPARE.get((family, comparison))
    limit = parse(value.strip())
    if compare is None or limit is None:
        return never
    if family == "DATE" and name == "currentTime":
        return lambda fields: compare(fields.read_time(), limit) != is_inverted

    def matches(fields: Fields) -> bool:
        text = fields[name]
        actual = parse(text) if text is not None and len(text) <= MAX_LENGTH else None
        return (actual is not None and compare(actual, limit)) != is_inverted

    return matches


def _compile_test(constraint: Mapping[str, Any], kind: str) -> Test | None:
    """Returns None for an invalid constraint."""
    values: Sequence[str] = constraint.get("values") or ()
    if kind.startswith("STR_"):
        return _compile_texts(kind, values, bool(constraint.get("caseInsensitive")))
    if kind == "IN_CIDR":
        return compile_networks(values) if values else None
    if kind == "REGEX":
        return _compile_pattern(
            constraint.get("value") or "", bool(constraint.get("caseInsensitive"))
        )
    return None


def _compile_texts(kind: str, values: Sequence[str], ignores_case: bool) -> Test | None:
    if not values:
        return None
    if ignores_case:
        test = _compile_texts(kind, [value.lower() for value in values], False)
        return test and (lambda text: test(text.lower()))
    parts = tuple(values)
    if kind == "STR_STARTS_WITH":
        return lambda text: text.startswith(parts)
    if kind == "STR_ENDS_WITH":
        return lambda text: text.endswith(parts)
    if kind != "STR_CONTAINS":
        return None

    def contains(text: str) -> bool:
        for part in parts:  # noqa: SIM110  any() takes twice as long
            if part in text:
                return True
        return False

    return contains


def _compile_pattern(pattern: str, ignores_case: bool) -> Test | None:
    try:
        search = re2.compile(f"(?i){pattern}" if ignores_case else pattern, REGEX_OPTIONS).search
    except re2.error:
        return None

    @lru_cache(16)
    def search_short(text: str) -> bool:
        return search(text) is not None

    return lambda text: search_short(text) if len(text) <= MAX_LENGTH else search(text) is not None


@lru_cache(CACHED_TEXTS)
def _parse_number(text: str) -> float | None:
    # Python also accepts spaces, underscores and the digits of other scripts.
    if not text.isascii() or "_" in text or text != text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        return None


@lru_cache(CACHED_TEXTS)
def parse_date(text: str) -> datetime | None:
    """A date with time and zone in the format of RFC 3339, otherwise None."""
    if not _DATE.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text.strip().upper())
    except ValueError:
        return None


_PARSE: dict[str, Callable[[str], Any]] = {
    "NUM": _parse_number,
    "DATE": parse_date,
    "SEMVER": lru_cache(CACHED_TEXTS)(parse_version),
}
