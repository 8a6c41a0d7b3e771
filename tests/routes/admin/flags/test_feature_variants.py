"""Environment variants: the rules of their weights and order, patches, several environments."""

from __future__ import annotations

import pytest

from tests.routes.kit import FEATURES, Admin
from tests.routes.sdk import CLIENT, PRODUCTION

FLAG = f"{FEATURES}/a"
PATH = f"{FLAG}/environments/development/variants"
BATCH = f"{FLAG}/variants-batch"
EVENT = "feature-environment-variants-updated"


def variant(name="x", **more):
    return {"name": name, "weight": 0, "weightType": "variable", "stickiness": "default", **more}


@pytest.fixture
def flag(admin):
    return admin.flag()


def test_variants_are_stored_by_name_with_their_weights(admin, flag):
    assert admin.get(PATH) == {"version": 1, "variants": []}
    body = [variant("c"), variant("b", weight=100, weightType="fix"), variant("a")]
    body[0]["payload"] = {"type": "json", "value": "[1]"}
    answer = admin.put(PATH, body)
    assert answer["version"] == 1
    weights = [(v["name"], v["weight"]) for v in answer["variants"]]
    assert weights == [("a", 450), ("b", 100), ("c", 450)]
    assert admin.get(PATH) == answer
    states = {e["name"]: e["variants"] for e in admin.get(FLAG)["environments"]}
    assert (states["development"], states["production"]) == (answer["variants"], [])
    (event,) = admin.events(1)
    assert (event["type"], event["featureName"], event["environment"]) == (
        EVENT,
        "a",
        "development",
    )
    assert (event["data"]["variants"], event["preData"]["variants"]) == (answer["variants"], [])


def test_what_cannot_be_divided_goes_to_the_first_of_the_body(admin, flag):
    answer = admin.put(PATH, [variant("c"), variant("b"), variant("a")])
    weights = [(v["name"], v["weight"]) for v in answer["variants"]]
    assert weights == [("a", 333), ("b", 333), ("c", 334)]


def test_only_a_change_raises_the_revision_and_only_that_of_its_environment(admin, flag):
    admin.revisions_ahead()
    topics = dict(admin.rows("SELECT topic, id FROM revisions"))
    admin.put(PATH, [variant()])
    after = dict(admin.rows("SELECT topic, id FROM revisions"))
    assert {topic for topic in after if after[topic] != topics.get(topic)} == {"", "in/development"}
    before = admin.read_state()
    admin.put(PATH, [variant(weight=7)])
    assert admin.read_state() == before


def test_patches(admin, flag):
    answer = admin.patch(PATH, [{"op": "add", "path": "/-", "value": variant("b")}])
    answer = admin.patch(PATH, [{"op": "add", "path": "/-", "value": variant("a")}])
    assert [(v["name"], v["weight"]) for v in answer["variants"]] == [("a", 500), ("b", 500)]
    answer = admin.patch(PATH, [{"op": "remove", "path": "/0"}])
    assert [(v["name"], v["weight"]) for v in answer["variants"]] == [("b", 1000)]


def test_several_environments_change_together(admin, flag):
    admin.put(PATH, [variant()])
    answer = admin.put(
        BATCH,
        {
            "environments": ["production", "development", "production"],
            "variants": [{"name": "x", "weight": 1}],
        },
    )
    assert answer == {"version": 1, "variants": [variant(weight=1000)]}
    for environment in ("development", "production"):
        assert admin.get(f"{FLAG}/environments/{environment}/variants") == answer
    (event,) = admin.events(1)  # development had them
    assert (event["type"], event["environment"]) == (EVENT, "production")


def test_invalid_variants_are_rejected_and_change_nothing(admin, flag):
    admin.put(PATH, [variant()])
    table = [
        ([variant(), variant()], "[1].name"),
        ([variant("")], "[0].name"),
        ([variant("x" * 101)], "[0].name"),
        ([{"weight": 1}], "[0].name"),
        ([variant(weight=1001)], "[0].weight"),
        ([variant(weight=-1)], "[0].weight"),
        ([variant(weight=1.5)], "[0].weight"),
        ([variant(weight=10**30)], "[0].weight"),
        ([variant(weightType="some")], "[0].weightType"),
        ([variant(weight=1000, weightType="fix")], ""),
        ([variant(weight=999, weightType="fix"), variant("y", weight=2, weightType="fix")], ""),
        ([variant(stickiness="")], "[0].stickiness"),
        ([variant(payload={"type": "xml", "value": ""})], "[0].payload.type"),
        ([variant(payload={"type": "json", "value": "{"})], "[0].payload.value"),
        ([variant(payload={"type": "number", "value": "x"})], "[0].payload.value"),
        ([variant(payload={"type": "string"})], "[0].payload.value"),
        ([variant(payload={"type": "string", "value": 1})], "[0].payload.value"),
        ([variant(f"v{n}") for n in range(101)], ""),
    ]
    admin.all_refused("PUT", PATH, table)
    batch = [
        ({"environments": ["development"], "variants": body}, f"variants{path}")
        for body, path in table
    ]
    batch += [
        ({"environments": [], "variants": [variant("y")]}, "environments"),
        ({"variants": [variant("y")]}, "environments"),
        ({"environments": ["development"]}, "variants"),
    ]
    admin.all_refused("PUT", BATCH, batch)
    bodies = [{}, {"variants": []}, "x", 1, None, [1], [[]], b"", b"{"]
    admin.refusals("PUT", PATH, bodies)
    steps = [
        [{"op": "remove", "path": "/1"}],
        [{"op": "add", "path": "/x", "value": variant("y")}],
        [{"op": "add", "path": "/-", "value": variant()}],
        [{"op": "replace", "path": "/0/weight", "value": "1"}],
        [{"op": "replace", "path": "/0/weightType", "value": "fix"}],
        [{"op": "replace", "path": "", "value": {}}],
        [{"op": "test", "path": "/0/name", "value": "y"}],
        [{"op": "none", "path": "/0"}],
        {"op": "remove", "path": "/0"},
    ]
    refusals = admin.refusals("PATCH", PATH, steps)
    assert {status for status, _ in refusals.values()} == {400}


def test_unknown_and_archived_flags_have_no_variants_to_change(admin, flag):
    before = admin.read_state()
    for path in (
        f"{FEATURES}/b/environments/development/variants",
        f"{FLAG}/environments/none/variants",
        "/api/admin/projects/web/features/a/environments/development/variants",
    ):
        admin.ask("GET", path, status=404)
        admin.ask("PUT", path, [variant()], 404)
        admin.ask("PATCH", path, [], 404)
    admin.ask("PUT", BATCH, {"environments": ["development", "none"], "variants": []}, 404)
    assert admin.read_state() == before
    admin.ask("DELETE", flag, status=202)
    before = admin.read_state()
    admin.ask("PUT", PATH, [variant()], 400)
    admin.ask("PUT", BATCH, {"environments": ["development"], "variants": [variant()]}, 400)
    assert admin.read_state() == before


def test_sdks_get_the_variants_of_their_environment(sdk):
    admin = Admin(sdk.service)
    path = f"{FEATURES}/one/environments/development/variants"
    variants = admin.put(path, [variant("green")])["variants"]
    variants_by_token = {}
    for token in (CLIENT, PRODUCTION):
        answer = sdk.web.get("/api/client/features/one", headers=token)
        variants_by_token[token["Authorization"]] = answer.json["variants"]
    assert variants_by_token == {CLIENT["Authorization"]: variants, PRODUCTION["Authorization"]: []}
