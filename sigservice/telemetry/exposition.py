"""The text of metrics: the format 0.0.4, without renaming counters, written once for concurrent
scrapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import inf

from sigservice.concurrency.shared import Shared
from sigservice.concurrency.shared_body import SharedBody
from sigservice.late import prometheus_core

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LONG_SECONDS = 0.2
CACHE_FACTOR = 10  # the cache lives so many times as long as writing took
MAX_CACHE_SECONDS = 10.0


def write(metrics: Iterable[prometheus_core.Metric]) -> bytes:
    lines = [line for metric in metrics for line in _lines(metric)]
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _lines(metric: prometheus_core.Metric) -> Iterator[str]:
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
    """Callers at the same time share one text, so that a flood of requests without a token can't
    block all workers. A text that takes long to write, because clients reported many names, is
    cached."""

    def __init__(self, write: Callable[[], bytes], monotonic: Callable[[], float]) -> None:
        self._write_text, self._monotonic = write, monotonic
        self._shared = Shared[str, SharedBody](keeps=True, seconds=monotonic)
        self._seconds = 0.0

    def read(self) -> SharedBody:
        """Raises what `write` raises, and UnavailableError if the request has waited too long."""
        seconds = self._seconds
        max_age = min(seconds * CACHE_FACTOR, MAX_CACHE_SECONDS) if seconds > LONG_SECONDS else 0.0
        return self._shared.get("", self._write, max_age=max_age)

    def _write(self) -> SharedBody:
        began_at = self._monotonic()
        body = SharedBody(self._write_text())
        self._seconds = self._monotonic() - began_at
        return body
