"""The charts of a flag's evaluations on its page, one for each environment."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sigservice.db import Connection, Row
from sigservice.repository.usage import client_metrics
from sigservice.repository.usage.client_metrics import UsageFilter
from sigservice.web.forms import Field, make_choices
from sigservice.web.sparkline import EXPOSURE_HEIGHT, build_exposure_bars, find_line

DEFAULT_PERIOD = "24h"
MAX_VARIANTS = 5  # with a color of their own
MARK_HEIGHT = 28  # pixels of the marks
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


# Of the marks, around their center.
SHAPES = {
    "person": "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z",
    "alert": "M0-7L7 0L0 7L-7 0Z",
    "revert": "M-5-5H5V5H-5Z",
    "release": "M0-7L7 6H-7Z",
}
SDK_TYPES = {"backend": "Client tokens", "frontend": "Frontend tokens"}


class Mark(NamedTuple):
    """An event of a flag at a time: `kind` is person, alert, revert or release."""

    at: datetime
    environment: str
    kind: str
    text: str
    path: str


class Usage(NamedTuple):
    period: str
    app_name: str
    sdk_type: str
    app_names: Sequence[str]
    slots: Sequence[Row]
    variants: Sequence[Row]
    variant_slots: Sequence[Row]

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

    def make_chart(
        self, environment: str, now: datetime, marks: Sequence[Mark] = ()
    ) -> dict[str, Any] | None:
        """The values of templates/flags/features/timeline.tpl; None without metrics and marks of
        the environment. `marks` are newest first."""
        period = PERIODS[self.period]
        rows = [row for row in self.slots if row["environment"] == environment]
        if not rows and not marks:
            return None
        names = [row["variant"] for row in self.variants if row["environment"] == environment]
        names = names[:MAX_VARIANTS]
        by_slot: dict[int, dict[str, int]] = {}
        for row in self.variant_slots:
            if row["environment"] == environment:
                by_slot.setdefault(row["ago"], {})[row["variant"]] = row["count"]
        counts = {row["ago"]: (row["yes"], row["no"]) for row in rows}
        yes, no = sum(row["yes"] for row in rows), sum(row["no"] for row in rows)
        busiest = max((max(pair) for pair in counts.values()), default=0)
        line = find_line(counts.values())
        this_hour = now.replace(minute=0, second=0, microsecond=0)
        start, end = find_bounds(self.period, now)
        label = f"{yes:,} exposed and {no:,} not exposed in the last {period.label}"
        return {
            "bars": build_exposure_bars(counts, period.slots, by_slot, names),
            "scale": [busiest] * (line > 0) + [0] + [busiest] * (line < EXPOSURE_HEIGHT),
            "line": line,
            "height": EXPOSURE_HEIGHT + MARK_HEIGHT,
            "environment": environment,
            "names": names,
            "marks": [
                mark._asdict() | {"x": round(100 * (mark.at - start) / (end - start), 2)}
                for mark in marks
            ],
            "start": f"{period.slots} h" if period.slot_hours == 1 else f"{period.hours // 24} d",
            "heading": f"Last {period.label}",
            "label": f"{label} in {environment}",
            "summary": _summarize(yes, no),
            "variants": [
                (f"v{number}" if number < MAX_VARIANTS else "more", text)
                for number, text in enumerate(
                    f"{row['variant']} {row['count']:,}"
                    for row in self.variants
                    if row["environment"] == environment
                )
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


def _summarize(yes: int, no: int) -> str:
    if not no:
        return f"{yes:,} exposed (100%)" if yes else "No evaluations"
    if not yes:
        return f"{no:,} not exposed (100%)"
    percentage = round(100 * yes / (yes + no))
    return f"{yes:,} exposed ({percentage}%, upwards), {no:,} not exposed (downwards)"


def read_usage(conn: Connection, feature: str, query: Mapping[str, str]) -> Usage:
    """The usage in the period, of the application and SDK type that `query` names. An unknown
    period is the last day, an unknown type means both."""
    name = query.get("usage", "")
    name = name if name in PERIODS else DEFAULT_PERIOD
    period, app_name = PERIODS[name], query.get("app", "")
    sdk_type = query.get("sdk", "")
    sdk_type = sdk_type if sdk_type in SDK_TYPES else ""
    filter = UsageFilter(
        feature, period.hours, period.slot_hours, app_name or None, sdk_type or None
    )
    return Usage(
        name,
        app_name,
        sdk_type,
        client_metrics.list_app_names(conn, feature),
        client_metrics.list_slots(conn, filter),
        client_metrics.list_variant_sums(conn, filter),
        client_metrics.list_variant_slots(conn, filter),
    )


def find_bounds(period_name: str, now: datetime) -> tuple[datetime, datetime]:
    """The begin and end of the charts of a period; the current hour is the last one."""
    end = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    return end - timedelta(hours=PERIODS[period_name].hours), end
