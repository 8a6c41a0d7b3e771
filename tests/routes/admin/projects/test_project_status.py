"""The status of a project: every number, and those of a project without flags."""

from __future__ import annotations

from tests.routes.kit import FEATURES, PROJECT, SEGMENTS

PATH = f"{PROJECT}/status"


def days(average, flags):
    return {"averageDays": average, "currentFlags": flags}


def test_a_project_without_flags_is_healthy(admin):
    admin.rows("DELETE FROM events")
    status = admin.get(PATH)
    assert status == {
        "resources": {"members": 1, "apiTokens": 0, "segments": 0},
        "activityCountByDate": [],
        "health": {"current": 100},
        "technicalDebt": {"current": 0},
        "staleFlags": {"total": 0},
        "lifecycleSummary": {
            **{name: days(None, 0) for name in ("initial", "preLive", "live", "completed")},
            "archived": {"currentFlags": 0, "last30Days": 0},
        },
    }
    admin.get("/api/admin/projects/none/status", 404)


def test_stale_and_overdue_flags_lower_the_health(admin):
    for name in ("stale", "old", "new", "archived", "permanent", "older"):
        admin.flag(name)
    admin.post(f"{PROJECT}/stale", {"features": ["stale", "older"], "stale": True}, 202)
    admin.ask("DELETE", f"{FEATURES}/archived", status=202)
    admin.rows("UPDATE features SET type = 'permission' WHERE name = 'permanent'")
    admin.rows(
        "UPDATE features SET created_at = now() - interval '41 days' "
        "WHERE name IN ('old', 'archived', 'permanent', 'older')"
    )
    status = admin.get(PATH)
    assert status["staleFlags"] == {"total": 3}
    assert (status["health"], status["technicalDebt"]) == ({"current": 40}, {"current": 60})


def test_resources_are_those_of_the_project(admin):
    admin.post("/api/admin/projects", {"id": "web", "name": "Web"}, 201)
    admin.segment("global")
    for name, project in (("own", "default"), ("other", "web")):
        body = {"name": name, "project": project, "constraints": []}
        admin.post(SEGMENTS, body, 201)
    for name, projects in (("own", ["default"]), ("all", ["*"]), ("other", ["web"])):
        body = {"tokenName": name, "type": "client", "projects": projects}
        admin.post("/api/admin/api-tokens", body, 201)
    assert admin.get(PATH)["resources"] == {"members": 1, "apiTokens": 1, "segments": 1}


def test_activity_is_counted_by_day_for_a_year(admin):
    admin.rows("DELETE FROM events")
    for day, project in (
        ("current_date - 366 * interval '1 day'", "default"),
        ("date_trunc('day', now(), 'UTC') - interval '2 days'", "default"),
        ("date_trunc('day', now(), 'UTC') - interval '1 second'", "default"),
        ("date_trunc('day', now(), 'UTC') - interval '23 hours'", "default"),
        ("now()", "web"),
    ):
        admin.rows(
            "INSERT INTO events (type, created_by, project, created_at) "
            f"VALUES ('feature-created', 'ada', %s, {day})",
            project,
        )
    ((first, second),) = admin.rows("SELECT current_date - 2, current_date - 1")
    assert admin.get(PATH)["activityCountByDate"] == [
        {"date": str(first), "count": 1},
        {"date": str(second), "count": 2},
    ]


def test_the_lifecycle_has_flags_and_days_of_each_stage(admin):
    admin.post("/api/admin/projects", {"id": "web", "name": "Web"}, 201)
    admin.post("/api/admin/projects/web/features", {"name": "other"}, 201)
    for name in ("initial", "live", "completed", "archived", "long-archived"):
        admin.flag(name)
    admin.rows("UPDATE features SET created_at = now() - interval '10 days'")
    for name, stage, age in (
        ("live", "pre-live", 8),
        ("live", "live", 5),
        ("completed", "pre-live", 6),
        ("completed", "completed", 1),
    ):
        admin.rows(
            "INSERT INTO feature_stages (feature, stage, entered_at) "
            "VALUES (%s, %s, now() - %s * interval '1 day')",
            name,
            stage,
            age,
        )
    for name, age in (("archived", 9), ("long-archived", 31)):
        admin.rows(
            "UPDATE features SET created_at = now() - interval '40 days', "
            "archived_at = now() - %s * interval '1 day' WHERE name = %s",
            age,
            name,
        )
    assert admin.get(PATH)["lifecycleSummary"] == {
        "initial": days(11.5, 1),  # 2, 4, 31 and 9 days
        "preLive": days(4.0, 0),  # 3 and 5 days
        "live": days(None, 1),
        "completed": days(None, 1),
        "archived": {"currentFlags": 2, "last30Days": 1},
    }
