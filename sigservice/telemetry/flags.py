"""Changes of flags, and reports of SDKs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sigservice.late import prometheus_core
from sigservice.telemetry.instruments import MAX_SERIES, Counter, Instruments, Names

NONE = "n/a"
FRONTEND = "frontend"
SDK_LABELS = (
    "sdk_name",
    "sdk_version",
    "platform_name",
    "platform_version",
    "yggdrasil_version",
    "spec_version",
)
_ACTIONS = {
    "feature-created": "created",
    "feature-archived": "archived",
    "feature-revived": "revived",
    "feature-deleted": "deleted",
}


class Flags:
    """`environment_types` returns the types by environment; None while they are unknown."""

    def __init__(
        self,
        instruments: Instruments,
        app_names: Names,
        environment_types: Callable[[], Mapping[str, str] | None],
    ) -> None:
        self._app_names = app_names
        self._types = environment_types
        self.unknown = Names(MAX_SERIES)
        self._updates = Counter(
            "feature_toggle_update_total",
            "Changes of flags.",
            ("toggle", "project", "environment", "action"),
            ("toggle", "project", "environment"),
        )
        instruments.add(self)
        self._usage = Counter(
            "feature_toggle_usage_total",
            "Evaluations reported by SDKs, by result.",
            ("toggle", "active", "appName", "origin"),
            ("toggle", "appName"),
        )
        self._updates.enabled = self._usage.enabled = instruments.enabled
        self._registrations = instruments.add_counter(
            "client_registration_total",
            "Registrations of SDKs.",
            ("appName", "environment", "interval"),
            ("appName", "environment", "interval"),
        )
        self.count_release_event = instruments.add_counter(
            "release_events_total", "Events of releases, by type.", ("type",)
        ).inc
        self._dropped = instruments.add_counter(
            "client_metrics_dropped_total",
            "Reports of SDKs that were dropped because of a limit.",
            ("kind",),
        )
        self._sdks = instruments.add_counter(
            "client_sdk_versions",
            "Registrations by SDK version and platform.",
            SDK_LABELS,
            SDK_LABELS,
        )

    def count_change(
        self, event: str, toggle: str, project: str | None, environment: str | None
    ) -> None:
        """`event` is the type of the event."""
        action = _ACTIONS.get(event, "updated")
        self._updates.inc(toggle, project or NONE, environment or NONE, action)

    def count_usage(self, toggle: str, app_name: str, sdk_type: str, yes: int, no: int) -> None:
        """`toggle` must exist. `sdk_type` is the SDK type of the token: frontend tokens are public,
        so what is reported with them is counted apart."""
        if not self._usage.enabled or not (yes or no):
            return
        app_name = self._app_names.limit(app_name)
        origin = FRONTEND if sdk_type == FRONTEND else ""
        if yes:
            self._usage.inc(toggle, "true", app_name, origin, amount=yes)
        if no:
            self._usage.inc(toggle, "false", app_name, origin, amount=no)

    def count_dropped(self, kind: str, amount: int) -> None:
        """`kind` is applications, flags (of other projects), instances, strategies, variants,
        impact_metrics (not valid) or impact_series (samples of new series over the limit)."""
        if amount:
            self._dropped.inc(kind, amount=amount)

    def count_registration(
        self, app_name: str, environment: str, interval: str, sdk: Sequence[str]
    ) -> None:
        """`sdk` are the values of SDK_LABELS."""
        if not self._registrations.enabled:
            return
        self._registrations.inc(self._app_names.limit(app_name), environment, interval)
        if sdk[0]:
            self._sdks.inc(*(text[:100] for text in sdk))

    def collect(self) -> Iterable[prometheus_core.Metric]:
        return [self._collect_updates(), self._collect_usage()]

    def _collect_usage(self) -> prometheus_core.Metric:
        """Without an empty `origin`."""
        family = prometheus_core.Metric(self._usage.name, self._usage.text, "counter")
        for (toggle, active, app_name, origin), value in self._usage.values().items():
            labels = {"toggle": toggle, "active": active, "appName": app_name}
            family.add_sample(family.name, labels | ({"origin": origin} if origin else {}), value)
        return family

    def _collect_updates(self) -> prometheus_core.Metric:
        """The changes with the type of the environment, which events don't contain."""
        family = prometheus_core.Metric(self._updates.name, "Changes of flags.", "counter")
        types = self._types()
        for (toggle, project, environment, action), value in self._updates.values().items():
            if types is None and environment != NONE:
                continue
            labels = {
                "toggle": toggle,
                "project": project,
                "environment": environment,
                "environmentType": NONE
                if environment == NONE
                else (types or {}).get(environment, ""),
                "action": action,
            }
            family.add_sample(family.name, labels, value)
        return family
