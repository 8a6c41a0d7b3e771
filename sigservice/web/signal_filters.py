"""The query parameters that filter the signals of an endpoint."""

from sigservice.services.signals.signal_search import SignalFilter
from sigservice.web.body import read_number
from sigservice.web.paging import read_days

MAX_TOKEN_ID = 2**31 - 1


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
