"""Flags: what is changed of them, and what SDKs report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from prometheus_client.core import Metric

from sigservice.telemetry.instruments import MOST_SERIES, Counter, Instruments, Names

NONE = "n/a"
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
    """`environment_types` are those of the last count, by name; None while nobody knows them."""

    def __init__(
        self,
        make: Instruments,
        app_names: Names,
        environment_types: Callable[[], Mapping[str, str] | None],
    ) -> None:
        self._app_names = app_names
        self._types = environment_types
        self.unknown = Names(MOST_SERIES)
        self._updates = Counter(
            "feature_toggle_update_total",
            "Changes of flags.",
            ("toggle", "project", "environment", "action"),
            ("toggle", "project", "environment"),
        )
        make.add(self)
        self._usage = make.add(
            Counter(
                "feature_toggle_usage_total",
                "How often SDKs saw a flag on and off.",
                ("toggle", "active", "appName"),
                ("toggle", "appName"),
            )
        )
        self._updates.enabled = make.enabled
        self._registrations = make.add(
            Counter(
                "client_registration_total",
                "Registrations of SDKs.",
                ("appName", "environment", "interval"),
                ("appName", "environment", "interval"),
            )
        )
        self._dropped = make.add(
            Counter(
                "client_metrics_dropped_total",
                "What SDKs reported and a limit kept from being stored.",
                ("kind",),
            )
        )
        self._sdks = make.add(
            Counter(
                "client_sdk_versions",
                "Registrations by the version of the SDK and what it runs on.",
                SDK_LABELS,
                SDK_LABELS,
            )
        )

    def count_change(
        self, event: str, toggle: str, project: str | None, environment: str | None
    ) -> None:
        """`event` is the type of the event that says so."""
        action = _ACTIONS.get(event, "updated")
        self._updates.inc(toggle, project or NONE, environment or NONE, action)

    def count_usage(self, toggle: str, app_name: str, yes: int, no: int) -> None:
        """`toggle` exists: clients can make up names."""
        if not self._usage.enabled or not (yes or no):
            return
        app_name = self._app_names.bounded(app_name)
        if yes:
            self._usage.inc(toggle, "true", app_name, amount=yes)
        if no:
            self._usage.inc(toggle, "false", app_name, amount=no)

    def count_dropped(self, kind: str, amount: int) -> None:
        """`kind` is applications, instances, strategies or variants."""
        if amount:
            self._dropped.inc(kind, amount=amount)

    def count_registration(
        self, app_name: str, environment: str, interval: str, sdk: Sequence[str]
    ) -> None:
        """`sdk` are the values of SDK_LABELS."""
        if not self._registrations.enabled:
            return
        self._registrations.inc(self._app_names.bounded(app_name), environment, interval)
        if sdk[0]:
            self._sdks.inc(*(text[:100] for text in sdk))

    def collect(self) -> Iterable[Metric]:
        """Changes, with the type of the environment, which an event does not tell."""
        family = Metric(self._updates.name, "Changes of flags.", "counter")
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
        return [family]
