"""Bodies and queries: bounded, inflated, typed, and refused with a reason."""

from __future__ import annotations

import gzip
import io

import msgspec
import pytest

from sigservice import payload
from sigservice.errors import BadDataError, ContentTooLargeError, ContentTypeError
from sigservice.web import body
from tests.table_tests import each

LIMIT = 100


class Stream(io.BytesIO):
    """Counts the bytes that are read."""

    bytes_read = 0

    def read(self, size=-1):
        assert size >= 0, "nothing may be read without a bound"
        self.bytes_read += size
        return super().read(size)


def environ(data=b"", *, length=None, chunked=False, **more):
    result = {"wsgi.input": Stream(data), "CONTENT_TYPE": "application/json"} | more
    if chunked:
        result["wsgi.input_terminated"] = True
    else:
        result["CONTENT_LENGTH"] = str(len(data)) if length is None else length
    return result


def read(data=b"", limit=LIMIT, **more):
    return body.read_bytes(environ(data, **more), limit)


@pytest.mark.parametrize("chunked", [False, True])
def test_the_limit_is_inclusive(chunked):
    assert read(b"x" * LIMIT, chunked=chunked) == b"x" * LIMIT
    with pytest.raises(ContentTooLargeError):
        read(b"x" * (LIMIT + 1), chunked=chunked)


def test_too_large_a_body_is_not_read_whole():
    requests = environ(b"x" * 10_000)
    with pytest.raises(ContentTooLargeError):
        body.read_bytes(requests, LIMIT)
    assert requests["wsgi.input"].bytes_read == 0
    requests = environ(b"x" * 10_000, chunked=True)
    with pytest.raises(ContentTooLargeError):
        body.read_bytes(requests, LIMIT)
    assert requests["wsgi.input"].bytes_read == LIMIT + 1


def test_without_a_length_there_is_no_body():
    assert read(b"left over", length="") == b""
    assert body.read_bytes({"wsgi.input": Stream(b"left over")}, LIMIT) == b""
    assert read(b"left over", length="0") == b""
    assert read(b"1234", length="2") == b"12"


@each("length", ["-1", "+1", "1.0", "x", " ", "1 ", "0x1", "\u0661", "1,1"])
def test_a_length_that_is_no_number_is_refused(length):
    with pytest.raises(BadDataError):
        read(b"x", length=length)


@pytest.mark.parametrize("digits", [19, 4300, 4301, 50_000])
def test_a_length_of_many_digits_is_too_large(digits):
    with pytest.raises(ContentTooLargeError):
        read(b"x", length="9" * digits)


@each("encoding", ["gzip", "GZIP", " x-gzip "])
@each("chunked", [False, True])
def test_gzip_is_inflated(encoding, chunked):
    data = gzip.compress(b"x" * LIMIT)
    assert read(data, chunked=chunked, HTTP_CONTENT_ENCODING=encoding) == b"x" * LIMIT


@pytest.mark.parametrize("encoding", ["", "identity", "Identity"])
def test_no_encoding_changes_nothing(encoding):
    assert read(b"x", HTTP_CONTENT_ENCODING=encoding) == b"x"


@pytest.mark.parametrize("size", [LIMIT + 1, 10_000_000])
def test_what_inflates_beyond_the_limit_is_too_large(size):
    with pytest.raises(ContentTooLargeError):
        read(gzip.compress(b"\0" * size), 20_000 if size > 20_000 else LIMIT,
             HTTP_CONTENT_ENCODING="gzip")  # fmt: skip


@each(
    "data",
    [
        b"{}",
        b"\x1f\x8b",
        gzip.compress(b"{}", mtime=0)[:-1],
        gzip.compress(b"{}", mtime=0)[:-8],
        gzip.compress(b"{}", mtime=0) + b"x",
        gzip.compress(b"{}", mtime=0)[:-5] + b"\0" * 5,
        gzip.compress(b"{}", mtime=0).replace(b"\x1f\x8b\x08", b"\x1f\x8b\x09"),
    ],
)
def test_broken_gzip_is_refused(data):
    with pytest.raises(BadDataError):
        read(data, HTTP_CONTENT_ENCODING="gzip")


@each("encoding", ["br", "deflate", "gzip, gzip", "compress", "zstd", "*"])
def test_another_encoding_is_refused_unless_there_is_no_body(encoding):
    with pytest.raises(ContentTypeError):
        read(b"x", HTTP_CONTENT_ENCODING=encoding)
    assert read(b"", HTTP_CONTENT_ENCODING=encoding) == b""


@each(
    "content_type",
    [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/problem+json",
        "",
        "application/vnd.x+json;a=b",
        " application/json ",
        "application/json, application/json",
        "application/json;charset=utf-8,application/vnd.x+json",
        'application/json; a="b, text/a"',
    ],
)
def test_json_types_are_read(content_type):
    requests = environ(b'{"a": 1}', CONTENT_TYPE=content_type)
    assert body.read_json(requests) == ({"a": 1}, b'{"a": 1}')


@each(
    "content_type",
    [
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "text/plain+json",
        "application/json+xml",
        "multipart/form-data",
        "+json",
        "application/json, text/plain",
        "text/plain, application/json",
        "application/json,",
        "application/json; charset=utf-8, text/plain",
        'application/json; a="b, text/plain',
    ],
)
def test_other_types_are_refused_unless_there_is_no_body(content_type):
    with pytest.raises(ContentTypeError):
        body.read_json(environ(b"{}", CONTENT_TYPE=content_type))
    assert body.read_json(environ(b"", CONTENT_TYPE=content_type)) == (body.MISSING, b"")


