"""Action sets for the tests of their pages, made through the admin API."""

from __future__ import annotations

from typing import Any

import webtest

from sigservice.jobs import actions
from tests.conftest import ADMIN

SETS = "/api/admin/projects/default/actions"


class Actions:
    """An account to act as, a flag that is on in production, and sets of an endpoint."""

    def __init__(self, service: Any, web: webtest.TestApp, flags: Any, endpoint: Any) -> None:
        self._service, self._web, self._endpoint = service, web, endpoint
        body = {"username": "switcher", "rootRole": "Editor"}
        self.account = web.post_json("/api/admin/service-account", body, headers=ADMIN).json["id"]
        if "checkout" not in web.get("/api/admin/projects/default/features", headers=ADMIN).text:
            flags.create_flag("checkout")
        flags.switch("checkout", "production")

    def set(self, name: str = "kill checkout", **more: Any) -> int:
        """Its id."""
        off = {"project": "default", "environment": "production", "featureName": "checkout"}
        acts = [{"action": "TOGGLE_FEATURE_OFF", "sortOrder": 1, "executionParams": off}]
        match = more.pop("match", None) or {
            "source": "signal-endpoint",
            "sourceId": self._endpoint["id"],
        }
        match |= {"filters": more.pop("filters", [])}
        body = {"name": name, "actorId": self.account, "match": match, "actions": acts} | more
        return self._web.post_json(SETS, body, headers=ADMIN).json["id"]

    def look(self, id: int) -> dict[str, Any]:
        return self._web.get(f"{SETS}/{id}", headers=ADMIN).json

    def work(self) -> None:
        actions.run_once(self._service.context)

    def runs(self, id: int) -> list[dict[str, Any]]:
        """Newest first."""
        return self._web.get(f"{SETS}/{id}/events", headers=ADMIN).json["actionSetEvents"]
