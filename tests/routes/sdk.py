"""A service with tokens for SDKs, flags to report, and a look at what was stored."""

from __future__ import annotations

from typing import Any

import webtest

from sigservice.application.service import Service
from sigservice.testing import TemporaryDatabase
from tests.conftest import ADMIN_TOKEN, MakeService
from tests.repository.kit import run

CLIENT = {"Authorization": "*:development.client"}
PRODUCTION = {"Authorization": "*:production.client"}
FRONTEND = {"Authorization": "*:development.frontend"}
TOKENS = [
    {"type": "admin", "secret": ADMIN_TOKEN, "environment": "*", "project": "*"},
    {"type": "client", "secret": CLIENT["Authorization"], "environment": "development",
     "project": "*"},
    {"type": "client", "secret": PRODUCTION["Authorization"], "environment": "production",
     "project": "*"},
    {"type": "frontend", "secret": FRONTEND["Authorization"], "environment": "development",
     "project": "*"},
]  # fmt: skip
AUTHENTICATION = {
    "initialAdminUser": {"username": "ada", "password": "Correct-Horse-7"},
    "initApiTokens": TOKENS,
}


class Sdk:
    """`web` sends, `rows` looks into the tables; flags `one` and `two` exist, with the variants
    `blue` and `red` in development."""

    def __init__(self, make_service: MakeService, database: TemporaryDatabase, **environ: str):
        self.service: Service = make_service({"authentication": AUTHENTICATION}, environ)
        self.web = webtest.TestApp(self.service.app)
        self._conn = database.connect()
        for name in ("one", "two"):
            self.rows(
                "INSERT INTO features (name, project, type, created_by) "
                "VALUES (%s, 'default', 'release', 't')",
                name,
            )
            self.rows(
                "INSERT INTO feature_environments (feature, environment, variants) "
                "VALUES (%s, 'development', %s)",
                name,
                '[{"name": "blue"}, {"name": "red"}]',
            )

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return run(self._conn, statement, *values)

    def sums(self) -> dict[tuple[str, str, str], tuple[int, int]]:
        """{(flag, application, environment): (yes, no)}"""
        rows = self.rows(
            "SELECT feature, app_name, environment, sum(yes)::int, sum(no)::int "
            "FROM client_metrics GROUP BY 1, 2, 3"
        )
        return {row[:3]: row[3:] for row in rows}

    def variants(self) -> dict[tuple[str, str], int]:
        return {
            (flag, variant): count
            for flag, variant, count in self.rows(
                "SELECT feature, variant, sum(count)::int "
                "FROM client_metrics_variants GROUP BY 1, 2"
            )
        }

    def instances(self) -> set[tuple[Any, ...]]:
        return set(
            self.rows(
                "SELECT app_name, instance_id, environment, sdk_version, sdk_type "
                "FROM client_instances"
            )
        )

    def close(self) -> None:
        self._conn.close()