@pytest.mark.parametrize("data", [b"", b" ", b"\r\n\t "])
def test_a_blank_body_is_missing(data):
    assert body.read_json(environ(data)) == (body.MISSING, b"")


def test_the_json_null_is_not_missing():
    assert body.read_json(environ(b"null")) == (None, b"null")


class Inner(msgspec.Struct):
    n: int


class Outer(msgspec.Struct):
    name: str
    items: list[Inner] = []


def test_a_struct_is_read_and_what_is_unknown_ignored():
    data = b'{"name": "x", "items": [{"n": 1}], "more": {}}'
    assert body.read_struct(environ(data), Outer) == Outer("x", [Inner(1)])


@each(
    "data path",
    [
        (b'{"name": 1}', "name"),
        (b'{"name": "x", "items": {}}', "items"),
        (b'{"name": "x", "items": [{"n": 1}, {"n": "2"}]}', "items[1].n"),
        (b"{}", "name"),
        (b"[]", None),
        (b"null", None),
    ],
)
def test_a_wrong_struct_is_told_where(data, path):
    with pytest.raises(BadDataError) as caught:
        body.read_struct(environ(data), Outer)
    (detail,) = caught.value.details
    assert detail.get("path") == path
    assert detail["message"] == caught.value.message


def test_a_struct_needs_a_body_and_a_type():
    with pytest.raises(BadDataError):
        body.read_struct(environ(b""), Outer)
    for absent in ({"CONTENT_TYPE": ""}, {"CONTENT_TYPE": None}):
        with pytest.raises(ContentTypeError):
            body.read_struct(environ(b'{"name": "x"}', **absent), Outer)


def form(data, content_type="application/x-www-form-urlencoded; charset=utf-8", **more):
    return body.read_form(environ(data, CONTENT_TYPE=content_type, **more))


PAIRS = [
    ("", {}),
    ("a=1&b=", {"a": "1", "b": ""}),
    ("a", {"a": ""}),
    ("a=1&a=2", {"a": "2"}),
    ("a=b=c", {"a": "b=c"}),
    ("a=1;b=2", {"a": "1;b=2"}),
    ("a+b=%2B+%26", {"a b": "+ &"}),
    ("%C3%A9=%F0%9F%98%80", {"é": "\U0001f600"}),
    ("a=%0D%0A%3Cb%3E", {"a": "\r\n<b>"}),
    ("a=%", {"a": "%"}),
    ("a=%zz", {"a": "%zz"}),
    ("&&a=1&", {"a": "1"}),
    ("&".join(f"a{n}={n}" for n in range(200)), {f"a{n}": str(n) for n in range(200)}),
]
REFUSED = [
    "a=%FF", "a=%C3", "a=%ED%A0%80", "%C0%80=1", "a=%00", "%00", "a=\x00", "a=\xe9",
    "&".join("a" for _ in range(201)),
]  # fmt: skip


@each("text pairs", PAIRS)
def test_pairs_are_read_as_utf_8(text, pairs):
    assert body.read_query({"QUERY_STRING": text}) == pairs
    assert form(text.encode()) == pairs


@each("text", REFUSED)
def test_what_is_no_text_is_refused(text):
    with pytest.raises(BadDataError):
        body.read_query({"QUERY_STRING": text})
    with pytest.raises(BadDataError):
        form(text.encode("latin-1"))


def test_no_query_is_empty():
    assert body.read_query({}) == {}


def test_a_form_has_its_type_and_its_limit():
    assert form(b"", "text/plain") == {}
    form_type = "application/x-www-form-urlencoded"
    assert form(b"a=1", f"{form_type}; charset=utf-8, {form_type}") == {"a": "1"}
    others = ("text/plain", "multipart/form-data", "application/json", f"{form_type};a, text/plain")
    for content_type in (*others, ""):
        with pytest.raises(ContentTypeError):
            form(b"a=1", content_type)
    assert form(b"a=" + b"x" * (body.FORM_LIMIT - 2))
    with pytest.raises(ContentTooLargeError):
        form(b"a=" + b"x" * (body.FORM_LIMIT - 1))
    assert form(gzip.compress(b"a=1"), HTTP_CONTENT_ENCODING="gzip") == {"a": "1"}


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("007", 7), ("100", 100), ("", 42)])
def test_a_whole_number_is_read_or_its_default(text, number):
    assert body.read_number({"n": text}, "n", 42, 1, 100) == number
    assert body.read_number({}, "n", None, 1, 100) is None


@each(
    "text",
    ["0", "101", "-1", "+1", "1.0", "1e1", " 1", "1 ", "\u0661", "\u00b2", "x", "1_0", "9" * 5000],
)
def test_another_text_is_told_at_its_name(text):
    with pytest.raises(BadDataError) as caught:
        body.read_number({"n": text}, "n", 42, 1, 100)
    assert caught.value.details[0]["path"] == "n"
    assert "from 1 to 100" in caught.value.message


@each(
    "text is_harmless",
    [
        (b'{"id": "0f3e9c2e-5e1e-4e7a-8b3e-2e6f1e9a7c4e", "n": 1.5}', True),
        (b'{"n": 1e400}', False),
        (b'{"n":[1,-2.5E400]}', False),
        (b'{"text": "\\u0000"}', False),
        (b'{"text": "\xff"}', False),
        (b"[" * 65, False),
    ],
)
def test_only_plain_json_is_decoded_without_looking_at_what_is_skipped(text, is_harmless):
    assert payload.is_harmless(text) == is_harmless
