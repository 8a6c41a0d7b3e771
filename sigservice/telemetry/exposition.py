"""The text format 0.0.4, without renaming counters."""

from collections.abc import Iterable, Iterator
from math import inf

from prometheus_client.core import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


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
