"""The signals of an endpoint as a file, streamed."""

from collections.abc import Iterator

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import BadDataError, UnavailableError
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoints, signal_export
from sigservice.services.signals.signal_export import FORMATS, Encode
from sigservice.services.signals.signal_search import SignalFilter, SignalPage
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import AdminGuard
from sigservice.web.router import Router
from sigservice.web.signal_filters import read_signal_filter

MAX_RETRIES, RETRY_SECONDS = 10, 1.0


router = Router(AdminGuard)


@router.get("/api/admin/signal-endpoints/<id:id>/export", needs=ADMIN)
def export_signals(context: Context, identity: Identity, id: int) -> HTTPResponse:
    query = read_query(request.environ)
    format, filter = query.get("format") or "ndjson", read_signal_filter(query)
    if format not in FORMATS:
        raise BadDataError(f"format must be one of {', '.join(FORMATS)}.", path="format")
    with context.database.transaction(bulkhead="search") as conn:
        endpoint = signal_endpoints.get(conn, id)
        first = signal_export.read_part(conn, endpoint, filter, None)
    head, encode = signal_export.make_encoder(format, endpoint)
    name = f"signals-{endpoint['name']}-{context.clock.now():%Y-%m-%d}.{format}"
    parts = _generate_parts(context, endpoint, filter, first, head, encode)
    return respond.file(parts, FORMATS[format], name)


def _generate_parts(
    context: Context,
    endpoint: Row,
    filter: SignalFilter,
    page: SignalPage,
    head: bytes,
    encode: Encode,
) -> Iterator[bytes]:
    """No transaction is open between two parts: the client may be slow."""
    yield head
    while True:
        if data := encode(page.rows):
            yield data
        if page.next_before is None:
            return
        page = _read_part(context, endpoint, filter, page.next_before)


def _read_part(context: Context, endpoint: Row, filter: SignalFilter, before: int) -> SignalPage:
    """Waits while the database is busy: an error would truncate the file."""
    for attempt in range(MAX_RETRIES + 1):
        try:
            with context.database.transaction(bulkhead="search") as conn:
                return signal_export.read_part(conn, endpoint, filter, before)
        except UnavailableError:
            if attempt == MAX_RETRIES or context.stopping.wait(RETRY_SECONDS):
                raise
    raise AssertionError
