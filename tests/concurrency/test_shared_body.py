"""Bodies that are compressed once for many requests."""

from __future__ import annotations

import gzip
import random

from sigservice.concurrency.shared_body import SharedBody
from tests.table_tests import each


@each("size", [0, 1024, 16_384, 16_385, 200_000])
def test_a_compressed_body_has_its_bytes(size):
    text = b"{%d}" * size
    data = SharedBody(text[: size // 2] + random.Random(1).randbytes(size - size // 2))
    assert gzip.decompress(data.gzipped) == data


def test_a_small_body_is_as_small_as_with_the_usual_window():
    data = SharedBody(b'{"name":"flag-a","enabled":true,"variant":{"name":"disabled"}},' * 60)
    assert len(data.gzipped) <= len(gzip.compress(data, 5)) * 1.1
