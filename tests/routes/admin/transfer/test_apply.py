"""The route that applies files of definitions."""

from __future__ import annotations

import threading
import time

import pytest
import webtest

from tests.conftest import ADMIN
from tests.jobs.release_kit import STEPS, Releases

PATH = "/api/admin/apply"
FLAGS = "/api/admin/projects/default/features"
SHOP = {
    "version": 1,
    "flags": {
        "checkout": {
            "type": "experiment",
            "description": "One page",
            "tags": ["simple:web", "urgent"],
            "parent": "accounts",
            "environments": {
                "development": "on",
                "production": {
                    "enabled": False,
                    "strategies": [
                        {
                            "title": "Beta",
                            "rollout": 25,
                            "segments": ["testers"],
                            "constraints": [{"country": ["DE"]}],
                            "variants": [{"name": "blue", "weight": 30.5}, {"name": "grey"}],
                        }
                    ],
                },
            },
        },
        "accounts": None,
    },
    "segments": {"testers": {"constraints": [{"userId": ["7", "0123"]}]}},
}


@pytest.fixture
def apply(web):
    def send(*documents, status=200, headers=ADMIN, **options):
        body = {"documents": list(documents)} | options
        return web.post_json(PATH, body, headers=headers, status=status).json

    return send


@pytest.fixture
def token_of(web):
    def make(role):
        account = {"username": role.lower(), "name": role, "rootRole": role}
        id = web.post_json("/api/admin/service-account", account, headers=ADMIN).json["id"]
        path = f"/api/admin/service-account/{id}/token"
        body = {"description": "ci", "expiresAt": "2099-01-01T00:00:00Z"}
        return {"Authorization": web.post_json(path, body, headers=ADMIN).json["secret"]}

    return make


def flags(**members):
    return {"version": 1, "flags": members}


def read(web, name="checkout"):
    return web.get(f"{FLAGS}/{name}", headers=ADMIN).json


def read_place(web, name="checkout", environment="production"):
    return web.get(f"{FLAGS}/{name}/environments/{environment}", headers=ADMIN).json


def list_events(web, **query):
    return web.get("/api/admin/events", query | {"limit": 100}, headers=ADMIN).json["events"]


def find_revision(rows):
    return rows("SELECT max(id) FROM revisions")


def test_a_file_creates_what_it_says(web, apply):
    answer = apply(SHOP)
    assert answer["counts"]["create"] == 3
    assert [change["name"] for change in answer["changes"]] == ["testers", "accounts", "checkout"]
    flag = read(web)
    assert (flag["type"], flag["dependencies"][0]["feature"]) == ("experiment", "accounts")
    place = read_place(web)
    (strategy,) = place["strategies"]
    assert (place["enabled"], strategy["parameters"]["rollout"]) == (False, "25")
    assert [(it["weight"], it["weightType"]) for it in strategy["variants"]] == [
        (305, "fix"),
        (695, "variable"),
    ]
    assert read_place(web, environment="development")["enabled"] is True


def test_the_same_file_again_changes_and_raises_nothing(web, apply, rows):
    apply(SHOP)
    before, count = find_revision(rows), len(list_events(web))
    answer = apply(SHOP)
    assert (answer["changes"], answer["applied"]) == ([], True)
    assert answer["counts"]["unchanged"] == 3
    assert (find_revision(rows), len(list_events(web))) == (before, count)


def test_a_check_answers_the_plan_and_writes_nothing(web, apply):
    checked = apply(SHOP, check=True)
    assert checked["applied"] is False
    web.get(f"{FLAGS}/checkout", headers=ADMIN, status=404)
    applied = apply(SHOP, fingerprint=checked["fingerprint"])
    assert applied["changes"] == checked["changes"]


def test_another_plan_than_the_one_that_was_checked_is_refused(web, apply):
    fingerprint = apply(SHOP, check=True)["fingerprint"]
    assert apply(SHOP, check=True)["fingerprint"] == fingerprint
    web.post_json(FLAGS, {"name": "unrelated"}, headers=ADMIN)
    assert apply(SHOP, check=True)["fingerprint"] == fingerprint
    assert apply(SHOP, check=True, revive=True)["fingerprint"] != fingerprint
    web.post_json(FLAGS, {"name": "accounts"}, headers=ADMIN)
    error = apply(SHOP, fingerprint=fingerprint, status=409)
    assert error["details"][0]["reason"] == "changed"
    web.get(f"{FLAGS}/checkout", headers=ADMIN, status=404)


