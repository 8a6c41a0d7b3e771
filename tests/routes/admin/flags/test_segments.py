"""Segments: constraints, usage, and protection of those in use."""

from __future__ import annotations

import webtest

from sigservice.services.flags import segments
from tests.delivery.test_revision_cache import AS_CLIENT, POLL, TOKENS
from tests.routes.kit import FEATURES, NEW_PROJECT, PROJECT, SEGMENTS, Admin, race

RULE = {"contextName": "userId", "operator": "IN", "values": ["1"]}
IDS = ["0", "999", str(2**31 - 1), str(2**31), "9" * 19, "9" * 30, "9" * 5000, "000000"]
NO_IDS = ["-1", "%D9%A1", "1%20", "0x1", "+1", "..", "%2e%2e"]
BAD_IDS = ["x", "1.5", "-", "1e3", "%00"]


def body(name="beta", **more):
    return {"name": name, "constraints": [RULE], **more}


def test_segment_is_created_replaced_and_deleted(admin):
    answer = admin.ask("POST", SEGMENTS, body(" beta ", description=" d "), 201)
    item = answer.json
    assert (item["name"], item["description"], item["project"]) == ("beta", "d", None)
    assert item["constraints"] == [RULE]
    assert {"createdAt", "createdBy"} <= item.keys()
    assert answer.headers["Location"] == f"{SEGMENTS}/{item['id']}"
    path = answer.headers["Location"]
    assert admin.get(path) == item
    (items,) = admin.get(SEGMENTS)["segments"]
    assert items == item | {"usedInFeatures": 0, "usedInProjects": 0}
    assert admin.ask("PUT", path, body("gamma", project="default"), 204).body == b""
    after = admin.get(path)
    assert after == item | {"name": "gamma", "description": None, "project": "default"}
    admin.put(path, body("gamma"), 204)  # its own name is free
    admin.delete(path, 204)
    admin.get(path, 404)
    created, updated, _, deleted = admin.events(4)
    assert [created["type"], updated["type"]] == ["segment-created", "segment-updated"]
    assert (created["data"], created["preData"]) == (item, None)
    assert (updated["preData"], updated["data"], updated["project"]) == (item, after, "default")
    assert (deleted["type"], deleted["data"]) == ("segment-deleted", None)
    assert deleted["preData"] == after | {"project": None}


def test_bad_segments(admin):
    path = f"{SEGMENTS}/{admin.segment()}"
    table = [
        (body(""), "name"),
        (body("  \t"), "name"),
        (body("é" * 201), "name"),
        (body("x", description="é" * 1001), "description"),
        (body("x", project="none"), "project"),
        (body("x", project="../default"), "project"),
        (body("x", constraints=[RULE | {"contextName": ""}]), "constraints[0].contextName"),
        (body("x", constraints=[RULE | {"values": []}]), "constraints[0].values"),
        (body("x", constraints=[RULE | {"operator": "in"}]), "constraints[0].operator"),
        (body("x", constraints=[RULE | {"values": [""]}]), "constraints[0].values[0]"),
        (body("x", constraints=[RULE | {"values": ["x" * 101]}]), "constraints[0].values[0]"),
        (body("x", constraints=[RULE] * 31), "constraints"),
        (body("x", constraints=[RULE | {"values": ["1"] * 1001}]), "constraints[0].values"),
        (body("x", constraints=[RULE | {"values": ["1"] * 501}] * 2), "constraints"),
        (
            body("x", constraints=[{"contextName": "x", "operator": "NUM_EQ", "value": "1e400"}]),
            "constraints[0].value",
        ),
        (
            body("x", constraints=[{"contextName": "x", "operator": "NUM_GT", "value": "b"}]),
            "constraints[0].value",
        ),
    ]
    for method, at in (("POST", SEGMENTS), ("PUT", path)):
        admin.all_refused(method, at, table)
    for more in (
        {"description": "é" * 1000},
        {"constraints": []},
        {"constraints": [RULE | {"values": ["1"] * 500}] * 2},
        {"constraints": [RULE | {"values": [10**30]}]},
        {"name": "../../etc/passwd"},
        {"name": "'; DROP TABLE segments --"},
        {"name": "сегмент 😀" + "é" * 190},
    ):
        admin.post(SEGMENTS, body(str(len(str(more)))) | more, 201)


def test_the_limit_of_values_is_an_option(make_service):
    service = make_service(environ={"SERVICE_SEGMENT_VALUES_LIMIT": "2"})
    admin = Admin(service)
    two, three = ([RULE | {"values": ["1"] * n}] for n in (2, 3))
    admin.post(SEGMENTS, body("two", constraints=two), 201)
    admin.all_refused("POST", SEGMENTS, [(body("x", constraints=three), "constraints[0].values")])
    admin.all_refused("POST", SEGMENTS, [(body("x", constraints=[*two, RULE]), "constraints")])


