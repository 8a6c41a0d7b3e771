"""How often a flag was evaluated, on its page: a chart for each environment."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.repository.usage import client_metrics
from sigservice.web.forms import Field, make_choices
from sigservice.web.sparkline import build_exposure_bars

DEFAULT_PERIOD = "24h"
MAX_APPLICATIONS = (
    50  # in the list of choices: frontend tokens are public, so names can be invented
)


class Period(NamedTuple):
    """Charts show sums of `slot_hours` hours: metrics are stored by the hour."""

    label: str
    hours: int
    slot_hours: int

    @property
    def slots(self) -> int:
        return self.hours // self.slot_hours


PERIODS: Mapping[str, Period] = {
    "1h": Period("hour", 2, 1),  # the current hour, and the one before it
    "24h": Period("24 hours", 24, 1),
    "7d": Period("7 days", 168, 6),
    "30d": Period("30 days", 720, 24),
}


SDK_TYPES = {"backend": "Client tokens", "frontend": "Frontend tokens"}


class Usage(NamedTuple):
    period: str
    app_name: str
    sdk_type: str
    app_names: Sequence[str]
    slots: Sequence[Row]
    variants: Sequence[Row]

    def make_fields(self) -> list[Field]:
        """The filter of the charts."""
        periods = [(name, f"Last {period.label}") for name, period in PERIODS.items()]
        names = self.app_names[:MAX_APPLICATIONS]
        sdk_types = [("", "All tokens"), *SDK_TYPES.items()]
        apps = make_choices(names, ("", "All applications"))
        return [
            Field("usage", "Usage", self.period, "select", choices=periods),
            Field("app", "Application", self.app_name, "select", choices=apps),
            Field("sdk", "Reported with", self.sdk_type, "select", choices=sdk_types),
        ]

    def make_chart(self, environment: str, now: datetime) -> dict[str, Any] | None:
        """None without metrics of the environment."""
        period = PERIODS[self.period]
        rows = [row for row in self.slots if row["environment"] == environment]
        if not rows:
            return None
        counts = {row["ago"]: (row["yes"], row["no"]) for row in rows}
        yes, no = sum(row["yes"] for row in rows), sum(row["no"] for row in rows)
        percentage = round(100 * yes / (yes + no)) if yes else 0
        this_hour = now.replace(minute=0, second=0, microsecond=0)
        label = f"{yes:,} exposed and {no:,} not exposed in the last {period.label}"
        return {
            "bars": build_exposure_bars(counts, period.slots),
            "busiest": max(max(pair) for pair in counts.values()),
            "start": f"{period.slots} h" if period.slot_hours == 1 else f"{period.hours // 24} d",
            "heading": f"Last {period.label}",
            "label": f"{label} in {environment}",
            "summary": f"{yes:,} exposed ({percentage}%, upwards), {no:,} not exposed (downwards)",
            "variants": [
                f"{row['variant']} {row['count']:,}"
                for row in self.variants
                if row["environment"] == environment
            ],
            "rows": [{"start": _find_start(row["ago"], period, this_hour), **row} for row in rows],
        }


def read_usage(conn: Connection, feature: str, query: Mapping[str, str]) -> Usage:
    """Of the period, application and SDK type that `query` names. An unknown period is the last
    day, an unknown type means both."""
    name = query.get("usage", "")
    name = name if name in PERIODS else DEFAULT_PERIOD
    period, app_name = PERIODS[name], query.get("app", "")
    sdk_type = query.get("sdk", "")
    sdk_type = sdk_type if sdk_type in SDK_TYPES else ""
    only: dict[str, Any] = {"hours": period.hours}
    only |= {"app_name": app_name or None, "sdk_type": sdk_type or None}
    return Usage(
        name,
        app_name,
        sdk_type,
        client_metrics.list_app_names(conn, feature),
        client_metrics.list_slots(conn, feature, slot_hours=period.slot_hours, **only),
        client_metrics.list_variant_sums(conn, feature, **only),
    )


def _find_start(ago: int, period: Period, this_hour: datetime) -> datetime:
    return this_hour - timedelta(hours=(ago + 1) * period.slot_hours - 1)
