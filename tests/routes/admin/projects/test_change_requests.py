"""Change requests are always disabled, and tools can write that."""

from __future__ import annotations

from tests.routes.kit import PROJECT

CONFIG = f"{PROJECT}/change-requests/config"
PATH = f"{PROJECT}/environments/production/change-requests/config"


def test_each_environment_of_the_project_has_none(admin):
    admin.delete(f"{PROJECT}/environments/default")
    disabled = {"changeRequestEnabled": False, "requiredApprovals": None}
    assert admin.get(CONFIG) == [
        {"environment": name, "type": name, **disabled} for name in ("production", "development")
    ]
    admin.get("/api/admin/projects/none/change-requests/config", 404)


def test_they_can_be_set_to_disabled_only(admin):
    before = admin.read_state()
    for body in (
        {"changeRequestsEnabled": False},
        {"changeRequestsEnabled": False, "requiredApprovals": None},
        {"changeRequestsEnabled": False, "requiredApprovals": 99},
    ):
        assert admin.ask("PUT", PATH, body, 204).body == b""
    assert admin.read_state() == before
    table = [
        ({"changeRequestsEnabled": True}, "changeRequestsEnabled"),
        ({"changeRequestsEnabled": "false"}, "changeRequestsEnabled"),
        ({"changeRequestEnabled": False}, "changeRequestsEnabled"),
        ({"changeRequestsEnabled": False, "requiredApprovals": "1"}, "requiredApprovals"),
    ]
    admin.all_refused("PUT", PATH, table)
    for place in ("projects/none/environments/production", "projects/default/environments/none"):
        path = f"/api/admin/{place}/change-requests/config"
        admin.ask("PUT", path, {"changeRequestsEnabled": False}, 404)
