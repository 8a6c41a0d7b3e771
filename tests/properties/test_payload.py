"""What a payload may be: anything that is JSON survives, anything else is refused and no more."""

from __future__ import annotations

import json
import random
import time
from decimal import Decimal, InvalidOperation
from typing import Any

import pytest
import webtest

from sigservice import payload
from sigservice.errors import AppError, BadDataError
from sigservice.routes.pages.signals.signals import format_payload
from tests.conftest import ADMIN, Make
from tests.properties.generate import (
    compress,
    encode,
    make_number_literal,
    make_text,
    make_value,
    mutate,
    nest,
)
from tests.table_tests import each

URL = "/api/signal-endpoint/deploys"
UNLIMITED = {"SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND": "100000"}


class Sender:
    """An endpoint with a token and a high limit."""

    def __init__(self, web: webtest.TestApp) -> None:
        self.web, make = web, Make(web)
        self.endpoint = make.endpoint()
        self._auth = {"Authorization": make.token(self.endpoint)["token"]}

    def __call__(
        self, data: bytes, content_type: str = "application/json", **headers: str
    ) -> webtest.TestResponse:
        return self.web.post(
            URL, data, self._auth | headers, content_type=content_type, expect_errors=True
        )

    def list_payloads(self) -> dict[int, Any]:
        """The payloads by signal ID."""
        path = f"/api/admin/signal-endpoints/{self.endpoint['id']}/signals?limit=1000"
        rows = exactly(self.web.get(path, headers=ADMIN).body)["signalEndpointSignals"]
        return {int(row["id"]): row["payload"] for row in rows}


@pytest.fixture
def sender(make_service) -> Sender:
    return Sender(webtest.TestApp(make_service(environ=UNLIMITED).app))


@pytest.fixture(scope="module")
def conn(temporary_database):
    conn = temporary_database.connect()
    yield conn
    conn.close()


def exactly(data: bytes) -> Any:
    """Numbers as numbers, to the last digit: 1.50 is 1.5 and 1e2 is 100, but 0.1 no float."""
    return json.loads(data, parse_int=number, parse_float=number)


def number(literal: str) -> Decimal | str:
    try:
        return Decimal(literal)
    except InvalidOperation:  # its exponent is beyond what even a Decimal holds
        return literal


def takes(conn: Any, data: bytes) -> bool:
    """Whether the column's type does."""
    from psycopg2 import Error

    with conn.cursor() as cursor:
        try:
            cursor.execute("SELECT %s::json IS NOT NULL", (data.decode(),))
        except Error:
            return False
        return bool(cursor.fetchone()[0])


def accepted(data: bytes) -> bool:
    try:
        payload.parse(data)
    except BadDataError:
        return False
    return True


def test_any_json_value_is_listed_unchanged(sender):
    random_ = random.Random(1)
    payloads = {}
    whole = [
        nest(64), nest(64, "x"), "x" * 100_000, "\U0001f600" * 25_000, {"": {"": ""}},
        {f"k{n}": n for n in range(5000)}, list(range(15_000)), 10**4299, -(10**4298), "", {}, [],
    ]  # fmt: skip
    for body in [*whole, *(make_value(random_) for _ in range(250))]:
        data = encode(random_, body)
        if len(data) > 102_400:
            continue
        answer = sender(data)
        assert answer.status_int == 200, data[:200]
        (signal,) = exactly(answer.body)["signals"]
        assert signal["payload"] == exactly(data)
        payloads[int(signal["id"])] = exactly(data)
    assert len(payloads) > 240
    assert sender.list_payloads() == payloads


def test_last_of_duplicate_keys_counts(sender):
    sender(b'{"a": 1, "b": {"x": 1, "x": 2}, "a": [3], "\\u0061": 4}')
    assert list(sender.list_payloads().values()) == [{"a": 4, "b": {"x": 2}}]


def test_no_body_makes_the_service_fail(sender):
    random_ = random.Random(2)
    count, statuses = 0, set()
    for n in range(500):
        data = mutate(random_, encode(random_, make_value(random_, 2)))
        headers = {}
        if n % 5 == 0:
            data, headers = compress(random_, data), {"Content-Encoding": "gzip"}
        answer = sender(data, **headers)
        assert answer.status_int in (200, 400, 413), (data[:300], answer.text)
        assert answer.content_type == "application/json"
        count += answer.status_int == 200
        statuses.add(answer.status_int)
        if answer.status_int == 200 and not headers:
            assert exactly(answer.body)["signals"][0]["payload"] == (
                exactly(data) if data.strip() else {}
            )
    assert statuses >= {200, 400}
    assert len(sender.list_payloads()) == count


def test_no_header_makes_the_service_fail(sender):
    random_ = random.Random(3)
    for _ in range(100):
        noise = "".join(chr(random_.randrange(32, 256)) for _ in range(random_.randrange(30)))
        kind = random_.choice(("application/json", "application/json;" + noise, noise))
        encoding = random_.choice(("", "gzip", "identity", noise))
        answer = sender(b"{}", kind or "x", **{"Content-Encoding": encoding})
        assert answer.status_int in (200, 400, 415), (kind, encoding, answer.text)


def test_every_accepted_body_is_stored_and_formatted(conn):
    """Bodies that the column or the page can't hold are rejected before."""
    random_ = random.Random(4)
    count = 0
    for _ in range(900):
        data = mutate(random_, encode(random_, make_value(random_, 2)))
        if accepted(data):
            count += 1
            assert takes(conn, data), data[:300]
            assert exactly(format_payload(data.decode()).encode()) == exactly(data)
    assert count > 100


