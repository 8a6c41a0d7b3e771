"""The admin API of releases: what may be created, previews, templates, permissions."""

from __future__ import annotations

import pytest

from sigservice.jobs import buffers
from tests.conftest import ADMIN
from tests.jobs.release_kit import STEPS, Releases


@pytest.fixture
def kit(service, clock):
    return Releases(service, clock)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"steps": []}, "steps"),
        ({"steps": [{"rollout": 5, "minutes": 1}, {"rollout": 5}]}, "steps[1].rollout"),
        ({"steps": [{"rollout": 5}, {"rollout": 6}]}, "steps[0].minutes"),
        ({"steps": [{"rollout": 5, "minutes": 1}]}, "steps[0].minutes"),
        ({"startAt": "2020-01-01T00:00:00Z"}, "startAt"),
        ({"template": "nope"}, "template"),
        ({"guards": [{"kind": "signal", "endpointId": 9, "effect": "hold"}]}, "guards[0]"),
        ({"strategyId": "nope"}, "strategyId"),
        ({"steps": [*({"rollout": n, "minutes": 1} for n in range(20)), {"rollout": 99}]}, "steps"),
        ({"guards": [{"kind": "signal", "endpointId": 9, "effect": "hold"}] * 6}, "guards"),
        ({"noDataMinutes": 1441}, "noDataMinutes"),
        (
            {"window": {"timezone": "Mars", "days": [], "from": "9", "to": "10:00"}},
            "window.timezone",
        ),
    ],
)
def test_what_a_release_may_not_be_is_refused(kit, body, path):
    error = kit.create(status=400, **body)
    assert error["details"][0]["path"].startswith(path)


def test_too_many_filters_of_a_guard_are_refused_with_their_path(kit):
    guard = kit.guard(kit.endpoint())
    error = kit.create(status=400, guards=[guard | {"filters": guard["filters"] * 26}])
    assert error["details"][0]["path"] == "guards[0].filters"


def test_a_guard_that_fires_now_refuses_the_release(kit):
    endpoint = kit.endpoint()
    kit.signal("firing")
    error = kit.create(status=400, guards=[kit.guard(endpoint)])
    assert error["details"][0]["path"] == "guards[0]"
    kit.signal("resolved")
    kit.create(guards=[kit.guard(endpoint)])


def test_an_alert_of_more_than_a_day_ago_refuses_no_release(kit, rows):
    endpoint = kit.endpoint()
    kit.signal("firing")
    rows("UPDATE signals SET created_at = now() - interval '25 hours' RETURNING 1")
    kit.create(guards=[kit.guard(endpoint)])


def test_the_first_step_is_not_below_the_present_percentage(kit):
    kit.edit_strategy(rollout="5")
    (detail,) = kit.create(400)["details"]
    assert detail["path"] == "steps[0].rollout"
    assert "(5%)" in detail["message"]


def test_a_disabled_flag_is_a_warning(kit):
    kit.post(f"{kit.place}/off")
    message = "The flag is disabled in production: no user gets it."
    assert kit.create()["warnings"] == [{"message": message, "strategyId": None}]


def test_the_releases_of_a_flag_are_listed_newest_first(kit):
    first = kit.create()
    kit.command(first, "rollback")
    second = kit.create()
    ids = [release["id"] for release in kit.get(f"{kit.place}/releases")["releases"]]
    assert ids == [second["id"], first["id"]]
    assert second["url"].endswith(
        f"/admin/features/checkout/environments/production/releases/{second['id']}"
    )


def test_the_shortest_step_is_a_minute_without_guards_and_shorter_with_streams(kit, rows):
    metric = {"kind": "impactMetric", "metric": "errors", "per": "requests", "measure": "ratio"}
    source = metric | {"environment": "production"}
    rule = {"source": source, "above": 1, "windowMinutes": 5, "breaches": 2, "everySeconds": 30}
    guard = {"kind": "rule", "rule": rule, "effect": "hold"}

    def find_shortest(*guards):
        body = {"steps": STEPS, "guards": list(guards)}
        return kit.post(f"{kit.place}/releases/preview", body)["shortestStepMinutes"]

    assert find_shortest() == 1
    assert find_shortest(guard) == 8  # 15 s, 60 s, two evaluations of 30 s, a window of 5 min
    rows("INSERT INTO poll_intervals (environment, seconds) VALUES ('production', 0) RETURNING 1")
    assert find_shortest(guard) == 7


def test_a_flag_has_one_active_release_in_an_environment(kit):
    assert kit.create()["startAt"] is None
    kit.create(status=409)
    kit.wait(10)
    kit.create(status=409)  # although its first step is below the present percentage


def test_a_random_stickiness_is_refused(kit):
    kit.edit_strategy(stickiness="random")
    assert kit.create(status=400)["details"][0]["path"] == "strategyId"


def test_several_rollouts_need_a_choice(kit):
    other = kit.add_strategy(rollout=0)
    assert kit.create(status=400)["details"][0]["path"] == "strategyId"
    release = kit.create(strategyId=kit.strategy["id"])
    assert [warning["strategyId"] for warning in release["warnings"]] == [other["id"]]


