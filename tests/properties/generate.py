"""Random JSON values, hostile texts and mutated bytes; the same for the same seed."""

from __future__ import annotations

import gzip
import json
import random
import struct
from typing import Any

# What databases, templates and shells have been known to trip over.
PIECES = (
    "", " ", "a", "é", "e\u0301", "ﬁ", "ß", "İ", "\U0001f600", "\U0001f468\u200d\U0001f469",
    "\u202e", "\ufeff", "\u2028", "\uffff", "\ufdd0", "\x01", "\x1f", "\x7f", "\x85", "\t", "\r\n",
    "\\", "\\u0000", "\\x00", "\\N", '"', "'", "''", "`", "--", ";", "%", "%s", "%(x)s", "_", "$1",
    "{}", "{0}", "{{", "}}", "{{!", "{{!base}}", "<", ">", "</", "<!--", "]]>", "&", "&lt;",
    "&#60;", "\u2039", "＜", "<b>", "<script>", "</script>", '"><img src=x onerror=alert(1)>',
    "' onmouseover='", "\n% import os\n", "<%\n1/0\n%>", "%end", "../", "null", "NaN", "0", "-0",
    "1e999", "\U0010ffff",
)  # fmt: skip


def make_text(random_: random.Random, longest: int = 8) -> str:
    item = "".join(random_.choices(PIECES, k=random_.randrange(longest)))
    return item if random_.random() < 0.97 else item * random_.randrange(1, 400)


def make_number(random_: random.Random) -> int | float:
    kind = random_.randrange(7)
    if kind == 0:
        return random_.randrange(-10, 10)
    if kind == 1:
        return random_.choice((-1, 1)) * (
            2 ** random_.choice((31, 32, 53, 63, 64)) + random_.randrange(-2, 3)
        )
    if kind == 2:
        return random_.choice((-1, 1)) * random_.getrandbits(random_.randrange(1, 4000))
    if kind == 3:
        return round(random_.uniform(-1000, 1000), random_.randrange(6))
    if kind == 4:
        return random_.choice(
            (0.0, -0.0, 0.1, 1e22, 1e23, 5e-324, 1.7976931348623157e308, 2.2e-308)
        )
    if kind == 5:
        return random_.random() * 10.0 ** random_.randrange(-30, 30)
    (item,) = struct.unpack("d", random_.randbytes(8))
    return item if item == item and abs(item) != float("inf") else 0.5


def make_value(random_: random.Random, depth: int = 4) -> Any:
    kind = random_.randrange(7 if depth else 5)
    if kind == 0:
        return random_.choice((None, True, False, "", {}, []))
    if kind in (1, 2):
        return make_text(random_)
    if kind in (3, 4):
        return make_number(random_)
    if kind == 5:
        return [make_value(random_, depth - 1) for _ in range(random_.randrange(6))]
    return {
        make_text(random_, 4): make_value(random_, depth - 1) for _ in range(random_.randrange(6))
    }


def nest(depth: int, innermost: Any = None) -> Any:
    item = innermost
    for level in range(depth):
        item = [item] if level % 2 else {"": item}
    return item


def encode(random_: random.Random, item: Any) -> bytes:
    """JSON in one of the spellings that senders use."""
    output = json.dumps(
        item,
        ensure_ascii=random_.random() < 0.5,
        indent=random_.choice((None, None, 1, "\t")),
        separators=random_.choice((None, (",", ":"), (" ,", " : "))),
    )
    return output.encode()


SPLICED = (
    b"\x00", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xf4\x90\x80\x80",
    b"\\u0000", b"\\ud800", b"\\udc00", b"\\u", b"\\", b'"', b"[" * 70, b"]" * 70, b'{"a":' * 70,
    b"{", b"}", b",", b":", b"1e400", b"1e-400", b"-0", b"9" * 5000, b"NaN", b"Infinity", b"nul",
    b"//", b"\x1f\x8b", b"\r\n\r\n", b"0" * 300, b".", b"-", b"e", b"'",
)  # fmt: skip


def mutate(random_: random.Random, data: bytes) -> bytes:
    for _ in range(random_.randrange(1, 5)):
        at, kind = random_.randrange(len(data) + 1), random_.randrange(6)
        end = min(len(data), at + random_.randrange(1, 20))
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + data[end:]
        elif kind == 2:
            data = data[:at] + random_.choice(SPLICED) + data[at:]
        elif kind == 3:
            data = data[:at] + random_.randbytes(random_.randrange(1, 4)) + data[at:]
        elif kind == 4 and data:
            flipped = bytearray(data)
            flipped[at - 1] ^= 1 << random_.randrange(8)
            data = bytes(flipped)
        else:
            data = data[:at] + data[at:end] * random_.randrange(1, 9) + data[at:]
    return data


def compress(random_: random.Random, data: bytes) -> bytes:
    """gzip, sometimes corrupt."""
    item = gzip.compress(data)
    return mutate(random_, item) if random_.random() < 0.5 else item


def make_number_literal(random_: random.Random) -> bytes:
    """Any JSON number, in any spelling, with up to some hundred digits."""
    digits = "".join(
        random_.choices("0123456789", k=random_.randrange(1, random_.choice((4, 30, 400))))
    )
    item = random_.choice(("", "-")) + (digits.lstrip("0") or "0")
    if random_.random() < 0.5:
        item += "." + random_.choice(("0", "9", "1")) * random_.randrange(
            1, random_.choice((3, 400))
        )
    if random_.random() < 0.6:
        exponent = random_.randrange(random_.choice((10, 400, 3000)))
        item += (
            random_.choice("eE")
            + random_.choice(("", "+", "-"))
            + random_.choice(("", "00"))
            + str(exponent)
        )
    return item.encode()
