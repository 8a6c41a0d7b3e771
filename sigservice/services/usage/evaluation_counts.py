"""Evaluations of single flags by the service itself, whose clients report no metrics.

They are counted in memory and written by a job every few seconds as reports of SDKs. A database
that can't be reached loses them.
"""

from datetime import datetime
from typing import NamedTuple

from sigservice.concurrency.buffer import Buffer
from sigservice.services.usage.client_applications import Instance
from sigservice.services.usage.client_metrics import Usage, find_hour
from sigservice.services.usage.reports import BACKEND, FRONTEND, Report

MAX_BUFFERED = 2000  # flags of applications between two writes
MAX_LENGTH = 255  # of the name of an application
SDK_NAME = "OFREP"


class CountedApplication(NamedTuple):
    """The application that a flag was evaluated for; `sdk_type` is the SDK type of its token."""

    app_name: str
    environment: str
    sdk_type: str
    is_anonymous: bool


class EvaluationCounts(Buffer[tuple[CountedApplication, str, datetime], Usage]):
    def __init__(self) -> None:
        super().__init__(MAX_BUFFERED)

    def record(
        self,
        app_name: str,
        environment: str,
        feature: str,
        variant: str,
        *,
        is_frontend: bool,
        is_anonymous: bool,
        is_enabled: bool,
        now: datetime,
    ) -> None:
        """`variant` is "" for none. `is_frontend` says that the token was a frontend token."""
        app_name, hour = app_name[:MAX_LENGTH], find_hour(now, now)
        sdk_type = FRONTEND if is_frontend else BACKEND
        application = CountedApplication(app_name, environment, sdk_type, is_anonymous)

        def count(usage: Usage | None) -> Usage:
            usage = usage or Usage(feature, app_name, environment, hour, 0, 0, {})
            variants = dict(usage.variants)
            if variant:
                variants[variant] = variants.get(variant, 0) + 1
            return usage._replace(
                yes=usage.yes + is_enabled, no=usage.no + (not is_enabled), variants=variants
            )

        self.add((application, feature, hour), count)

    def drain_reports(self) -> list[Report]:
        """`drain`, as a report for each type of token."""
        groups: dict[tuple[str, bool], tuple[dict[CountedApplication, Instance], list[Usage]]] = {}
        for (application, _, _), usage in self.drain().items():
            app_name, environment, sdk_type, is_anonymous = application
            instances, group = groups.setdefault((sdk_type, is_anonymous), ({}, []))
            instances[application] = Instance(app_name, "", environment, SDK_NAME, sdk_type)
            group.append(usage)
        return [
            Report([*instances.values()], group, sdk_type, ip="", is_anonymous=is_anonymous)
            for (sdk_type, is_anonymous), (instances, group) in groups.items()
        ]
