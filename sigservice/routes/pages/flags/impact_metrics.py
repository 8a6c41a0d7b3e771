"""What the page of a flag shows of impact metrics: a table by metric and variant."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sigservice.web.sparkline import build_bars
from sigservice.web.usage_charts import Exposures, Usage


def make_impact_rows(
    metrics: Iterable[dict[str, Any]], usage: Usage, environments: Sequence[str], now: datetime
) -> list[dict[str, Any]]:
    """`metrics` are the metrics of the last day, shown in the order of `environments`; the charts
    show sums of counters, last values of gauges and means of histograms. Exposures of the day turn
    counters into rates, which variants of different shares can be compared by."""
    exposures = usage.count_exposures_of_day()
    places = {name: place for place, name in enumerate(environments)}
    return [
        metric
        | {
            "summary": _summarize(metric, sum(_select(exposures, metric).values())),
            "bars": _build_bars(metric, _select(exposures, metric), now),
            "label": f"{metric['name']} for {metric['variant']} by hour",
        }
        for metric in sorted(metrics, key=lambda it: places.get(it["environment"], len(places)))
    ]


def _select(exposures: Exposures, metric: dict[str, Any]) -> Mapping[int, int]:
    return exposures.get((metric["environment"], metric["variant"]), {})


def _summarize(metric: dict[str, Any], exposures: int) -> str:
    if metric["type"] == "counter":
        total = f"{metric['value']:,.12g} in total"
        return f"{metric['value'] / exposures:,.3g} per exposure, {total}" if exposures else total
    if metric["type"] == "gauge":
        return f"{metric['value']:,.12g} at last"
    return f"{metric['mean']:,.4g} on average of {metric['count']:,.12g}"


def _build_bars(
    metric: dict[str, Any], exposures: Mapping[int, int], now: datetime
) -> list[dict[str, int]]:
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    values = {
        int((this_hour - window["starts_at"]).total_seconds() // 3600): max(
            0.0, window["value"] if window["mean"] is None else window["mean"]
        )
        for window in metric["windows"]
    }
    if metric["type"] == "counter" and exposures:
        values = {ago: value / exposures[ago] for ago, value in values.items() if ago in exposures}
    return build_bars(values)
