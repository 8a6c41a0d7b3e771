"""Files that are read from the database in parts while they are sent."""

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import UnavailableError

MAX_RETRIES, RETRY_SECONDS = 10, 1.0


class Page(Protocol):
    """Rows, newest first; `next_before` is the ID below which the next page begins, None on the
    last one."""

    @property
    def rows(self) -> list[Row]: ...

    @property
    def next_before(self) -> int | None: ...


PageT = TypeVar("PageT", bound=Page)


def generate_parts(
    context: Context,
    head: bytes,
    first: PageT,
    read: Callable[[Connection, int], PageT],
    encode: Callable[[list[Row]], bytes],
) -> Iterator[bytes]:
    """The file, beginning with `head`. No transaction is open between two parts: the client may be
    slow."""
    page = first
    yield head
    while True:
        if data := encode(page.rows):
            yield data
        if page.next_before is None:
            return
        page = _read_part(context, read, page.next_before)


def _read_part(context: Context, read: Callable[[Connection, int], PageT], before: int) -> PageT:
    """Waits while the database is busy: an error would truncate the file."""
    for attempt in range(MAX_RETRIES + 1):
        try:
            with context.database.transaction(bulkhead="search") as conn:
                return read(conn, before)
        except UnavailableError:
            if attempt == MAX_RETRIES or context.stopping.wait(RETRY_SECONDS):
                raise
    raise AssertionError
