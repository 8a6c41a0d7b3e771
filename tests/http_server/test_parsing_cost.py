"""What one request may cost: passes over its bytes, appends, requests at a time."""

from __future__ import annotations

import errno
from types import SimpleNamespace

import pytest
from waitress.adjustments import Adjustments
from waitress.buffers import OverflowableBuffer

from sigservice.concurrency.quotas import Quotas
from sigservice.http_server.http_parsing import (
    SMALL_BODY_BYTES,
    BodyLimits,
    BodyPermit,
    ChunkedBody,
    Parser,
)

ADJUSTMENTS = Adjustments(max_request_header_size=32_768, max_request_body_size=5_500_000)
READ = 8192  # what waitress reads at a time


class CountingBuffer(OverflowableBuffer):
    appends = 0

    def append(self, data):
        self.appends += 1
        super().append(data)


class CountingBytes(bytearray):
    looked_at = 0

    def find(self, text, start=0):
        self.looked_at += len(self) - start
        return super().find(text, start)


def feed(receiver, data, size=READ):
    """How many bytes it takes of `data` in reads of `size` bytes."""
    position = 0
    while position < len(data) and not (receiver.completed or receiver.error):
        position += receiver.received(data[position : position + size])
    return position


def chunked(size, count):
    return b"%x\r\n%s\r\n" % (size, b"x" * size) * count + b"0\r\n\r\n"


def parser(limit=10**9, *, is_known=False, unknown=None, names=None):
    permit = BodyPermit(limit, is_known, "192.0.2.1")
    shares = unknown or Quotas(), names or Quotas()
    return Parser(ADJUSTMENTS, BodyLimits(lambda *_: permit, *shares))


def head(*lines, method="POST"):
    fields = "".join(f"{line}\r\n" for line in ("Host: x", *lines))
    return f"{method} /x HTTP/1.1\r\n{fields}\r\n".encode()


@pytest.mark.parametrize(("size", "count"), [(1, 200), (2, 250), (40, 3000), (5000, 30)])
@pytest.mark.parametrize("read", [1, 7, READ])
def test_chunks_are_decoded_whatever_the_reads(size, count, read):
    body = ChunkedBody(OverflowableBuffer(10**9))
    data = chunked(size, count)
    assert feed(body, data + b"GET /", read) == len(data)
    assert body.completed
    assert not body.error
    assert body.getfile().read() == b"x" * size * count
    assert len(body) == size * count


@pytest.mark.parametrize(("size", "most"), [(1, 300), (8, 400), (16, 600)])
def test_small_chunks_end_the_request_soon(size, most):
    body = ChunkedBody(OverflowableBuffer(10**9))
    one = len(chunked(size, 1)) - 5
    assert feed(body, chunked(size, 500_000), one) <= most * one
    assert body.error.code == 400


def test_chunks_of_one_read_are_one_append():
    buffer = CountingBuffer(10**9)
    body = ChunkedBody(buffer)
    data = chunked(40, 20_000)
    feed(body, data)
    assert body.completed
    assert buffer.appends <= len(data) / READ + 1


@pytest.mark.parametrize(
    "data",
    [
        b"1;" + b"a" * 10_000,
        b"0" * 10_000,
        b"0\r\n" + b"a: b\r\n" * 10_000,
        b"0\r\nA: " + b"a" * 10_000,
        b"\r\n" * 10_000,
        b"1\r\nx" + b"y" * 10_000,
    ],
    ids=["extension", "zeros", "trailer lines", "trailer line", "blank lines", "no end"],
)
@pytest.mark.parametrize("read", [1, READ])
def test_what_is_no_body_is_bounded_in_it(data, read):
    body = ChunkedBody(OverflowableBuffer(10**9))
    feed(body, data, read)
    assert body.error.code == 400


def test_head_that_comes_byte_by_byte_is_looked_at_once():
    request = parser()
    request._head = counting = CountingBytes()
    data = head("A: " + "a" * 20_000)
    for number in range(len(data)):
        request.received(data[number : number + 1])
    assert request.completed
    assert request.headers["A"] == "a" * 20_000
    assert counting.looked_at <= 5 * len(data)


def test_too_many_header_lines_are_refused():
    request = parser()
    request.received(head(*["A: b"] * 400))
    assert request.completed
    assert not request.error
    request = parser()
    request.received(head(*["A: b"] * 600))
    assert request.error.code == 431


def test_blank_lines_before_a_request_begin_none():
    request = parser()
    assert request.received(b"\r\n" * 4000) == 8000
    assert not request.has_begun
    request.received(head(method="GET"))
    assert request.completed
    assert not request.error


@pytest.mark.parametrize("framing", ["Content-Length: 60000", "Transfer-Encoding: chunked"])
def test_body_above_the_limit_of_its_path_is_left_unread(framing):
    request = parser(limit=20_000)
    request.received(head(framing, "Expect: 100-continue"))
    feed(request, chunked(6000, 10))
    assert request.body_refused
    assert not request.error
    assert not request.expect_continue
    assert request.headers["CONNECTION"] == "close"
    assert int(request.headers["CONTENT_LENGTH"]) > 20_000
    assert request.get_body_stream().read() == b""


def test_small_body_is_read_whatever_the_limit():
    request = parser(limit=0)
    request.received(head(f"Content-Length: {SMALL_BODY_BYTES}"))
    feed(request, b"x" * SMALL_BODY_BYTES)
    assert not request.body_refused
    assert len(request.get_body_stream().read()) == SMALL_BODY_BYTES


@pytest.mark.parametrize("framing", ["Content-Length: 60000", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("is_known", [True, False])
def test_large_body_holds_a_share_until_the_request_ends(framing, is_known):
    own, other = Quotas(total=70_000), Quotas()
    shares = {"names": own, "unknown": other} if is_known else {"names": other, "unknown": own}
    first, second = (parser(is_known=is_known, **shares) for _ in range(2))
    body = b"x" * 50_000 if "Length" in framing else chunked(5000, 10)[:-5]
    for request in (first, second):
        request.received(head(framing))
        feed(request, body)
    assert not first.completed
    assert second.error.code == 503
    second.close()
    first.close()
    assert own.acquire("", 70_000)


def test_small_body_is_read_without_asking():
    request = Parser(ADJUSTMENTS, SimpleNamespace(decide=None))
    request.received(head("Content-Length: 16000"))
    feed(request, b"x" * 16_000)
    assert request.completed
    assert not request.error


class FullDisk(OverflowableBuffer):
    """Writes to a file for which the disk has no more space."""

    def append(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    def close(self):
        super().close()
        raise OSError(errno.ENOSPC, "No space left on device")  # closing writes the rest first


@pytest.mark.parametrize("framing", ["Content-Length: 60000", "Transfer-Encoding: chunked"])
def test_full_disk_of_temporary_files_ends_the_request(framing):
    share = Quotas(total=60_000)
    request = parser(unknown=share)
    request.received(head(framing))
    body = b"x" * 30_000 if "Length" in framing else chunked(5000, 6)[:-5]
    feed(request, body)
    request.body_rcv.buf = FullDisk(1)
    feed(request, body)
    assert request.error.code == 503
    assert share.acquire("", 60_000)
