"""The lifecycle of flags: which stages they reach and when, completion, counts."""

from __future__ import annotations

import pytest

from sigservice.jobs import upkeep
from tests.routes.kit import FEATURES, Admin
from tests.routes.sdk import CLIENT, PRODUCTION

PATH = f"{FEATURES}/a/lifecycle"
PRODUCTION_STATE = f"{FEATURES}/a/environments/production"


def stages(admin, path=PATH):
    return [row["stage"] for row in admin.get(path)]


def evaluate(admin, environment, ago="0 minutes", name="a"):
    """Stores what a report of an SDK does."""
    admin.rows(
        "INSERT INTO feature_last_seen VALUES (%s, %s, now() - %s::interval) "
        "ON CONFLICT (feature, environment) DO UPDATE SET seen_at = excluded.seen_at",
        name,
        environment,
        ago,
    )


@pytest.fixture
def flag(admin):
    admin.flag()
    admin.rows("UPDATE features SET created_at = now() - interval '3 days'")
    return f"{FEATURES}/a"


def test_reports_of_sdks_make_a_flag_pre_live_and_live(sdk):
    admin = Admin(sdk.service)
    path = f"{FEATURES}/one/lifecycle"
    assert stages(admin, path) == ["initial"]
    body = {
        "appName": "shop",
        "bucket": {"start": 0, "stop": 1, "toggles": {"one": {"yes": 1, "no": 0}}},
    }
    sdk.web.post_json("/api/client/metrics", body, headers=CLIENT)
    assert stages(admin, path) == ["initial", "pre-live"]
    admin.post(f"{FEATURES}/one/environments/production/on")
    sdk.web.post_json("/api/client/metrics", body, headers=PRODUCTION)
    assert stages(admin, path) == ["initial", "pre-live", "live"]


def test_stages_keep_the_time_of_their_first_report(service, admin, flag):
    evaluate(admin, "development", "2 hours")
    upkeep.store_stages(service.context)
    before = admin.get(PATH)
    assert [set(row) for row in before] == [{"stage", "enteredStageAt"}] * 2
    evaluate(admin, "development")
    upkeep.store_stages(service.context)
    assert admin.get(PATH) == before
    assert before[0]["enteredStageAt"] == admin.get(flag)["createdAt"]


def test_only_evaluations_while_enabled_in_production_make_a_flag_live(admin, flag):
    admin.post(f"{FEATURES}/a/environments/development/on")
    evaluate(admin, "development")
    evaluate(admin, "production")
    assert stages(admin) == ["initial", "pre-live"]
    evaluate(admin, "production", "1 minute")
    admin.post(f"{PRODUCTION_STATE}/on")
    assert stages(admin) == ["initial", "pre-live"]
    evaluate(admin, "production", "-1 minute")
    assert stages(admin) == ["initial", "pre-live", "live"]
    admin.post(f"{PRODUCTION_STATE}/off")
    assert stages(admin) == ["initial", "pre-live", "live"]


def test_the_type_of_the_environment_decides(admin, flag):
    admin.rows("UPDATE environments SET type = 'preproduction' WHERE name = 'production'")
    admin.rows("UPDATE environments SET type = 'production' WHERE name = 'development'")
    for environment in ("production", "development"):
        admin.post(f"{FEATURES}/a/environments/{environment}/on")
    evaluate(admin, "production", "-1 minute")
    assert stages(admin) == ["initial", "pre-live"]
    evaluate(admin, "development", "-1 minute")
    assert stages(admin) == ["initial", "pre-live", "live"]


def test_completing_and_taking_it_back(admin, flag):
    revision = admin.revision()
    assert admin.ask("POST", f"{PATH}/complete", {"status": "kept", "statusValue": "blue"}, 200)
    assert [row.get("status") for row in admin.get(PATH)] == [None, "kept"]
    (event,) = admin.events(1)
    assert (event["type"], event["featureName"]) == ("feature-completed", "a")
    assert event["data"] == {"status": "kept", "statusValue": "blue"}
    before = admin.read_state()
    admin.post(f"{PATH}/complete", {"status": "discarded"})
    assert admin.read_state() == before
    assert admin.get(PATH)[-1]["status"] == "kept"
    evaluate(admin, "development")
    assert stages(admin) == ["initial", "completed"]
    admin.post(f"{PATH}/uncomplete")
    assert stages(admin) == ["initial", "pre-live"]
    assert admin.types(1) == ["feature-uncompleted"]
    before = admin.read_state()
    admin.post(f"{PATH}/uncomplete")
    assert admin.read_state() == before
    assert admin.revision() == revision


def test_completing_accepts_any_content_type(admin, flag):
    for content_type in ("text/plain", "application/octet-stream", ""):
        headers = admin._headers | {"Content-Type": content_type}
        admin.web.post(f"{PATH}/complete", b'{"status": "kept"}', headers=headers)
        assert stages(admin) == ["initial", "completed"]
        admin.web.post(f"{PATH}/uncomplete", b"what", headers=headers)
        assert stages(admin) == ["initial"]


def test_a_revived_flag_starts_again(admin, flag):
    evaluate(admin, "development")
    admin.post(f"{PATH}/complete", {"status": "kept"})
    admin.ask("DELETE", flag, status=202)
    assert stages(admin) == ["initial", "completed", "archived"]
    admin.ask("POST", f"{PATH}/uncomplete", status=404)
    admin.post("/api/admin/archive/revive/a")
    (stage,) = admin.get(PATH)
    assert stage["stage"] == "initial"
    assert stage["enteredStageAt"] > admin.get(flag)["createdAt"]


def test_flags_of_each_stage_are_counted(service, admin, flag):
    for name in ("b", "c", "d", "e"):
        admin.flag(name)
    evaluate(admin, "development", name="b")
    upkeep.store_stages(service.context)
    admin.post(f"{FEATURES}/c/lifecycle/complete", {"status": "kept"})
    admin.ask("DELETE", f"{FEATURES}/d", status=202)
    assert admin.get("/api/admin/lifecycle/count") == {
        "initial": 2,
        "preLive": 1,
        "live": 0,
        "completed": 1,
        "archived": 1,
    }


def test_unknown_flags_have_no_stages(admin, flag):
    for path in (f"{FEATURES}/b", "/api/admin/projects/web/features/a"):
        assert admin.get(f"{path}/lifecycle") == []
        admin.ask("POST", f"{path}/lifecycle/complete", {"status": "kept"}, 404)
        admin.ask("POST", f"{path}/lifecycle/uncomplete", status=404)


def test_invalid_completions_are_rejected(admin, flag):
    table = [
        ({}, "status"),
        ({"status": "removed"}, "status"),
        ({"status": None}, "status"),
        ({"status": "kept", "statusValue": 1}, "statusValue"),
        ({"status": "kept", "statusValue": "x" * 101}, "statusValue"),
    ]
    admin.all_refused("POST", f"{PATH}/complete", table)
    admin.refusals("POST", f"{PATH}/complete", [b"", b"{", b"[]", b"\xff", b'{"status":NaN}'])
    assert stages(admin) == ["initial"]
