"""A response body that answers many requests and is compressed once for all of them."""

import zlib
from functools import cached_property

_LEVEL, _GZIP = 5, 16  # to the window's bits, for the header of gzip
# A body of at most so many bytes gets a window of 4 kB: creating the usual one takes longer than
# compressing such a body.
_SMALL_BYTES = 16_384
_SMALL_WINDOW_BITS, _SMALL_MEMORY_LEVEL = 12, 5


class SharedBody(bytes):
    """For public resources: a flood of requests costs one compression, not one for each."""

    @cached_property
    def gzipped(self) -> bytes:
        return compress_gzip(self)


def compress_gzip(data: bytes) -> bytes:
    """In the format of gzip, without a time."""
    if len(data) > _SMALL_BYTES:
        compressor = zlib.compressobj(_LEVEL, wbits=_GZIP + zlib.MAX_WBITS)
    else:
        compressor = zlib.compressobj(
            _LEVEL, wbits=_GZIP + _SMALL_WINDOW_BITS, memLevel=_SMALL_MEMORY_LEVEL
        )
    return compressor.compress(data) + compressor.flush()
