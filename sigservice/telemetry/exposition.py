"""The text of metrics: the format 0.0.4, without renaming counters, written once for concurrent
scrapes."""

import threading
from collections.abc import Callable, Iterable, Iterator
from math import inf

from prometheus_client.core import Metric

from sigservice.concurrency import wait_budget
from sigservice.concurrency.shared_body import SharedBody
from sigservice.concurrency.workers import release_turn
from sigservice.errors import build_busy_error

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LONG_SECONDS = 0.2
CACHE_FACTOR = 10  # the cache lives so many times as long as writing took
RECENT_SECONDS = 1.0


def write(metrics: Iterable[Metric]) -> bytes:
    lines = [line for metric in metrics for line in _lines(metric)]
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _lines(metric: Metric) -> Iterator[str]:
    name, kind = metric.name, metric.type
    if kind == "counter" and any(s.name == f"{name}_total" for s in metric.samples):
        name += "_total"
    text = metric.documentation.replace("\\", "\\\\").replace("\n", "\\n")
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {'untyped' if kind == 'unknown' else kind}"
    for sample in metric.samples:
        labels = ",".join(
            f'{label}="{_escaped(value)}"' for label, value in sorted(sample.labels.items())
        )
        where = f"{{{labels}}}" if labels else ""
        yield f"{sample.name}{where} {_number(sample.value)}"


def _number(value: float) -> str:
    return {inf: "+Inf", -inf: "-Inf"}.get(value) or repr(float(value))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


class CachedExposition:
    """One caller writes at a time; others get the cached text or wait, so that a flood of requests
    without a token can't block all workers. Text that takes long to write, because clients reported
    many names, is cached longer."""

    def __init__(self, write: Callable[[], bytes], monotonic: Callable[[], float]) -> None:
        self._write, self._monotonic = write, monotonic
        self._writing, self._cached = threading.Lock(), SharedBody(b"")
        self._cached_until = self._recent_until = 0.0

    def read(self) -> SharedBody:
        """Raises what `write` raises, and UnavailableError if the request has waited too long."""
        if not self._writing.acquire(blocking=False):
            if self._monotonic() < self._recent_until:
                return self._cached
            release_turn()
            if not wait_budget.wait(self._writing.acquire):
                raise build_busy_error()
        try:
            started_at = self._monotonic()
            if started_at >= self._cached_until:
                self._cached = SharedBody(self._write())
                ended_at = self._monotonic()
                seconds = ended_at - started_at
                self._cached_until = started_at + (
                    seconds * CACHE_FACTOR if seconds > LONG_SECONDS else 0
                )
                self._recent_until = ended_at + max(RECENT_SECONDS, seconds * CACHE_FACTOR * 2)
            return self._cached
        finally:
            self._writing.release()
