"""Paging, dates and choices of lists: `limit`, `before`, `IS:2026-11-21`, `IS_ANY_OF:a,b`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sigservice.errors import BadDataError
from sigservice.web.body import read_number

DEFAULT_LIMIT, LARGEST_LIMIT = 50, 1000
_LARGEST = 10**15
_DAY = re.compile(r"IS:([0-9]{4}-[0-9]{2}-[0-9]{2})")


@dataclass(frozen=True)
class Paging:
    limit: int
    offset: int
    before: int | None


def read_paging(query: dict[str, str], default: int = DEFAULT_LIMIT) -> Paging:
    """Raises BadDataError for what is no number or out of range."""
    limit = read_number(query, "limit", default, 1, LARGEST_LIMIT)
    offset = read_number(query, "offset", 0, 0, _LARGEST)
    before = read_number(query, "before", None, 1, _LARGEST)
    return Paging(limit or default, offset or 0, before)


def read_days(query: dict[str, str]) -> tuple[datetime | None, datetime | None]:
    """`from` and `to` as a half-open span; both are whole days in UTC and inclusive."""
    start, end = _day(query, "from"), _day(query, "to")
    return start, end + timedelta(days=1) if end else None


def read_values(query: dict[str, str], name: str) -> list[str] | None:
    """`IS:a` or `IS_ANY_OF:a,b`, None without it; raises BadDataError for other texts."""
    text = query.get(name, "")
    if not text:
        return None
    operator, _, values = text.partition(":")
    wanted = [value.strip() for value in values.split(",") if value.strip()]
    if operator == "IS" and values:
        return [values]
    if operator == "IS_ANY_OF" and wanted:
        return wanted
    raise BadDataError(f"{name} must look like IS:x or IS_ANY_OF:x,y.", path=name)


def _day(query: dict[str, str], name: str) -> datetime | None:
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
    raise BadDataError(f"{name} must look like IS:2026-11-21.", path=name)
