"""Query parameters of lists: `limit`, `before`, `IS:2026-11-21`, `IS_ANY_OF:a,b`."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sigservice.errors import BadDataError
from sigservice.web.body import read_number

DEFAULT_LIMIT, MAX_LIMIT = 50, 1000
_MAX_NUMBER = 10**15
_DAY = re.compile(r"IS:([0-9]{4}-[0-9]{2}-[0-9]{2})")


@dataclass(frozen=True)
class Paging:
    limit: int
    offset: int
    before: int | None


def read_paging(query: dict[str, str], default: int = DEFAULT_LIMIT) -> Paging:
    """Raises BadDataError for invalid numbers."""
    limit = read_number(query, "limit", default, 1, MAX_LIMIT)
    offset = read_number(query, "offset", 0, 0, _MAX_NUMBER)
    before = read_number(query, "before", None, 1, _MAX_NUMBER)
    return Paging(limit or default, offset or 0, before)


def read_days(query: dict[str, str]) -> tuple[datetime | None, datetime | None]:
    """`from` and `to`, inclusive days in UTC, as a half-open interval. Raises BadDataError."""
    start, end = _read_day(query, "from"), _read_day(query, "to")
    return start, end + timedelta(days=1) if end else None


def read_values(query: dict[str, str], name: str) -> list[str] | None:
    """The values of `IS:a` or `IS_ANY_OF:a,b`; None without the parameter. Raises BadDataError."""
    text = query.get(name, "")
    if not text:
        return None
    operator, _, values = text.partition(":")
    choices = [value.strip() for value in values.split(",") if value.strip()]
    if operator == "IS" and values:
        return [values]
    if operator == "IS_ANY_OF" and choices:
        return choices
    raise BadDataError(f"{name} must have the form IS:x or IS_ANY_OF:x,y.", path=name)


def _read_day(query: dict[str, str], name: str) -> datetime | None:
    text = query.get(name, "")
    if not text:
        return None
    match = _DAY.fullmatch(text)
    try:
        if match:
            day = datetime.strptime(match[1], "%Y-%m-%d").replace(tzinfo=UTC)
            if day.year < 9999:
                return day
    except ValueError:
        pass
    raise BadDataError(f"{name} must have the form IS:2026-11-21.", path=name)
