"""The charts of a flag's evaluations on its page, one for each environment."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sigservice.db import Connection, Row
from sigservice.repository.usage import client_metrics
from sigservice.repository.usage.client_metrics import UsageFilter
from sigservice.web.sparkline import EXPOSURE_HEIGHT, build_exposure_bars

DEFAULT_PERIOD = "24h"
MAX_VARIANTS = 5  # with a color of their own


class Period(NamedTuple):
    """Charts show sums of `slot_hours` hours: metrics are stored by the hour."""

    label: str
    hours: int
    slot_hours: int

    @property
    def slots(self) -> int:
        return self.hours // self.slot_hours


PERIODS: Mapping[str, Period] = {
    "24h": Period("24 h", 24, 1),
    "7d": Period("7 d", 168, 6),
}


class Usage(NamedTuple):
    period: str
    slots: Sequence[Row]
    variants: Sequence[Row]
    variant_slots: Sequence[Row]

    def make_chart(self, environment: str, now: datetime) -> dict[str, Any] | None:
        """The values of templates/flags/features/chart.tpl; None without evaluations."""
        period = PERIODS[self.period]
        rows = [row for row in self.slots if row["environment"] == environment]
        if not rows:
            return None
        sums = [row for row in self.variants if row["environment"] == environment]
        names = [row["variant"] for row in sums][:MAX_VARIANTS]
        by_slot: dict[int, dict[str, int]] = {}
        for row in self.variant_slots:
            if row["environment"] == environment:
                by_slot.setdefault(row["ago"], {})[row["variant"]] = row["count"]
        counts = {row["ago"]: (row["yes"], row["no"]) for row in rows}
        yes, total = sum(row["yes"] for row in rows), sum(row["yes"] + row["no"] for row in rows)
        this_hour = now.replace(minute=0, second=0, microsecond=0)
        summary = f"{round(100 * yes / total) if total else 0}% of {total:,} evaluations got it"
        return {
            "bars": build_exposure_bars(counts, period.slots, by_slot, names),
            "busiest": max((sum(pair) for pair in counts.values()), default=0),
            "height": EXPOSURE_HEIGHT,
            "names": names,
            "start": f"{period.slots} h" if period.slot_hours == 1 else f"{period.hours // 24} d",
            "summary": summary,
            "variants": [
                (f"v{number}" if number < MAX_VARIANTS else "more", text)
                for number, text in enumerate(f"{row['variant']} {row['count']:,}" for row in sums)
            ],
            "rows": [
                {
                    "start": this_hour - timedelta(hours=(row["ago"] + 1) * period.slot_hours - 1),
                    "variants": [by_slot.get(row["ago"], {}).get(name, 0) for name in names],
                    **row,
                }
                for row in rows
            ],
        }


def read_usage(conn: Connection, feature: str, query: Mapping[str, str]) -> Usage:
    """The usage in the period that `query` names; an unknown period is the last day."""
    name = query.get("usage", "")
    name = name if name in PERIODS else DEFAULT_PERIOD
    period = PERIODS[name]
    filter = UsageFilter(feature, period.hours, period.slot_hours)
    return Usage(
        name,
        client_metrics.list_slots(conn, filter),
        client_metrics.list_variant_sums(conn, filter),
        client_metrics.list_variant_slots(conn, filter),
    )
