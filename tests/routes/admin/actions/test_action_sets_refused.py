"""What the admin API of action sets refuses: always a 400 that names the field, and no change."""

from __future__ import annotations

import json

from tests.actions_kit import SETS
from tests.conftest import ADMIN
from tests.routes.kit import JSON

MAP = {"status": {"operator": "IN", "values": ["firing"]}}


def filter(**more):
    return {"path": "a.b", "operator": "IN", "values": ["x"]} | more


# what is sent instead, the path of the detail
BAD = [
    ({"name": ""}, "name"),
    ({"name": "  "}, "name"),
    ({"name": "x" * 256}, "name"),
    ({"description": "x" * 1001}, "description"),
    ({"actorId": 0}, "actorId"),
    ({"actorId": 1}, "actorId"),
    ({"actorId": -1}, "actorId"),
    ({"actorId": 2**31}, "actorId"),
    ({"actorId": 2**70}, "actorId"),
    ({"match.source": "else"}, "match.source"),
    ({"match.sourceId": 0}, "match.sourceId"),
    ({"match.sourceId": 2**31}, "match.sourceId"),
    ({"match.payload": {"": {"operator": "EXISTS"}}}, "match.payload..path"),
    ({"match.payload": {"a": {"operator": "?"}}}, "match.payload.a.operator"),
    ({"match.payload": {"a": {"operator": "IN", "values": []}}}, "match.payload.a.values"),
    ({"match.payload": {"a": {"operator": "IN", "values": [None]}}}, None),
    ({"match.payload": {"a": {"operator": "NUM_EQ", "value": "x"}}}, "match.payload.a.value"),
    ({"match.filters": [filter(path="[")]}, "match.filters[0].path"),
    ({"match.payload": MAP, "match.filters": [filter(values=[])]}, "match.filters[0].values"),
    ({"match.filters": [filter()] * 6}, "match.filters"),
    ({"match.filters": [filter(values=list(range(26)))]}, "match.filters[0].values"),
    ({"match.filters": [filter(values=["x" * 101])]}, "match.filters[0].values[0]"),
    ({"match.filters": [{"any": [{"any": [filter()]}]}]}, "match.filters[0].any[0].any"),
    ({"match.filters": [{"any": [filter()], "inverted": True}]}, "match.filters[0].any"),
    ({"match.filters": [filter(value={})]}, "match.filters[0].value"),
    ({"actions": []}, "actions"),
    ({"actions.action": "FLY"}, "actions[0].action"),
    ({"actions.sortOrder": 0}, "actions[0].sortOrder"),
    ({"actions.sortOrder": 2**31}, "actions[0].sortOrder"),
    ({"actions.executionParams": {}}, "actions[0].executionParams.environment"),
    ({"params.environment": "nowhere"}, "actions[0].executionParams.featureName"),
    ({"params.environment": ["production"]}, "actions[0].executionParams.environment"),
    ({"params.featureName": "none"}, "actions[0].executionParams.featureName"),
    ({"params.featureName": True}, "actions[0].executionParams.featureName"),
    ({"params.featureName": 2**80}, "actions[0].executionParams.featureName"),
    ({"params.project": "other"}, "actions[0].executionParams.project"),
    ({"actions.action": "SET_FEATURE_ROLLOUT"}, "actions[0].executionParams.rollout"),
    ({"options": {"cooldownSeconds": -1}}, "options.cooldownSeconds"),
    ({"options": {"cooldownSeconds": 604_801}}, "options.cooldownSeconds"),
    ({"options": {"maxRunsPerHour": 0}}, "options.maxRunsPerHour"),
    ({"options": {"restoreAfterMinutes": 0}}, "options.restoreAfterMinutes"),
    ({"options": {"restoreAfterMinutes": 43_201}}, "options.restoreAfterMinutes"),
    (
        {"options": {"restoreWhenResolved": {"path": "", "values": ["a"], "key": "k"}}},
        "options.restoreWhenResolved.path",
    ),
    (
        {"options": {"restoreWhenResolved": {"path": "a", "values": [], "key": "k"}}},
        "options.restoreWhenResolved.values",
    ),
    (
        {"options": {"restoreWhenResolved": {"path": "a", "values": ["b"]}}},
        "options.restoreWhenResolved.key",
    ),
]


def with_parts(body, parts):
    """A copy of the body with the named parts replaced."""
    body = json.loads(json.dumps(body))
    places = {
        "match": body["match"],
        "actions": body["actions"][0],
        "params": body["actions"][0]["executionParams"],
    }
    for name, value in parts.items():
        place, _, key = name.rpartition(".")
        (places[place] if place else body)[key] = value
    return body


def test_bad_bodies_are_400_and_change_nothing(alerts, web):
    one = alerts.set()
    before, invalid = alerts.read_state(), []
    table = [(with_parts(alerts.body(name="n"), parts), path) for parts, path in BAD]
    complete = alerts.body(name="n")
    table += [
        ({name: value for name, value in complete.items() if name != missing}, missing)
        for missing in ("name", "actorId", "match", "actions")
    ]
    for body, path in table:
        for method, address in (("POST", SETS), ("PUT", f"{SETS}/{one['id']}")):
            data = json.dumps(body).encode()
            answer = web.request(
                address, method=method, body=data, headers=ADMIN | JSON, expect_errors=True
            )
            paths = [detail.get("path") for detail in answer.json.get("details", [])]
            if answer.status_int != 400 or (path is not None and path not in paths):
                invalid.append((path, answer.status_int, paths))
    assert not invalid
    assert alerts.read_state() == before


def test_all_that_is_wrong_is_told_at_once(alerts, web):
    body = alerts.body(payload={"a": {"operator": "?"}}, name="", actorId=0, options={})
    body["actions"] += [{"action": "FLY", "sortOrder": 2}]
    details = web.post_json(SETS, body, headers=ADMIN, status=400).json["details"]
    paths = ["name", "actorId", "match.payload.a.operator", "actions[1].action"]
    assert [detail["path"] for detail in details] == paths


def test_kinds_check_their_parameters(alerts, web):
    table = [
        (alerts.by_tag("simple"), ["tag"]),
        (alerts.by_tag(":x"), ["tag"]),
        (alerts.by_tag() | {"action": "TOGGLE_FEATURES_ON_BY_TAG"}, []),
        (with_env(alerts.by_tag(), "nowhere"), ["environment"]),
        (rollout("101"), ["rollout"]),
        (rollout(-1), ["rollout"]),
        (rollout("5.5"), ["rollout"]),
        (rollout("٥"), ["rollout"]),
        (rollout(0), []),
        (rollout("100"), []),
    ]
    invalid = []
    for n, (act, paths) in enumerate(table):
        body = alerts.body(name=f"n{n}", acts=[act])
        answer = web.post_json(SETS, body, headers=ADMIN, expect_errors=True)
        results = [d["path"].rpartition(".")[2] for d in answer.json.get("details", [])]
        if results != paths or (answer.status_int == 201) is bool(paths):
            invalid.append((act, answer.text))
        if answer.status_int == 201:
            web.delete(f"{SETS}/{answer.json['id']}", headers=ADMIN)
    assert not invalid


def rollout(share):
    params = {"environment": "production", "featureName": "checkout", "rollout": share}
    return {"action": "SET_FEATURE_ROLLOUT", "executionParams": params}


def with_env(act, environment):
    return act | {"executionParams": act["executionParams"] | {"environment": environment}}
