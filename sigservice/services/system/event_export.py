"""Events of the audit log as a file: NDJSON or CSV, in parts, newest first."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.repository.system.events import EventFilter
from sigservice.services.csv_rows import encode_csv
from sigservice.services.identity import ADMIN, Identity, name_actor
from sigservice.services.system import events
from sigservice.services.system.event_sentences import describe_event
from sigservice.services.system.events import EventPage

# The size of one part, which one short transaction reads; only one is in memory at a time.
PART_ROWS, PART_BYTES = 500, 2_000_000
FORMATS: Mapping[str, str] = MappingProxyType(
    {"ndjson": "application/x-ndjson", "csv": "text/csv"}  # with their content types
)
CSV_COLUMNS = (
    "id",
    "createdAt",
    "type",
    "createdBy",
    "summary",
    "project",
    "environment",
    "featureName",
    "ip",
    "data",
    "preData",
)


def read_part(conn: Connection, event_filter: EventFilter, before: int | None) -> EventPage:
    """The next events that match, below `before`, as many as a part has."""
    return events.list_page(
        conn, event_filter, limit=PART_ROWS, before=before, max_bytes=PART_BYTES
    )


def make_encoder(format: str, identity: Identity) -> tuple[bytes, Callable[[list[Row]], bytes]]:
    """The beginning of the file, and the function that encodes a part; `format` is one of
    FORMATS. Only admins get IP addresses."""
    if format == "csv":
        return encode_csv([CSV_COLUMNS]), lambda rows: encode_csv(
            _to_cells(row, identity) for row in rows
        )
    return b"", lambda rows: b"".join(
        msgspec.json.encode(events.to_json(row, identity)) + b"\n" for row in rows
    )


def _to_cells(row: Row, identity: Identity) -> list[str | int | None]:
    return [
        row["id"],
        format_iso(row["created_at"]),
        row["type"],
        name_actor(row["created_by"], row["created_by_user_id"]),
        describe_event(row),
        row["project"],
        row["environment"],
        row["feature_name"],
        row["ip"] if identity.has_permission(ADMIN) else None,
        row["data"],
        row["pre_data"],
    ]
