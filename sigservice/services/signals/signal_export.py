"""The signals of an endpoint as a file: NDJSON or CSV, in parts, newest first."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.repository.signals.signals import SearchWindow
from sigservice.services.csv_rows import encode_csv
from sigservice.services.signals import signal_search
from sigservice.services.signals.signal_search import SignalFilter, SignalPage
from sigservice.services.signals.signal_summaries import (
    Summarizer,
    decode_payload,
    make_summarizer,
    to_json,
)

# The size of one part, which one short transaction reads; only one is in memory at a time.
PART = SearchWindow(rows=500, bytes=2_000_000)
FORMATS: Mapping[str, str] = MappingProxyType(
    {"ndjson": "application/x-ndjson", "csv": "text/csv"}  # with their content types
)
CSV_COLUMNS = ("id", "createdAt", "token", "sentBy", "status", "severity")

Encode = Callable[[list[Row]], bytes]


def read_part(
    conn: Connection, endpoint: Row, filter: SignalFilter, before: int | None
) -> SignalPage:
    """The matching signals of the next PART of the log below `before`."""
    return signal_search.search(
        conn, endpoint, filter, limit=PART.rows + 1, before=before, window=PART
    )


def make_encoder(format: str, endpoint: Row) -> tuple[bytes, Encode]:
    """The beginning of the file, and the function that encodes a part; `format` is one of
    FORMATS."""
    summarizer = make_summarizer(endpoint)
    if format == "csv":
        columns = (*CSV_COLUMNS, *summarizer.labels, "payload")
        return encode_csv([columns]), lambda rows: encode_csv(
            _to_cells(row, summarizer) for row in rows
        )
    return b"", lambda rows: b"".join(_encode_line(row, summarizer) for row in rows)


def _encode_line(row: Row, summarizer: Summarizer) -> bytes:
    if "\n" in row["payload"] or "\r" in row["payload"]:
        row = row | {"payload": msgspec.json.format(row["payload"], indent=-1)}
    return msgspec.json.encode(to_json(row, summarizer)) + b"\n"


def _to_cells(row: Row, summarizer: Summarizer) -> list[Any]:
    payload = decode_payload(row)
    return [
        row["id"],
        format_iso(row["created_at"]),
        row["token_name"],
        row["sent_by"],
        summarizer.find_status(payload),
        summarizer.find_severity(payload),
        *summarizer.list_texts(payload),
        row["payload"],
    ]
