"""Creates flags, strategies and segments through the admin API."""

from __future__ import annotations

from typing import Any

import webtest

from tests.conftest import ADMIN

FEATURES = "/api/admin/projects/default/features"


class Flags:
    def __init__(self, web: webtest.TestApp) -> None:
        self._web = web

    def create_flag(self, name: str = "checkout", **more: Any) -> str:
        self._web.post_json(FEATURES, {"name": name, **more}, headers=ADMIN)
        return name

    def add_strategy(
        self, flag: str = "checkout", environment: str = "production", **more: Any
    ) -> str:
        """Returns the ID."""
        path = f"{FEATURES}/{flag}/environments/{environment}/strategies"
        body = {"name": "flexibleRollout", **more}
        return self._web.post_json(path, body, headers=ADMIN).json["id"]

    def list_strategies(
        self, flag: str = "checkout", environment: str = "production"
    ) -> list[dict[str, Any]]:
        path = f"{FEATURES}/{flag}/environments/{environment}/strategies"
        return self._web.get(path, headers=ADMIN).json

    def create_segment(self, name: str = "beta users", **more: Any) -> int:
        """Returns the ID."""
        constraints = [{"contextName": "userId", "operator": "IN", "values": ["ada"]}]
        body = {"name": name, "constraints": constraints, **more}
        return self._web.post_json("/api/admin/segments", body, headers=ADMIN).json["id"]

    def get_flag(self, flag: str = "checkout") -> dict[str, Any]:
        """The flag as the admin API returns it."""
        return self._web.get(f"{FEATURES}/{flag}", headers=ADMIN).json

    def get_events(self, flag: str = "checkout") -> list[dict[str, Any]]:
        """Newest first."""
        return self._web.get(f"/api/admin/events/{flag}", headers=ADMIN).json["events"]

    def is_on(self, flag: str = "checkout", environment: str = "production") -> bool:
        path = f"{FEATURES}/{flag}/environments/{environment}"
        return self._web.get(path, headers=ADMIN).json["enabled"]

    def switch(
        self, flag: str = "checkout", environment: str = "production", to: str = "on"
    ) -> None:
        self._web.post(f"{FEATURES}/{flag}/environments/{environment}/{to}", headers=ADMIN)

    def set_parent(self, child: str, parent: str) -> None:
        self._web.post_json(f"{FEATURES}/{child}/dependencies", {"feature": parent}, headers=ADMIN)

    def archive(self, flag: str) -> None:
        self._web.delete(f"{FEATURES}/{flag}", headers=ADMIN)
