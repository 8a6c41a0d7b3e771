"""A document of the provider in memory, fetched when it is first needed."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from sigservice.concurrency.shared import Shared
from sigservice.errors import UnavailableError, copy_error
from sigservice.outgoing.provider import MAX_REQUESTS, ProviderError

FRESH_SECONDS, MAX_AGE_SECONDS, ERROR_SECONDS = 3600.0, 86_400.0, 5.0
Value = TypeVar("Value")


class CachedDocument(Generic[Value]):
    """`fetch(deadline)` raises ProviderError. The value is fresh for an hour, and is used for a day
    if it can't be fetched again; an error is kept for five seconds. Thread-safe."""

    def __init__(self, fetch: Callable[[float], Value], monotonic: Callable[[], float]) -> None:
        self._fetch, self._monotonic = fetch, monotonic
        self._shared = Shared[str, Value]()
        self._lock, self._slots = threading.Lock(), threading.BoundedSemaphore(MAX_REQUESTS)
        self._value: Value | None = None
        self._fetched_at = self._failed_at = float("-inf")
        self._error: ProviderError | None = None

    def get(self, deadline: float) -> Value:
        """Raises ProviderError."""
        with self._lock:
            now, value = self._monotonic(), self._value
            age = now - self._fetched_at
            if value is not None and age < FRESH_SECONDS:
                return value
            usable = value if age < MAX_AGE_SECONDS else None
            error = self._error if now - self._failed_at < ERROR_SECONDS else None
        if error is None:
            try:
                return self._refresh(deadline)
            except ProviderError as new_error:
                error = new_error
        if usable is None:
            raise copy_error(error)
        return usable

    def fetch_newer(self, deadline: float, min_age_seconds: float) -> Value:
        """Fetches the document even if it is fresh, unless the last attempt is less than
        `min_age_seconds` old. Raises like `get`."""
        with self._lock:
            last_at = max(self._fetched_at, self._failed_at)
            is_due = self._monotonic() - last_at >= min_age_seconds
        return self._refresh(deadline) if is_due else self.get(deadline)

    def _refresh(self, deadline: float) -> Value:
        """One thread fetches and a few wait for it, so a slow provider never occupies all
        workers."""
        if not self._slots.acquire(blocking=False):
            raise ProviderError("Too many requests wait for the provider.")
        try:
            return self._shared.get("", lambda: self._store(deadline))
        except UnavailableError:
            raise ProviderError("The provider is too slow.") from None
        finally:
            self._slots.release()

    def _store(self, deadline: float) -> Value:
        try:
            value = self._fetch(deadline)
        except ProviderError as error:
            with self._lock:
                self._error, self._failed_at = error, self._monotonic()
            raise
        with self._lock:
            self._value, self._fetched_at = value, self._monotonic()
            self._error = None
        return value
