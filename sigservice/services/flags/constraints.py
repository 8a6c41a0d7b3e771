"""Constraints of strategies and segments: what each operator compares with.

Operators and their values: the client specification, suites 13 to 17 and 20 to 22.
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
import re2
from msgspec import UNSET, UnsetType

from sigservice.semantic_version import parse_version
from sigservice.services.problems import Problems

MOST_CONSTRAINTS = 30
MOST_VALUES = 250
LONGEST_VALUE = 100
LONGEST_PATTERN = 1000
TEXT_OPERATORS = ("IN", "NOT_IN", "STR_CONTAINS", "STR_STARTS_WITH", "STR_ENDS_WITH", "IN_CIDR")
# Numbers and dates as the engine reads them: no other count of decimals of a second, no 24 o'clock.
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\dT(?!24)\d\d:\d\d:\d\d(\.\d{3})?(Z|[+-]\d\d:\d\d)", re.ASCII)
# The syntax of RE2 is the one that engines of all SDKs share: linear time, and so neither looks
# around nor references back.
_RE2 = re2.Options()
# What RE2 takes and the engines of SDKs do not: it reads a huge repetition as text.
_NOT_SHARED = re.compile(r"\(\?P?<\d|\{\d{4}")
_RE2.log_errors = False
_RE2.max_mem = 1 << 20


class Constraint(msgspec.Struct, omit_defaults=True):
    """`values` for operators that compare with several, `value` for the others."""

    contextName: str
    operator: str
    values: list[str | int | float] | None = None
    value: str | int | float | None = None
    inverted: bool | UnsetType = UNSET
    caseInsensitive: bool | UnsetType = UNSET


def check(
    constraints: Sequence[Constraint],
    problems: Problems,
    path: str = "constraints",
    *,
    most_values: int = MOST_VALUES,
) -> list[dict[str, Any]]:
    """The constraints as they are stored and sent; what is wrong goes to `problems`."""
    if len(constraints) > MOST_CONSTRAINTS:
        problems.add(path, f"There can't be more than {MOST_CONSTRAINTS} constraints.")
        return []
    return [
        check_one(constraint, problems, f"{path}[{n}]", most_values)
        for n, constraint in enumerate(constraints)
    ]


def check_one(
    constraint: Constraint, problems: Problems, path: str = "", most_values: int = MOST_VALUES
) -> dict[str, Any]:
    """As `check`, for one that stands alone."""
    field = constraint.contextName.strip()
    if not 1 <= len(field) <= LONGEST_VALUE:
        problems.add(f"{path}.contextName", "A context field has 1 to 100 characters.")
    stored: dict[str, Any] = {
        "contextName": field,
        "operator": constraint.operator,
        "values": [],
    }
    if constraint.operator in TEXT_OPERATORS:
        values = [_text(value) for value in constraint.values or []]
        stored["values"] = values
        _check_values(constraint.operator, values, problems, f"{path}.values", most_values)
    elif constraint.operator in _SINGLE:
        single = "" if constraint.value is None else _text(constraint.value).strip()
        right, wrong = _SINGLE[constraint.operator]
        checked = right(single)
        if checked is None:
            problems.add(f"{path}.value", f"{constraint.operator} needs {wrong}.")
        stored["value"] = checked
    else:
        known = ", ".join((*TEXT_OPERATORS, *_SINGLE))
        problems.add(f"{path}.operator", f"The operator is one of {known}.")
    if constraint.inverted is not UNSET:
        stored["inverted"] = constraint.inverted
        if constraint.inverted and constraint.operator == "REGEX":
            problems.add(f"{path}.inverted", "REGEX can't be inverted.")
    if constraint.caseInsensitive is not UNSET:
        stored["caseInsensitive"] = constraint.caseInsensitive
    return stored


def _check_values(
    operator: str, values: list[str], problems: Problems, path: str, most: int
) -> None:
    if not values:
        problems.add(path, f"{operator} needs at least one value.")
    if len(values) > most:
        problems.add(path, f"There can't be more than {most} values.")
    for n, value in enumerate(values):
        if not 1 <= len(value) <= LONGEST_VALUE:
            problems.add(f"{path}[{n}]", "A value has 1 to 100 characters.")
        elif operator == "IN_CIDR" and not _is_network(value):
            problems.add(f"{path}[{n}]", "A value is an address or a network such as 10.0.0.0/8.")


def _text(value: str | int | float) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _number(text: str) -> str | None:
    """`.5` becomes `0.5`, which the engine reads."""
    text = re.sub(r"^([+-]?)\.(?=\d)", r"\g<1>0.", text)
    is_short = len(text) <= LONGEST_VALUE
    return text if is_short and _NUMBER.fullmatch(text) and math.isfinite(float(text)) else None


def _date(text: str) -> str | None:
    """ISO 8601; what RFC 3339 does not know is written as it does, in UTC, for the engine."""
    try:
        moment = datetime.fromisoformat(text)
        if not _DATE.fullmatch(text):
            moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
            text = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None
    return text


def _semver(text: str) -> str | None:
    return text if len(text) <= LONGEST_VALUE and parse_version(text) else None


def _pattern(text: str) -> str | None:
    if not 1 <= len(text) <= LONGEST_PATTERN or _NOT_SHARED.search(text):
        return None
    try:
        re2.compile(text, options=_RE2)
    except re2.error:
        return None
    return text


Right = Callable[[str], str | None]
_SINGLE: dict[str, tuple[Right, str]] = {
    **{f"NUM_{n}": (_number, "a number") for n in ("EQ", "GT", "GTE", "LT", "LTE")},
    **{f"DATE_{n}": (_date, "an ISO 8601 date") for n in ("AFTER", "BEFORE")},
    **{
        f"SEMVER_{n}": (_semver, "a version such as 1.2.3")
        for n in ("EQ", "GT", "GTE", "LT", "LTE")
    },
    "REGEX": (_pattern, "a pattern of RE2's syntax, of at most 1000 characters"),
}
OPERATORS = (*TEXT_OPERATORS, *_SINGLE)
