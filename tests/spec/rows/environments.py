"""Environments that are switched at the start."""

from __future__ import annotations

from tests.server.process import Process
from tests.spec.kit import Case, Row
from tests.spec.rows.features import FEATURES, poll_features

BUILT_IN = {"default", "development", "production"}


def list_enabled_environments(case: Case, service: Process) -> set[str]:
    rows = case.admin("GET", "/api/admin/environments", service=service)["environments"]
    return {row["name"] for row in rows if row["enabled"]}


def count_events(case: Case, service: Process) -> int:
    return int(case.admin("GET", "/api/admin/events", service=service)["totalEvents"])


def check_unknown_and_empty_names(case: Case) -> None:
    """Unknown names only warn, and an empty list in code does nothing, whatever the variable."""
    basis = case.services.make_environ()
    with case.services.run_service(basis | {"ENABLED_ENVIRONMENTS": "ghost, phantom"}) as service:
        assert list_enabled_environments(case, service) == BUILT_IN
        assert all(
            f"environment {name} not found" in service.stderr for name in ("ghost", "phantom")
        )
        before = count_events(case, service)
    empty = {"environmentEnableOverrides": []}
    with case.services.run_service(
        basis | {"ENABLED_ENVIRONMENTS": "production"}, empty
    ) as service:
        assert list_enabled_environments(case, service) == BUILT_IN
        assert count_events(case, service) == before


def check_enabled_environments(case: Case) -> None:
    """Projects and flags come along, an unknown name does not hinder the others, nothing is
    deleted, and once is enough."""
    basis = case.services.make_environ()
    on = f"{FEATURES}/kept/environments"
    with case.services.run_service(basis) as service:
        new = {"name": "staging", "type": "test", "enabled": False}
        case.admin("POST", "/api/admin/environments", new, service=service)
        case.admin("POST", "/api/admin/projects", {"id": "p2", "name": "P2"}, service=service)
        case.admin("POST", FEATURES, {"name": "kept"}, service=service)
        case.admin("POST", f"{on}/development/on", service=service)
        strategies = case.admin("GET", f"{on}/development/strategies", service=service)
        assert strategies
    with case.services.run_service(basis | case.row.environ) as service:
        assert list_enabled_environments(case, service) == case.value
        assert service.stderr.count("ENABLED_ENVIRONMENTS: environment ghost not found") == 1
        assert service.stderr.count("ENABLED_ENVIRONMENTS") == 1
        for project in ("default", "p2"):
            path = f"/api/admin/environments/project/{project}"
            rows = case.admin("GET", path, service=service)["environments"]
            assert {row["name"] for row in rows if row["visible"]} == BUILT_IN | {"staging"}
        visible = case.admin("GET", f"{FEATURES}/kept", service=service)["environments"]
        assert {row["name"] for row in visible} >= case.value
        with case.create_api_token("client", "staging", service) as token:
            for state in (False, True):
                answer = poll_features(case, token, service)
                assert [row["enabled"] for row in answer.json["features"]] == [state]
                case.admin("POST", f"{on}/staging/on", service=service)
        strategies_after = case.admin("GET", f"{on}/development/strategies", service=service)
        assert strategies_after == strategies
        assert case.admin("GET", f"{on}/development", service=service)["enabled"]
        before = count_events(case, service)
    with case.services.run_service(basis | case.row.environ) as service:
        assert list_enabled_environments(case, service) == case.value
        assert count_events(case, service) == before


ROWS = (
    Row("environmentEnableOverrides", check_unknown_and_empty_names, alone=True),
    Row(
        "environmentEnableOverrides",
        check_enabled_environments,
        "ENABLED_ENVIRONMENTS",
        "staging, production ,ghost",
        {"staging", "production"},
        alone=True,
    ),
)
