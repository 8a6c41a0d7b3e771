"""delivery/checksums.py: the CRC of joined texts."""

from __future__ import annotations

import random
import zlib

from sigservice.delivery.checksums import combine, find_shift
from tests.table_tests import each


@each("length", [0, 1, 7, 64, 100_000])
def test_the_checksum_of_two_texts_is_that_of_both(length):
    choose = random.Random(length)
    first, second = choose.randbytes(1000), choose.randbytes(length)
    joined = combine(zlib.crc32(first), zlib.crc32(second), find_shift(length))
    assert joined == zlib.crc32(first + second)


def test_a_length_of_more_than_four_gigabytes_is_possible():
    both = combine(7, 0, find_shift(2**33 + 5))
    assert both == combine(combine(7, 0, find_shift(2**33)), 0, find_shift(5))
