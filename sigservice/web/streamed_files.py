"""Files that are read from the database in parts while they are sent.

Each occupies a worker while its client reads, so a process sends at most MAX_STREAMED_FILES at a
time, and one to each user.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Protocol

from bottle import HTTPResponse

from sigservice.concurrency.workers import MAX_STREAMED_FILES
from sigservice.context import Context
from sigservice.db import Connection, Row
from sigservice.errors import UnavailableError
from sigservice.services.identity import Identity
from sigservice.web import respond

MAX_RETRIES, RETRY_SECONDS = 10, 1.0
RETRY_AFTER_SECONDS = 5


class Page(Protocol):
    """Rows, newest first. `next_before` is the ID below which the next page begins, None on the
    last page."""

    @property
    def rows(self) -> list[Row]: ...

    @property
    def next_before(self) -> int | None: ...


ReadPage = Callable[[Connection, int | None], Page]
Encode = Callable[[list[Row]], bytes]


class _Parts:
    """The parts of a file, which has a place among the files until they end, or until `close`. The
    listener calls it after the response, also if the client has left."""

    def __init__(self, parts: Iterator[bytes], place: ExitStack) -> None:
        self._parts, self._place = parts, place

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._parts)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._place.close()

    def __del__(self) -> None:  # a response that failed before the listener got it
        self.close()


def send_file(
    context: Context,
    identity: Identity,
    name: str,
    content_type: str,
    *,
    head: bytes,
    read: ReadPage,
    encode: Encode,
) -> HTTPResponse:
    """The file `name`: `head` and the encoded rows of all pages. `read` gets the `next_before` of
    the previous page.

    Raises UnavailableError if there are too many files, and what `read` raises for the first page.
    """
    user = identity.user_id, identity.username  # all admin tokens have one ID
    if not context.streamed_files.acquire(user):
        raise UnavailableError(
            f"At most {MAX_STREAMED_FILES} files are sent at a time, and one to each user."
            " Try again when the other one is complete.",
            headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
        )
    with ExitStack() as place:
        place.callback(context.streamed_files.release, user)
        with context.database.transaction(is_slow=True) as conn:
            first = read(conn, None)
        start = head + encode(first.rows)
        rest = _generate(context, start, first.next_before, read, encode)
        parts = _Parts(rest, place.pop_all())
        return respond.file(parts, content_type, name)


def _generate(
    context: Context, start: bytes, before: int | None, read: ReadPage, encode: Encode
) -> Iterator[bytes]:
    """The parts of the file. No transaction is open between two parts, because the client may be
    slow."""
    yield start
    while before is not None:
        page = _read_part(context, read, before)
        if data := encode(page.rows):
            yield data
        before = page.next_before


def _read_part(context: Context, read: ReadPage, before: int) -> Page:
    """The next page. Waits while the database is busy, because an error would truncate the file."""
    for attempt in range(MAX_RETRIES + 1):
        try:
            with context.database.transaction(is_slow=True) as conn:
                return read(conn, before)
        except UnavailableError:
            if attempt == MAX_RETRIES or context.stopping.wait(RETRY_SECONDS):
                raise
    raise AssertionError
