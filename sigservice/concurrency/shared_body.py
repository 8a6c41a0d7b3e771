"""A response body that answers many requests and is compressed once for all of them."""

from __future__ import annotations

import gzip
import threading


class SharedBody(bytes):
    """For public resources: a flood of requests costs one compression, not one for each."""

    _gzipped: bytes | None
    _lock: threading.Lock

    def __new__(cls, data: bytes) -> SharedBody:
        body = super().__new__(cls, data)
        body._gzipped, body._lock = None, threading.Lock()
        return body

    @property
    def gzipped(self) -> bytes:
        with self._lock:
            if self._gzipped is None:
                self._gzipped = gzip.compress(self, 5, mtime=0)
            return self._gzipped
