"""The admin API of action sets: shapes, codes, limits, permissions, events."""

from __future__ import annotations

import json

import webtest

from tests.actions_kit import SETS
from tests.conftest import ADMIN
from tests.routes.kit import JSON, race

SECRET = "whsec_YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh"
OTHER_SECRET = "whsec_YmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJi"
MAP = {"status": {"operator": "IN", "values": ["firing"]}}


def filter(**more):
    return {"path": "a.b", "operator": "IN", "values": ["x"]} | more


def test_the_shape_of_a_set(alerts, web):
    body = alerts.body(payload=MAP, description="d", options={"cooldownSeconds": 5})
    answer = web.post_json(SETS, body, headers=ADMIN, status=201)
    one = answer.json
    assert answer.headers["Location"] == f"{SETS}/{one['id']}"
    (action,) = one["actions"]
    assert set(action) == {
        "id",
        "action",
        "sortOrder",
        "executionParams",
        "createdAt",
        "createdByUserId",
    }
    for stamp in (one.pop("createdAt"), action.pop("createdAt")):
        assert stamp[-1] == "Z"
        assert len(stamp) == 24
    assert action.pop("id") >= 1
    assert one == {
        "id": one["id"],
        "enabled": True,
        "armed": True,
        "name": "kill checkout",
        "description": "d",
        "project": "default",
        "actorId": alerts.account,
        "match": {
            "source": "signal-endpoint",
            "sourceId": alerts.endpoint["id"],
            "payload": {
                "status": {
                    "operator": "IN",
                    "values": ["firing"],
                    "inverted": False,
                    "caseInsensitive": False,
                }
            },
            "filters": [],
        },
        "actions": [
            {
                "action": "TOGGLE_FEATURE_OFF",
                "sortOrder": 1,
                "executionParams": {"environment": "production", "featureName": "checkout"},
                "createdByUserId": -42,
            }
        ],
        "options": {"cooldownSeconds": 5},
        "createdByUserId": -42,
    }
    assert web.get(SETS, headers=ADMIN).json["actions"][0]["id"] == one["id"]
    path = f"{SETS}/{one['id']}"
    assert web.get(path, headers=ADMIN).json["name"] == one["name"]
    assert web.delete(path, headers=ADMIN, status=200).body == b""
    assert web.get(SETS, headers=ADMIN).json == {"actions": []}


def test_what_is_read_can_be_put_back_and_changes_nothing(alerts, web):
    filters = [
        filter(path="n", operator="NUM_GT", value=5, values=None),
        filter(path="n", operator="NUM_LT", value="9.5", values=None),
        {"path": "n", "operator": "EXISTS", "inverted": True},
        {"any": [filter(path="alerts[*].x", operator="REGEX", value="a", values=None)]},
        filter(path="off", values=[False, 0, 1.5], caseInsensitive=True),
    ]
    options = {
        "cooldownSeconds": 60,
        "maxRunsPerHour": 3,
        "latch": True,
        "continueOnFailure": True,
        "restoreAfterMinutes": 5,
        "restoreWhenResolved": {"path": "status", "values": ["resolved"], "key": "groupKey"},
    }
    one = alerts.set(filters=filters, description=" d ", options=options)
    assert list(one["match"]["payload"]) == ["n", "off"]
    assert len(one["match"]["filters"]) == 3
    before = alerts.read_state()
    repeated = web.put_json(f"{SETS}/{one['id']}", one, headers=ADMIN, status=200).json
    assert repeated == one
    assert alerts.read_state() == before  # no event, no new version
    one["enabled"] = False
    changed = web.put_json(f"{SETS}/{one['id']}", one, headers=ADMIN, status=200).json
    assert changed["enabled"] is False
    assert changed["actions"] == one["actions"]  # their ids and times as they were


def test_put_replaces_all_but_enabled(alerts, web):
    one = alerts.set(description="d", enabled=False, payload=MAP, options={"latch": True})
    changed = alerts.put(one, name="new", acts=[alerts.off(), alerts.off()])
    assert (changed["id"], changed["enabled"], changed["description"]) == (one["id"], False, None)
    assert (changed["match"]["payload"], changed["options"]) == ({}, {})
    assert [action["sortOrder"] for action in changed["actions"]] == [1, 2]
    assert alerts.put(one, enabled=True)["enabled"] is True


