"""Constraints of strategies and segments: operators and their values.

Both follow the client specification, suites 13 to 17 and 20 to 22.
"""

import ipaddress
import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
import re2
from msgspec import UNSET, UnsetType

from sigservice.evaluation.constraints import REGEX_OPTIONS
from sigservice.semantic_version import parse_version
from sigservice.services.problems import Problems
from sigservice.wording import plural

MAX_CONSTRAINTS = 30
MAX_VALUES = 250
MAX_VALUE_LENGTH = 100
MAX_PATTERN_LENGTH = 1000
MAX_PATTERN_INSTRUCTIONS = 5000  # of RE2's program: its search takes up to 40 ms for 10 kB
TEXT_OPERATORS = ("IN", "NOT_IN", "STR_CONTAINS", "STR_STARTS_WITH", "STR_ENDS_WITH", "IN_CIDR")
# Numbers and dates in the formats of the engine: three decimals of a second or none, no 24:00.
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\dT(?!24)\d\d:\d\d:\d\d(\.\d{3})?(Z|[+-]\d\d:\d\d)", re.ASCII)
# The engines of all SDKs share the syntax of RE2: linear time, so no look-around and no
# back-references. RE2 accepts these and the engines of SDKs don't: it reads a huge repetition as
# text.
_UNSUPPORTED = re.compile(r"\(\?P?<\d|\{\d{4}")


class Constraint(msgspec.Struct, omit_defaults=True):
    """`values` is for operators that compare with several values, `value` for the others."""

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
    max_values: int = MAX_VALUES,
) -> list[dict[str, Any]]:
    """Returns the constraints in the stored format and records errors in `problems`."""
    if len(constraints) > MAX_CONSTRAINTS:
        problems.add(path, f"There can't be more than {MAX_CONSTRAINTS} constraints.")
        return []
    return [
        check_one(constraint, problems, f"{path}[{n}]", max_values)
        for n, constraint in enumerate(constraints)
    ]


def check_one(
    constraint: Constraint, problems: Problems, path: str = "", max_values: int = MAX_VALUES
) -> dict[str, Any]:
    """Like `check`, for a single constraint."""
    field = constraint.contextName.strip()
    if not 1 <= len(field) <= MAX_VALUE_LENGTH:
        problems.add(f"{path}.contextName", "The context field must have 1 to 100 characters.")
    result: dict[str, Any] = {"contextName": field, "operator": constraint.operator, "values": []}
    if constraint.operator in TEXT_OPERATORS:
        values = [_to_text(value) for value in constraint.values or []]
        result["values"] = values
        _check_values(constraint.operator, values, problems, f"{path}.values", max_values)
    elif constraint.operator in _SINGLE:
        text = "" if constraint.value is None else _to_text(constraint.value).strip()
        normalize, expected = _SINGLE[constraint.operator]
        result["value"] = normalize(text)
        if result["value"] is None:
            problems.add(f"{path}.value", f"The value of {constraint.operator} must be {expected}.")
    else:
        problems.check_choice(constraint.operator, f"{path}.operator", OPERATORS)
    if constraint.inverted is not UNSET:
        result["inverted"] = constraint.inverted
        if constraint.inverted and constraint.operator == "REGEX":
            problems.add(f"{path}.inverted", "REGEX can't be inverted.")
    if constraint.caseInsensitive is not UNSET:
        result["caseInsensitive"] = constraint.caseInsensitive
    return result


def _check_values(
    operator: str, values: list[str], problems: Problems, path: str, limit: int
) -> None:
    if not values:
        problems.add(path, f"{operator} needs at least one value.")
    if len(values) > limit:
        problems.add(path, f"There can't be more than {plural(limit, 'value')}.")
    for n, value in enumerate(values):
        if not 1 <= len(value) <= MAX_VALUE_LENGTH:
            problems.add(f"{path}[{n}]", "A value must have 1 to 100 characters.")
        elif operator == "IN_CIDR" and not _is_network(value):
            problems.add(
                f"{path}[{n}]", "A value must be an IP address or a network such as 10.0.0.0/8."
            )


def _to_text(value: str | int | float) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _normalize_number(text: str) -> str | None:
    """`.5` becomes `0.5`, which the engine can parse."""
    text = re.sub(r"^([+-]?)\.(?=\d)", r"\g<1>0.", text)
    is_short = len(text) <= MAX_VALUE_LENGTH
    return text if is_short and _NUMBER.fullmatch(text) and math.isfinite(float(text)) else None


def _normalize_date(text: str) -> str | None:
    """Converts ISO 8601 to the RFC 3339 of the engine, in UTC unless it is RFC 3339 already."""
    try:
        time = datetime.fromisoformat(text)
        if not _DATE.fullmatch(text):
            time = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
            text = time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None
    return text


def _check_version(text: str) -> str | None:
    return text if len(text) <= MAX_VALUE_LENGTH and parse_version(text) else None


def _check_pattern(text: str) -> str | None:
    return None if compile_pattern(text) is None else text


def compile_pattern(text: str) -> Any:
    """The compiled pattern, None for one that RE2 rejects or that is too large."""
    if not 1 <= len(text) <= MAX_PATTERN_LENGTH or _UNSUPPORTED.search(text):
        return None
    try:
        pattern = re2.compile(text, options=REGEX_OPTIONS)
    except re2.error:
        return None
    return pattern if pattern.programsize <= MAX_PATTERN_INSTRUCTIONS else None


_PATTERN = (
    "a regular expression in RE2 syntax, of at most 1000 characters and without huge repetitions"
)
Normalize = Callable[[str], str | None]
_SINGLE: dict[str, tuple[Normalize, str]] = {
    **{f"NUM_{n}": (_normalize_number, "a number") for n in ("EQ", "GT", "GTE", "LT", "LTE")},
    **{f"DATE_{n}": (_normalize_date, "an ISO 8601 date") for n in ("AFTER", "BEFORE")},
    **{
        f"SEMVER_{n}": (_check_version, "a version such as 1.2.3")
        for n in ("EQ", "GT", "GTE", "LT", "LTE")
    },
    "REGEX": (_check_pattern, _PATTERN),
}
OPERATORS = (*TEXT_OPERATORS, *_SINGLE)