def test_the_limit_of_segments_on_a_strategy_is_an_option(make_service):
    service = make_service(environ={"SERVICE_STRATEGY_SEGMENTS_LIMIT": "1"})
    admin = Admin(service)
    admin.flag()
    ids = [admin.segment(name) for name in ("one", "two")]
    path = f"{FEATURES}/a/environments/development/strategies"
    strategy = {"name": "default", "segments": ids}
    admin.all_refused("POST", path, [(strategy, "segments")])
    added = admin.strategy(segments=ids[:1])
    place = {"projectId": "default", "environmentId": "development", "strategyId": added["id"]}
    admin.all_refused("POST", f"{SEGMENTS}/strategies", [(place | {"segmentIds": ids}, "segments")])


def test_a_segment_of_a_default_strategy_is_kept(admin):
    id, flag = admin.segment(), admin.flag()
    admin.post("/api/admin/projects", NEW_PROJECT, 201)
    path = f"{PROJECT}/environments/development/default-strategy"
    admin.post(path, {"name": "flexibleRollout", "segments": [id]})
    refused = admin.ask("DELETE", f"{SEGMENTS}/{id}", status=409).json
    assert refused["message"] == "Segment beta is used by the default strategy of default."
    assert [detail["message"] for detail in refused["details"]] == [
        "Used by the default strategy of default in development."
    ]
    admin.all_refused("PUT", f"{SEGMENTS}/{id}", [(body(project="web"), "project")])
    admin.put(f"{SEGMENTS}/{id}", body(project="default"), 204)
    admin.post(f"{flag}/environments/development/on")
    (strategy,) = admin.get(f"{flag}/environments/development")["strategies"]
    assert strategy["segments"] == [id]


def test_names_are_unique(admin):
    admin.segment("beta")
    other = admin.segment("other")
    before = admin.read_state()
    for name in ("beta", " beta "):
        answer = admin.ask("POST", SEGMENTS, body(name), 409)
        assert answer.json["name"] == "NameExistsError"
        assert answer.json["details"][0]["path"] == "name"
        admin.put(f"{SEGMENTS}/{other}", body(name), 409)
        admin.post(f"{SEGMENTS}/validate", {"name": name}, 409)
    admin.post(f"{SEGMENTS}/validate", {"name": "Beta"}, 204)
    rows = [({}, "name"), ({"name": ""}, "name"), ({"name": "x" * 201}, "name")]
    admin.all_refused("POST", f"{SEGMENTS}/validate", [*rows, ({"name": 1}, "name")])
    assert admin.read_state() == before


def test_ids_that_are_none(admin):
    admin.segment()
    before = admin.read_state()
    for ids, expected in ((IDS, {404}), (NO_IDS, {400, 404}), (BAD_IDS, {400})):
        for id in ids:
            path = f"{SEGMENTS}/{id}"
            assert admin.ask("GET", path).status_int in expected, id
            assert admin.ask("PUT", path, body("x")).status_int in expected, id
            assert admin.ask("DELETE", path).status_int in expected, id
            assert admin.ask("GET", f"{path}/strategies").status_int in expected, id
    assert admin.read_state() == before


def test_a_segment_in_use_stays(admin):
    admin.flag("a")
    admin.flag("b")
    id = admin.segment()
    one = admin.strategy("a", segments=[id])["id"]
    two = admin.strategy("b", "production", segments=[id])["id"]
    before = admin.read_state()
    answer = admin.ask("DELETE", f"{SEGMENTS}/{id}", status=409)
    assert answer.json["name"] == "ConflictError"
    assert {"a", "b"} <= set(answer.json["message"].replace(".", "").replace(",", "").split())
    assert {detail["path"] for detail in answer.json["details"]} == {one, two}
    assert admin.read_state() == before
    users = admin.get(f"{SEGMENTS}/{id}/strategies")["strategies"]
    assert users[0] == {
        "id": one,
        "featureName": "a",
        "projectId": "default",
        "environment": "development",
        "strategyName": "flexibleRollout",
    }
    assert [user["id"] for user in users] == [one, two]
    for name, environment, strategy in (("a", "development", one), ("b", "production", two)):
        admin.delete(f"{FEATURES}/{name}/environments/{environment}/strategies/{strategy}")
    admin.delete(f"{SEGMENTS}/{id}", 204)


def test_list_counts_the_flags_and_projects_that_use_a_segment(admin):
    admin.post("/api/admin/projects", {"id": "web", "name": "Web"}, 201)
    admin.flag("a")
    admin.flag("b")
    admin.post("/api/admin/projects/web/features", {"name": "theirs"}, 201)
    id = admin.segment("in use")
    admin.segment("free")
    for name in ("a", "b"):
        admin.strategy(name, segments=[id])
    path = "/api/admin/projects/web/features/theirs/environments/development/strategies"
    admin.post(path, {"name": "default", "segments": [id]})
    counts = [
        (item["name"], item["usedInFeatures"], item["usedInProjects"])
        for item in admin.get(SEGMENTS)["segments"]
    ]
    assert sorted(counts) == [("free", 0, 0), ("in use", 3, 2)]


