"""Evaluations of single flags by the service itself, whose clients report no metrics.

They are counted in memory and written by a job every few seconds as reports of SDKs. A kill loses
the counts of the last seconds, and so does a database that can't be reached.
"""

import threading
from datetime import datetime
from typing import NamedTuple

from sigservice.services.usage.client_applications import Instance
from sigservice.services.usage.client_metrics import Usage, find_hour
from sigservice.services.usage.reports import Report

MAX_BUFFERED = 2000  # flags of applications between two writes
SDK_NAME = "OFREP"


class CountedApplication(NamedTuple):
    """The application that a flag was evaluated for; `sdk_type` is the SDK type of its token."""

    app_name: str
    environment: str
    sdk_type: str
    is_anonymous: bool


class EvaluationCounts:
    """Thread-safe and bounded: above MAX_BUFFERED, further flags of applications are dropped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._usages: dict[tuple[CountedApplication, str, datetime], Usage] = {}

    def record(
        self,
        application: CountedApplication,
        feature: str,
        variant: str,
        *,
        is_enabled: bool,
        now: datetime,
    ) -> None:
        """`variant` is "" for none."""
        key = application, feature, find_hour(now, now)
        with self._lock:
            usage = self._usages.get(key)
            if usage is None:
                if len(self._usages) >= MAX_BUFFERED:
                    return
                app_name, environment = application.app_name, application.environment
                usage = Usage(feature, app_name, environment, key[2], 0, 0, {})
            variants = dict(usage.variants)
            if variant:
                variants[variant] = variants.get(variant, 0) + 1
            self._usages[key] = usage._replace(
                yes=usage.yes + is_enabled, no=usage.no + (not is_enabled), variants=variants
            )

    def drain(self) -> list[Report]:
        """Returns and removes what was counted since the last call."""
        with self._lock:
            usages, self._usages = self._usages, {}
        groups: dict[tuple[str, bool], tuple[dict[CountedApplication, Instance], list[Usage]]] = {}
        for (application, _, _), usage in usages.items():
            app_name, environment, sdk_type, is_anonymous = application
            instances, group = groups.setdefault((sdk_type, is_anonymous), ({}, []))
            instances[application] = Instance(app_name, "", environment, SDK_NAME, sdk_type)
            group.append(usage)
        return [
            Report([*instances.values()], group, sdk_type, ip="", is_anonymous=is_anonymous)
            for (sdk_type, is_anonymous), (instances, group) in groups.items()
        ]