def test_a_release_creates_the_rollout_that_is_missing(kit):
    kit.web.delete(f"{kit.place}/strategies/{kit.strategy['id']}", headers=ADMIN)
    release = kit.create()
    (strategy,) = kit.get(f"{kit.place}/strategies")
    assert strategy["id"] == release["strategyId"]
    assert strategy["parameters"] == {
        "rollout": "1",
        "stickiness": "default",
        "groupId": "checkout",
    }
    kit.command(release, "rollback")
    (strategy,) = kit.get(f"{kit.place}/strategies")
    assert strategy["parameters"]["rollout"] == "0"


def test_a_step_must_be_long_enough_for_the_slowest_poller(kit):
    token = {"tokenName": "app", "type": "client", "environment": "production", "projects": ["*"]}
    secret = kit.post("/api/admin/api-tokens", token, 201)["secret"]
    for interval in ("15000", "600000", "undefined"):
        headers = {"Authorization": secret, "Unleash-Interval": interval}
        kit.web.get("/api/client/features", headers=headers)
    buffers.store_last_uses(kit.services[0].context)
    endpoint = kit.endpoint()
    steps = [{"rollout": 1, "minutes": 9}, {"rollout": 100}]
    error = kit.create(status=400, steps=steps, guards=[kit.guard(endpoint)])
    message = "The guards need at least 10 minutes for each step."
    assert error["details"] == [{"message": message, "path": "steps[0].minutes"}]
    body = {"steps": steps, "guards": [kit.guard(endpoint)]}
    preview = kit.post(f"{kit.place}/releases/preview", body)
    assert preview["shortestStepMinutes"] == 10
    release = kit.create(guards=[kit.guard(endpoint)])
    kit.command(release, "advance", status=409)  # the guard has not watched it for ten minutes


def test_a_preview_shows_the_alerts_of_the_last_days_and_stores_nothing(kit):
    endpoint = kit.endpoint()
    kit.signal("firing")
    kit.signal("resolved")
    body = {"steps": STEPS, "guards": [kit.guard(endpoint)]}
    preview = kit.post(f"{kit.place}/releases/preview", body)
    (guard,) = preview["guards"]
    assert guard["state"] == "ok"
    assert [item["firing"] for item in guard["series"]] == [True, False]
    assert kit.get(f"{kit.place}/releases") == {"releases": []}


def test_a_template_fills_steps_and_watch_time(kit):
    release = kit.post(f"{kit.place}/releases", {"template": "careful"}, 201)
    assert [step["rollout"] for step in release["steps"]] == [1, 10, 50, 100]
    assert release["steps"] != STEPS
    kit.command(release, "rollback")
    release = kit.create(template="careful", watchMinutes=5)
    assert (release["steps"], release["watchMinutes"]) == (STEPS, 5)


def test_the_built_in_step_patterns_are_listed(kit):
    items = kit.get("/api/admin/release-templates")["releaseTemplates"]
    assert [item["name"] for item in items] == ["careful", "quarters"]
    assert [step["rollout"] for step in items[1]["steps"]] == [25, 50, 75, 100]
    assert set(items[0]) == {"name", "description", "steps", "watchMinutes"}


def test_editors_release_and_viewers_read(kit, cast):
    release = kit.create()
    path = f"{kit.place}/releases/{release['id']}"
    ed, vera = cast.signed_in("ed"), cast.signed_in("vera")
    headers = {"X-CSRF-Token": ed.csrf}
    assert ed.post_json(f"{path}/hold", {}, headers=headers).json["heldBy"] == "person"
    assert vera.get(path).json["heldReason"] == "Held by ed."
    vera.post_json(f"{path}/stop", {}, headers={"X-CSRF-Token": vera.csrf}, status=403)


def test_a_list_has_the_releases_of_all_projects_by_state(kit):
    first = kit.create()
    kit.command(first, "stop")
    second = kit.create()
    path = "/api/admin/releases"
    assert [r["id"] for r in kit.get(path)["releases"]] == [second["id"], first["id"]]
    assert [r["id"] for r in kit.get(f"{path}?state=stopped")["releases"]] == [first["id"]]
    assert kit.get(f"{path}?project=other")["releases"] == []
    kit.get(f"{path}?state=nope", 400)


def test_unknown_releases_and_commands_are_not_found(kit):
    release = kit.create()
    kit.post(f"{kit.place}/releases/999/hold", status=404)
    kit.post(f"{kit.place}/releases/{release['id']}/explode", status=404)
    kit.get("/api/admin/projects/default/features/no/environments/production/releases", 404)


def test_the_plan_of_a_release_starts_one_from_its_next_step_on(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint())], watchMinutes=7)
    kit.command(release, "stop")
    plan = kit.get(f"{kit.place}/releases/{release['id']}/plan")
    assert [step["rollout"] for step in plan["steps"]] == [step["rollout"] for step in STEPS[1:]]
    new = kit.create(**plan)
    names = ("watchMinutes", "noDataMinutes", "window", "strategyId")
    assert {name: new[name] for name in names} == {name: release[name] for name in names}
    assert new["guards"][0]["filters"] == release["guards"][0]["filters"]