def test_a_segment_that_is_used_elsewhere_gets_no_project(admin):
    admin.rows("INSERT INTO projects (id, name) VALUES ('other', 'Other')")
    admin.flag()
    id = admin.segment()
    admin.strategy(segments=[id])
    admin.all_refused("PUT", f"{SEGMENTS}/{id}", [(body("beta", project="other"), "project")])
    admin.put(f"{SEGMENTS}/{id}", body("beta", project="default"), 204)


def test_a_strategys_segments_are_read_and_replaced(admin):
    admin.flag()
    one, two = admin.segment("one"), admin.segment("two")
    strategy = admin.strategy(segments=[one], title="mine", constraints=[RULE])
    place = {"projectId": "default", "environmentId": "development", "strategyId": strategy["id"]}
    path = f"{SEGMENTS}/strategies"
    assert [s["id"] for s in admin.get(f"{path}/{strategy['id']}")["segments"]] == [one]
    admin.post(path, place | {"segmentIds": [two]}, 201)
    (event,) = admin.events(1)
    assert (event["preData"], event["data"]) == (strategy, strategy | {"segments": [two]})
    (now,) = admin.get(f"{FEATURES}/a/environments/development")["strategies"]
    assert now["segments"] == [two]
    admin.post(path, place | {"segmentIds": []}, 201)
    assert admin.get(f"{path}/{strategy['id']}") == {"segments": []}
    invalid = [
        {"projectId": "other"},
        {"environmentId": "production"},
        {"environmentId": "none"},
        {"strategyId": "none"},
        {"segmentIds": [999]},
        {"segmentIds": [2**31]},
        {"segmentIds": [10**30]},
    ]
    result = admin.refusals(
        "POST", path, [place | {"segmentIds": [one]} | more for more in invalid]
    )
    assert {status for status, _ in result.values()} == {404}
    rows = [(place, "segmentIds"), (place | {"segmentIds": 1}, "segmentIds")]
    rows += [(place | {"segmentIds": ["1"]}, "segmentIds[0]"), ({"segmentIds": [1]}, "projectId")]
    rows += [(place | {"segmentIds": "x"}, "segmentIds"), ({}, "projectId")]
    admin.all_refused("POST", path, rows)
    admin.get(f"{path}/none", 404)


def test_change_of_a_segment_reaches_its_strategies(make_service):
    service = make_service(TOKENS)
    admin, client = Admin(service), webtest.TestApp(service.app)
    admin.flag()
    id = admin.segment()
    admin.strategy(segments=[id])

    def poll():
        return client.get(POLL, headers=AS_CLIENT | {"Unleash-Client-Spec": "5.0.0"})

    before = poll()
    assert before.json["segments"][0]["constraints"][0]["values"] == ["7"]
    admin.put(f"{SEGMENTS}/{id}", body(), 204)
    after = poll()
    assert after.json["segments"][0]["constraints"] == [RULE]
    assert after.headers["ETag"] != before.headers["ETag"]


def test_the_limit_holds_when_many_race(service, admin, monkeypatch):
    monkeypatch.setattr(segments, "MAX_SEGMENTS", 5)

    def create(racer, n):
        return racer.ask("POST", SEGMENTS, body(f"s{n}")).status_int

    assert sorted(race(service, 20, create)) == [201] * 5 + [400] * 15
    assert len(admin.get(SEGMENTS)["segments"]) == 5
    assert admin.ask("POST", SEGMENTS, body("x")).json["name"] == "ExceedsLimitError"


def test_concurrent_use_and_deletion_leave_no_dangling_segment(service, admin):
    """Either the strategy uses the segment, or the segment is deleted and unused."""
    admin.flag()
    path = f"{FEATURES}/a/environments/development/strategies"
    for turn in range(4):
        id = admin.segment(f"s{turn}")

        def work(racer, n, id=id):
            if n % 2:
                return racer.ask("DELETE", f"{SEGMENTS}/{id}").status_int
            return racer.ask("POST", path, {"name": "default", "segments": [id]}).status_int

        statuses = set(race(service, 6, work))
        assert statuses <= {200, 204, 404, 409}
        assert not {200, 204} <= statuses
    in_use = {i for strategy in admin.get(path) for i in strategy["segments"]}
    assert in_use <= {segment["id"] for segment in admin.get(SEGMENTS)["segments"]}


def test_names_race_to_one_winner(service):
    def create(racer, _):
        return racer.ask("POST", SEGMENTS, body("same")).status_int

    assert sorted(race(service, 10, create)) == [201] + [409] * 9