def test_every_accepted_number_is_stored_and_formatted(conn):
    random_ = random.Random(5)
    count = 0
    for _ in range(500):
        data = make_number_literal(random_)
        if accepted(data):
            count += 1
            assert takes(conn, data), data[:300]
            assert exactly(format_payload(data.decode()).encode()) == exactly(data)
    assert count > 250


ORDINARY = [
    b"-0", b"-0.0", b"0e0", b"-0E-0", b"0e999999", b"1E+0000000000000001", b"9" * 4000,
    b"-" + b"9" * 4000, b"1." + b"9" * 4000, b"0." + b"0" * 4000 + b"1", b"0.1e1", b"1e308",
    b"1e-307", b"9007199254740993", b"18446744073709551616", b"0.1000",
    b"123456789.123456789123456789",
]  # fmt: skip
TINY = [b"1e-400", b"-1e-16383", b"0e-16383", b"1" + b"0" * 4000 + b"e-4000", b"1." + b"9" * 16_383]
TOO_TINY = [
    b"1e-16384", b"1e-20000", b"-1e-99999999", b"1e-99999999999999999999999", b"0e-20000",
    b"0." + b"0" * 20_000 + b"1", b"1." + b"9" * 16_384, b"1" + b"0" * 4000 + b"e-40000",
]  # fmt: skip


def short(data: bytes) -> str:
    return f"{data[:12]!r}-{len(data)}"


def test_number_keeps_all_digits(sender):
    """Beyond what a double can hold, too."""
    for data in ORDINARY:
        assert sender(data).status_int == 200, short(data)
    assert list(sender.list_payloads().values())[::-1] == [exactly(data) for data in ORDINARY]


def test_tiny_number_is_stored_or_rejected_but_never_rounded(sender):
    accepted_data = [data for data in TINY + TOO_TINY if sender(data).status_int == 200]
    assert list(sender.list_payloads().values())[::-1] == [exactly(data) for data in accepted_data]
    statuses = {sender(data).status_int for data in TINY + TOO_TINY}
    assert statuses <= {200, 400}


@pytest.mark.parametrize("data", TINY + TOO_TINY, ids=short)
def test_tiny_number_is_rejected_before_the_database(conn, data):
    assert takes(conn, data) or not accepted(data)


@each(
    "data",
    [
        b"1e309",
        b"-1e999999",
        b"1e99999999999999999999",
        b"9" * 4301,
        b"9" * 100_000,
        b"01",
        b"-",
        b"1.",
        b".1",
        b"+1",
        b"1e",
        b"0x1",
        b"1_0",
        b"NaN",
        b"-Infinity",
        b"\xd9\xa1",
    ],
)
def test_invalid_number_is_rejected(data):
    with pytest.raises(BadDataError):
        payload.parse(data)


@pytest.mark.parametrize("depth", [1, 63, 64, 65, 200, 30_000])
def test_nesting_is_limited_to_64(conn, depth):
    for opened, closed in ((b"[", b"]"), (b'{"a":', b"}"), (b'[{"]":', b"}]")):
        levels = depth // len(closed)
        data = opened * levels + b"1" + closed * levels
        assert accepted(data) is (levels * len(closed) <= 64)
        if accepted(data):
            assert takes(conn, data)


def test_brackets_in_strings_are_no_nesting():
    body = ["[" * 500, '"' + "{" * 500 + "\\", "\\" * 3 + '"[[', {"[" * 100: "]" * 100}]
    assert payload.parse(json.dumps(body).encode()) == body


@pytest.mark.parametrize("ends", [b"", b'"', b"\\", b'"]'])
def test_parsing_time_grows_linearly_with_the_size(ends):
    data = b"[" * 65 + b'"' + b'\\"' * 8000 + ends
    began = time.thread_time()
    with pytest.raises(AppError):
        payload.parse(data)
    assert time.thread_time() - began < 0.1


@pytest.mark.parametrize("literal", [b"1e-16383", b"0e-16383", b"-1E-16000", b"1e308"])
def test_small_body_does_not_become_a_large_response(sender, literal):
    data = b"[" + b",".join([literal] * 300) + b"]"
    answer = sender(data)
    assert answer.status_int == 400 or len(answer.body) < 2 * len(data) + 500


def test_unescape_never_changes_the_value():
    random_ = random.Random(6)
    for _ in range(400):
        body = {make_text(random_): [make_text(random_), make_value(random_, 2)]}
        original = encode(random_, body).decode()
        plain = payload.unescape(original)
        assert exactly(plain.encode()) == exactly(original.encode())
        assert payload.unescape(plain) == plain
        assert len(plain.encode()) <= len(original.encode())
        assert accepted(plain.encode()) is accepted(original.encode()) is True


@each(
    "original plain",
    [
        (r'"\u00e9"', '"é"'),
        (r'"\u00E9\u0041"', '"éA"'),
        (r'"\ud83d\ude00"', '"\U0001f600"'),
        (r'"\uD83D\uDE00\ud83d\ude01"', '"\U0001f600\U0001f601"'),
        (r'"\\u0041"', r'"\\u0041"'),
        (r'"\\\u0041"', r'"\\A"'),
        (r'"\u0022\u005c\u005C"', r'"\u0022\u005c\u005C"'),
        (r'"\u0001\u000a\u007f\u2028"', r'"\u0001\u000a\u007f\u2028"'),
        (r'"\n\/\""', r'"\n\/\""'),
        (r'{"\u0061":1}', '{"a":1}'),
    ],
)
def test_only_printable_characters_are_unescaped(original, plain):
    assert accepted(original.encode())
    assert payload.unescape(original) == plain
