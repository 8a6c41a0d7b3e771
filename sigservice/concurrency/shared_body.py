"""A response body that answers many requests and is compressed once for all of them."""

import gzip
from functools import cached_property


class SharedBody(bytes):
    """For public resources: a flood of requests costs one compression, not one for each."""

    @cached_property
    def gzipped(self) -> bytes:
        return gzip.compress(self, 5, mtime=0)
