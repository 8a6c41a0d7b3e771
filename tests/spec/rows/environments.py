"""Environments that are switched at the start."""

from __future__ import annotations

from tests.server.process import Process
from tests.spec.kit import Asked, Row
from tests.spec.rows.features import FEATURES, poll

BUILT_IN = {"default", "development", "production"}


def environments(asked: Asked, service: Process) -> set[str]:
    rows = asked.admin("GET", "/api/admin/environments", service=service)["environments"]
    return {row["name"] for row in rows if row["enabled"]}


def events(asked: Asked, service: Process) -> int:
    return int(asked.admin("GET", "/api/admin/events", service=service)["totalEvents"])


def left_alone(asked: Asked) -> None:
    assert environments(asked, asked.service) == asked.value


def left_alone_by_none(asked: Asked) -> None:
    """Unknown names only warn, and an empty list in code does nothing, whatever the variable."""
    basis = asked.services.basis()
    with asked.services.started(basis | {"ENABLED_ENVIRONMENTS": "ghost, phantom"}) as service:
        assert environments(asked, service) == BUILT_IN
        assert all(f"names {name}" in service.stderr for name in ("ghost", "phantom"))
        before = events(asked, service)
    empty = {"environmentEnableOverrides": []}
    with asked.services.started(basis | {"ENABLED_ENVIRONMENTS": "production"}, empty) as service:
        assert environments(asked, service) == BUILT_IN
        assert events(asked, service) == before


def one_left(asked: Asked) -> None:
    service = asked.start({"ENABLED_ENVIRONMENTS": "production"})
    assert environments(asked, service) == asked.value
    assert "ENABLED_ENVIRONMENTS" not in service.stderr
    service.close()


def switched(asked: Asked) -> None:
    """Projects and flags come along, an unknown name does not hinder the others, nothing is
    deleted, and once is enough."""
    basis = asked.services.basis()
    on = f"{FEATURES}/kept/environments"
    with asked.services.started(basis) as service:
        new = {"name": "staging", "type": "test", "enabled": False}
        asked.admin("POST", "/api/admin/environments", new, service=service)
        asked.admin("POST", "/api/admin/projects", {"id": "p2", "name": "P2"}, service=service)
        asked.admin("POST", FEATURES, {"name": "kept"}, service=service)
        asked.admin("POST", f"{on}/development/on", service=service)
        strategies = asked.admin("GET", f"{on}/development/strategies", service=service)
        assert strategies
    with asked.services.started(basis | asked.row.environ(asked.way)) as service:
        assert environments(asked, service) == asked.value
        assert service.stderr.count("ENABLED_ENVIRONMENTS names ghost") == 1
        assert service.stderr.count("ENABLED_ENVIRONMENTS") == 1
        for project in ("default", "p2"):
            path = f"/api/admin/environments/project/{project}"
            rows = asked.admin("GET", path, service=service)["environments"]
            assert {row["name"] for row in rows if row["visible"]} == BUILT_IN | {"staging"}
        shown = asked.admin("GET", f"{FEATURES}/kept", service=service)["environments"]
        assert {row["name"] for row in shown} >= asked.value
        with asked.api_token("client", "staging", service) as token:
            for state in (False, True):
                answer = poll(asked, token, service)
                assert [row["enabled"] for row in answer.json["features"]] == [state]
                asked.admin("POST", f"{on}/staging/on", service=service)
        kept = asked.admin("GET", f"{on}/development/strategies", service=service)
        assert kept == strategies
        assert asked.admin("GET", f"{on}/development", service=service)["enabled"]
        before = events(asked, service)
    with asked.services.started(basis | asked.row.environ(asked.way)) as service:
        assert environments(asked, service) == asked.value
        assert events(asked, service) == before


ROWS = (
    Row("environmentEnableOverrides", left_alone, default=BUILT_IN),
    Row("environmentEnableOverrides", left_alone_by_none, alone=True),
    Row(
        "environmentEnableOverrides",
        switched,
        "ENABLED_ENVIRONMENTS",
        text="staging, production ,ghost",
        value={"staging", "production"},
        alone=True,
    ),
    Row(
        "environmentEnableOverrides",
        one_left,
        code=["development"],
        from_code={"development"},
        alone=True,
    ),
)
