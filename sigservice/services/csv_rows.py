"""Rows of a CSV file that spreadsheets open without running a cell as a formula."""

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

# A spreadsheet would run a cell that starts like this as a formula; numbers are harmless.
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


def encode_csv(rows: Iterable[Iterable[Any]]) -> bytes:
    """The rows as CSV (RFC 4180, UTF-8); None becomes an empty cell."""
    output = io.StringIO(newline="")
    csv.writer(output, quoting=csv.QUOTE_NONNUMERIC).writerows(
        [_defuse(cell) for cell in row] for row in rows
    )
    return output.getvalue().encode()


def _defuse(cell: Any) -> Any:
    """The cell, as text for spreadsheets if it looks like a formula."""
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return "" if cell is None else cell