def test_on_off_and_arm(alerts):
    path = f"{SETS}/{alerts.set()['id']}"
    assert alerts.post(f"{path}/off").json["enabled"] is False
    before = alerts.read_state()
    assert alerts.post(f"{path}/off").json["enabled"] is False
    assert alerts.post(f"{path}/arm").json["armed"] is True
    assert alerts.read_state() == before
    assert alerts.post(f"{path}/on").json["enabled"] is True
    alerts.rows("UPDATE action_sets SET has_run_once = true")
    assert alerts.post(f"{path}/arm").json["armed"] is True


def test_every_change_has_its_event(alerts, web):
    one = alerts.set()
    path = f"{SETS}/{one['id']}"
    alerts.post(f"{path}/off")
    alerts.put(one, options={"latch": True})
    web.delete(path, headers=ADMIN)
    results = [e for e in alerts.events() if e["type"].startswith("actions-")]
    assert [(e["type"][8:], e["project"]) for e in results] == [
        ("deleted", "default"),
        ("updated", "default"),
        ("updated", "default"),
        ("created", "default"),
    ]
    assert results[0]["preData"]["name"] == results[3]["data"]["name"] == "kill checkout"
    assert (results[2]["preData"]["enabled"], results[2]["data"]["enabled"]) == (True, False)


def test_names_are_unique_in_a_project(alerts, web):
    one = alerts.set()
    answer = web.post_json(SETS, alerts.body(), headers=ADMIN, status=409).json
    assert (answer["name"], answer["details"][0]["path"]) == ("NameExistsError", "name")
    two = alerts.set(name="two")
    web.put_json(f"{SETS}/{two['id']}", alerts.body(), headers=ADMIN, status=409)
    alerts.put(one, name="kill checkout", description="itself")
    web.post_json("/api/admin/projects", {"id": "other", "name": "other"}, headers=ADMIN)
    flag = {"name": "there"}
    web.post_json("/api/admin/projects/other/features", flag, headers=ADMIN)
    body = alerts.body(acts=[alerts.off("there")])
    other = web.post_json("/api/admin/projects/other/actions", body, headers=ADMIN, status=201)
    id = other.json["id"]
    for method, path in (
        ("GET", ""),
        ("PUT", ""),
        ("DELETE", ""),
        ("POST", "/on"),
        ("POST", "/off"),
        ("POST", "/arm"),
        ("POST", "/test"),
        ("GET", "/events"),
    ):
        requests = json.dumps(alerts.body() if method == "PUT" else {}).encode()
        more = {} if method in ("GET", "DELETE") else {"body": requests}
        foreign = [("default", id), ("other", one["id"]), ("none", id)]
        for project, number in foreign + [("default", n) for n in (0, 2**31, 2**63, 10**18)]:
            address = f"/api/admin/projects/{project}/actions/{number}{path}"
            web.request(address, method=method, headers=ADMIN | JSON, status=404, **more)
    for address in ("/api/admin/projects/none/actions", "/api/admin/projects/none/actions/config"):
        web.get(address, headers=ADMIN, status=404)
    body = alerts.body()
    web.post_json("/api/admin/projects/none/actions", body, headers=ADMIN, status=404)


def test_limits_and_their_variables(alerts, web, make_service):
    five = [filter(values=[str(n) for n in range(25)])] * 5
    full = {"filters": five, "acts": [alerts.off()] * 10}
    for n in range(50):
        alerts.set(name=f"n{n}", **full)
    answer = web.post_json(SETS, alerts.body(), headers=ADMIN, status=400).json
    assert answer["name"] == "ExceedsLimitError"
    assert "50" in answer["message"]
    body = alerts.body(acts=[alerts.off()] * 11)
    id = web.get(SETS, headers=ADMIN).json["actions"][0]["id"]
    web.put_json(f"{SETS}/{id}", body, headers=ADMIN, status=400)
    names = ("SETS_PER_PROJECT", "SET_FILTERS", "SET_FILTER_VALUES", "SET_ACTIONS")
    environ = {f"SERVICE_ACTION_{name}_LIMIT": "1" for name in names}
    narrow = webtest.TestApp(make_service(environ=environ).app)
    for body in (
        alerts.body(filters=[filter()] * 2),
        alerts.body(filters=[filter(values=["a", "b"])]),
        alerts.body(acts=[alerts.off()] * 2),
    ):
        narrow.put_json(f"{SETS}/{id}", body, headers=ADMIN, status=400)
    narrow.put_json(f"{SETS}/{id}", alerts.body(filters=[filter()]), headers=ADMIN, status=200)
    web.delete(f"{SETS}/{id}", headers=ADMIN)
    narrow.post_json(SETS, alerts.body(), headers=ADMIN, status=400)


