"""The signals of an endpoint as a file, streamed."""

from sigservice.errors import BadDataError
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoints, signal_export
from sigservice.services.signals.signal_export import FORMATS
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, read_query, request
from sigservice.web.list_filters import read_signal_filter
from sigservice.web.streamed_files import send_file

router = Router(AdminGuard)


@router.get("/api/admin/signal-endpoints/<id:id>/export", needs=ADMIN)
def export_signals(context: Context, identity: Identity, id: int) -> HTTPResponse:
    """Query: `format` (`ndjson`, `csv`) and the filters of the list. A file with all signals that
    match, newest first."""
    query = read_query(request.environ)
    format, filter = query.get("format") or "ndjson", read_signal_filter(query)
    if format not in FORMATS:
        raise BadDataError(f"format must be one of {', '.join(FORMATS)}.", path="format")
    with context.database.autocommit(is_slow=True) as conn:
        endpoint = signal_endpoints.get(conn, id)
    head, encode = signal_export.make_encoder(format, endpoint)
    return send_file(
        context,
        identity,
        f"signals-{endpoint['name']}-{context.clock.now():%Y-%m-%d}.{format}",
        FORMATS[format],
        head=head,
        read=lambda conn, before: signal_export.read_part(conn, endpoint, filter, before),
        encode=encode,
    )
