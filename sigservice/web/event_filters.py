"""The query of a search in the audit log."""

from sigservice.repository.system.events import EventFilter
from sigservice.web.paging import read_days, read_values


def read_event_filter(query: dict[str, str]) -> EventFilter:
    """`type`, `feature`, `project`, `environment` and `createdBy` have the form `IS:a` or
    `IS_ANY_OF:a,b`; `from` and `to` are inclusive days. Raises BadDataError."""
    start, end = read_days(query)
    return EventFilter(
        types=read_values(query, "type"),
        features=read_values(query, "feature"),
        projects=read_values(query, "project"),
        environments=read_values(query, "environment"),
        authors=read_values(query, "createdBy"),
        start=start,
        end=end,
        text=query.get("query", "").strip() or None,
    )
