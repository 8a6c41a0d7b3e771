"""The filters of lists: their query, and the chips that remove them."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from sigservice.repository.system.events import EventFilter
from sigservice.services.signals.signal_search import SignalFilter
from sigservice.web.body import read_number
from sigservice.web.forms import Field
from sigservice.web.paging import read_days, read_values

MAX_TOKEN_ID = 2**31 - 1


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


def read_signal_filter(query: dict[str, str]) -> SignalFilter:
    """Raises BadDataError that names the parameter."""
    start, end = read_days(query)
    texts = {name: query.get(name, "") for name in ("path", "value", "status", "severity")}
    filter = SignalFilter(
        token_id=read_number(query, "tokenId", None, 1, MAX_TOKEN_ID),
        text=query.get("query", ""),
        from_time=start,
        to_time=end,
        **texts,
    )
    filter.check()
    return filter


def make_chips(
    fields: Sequence[Field], page: Mapping[str, str], needs: Mapping[str, str] | None = None
) -> list[dict[str, str]]:
    """{text, link} of each filter; the link is the query of the list without it, and without the
    filters that need it: `needs` has the names of such filters, each with the filter that it
    needs."""
    needs = needs or {}
    chips = []
    for field in fields:
        if not (value := page.get(field.name)):
            continue
        text = dict(field.choices).get(value, value)
        others = {
            name: other
            for name, other in page.items()
            if name != field.name and needs.get(name) != field.name
        }
        chips.append({"text": f"{field.label}: {text}", "link": urlencode(others)})
    return chips