def test_a_changed_strategy_keeps_its_id_and_its_percentage(web, apply):
    apply(SHOP)
    id = read_place(web)["strategies"][0]["id"]
    changed = {"title": "Beta", "rollout": 80, "constraints": [{"country": ["DE", "AT"]}]}
    answer = apply(flags(checkout={"environments": {"production": {"strategies": [changed]}}}))
    texts = [detail["text"] for detail in answer["changes"][0]["details"]]
    label = 'production, strategy 1 "Beta", '
    assert f"{label}constraints: country IN [DE] → country IN [DE, AT]" in texts
    (strategy,) = read_place(web)["strategies"]
    assert (strategy["id"], strategy["parameters"]["rollout"]) == (id, "25")
    assert answer["notes"][0]["reason"] == "state"
    types = [event["type"] for event in list_events(web)]
    assert types.count("feature-strategy-update") == 1
    assert "feature-strategy-remove" not in types


def test_lists_are_replaced_and_absent_members_stay(web, apply):
    apply(SHOP)
    apply(flags(checkout={"tags": ["urgent"], "parent": None}))
    flag = read(web)
    assert (flag["description"], flag["dependencies"]) == ("One page", [])
    path = "/api/admin/features/checkout/tags"
    tags = web.get(path, headers=ADMIN).json["tags"]
    assert [tag["value"] for tag in tags] == ["urgent"]
    types = {event["type"] for event in list_events(web)}
    assert {"feature-untagged", "feature-dependencies-removed"} <= types


def test_a_switch_of_a_person_stays_unless_the_file_enforces_states(web, apply):
    document = flags(checkout={"environments": {"production": "on"}})
    apply(document)
    web.post(f"{FLAGS}/checkout/environments/production/off", headers=ADMIN)
    answer = apply(document)
    text = "flag checkout in production stays off, on in the file"
    assert (answer["changes"], answer["notes"][0]["text"]) == ([], text)
    apply(document | {"states": "enforce"})
    assert read_place(web)["enabled"] is True


def test_an_alert_that_holds_a_flag_keeps_it_off(web, apply, alerts):
    alerts.set(
        options={"restoreWhenResolved": {"path": "status", "values": ["resolved"], "key": "id"}}
    )
    alerts.send({"id": "1", "status": "firing"})
    alerts.work()
    assert not alerts.is_on()
    document = flags(checkout={"environments": {"production": "on"}, "description": "New"})
    answer = apply(document | {"states": "enforce"})
    assert not alerts.is_on()
    assert read(web)["description"] == "New"
    (entry,) = answer["held"]
    assert entry["reason"] == "alert"
    assert entry["text"].startswith(
        "flag checkout in production stays off: an alert holds it since "
    )


def test_a_schedule_that_is_due_again_keeps_the_states(web, apply, alerts):
    alerts.tag("checkout")
    match = {"source": "schedule", "cron": "0 22 * * FRI"}
    alerts.set(match=match, acts=[alerts.by_tag()])
    answer = apply(flags(checkout={"environments": {"production": "off"}}) | {"states": "enforce"})
    assert answer["held"][0]["reason"] == "schedule"
    assert alerts.is_on()


def test_definitions_of_all_kinds_are_created(web, apply):
    document = {
        "version": 1,
        "project": "shop",
        "environments": {"staging": {"type": "test", "order": 7}},
        "projects": {"shop": {"name": "Shop", "environments": ["production", "staging"]}},
        "contextFields": {"country": {"stickiness": True, "legalValues": ["DE", "AT"]}},
        "strategyTypes": {"robots": {"parameters": [{"name": "count", "type": "number"}]}},
        "tagTypes": {"team": {"color": "#ff0000"}},
        "flags": {"cart": {"tags": ["team:web"], "environments": {"staging": {"rollout": 10}}}},
    }
    answer = apply(document)
    kinds = [change["kind"] for change in answer["changes"]]
    assert kinds == ["environment", "project", "contextField", "strategyType", "tagType", "flag"]
    assert apply(document)["changes"] == []
    names = web.get("/api/admin/projects/shop/overview", headers=ADMIN).json["environments"]
    assert {item["environment"] for item in names} == {"production", "staging"}
    (event,) = [event for event in list_events(web) if event["type"] == "features-applied"]
    assert event["data"]["counts"]["create"] == 6


def test_a_project_with_flags_keeps_its_environments(web, apply):
    web.post_json(FLAGS, {"name": "old"}, headers=ADMIN)
    answer = apply({"version": 1, "projects": {"default": {"environments": ["production"]}}})
    assert {note["reason"] for note in answer["notes"]} == {"environment"}
    assert answer["changes"] == []