def test_the_limit_holds_when_10_requests_race(alerts, service):
    for n in range(45):
        alerts.set(name=f"m{n}")
    bodies = [alerts.body(name=f"n{n}") for n in range(10)]
    statuses = race(service, 10, lambda admin, n: admin.ask("POST", SETS, bodies[n]).status_int)
    assert sorted(statuses) == [201] * 5 + [400] * 5
    assert alerts.rows("SELECT count(*) FROM action_sets") == [(50,)]


def test_config(alerts, web):
    alerts.flag("another")
    alerts.tag("another")
    results = web.get(f"{SETS}/config", headers=ADMIN).json
    assert {name for name in results if name.startswith("TOGGLE")} == {
        "TOGGLE_FEATURE_ON",
        "TOGGLE_FEATURE_OFF",
        "TOGGLE_FEATURES_ON_BY_TAG",
        "TOGGLE_FEATURES_OFF_BY_TAG",
    }
    for definition in results.values():
        keys = {"label", "description", "category", "permissions", "parameters"}
        assert set(definition) == keys
        assert definition["parameters"][0]["name"] == "project"
        assert definition["parameters"][0]["type"] == "hidden"
    options = {
        parameter["name"]: parameter.get("options")
        for name in ("TOGGLE_FEATURE_ON", "TOGGLE_FEATURES_ON_BY_TAG")
        for parameter in results[name]["parameters"]
    }
    assert options == {
        "project": None,
        "environment": ["production", "development", "default"],
        "featureName": ["another", "checkout"],
        "tag": ["simple:pay"],
    }


def test_admins_only(alerts, cast, web):
    one = alerts.set()
    before = alerts.read_state()
    own = f"{SETS}/{one['id']}"
    requests = [
        ("GET", SETS),
        ("GET", f"{SETS}/config"),
        ("POST", SETS),
        ("GET", own),
        ("PUT", own),
    ]
    requests += [("DELETE", own)] + [
        ("POST", f"{own}/{verb}") for verb in ("on", "off", "arm", "test")
    ]
    body = json.dumps(alerts.body()).encode()
    for name in ("ed", "vera"):
        person = cast.signed_in(name)
        for method, path in requests:
            headers = {"X-CSRF-Token": person.csrf} | JSON
            more = {} if method == "GET" else {"body": body}
            answer = person.request(path, method=method, headers=headers, status=403, **more)
            assert answer.json["permissions"] == ["ADMIN"], (method, path)
    verbs = ("undo", "cancel-restore", "ignore-alert")
    by_editors = [("POST", f"{own}/events/1/{verb}") for verb in verbs]
    by_editors += [("DELETE", f"{own}/events/1/ignore-alert")]
    vera = cast.signed_in("vera")
    for method, path in by_editors:
        answer = vera.request(path, method=method, headers={"X-CSRF-Token": vera.csrf}, status=403)
        assert answer.json["permissions"] == ["EDIT"], (method, path)
    for method, path in requests + by_editors:
        web.request(path, method=method, status=401)
    assert alerts.read_state()[5:] == before[5:]


def test_deleting_a_project_takes_its_sets_while_runs_are_open(alerts, service, web):
    web.post_json("/api/admin/projects", {"id": "other", "name": "other"}, headers=ADMIN)
    sets = "/api/admin/projects/other/actions"
    body = alerts.body(acts=[alerts.by_tag(), alerts.by_tag()])
    id = web.post_json(sets, body, headers=ADMIN, status=201).json["id"]
    for _ in range(3):
        alerts.send()
    context = service.context
    with context.database.transaction() as conn:
        context.evaluator.evaluate_batch(conn, context.get_logger("actions"))
    alerts.send()  # this one is not evaluated yet
    web.delete("/api/admin/projects/other", headers=ADMIN)
    alerts.work()
    assert alerts.queued() == 0
    assert alerts.rows("SELECT state, count(*) FROM action_runs GROUP BY 1") == [("success", 3)]
    assert alerts.rows("SELECT count(*) FROM actions") == [(0,)]
    web.get(f"{sets}/{id}/events", headers=ADMIN, status=404)