@pytest.mark.parametrize(
    ("document", "path", "message"),
    [
        ({}, "documents[0].version", "must be 1"),
        ({"version": True}, "documents[0].version", "must be 1"),
        ({"version": 1, "flag": {}}, "documents[0].flag", "unknown member; did you mean flags?"),
        ({"version": 1, "flags": None}, "documents[0].flags", "must be an object"),
        ({"version": 1, "flags": []}, "documents[0].flags", "must be an object"),
        (flags(a={"typ": "x"}), "documents[0].flags.a.typ", "unknown member; did you mean type?"),
        (flags(a={"type": 1}), "documents[0].flags.a.type", "Expected `str`, got `int`"),
        (flags(a={"stale": "yes"}), "documents[0].flags.a.stale", "Expected `bool`, got `str`"),
        (flags(a={"tags": "x"}), "documents[0].flags.a.tags", "must be a list"),
        (flags(a={"type": None}), "documents[0].flags.a.type", "Expected `str`, got `null`"),
        (flags(a={"states": "x"}), "documents[0].flags.a.states", "must be create or enforce"),
        (flags(a={"parent": "b"}), "documents[0].flags.a.parent.flag", "Parent flag b not found."),
        (
            flags(**{"a b": {}}),
            'documents[0].flags["a b"].name',
            "The name must have 1 to 100 letters, digits or - . _ ~",
        ),
        (
            {"version": 1, "project": "nowhere", "flags": {"a": {}}},
            "documents[0].flags.a.project",
            "Project nowhere not found.",
        ),
        (
            {"version": 1, "signalEndpoints": {}},
            "documents[0].signalEndpoints",
            "isn't supported yet",
        ),
        (
            {"version": 1, "tagTypes": {"simple": {}}},
            "documents[0].tagTypes.simple",
            "simple is built in.",
        ),
        (
            {"format": "sigservice", "version": 1},
            "documents[0]",
            "This is an export of flags. `sigservice import` reads it.",
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_refused_with_its_path(apply, document, path, message):
    (detail,) = apply(document, status=400)["details"]
    assert (detail["path"], detail["message"]) == (path, message)


@pytest.mark.parametrize(
    ("place", "path", "message"),
    [
        ("yes", "", "must be an object"),
        ({"enabled": "yes"}, ".enabled", "Expected `bool | null`, got `str`"),
        ({"rollout": 101}, ".rollout", "rollout must be a whole number from 0 to 100."),
        ({"rollout": 1, "strategies": []}, ".rollout", "can't be used with strategies"),
        ({"strategies": [1]}, ".strategies[0]", "must be an object"),
        ({"strategies": [{"id": "x"}]}, ".strategies[0].id", "can't be in a file"),
        ({"strategies": [{"segments": ["x"]}]}, ".strategies[0].segments", "Segment x not found."),
        (
            {"strategies": [{"rollout": 1, "parameters": {"rollout": 2}}]},
            ".strategies[0].rollout",
            "is in parameters too",
        ),
        (
            {"strategies": [{"name": "default", "rollout": 1}]},
            ".strategies[0].rollout",
            "needs a gradual rollout",
        ),
        (
            {"strategies": [{"constraints": [{"country": [1]}]}]},
            ".strategies[0].constraints[0]",
            "The values must be texts.",
        ),
        (
            {"strategies": [{"constraints": [{"contextName": "a", "operator": "X"}]}]},
            ".strategies[0].constraints[0].operator",
            None,
        ),
        (
            {"strategies": [{"variants": [{"name": "a", "weight": 1.25}]}]},
            ".strategies[0].variants[0].weight",
            "must be a percentage with at most one decimal",
        ),
        (
            {"strategies": [{"variants": [{"name": "a", "wieght": 1}]}]},
            ".strategies[0].variants[0].wieght",
            "unknown member; did you mean weight?",
        ),
    ],
)
def test_what_is_wrong_in_an_environment_is_refused_with_its_path(apply, place, path, message):
    document = flags(a={"environments": {"production": place}})
    (detail,) = apply(document, status=400)["details"]
    assert detail["path"] == f"documents[0].flags.a.environments.production{path}"
    assert message in (None, detail["message"])


def test_all_problems_are_in_one_answer(apply):
    error = apply(flags(a={"typ": 1}, b={"tgas": []}), {"version": 2}, status=400)
    paths = [detail["path"] for detail in error["details"]]
    assert paths == [
        "documents[0].flags.a.typ",
        "documents[0].flags.b.tgas",
        "documents[1].version",
    ]


def test_an_item_in_two_documents_is_refused(apply):
    (detail,) = apply(flags(a=None), flags(a=None), status=400)["details"]
    assert detail["message"] == "is in the files twice, also at documents[0].flags.a"


def test_conflicts_refuse_everything_or_are_skipped(web, apply):
    apply(SHOP)
    web.delete(f"{FLAGS}/checkout", headers=ADMIN)
    web.post_json("/api/admin/projects", {"id": "shop", "name": "Shop"}, headers=ADMIN)
    members = {"checkout": {"description": "New"}, "accounts": {"project": "shop"}, "new": {}}
    error = apply(flags(**members), status=409)
    assert [detail["reason"] for detail in error["details"]] == ["archived", "otherProject"]
    web.get(f"{FLAGS}/new", headers=ADMIN, status=404)
    answer = apply(flags(**members), conflicts="skip")
    assert [item["name"] for item in answer["skipped"]] == ["checkout", "accounts"]
    assert [change["name"] for change in answer["changes"]] == ["new"]


def test_a_revived_flag_is_off_everywhere(web, apply):
    apply(SHOP)
    web.delete(f"{FLAGS}/checkout", headers=ADMIN)
    answer = apply(SHOP, revive=True)
    assert answer["counts"]["revive"] == 1
    assert read_place(web, environment="development")["enabled"] is False
    assert read(web)["dependencies"][0]["feature"] == "accounts"


def test_a_viewer_may_check_and_not_apply(apply, token_of):
    viewer = token_of("Viewer")
    apply(SHOP, check=True, headers=viewer)
    error = apply(SHOP, headers=viewer, status=403)
    assert (error["name"], error["details"][0]["path"]) == (
        "PermissionError",
        "documents[0].segments.testers",
    )


def test_an_editor_may_not_create_projects_or_change_environments(apply, token_of):
    editor = token_of("Editor")
    apply(SHOP, headers=editor)
    apply({"version": 1, "projects": {"shop": None}}, headers=editor, status=403)
    apply({"version": 1, "environments": {"production": {"order": 3}}}, headers=editor, status=403)


@pytest.mark.parametrize(
    "body",
    [{}, {"documents": []}, {"documents": [1]}, {"documents": [{}] * 101},
     {"documents": [{"version": 1}], "dryRun": True},
     {"documents": [{"version": 1}], "conflicts": "x"}],
)  # fmt: skip
def test_an_invalid_request_is_refused(web, body):
    web.post_json(PATH, body, headers=ADMIN, status=400)


def test_a_body_above_five_megabytes_is_refused(web):
    web.post_json(PATH, {"documents": [{"x": "x" * 5 * 1024 * 1024}]}, headers=ADMIN, status=413)


def test_a_new_flag_must_match_the_pattern_of_its_project(web, apply):
    naming = {"featureNaming": {"pattern": "shop-.*"}}
    web.put_json("/api/admin/projects/default/settings", naming, headers=ADMIN)
    apply(flags(cart=None), status=400)
    apply(flags(**{"shop-cart": None}))


def test_applies_at_the_same_time_have_the_effect_of_one_after_the_other(service, web, apply):
    documents = [
        flags(**{f"flag-{n}": {"description": text} for n in range(20)}) for text in ("a", "b")
    ]
    statuses = []

    def run(document):
        own = webtest.TestApp(service.app)
        answer = own.post_json(PATH, {"documents": [document]}, headers=ADMIN, status="*")
        statuses.append(answer.status_int)

    threads = [threading.Thread(target=run, args=(document,)) for document in documents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) <= {200, 503}
    texts = {read(web, f"flag-{n}")["description"] for n in range(20)}
    assert len(texts) == 1


@pytest.mark.external
def test_a_thousand_flags_are_checked_in_time(apply):
    place = {"rollout": 25}
    members = {"environments": {"development": place, "production": place}, "description": "x"}
    document = flags(**{f"flag-{n}": members for n in range(1000)})
    apply(document)
    start = time.monotonic()
    answer = apply(document, check=True)
    assert answer["counts"]["unchanged"] == 1000
    assert time.monotonic() - start < 10  # 1 s on a quiet machine


def test_a_release_keeps_states_and_strategies_until_someone_changes_the_flag(service, apply):
    kit = Releases(service, service.context.clock)
    body = {"strategyId": kit.strategy["id"], "steps": STEPS, "guards": []}
    release = kit.post(f"{kit.place}/releases", body, 201)
    place = {"enabled": False, "strategies": [{"title": "New", "rollout": 80}]}
    document = flags(checkout={"environments": {"production": place}}) | {"states": "enforce"}
    assert {entry["reason"] for entry in apply(document)["held"]} == {"release"}
    kit.post(f"{kit.place}/releases/{release['id']}/rollback", {"reason": "slow"})
    answer = apply(document)
    assert ({entry["reason"] for entry in answer["held"]}, answer["changes"]) == ({"release"}, [])
    kit.edit_strategy(rollout=5)
    assert apply(document)["held"] == []
    assert (kit.read_strategy()["title"], kit.rollout()) == ("New", 80)
