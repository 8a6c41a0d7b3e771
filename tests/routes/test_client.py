"""The client API: the document, access by tokens, ETags, and old SDKs."""

from __future__ import annotations

import json

import pytest
import webtest

from sigservice.services import revisions
from tests.conftest import ADMIN_TOKEN
from tests.delivery.test_revision_cache import CLIENT, TOKENS
from tests.routes.kit import FEATURES, SEGMENTS, give_projects, race

POLL = "/api/client/features"
ALL = "*:development.all"
MANY = "[]:development.many"
RULE = {"contextName": "userId", "operator": "IN", "values": ["1"]}
SPEC = {"Unleash-Client-Spec": "5.1.9"}


@pytest.fixture
def service(make_service):
    tokens = [
        *TOKENS["authentication"]["initApiTokens"],
        {"type": "client", "secret": ALL, "environment": "development", "project": "*"},
        {"type": "client", "secret": MANY, "environment": "development"}
        | {"projects": ["default"]},
    ]
    options = {"authentication": {"initialAdminUser": None, "initApiTokens": tokens}}
    service = make_service(options)
    give_projects(service, MANY, ["default", "other"])
    return service


@pytest.fixture
def web(service):
    return webtest.TestApp(service.app)


@pytest.fixture
def other(admin):
    """A second project, with the flag `o` in it."""
    admin.rows("INSERT INTO projects (id, name) VALUES ('other', 'Other')")
    admin.rows("INSERT INTO project_environments SELECT 'other', name FROM environments")
    admin.post("/api/admin/projects/other/features", {"name": "o"}, 201)


def poll(web, query="", secret=ALL, status=200, **headers):
    headers = {name.replace("_", "-"): text for name, text in headers.items()}
    return web.get(POLL + query, headers={"Authorization": secret} | headers, status=status)


def names(answer):
    return [feature["name"] for feature in answer.json["features"]]


def test_the_whole_document(admin, web):
    admin.flag(description="d", type="experiment", impressionData=True)
    admin.flag("parent")
    admin.post(f"{FEATURES}/a/dependencies", {"feature": "parent", "variants": ["red"]})
    segment = admin.segment()
    variant = {"name": "red", "weight": 1000, "weightType": "variable", "stickiness": "default"}
    admin.strategy(title="second", sortOrder=2, disabled=True)
    admin.strategy(
        title="first",
        sortOrder=1,
        parameters={"rollout": 50},
        constraints=[RULE],
        variants=[variant],
        segments=[segment],
    )
    admin.strategy(environment="production")
    admin.post(f"{FEATURES}/a/environments/development/on")
    answer = poll(web, **SPEC)
    document = answer.json
    assert list(document) == ["version", "features", "query", "segments", "meta"]
    assert document["version"] == 2
    assert document["features"] == [
        {
            "name": "a",
            "type": "experiment",
            "enabled": True,
            "project": "default",
            "stale": False,
            "description": "d",
            "impressionData": True,
            "strategies": [
                {
                    "name": "flexibleRollout",
                    "parameters": {"rollout": "50", "stickiness": "default", "groupId": "a"},
                    "constraints": [RULE],
                    "variants": [variant],
                    "segments": [segment],
                }
            ],
            "variants": [],
            "dependencies": [{"feature": "parent", "enabled": True, "variants": ["red"]}],
        },
        {
            "name": "parent",
            "type": "release",
            "enabled": False,
            "project": "default",
            "stale": False,
            "description": None,
            "impressionData": False,
            "strategies": [],
            "variants": [],
        },
    ]
    assert document["query"] == {"environment": "development", "inlineSegmentConstraints": False}
    rule = {"contextName": "userId", "operator": "IN", "values": ["7"]}
    assert document["segments"] == [{"id": segment, "name": "beta", "constraints": [rule]}]
    meta = document["meta"]
    assert meta["etag"] == answer.headers["ETag"]
    assert meta["etag"] == f'"{meta["queryHash"]}:{meta["revisionId"]}:v1"'
    one = web.get(f"{POLL}/a", headers={"Authorization": ALL, **SPEC})
    assert one.json == document["features"][0]


def test_a_parent_that_must_be_off_has_no_variants(admin, web):
    admin.flag()
    admin.flag("parent")
    admin.post(f"{FEATURES}/a/dependencies", {"feature": "parent", "enabled": False})
    (a, _) = poll(web).json["features"]
    assert a["dependencies"] == [{"feature": "parent", "enabled": False}]


@pytest.mark.parametrize("spec", ["", " ", "4.1.9", "3.0.0", "4.2.0-beta.1", "0.0.0+x"])
def test_old_sdks_get_segments_inlined(admin, web, spec):
    admin.flag()
    ids = [admin.segment("one"), admin.segment("two", constraints=[RULE, RULE])]
    admin.strategy(constraints=[RULE], segments=ids)
    admin.strategy()
    document = poll(web, **{"Unleash-Client-Spec": spec}).json
    assert "segments" not in document
    assert document["query"]["inlineSegmentConstraints"] is True
    first, second = document["features"][0]["strategies"]
    assert [rule["values"] for rule in first["constraints"]] == [["1"], ["7"], ["1"], ["1"]]
    assert second["constraints"] == []
    assert "segments" not in first


@pytest.mark.parametrize("spec", ["4.2.0", "4.2.0+x", "5.1.9", "10.0.0", "4.2.1-rc.1"])
def test_new_sdks_get_a_list_of_segments(admin, web, spec):
    admin.flag()
    admin.segment("unused")
    admin.strategy(segments=[admin.segment()])
    document = poll(web, **{"Unleash-Client-Spec": spec}).json
    assert [segment["name"] for segment in document["segments"]] == ["beta"]
    assert len(document["features"][0]["strategies"][0]["segments"]) == 1


@pytest.mark.parametrize(
    "spec",
    [
        "foo",
        "v5",
        "5.1",
        "5",
        "5.1.0.0",
        "-1.0.0",
        "5.1.x",
        "9" * 5000 + ".0.0",
        "١.٢.٣",
        "5.1.0 x",
    ],
)
def test_invalid_client_spec_is_rejected(web, spec):
    answer = poll(web, status=400, **{"Unleash-Client-Spec": spec.encode().decode("latin-1")})
    assert answer.json["details"][0]["path"] == "Unleash-Client-Spec"


def test_the_tokens_environment_and_projects_hold(admin, web, other):
    admin.flag()
    admin.post(f"{FEATURES}/a/environments/production/on")
    assert names(poll(web)) == ["a", "o"]
    assert names(poll(web, secret=CLIENT)) == ["a"]
    assert names(poll(web, secret=MANY)) == ["a", "o"]
    assert names(poll(web, "?project=other")) == ["o"]
    assert names(poll(web, "?project=other&project=default")) == ["a", "o"]
    assert (
        names(poll(web, "?project=*")) == names(poll(web, "?project=none&project=*")) == ["a", "o"]
    )
    assert names(poll(web, "?project=none")) == []
    assert names(poll(web, "?project=other", CLIENT)) == ["a"]
    assert poll(web, "?project=other", CLIENT).json["query"]["project"] == ["default"]
    assert poll(web, secret=MANY).json["query"]["project"] == ["default", "other"]
    assert "project" not in poll(web, "?project=*").json["query"]
    answer = poll(web, "?environment=production")
    assert answer.json["query"]["environment"] == "development"
    assert answer.json["features"][0]["enabled"] is False
    production = poll(web, secret="*:production.all").json
    assert production["features"][0]["enabled"] is True
    web.get(f"{POLL}/o", headers={"Authorization": ALL}, status=200)
    web.get(f"{POLL}/o", headers={"Authorization": CLIENT}, status=404)
    web.get(f"{POLL}/o?project=other", headers={"Authorization": CLIENT}, status=404)


def test_token_gets_no_segments_of_other_projects_and_environments(admin, web, other):
    admin.flag()
    ours = admin.segment()
    theirs = admin.segment("theirs", project="other")
    elsewhere = admin.segment("elsewhere")
    admin.strategy(segments=[ours])
    admin.strategy(environment="production", segments=[elsewhere])
    path = "/api/admin/projects/other/features/o/environments/development/strategies"
    admin.post(path, {"name": "default", "segments": [theirs]})
    for secret, expected in ((CLIENT, ["beta"]), (MANY, ["beta", "theirs"])):
        document = poll(web, secret=secret, **SPEC).json
        assert [segment["name"] for segment in document["segments"]] == expected


def test_filters_leave_out_segments_of_other_flags(admin, web):
    for name in ("left", "right"):
        admin.flag(name)
        path = f"/api/admin/projects/default/features/{name}/environments/development/strategies"
        admin.post(path, {"name": "default", "segments": [admin.segment(name)]})
    document = poll(web, "?namePrefix=ri", **SPEC).json
    assert [segment["name"] for segment in document["segments"]] == ["right"]


def test_token_of_deleted_projects_gives_access_to_no_flag(service, admin, web):
    admin.flag()
    with service.context.database.transaction() as conn:
        revisions.lock(conn)
        with conn.cursor() as cursor:
            cursor.execute("UPDATE api_tokens SET projects = '{}' WHERE 'default' = ANY(projects)")
        revisions.bump_tokens(conn)
    for query in ("", "?project=default", "?project=*"):
        assert names(poll(web, query, CLIENT)) == []
    web.get(f"{POLL}/a", headers={"Authorization": CLIENT}, status=404)
    assert names(poll(web)) == ["a"]


def test_filters(admin, web):
    for name in ("a_b", "axb", "b"):
        admin.flag(name)
    admin.post("/api/admin/features/axb/tags", {"type": "simple", "value": "one:two"}, 201)
    admin.post("/api/admin/features/b/tags", {"type": "simple", "value": "three"}, 201)
    assert names(poll(web, "?namePrefix=a_")) == ["a_b"]
    assert names(poll(web, "?namePrefix=a%25")) == []
    assert names(poll(web, "?tag=simple:one:two")) == ["axb"]
    assert names(poll(web, "?tag=simple:three&tag=simple:one:two")) == ["axb", "b"]
    assert names(poll(web, "?tag=simple:three&namePrefix=a")) == []
    answer = poll(web, "?tag=simple:three&namePrefix=b&anything=else")
    assert answer.json["query"] == {
        "tag": [["simple", "three"]],
        "namePrefix": "b",
        "environment": "development",
        "inlineSegmentConstraints": True,
    }
    one, two = (poll(web, query) for query in ("?tag=a:b&tag=c:d", "?tag=c:d&tag=a:b"))
    assert one.headers["ETag"] == two.headers["ETag"]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("?tag=simple", "tag"),
        ("?tag=:x", "tag"),
        ("?tag=x:", "tag"),
        ("?tag=", "tag"),
        ("?namePrefix=", "namePrefix"),
        ("?namePrefix=a&namePrefix=b", "namePrefix"),
        ("?namePrefix=%00", None),
        ("?project=%ff", None),
        ("?" + "&".join(["tag=a:b"] * 201), None),
    ],
)
def test_bad_filters(web, query, path):
    answer = poll(web, query, status=400)
    assert answer.json["details"][0].get("path") == path


def test_odd_filters_find_nothing(admin, web):
    admin.flag()
    for query in ("project=' OR 1=1", "tag=a:' OR 1=1", "namePrefix=..", "project=" + "x" * 9000):
        assert names(poll(web, "?" + query.replace(" ", "%20"))) == []


def test_etags(admin, web):
    admin.flag()
    first = poll(web)
    etag = first.headers["ETag"]
    answer = poll(web, status=304, If_None_Match=etag)
    assert (answer.body, answer.headers["ETag"]) == (b"", etag)
    assert "Content-Type" not in answer.headers
    for header in (f"W/{etag}", f'"a", {etag}', "*"):
        poll(web, status=304, If_None_Match=header)
    for header in ('"a"', "a", etag[1:-1], etag.upper() + "x"):
        poll(web, If_None_Match=header)
    assert poll(web, **SPEC).headers["ETag"] != etag
    assert poll(web, "?namePrefix=a").headers["ETag"] != etag
    assert poll(web, secret=CLIENT).headers["ETag"] != etag
    assert poll(web, secret="*:production.all").headers["ETag"] != etag
    head = web.head(POLL, headers={"Authorization": ALL})
    assert (head.headers["ETag"], head.body) == (etag, b"")


CHANGES = [
    ("PUT", f"{FEATURES}/a", {"description": "new"}, True),
    ("POST", f"{FEATURES}/a/environments/development/on", None, True),
    ("POST", f"{FEATURES}/a/environments/production/on", None, False),
    ("POST", f"{FEATURES}/a/environments/development/strategies", {"name": "default"}, True),
    ("POST", f"{FEATURES}/a/environments/production/strategies", {"name": "default"}, False),
    ("POST", "/api/admin/features/a/tags", {"type": "simple", "value": "xx"}, True),
    ("POST", f"{FEATURES}/a/dependencies", {"feature": "b"}, True),
    ("DELETE", f"{FEATURES}/a/dependencies", None, True),
    ("POST", f"{FEATURES}/a/clone", {"name": "c"}, True),
    ("DELETE", f"{FEATURES}/c", None, True),
    ("POST", "/api/admin/archive/revive/c", None, True),
    ("POST", SEGMENTS, {"name": "s", "constraints": []}, False),
    ("POST", f"{FEATURES}/a/environments/development/on", None, False),
    ("POST", FEATURES, {"name": "a"}, False),
    ("PUT", f"{FEATURES}/a", {"type": "none"}, False),
]


def test_each_change_is_in_the_next_answer_and_no_other_environment_notices(admin, web):
    admin.flag()
    admin.flag("b")
    for method, path, body, is_seen in CHANGES:
        before = poll(web).headers["ETag"]
        admin.ask(method, path, body)
        after = poll(web, If_None_Match=before, status="*")
        assert after.status_int == (200 if is_seen else 304), (method, path)
        assert (after.headers["ETag"] != before) is is_seen


def test_archived_flags_are_not_sent(admin, web):
    path = admin.flag()
    admin.delete(path, 202)
    assert names(poll(web)) == []
    web.get(f"{POLL}/a", headers={"Authorization": ALL}, status=404)


@pytest.mark.parametrize("name", ["b", "A", "..", "a%2Fb", "%D0%B0", "a%20", "x" * 3000])
def test_one_flag_goes_by_its_exact_name(admin, web, name):
    admin.flag()
    answer = web.get(f"{POLL}/{name}", headers={"Authorization": ALL}, status=404)
    assert answer.json["name"] == "NotFoundError"


def test_text_of_any_kind_survives(admin, web):
    text = 'é "\\ </script> \u2028 😀 \t'
    admin.flag(description=text)
    admin.strategy(
        constraints=[RULE | {"values": [text.strip()]}],
        variants=[{"name": text, "payload": {"type": "string", "value": text}}],
    )
    (feature,) = json.loads(poll(web).body)["features"]
    assert feature["description"] == text
    strategy = feature["strategies"][0]
    assert strategy["constraints"][0]["values"] == [text.strip()]
    assert strategy["variants"][0]["payload"]["value"] == text


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        (None, 401),
        ("", 401),
        ("Bearer", 401),
        ("*:development.wrong", 401),
        (ALL + "x", 401),
        ("\xff\xfe", 401),
        ("x" * 5000, 401),
        (ADMIN_TOKEN, 403),
        ("*:development.f", 403),
        (f"bearer {ALL}", 200),
        (f"BEARER   {ALL}", 200),
    ],
)
def test_credentials_of_the_client_api(web, authorization, status):
    headers = {} if authorization is None else {"Authorization": authorization}
    for path in (POLL, f"{POLL}/none"):
        target = 404 if status == 200 and path != POLL else status
        answer = web.get(path, headers=headers, status=target)
        if target in (401, 403):
            assert answer.json["message"]


def test_readers_never_see_less_than_what_was_written(service, admin):
    """10 SDKs poll while 2 tools change flags: a poll after a response sees the change."""
    admin.flag()
    admin.strategy()
    encoded = [0]

    def work(racer, n):
        if n == 0:
            for turn in range(1, 30):
                racer.put(f"{FEATURES}/a", {"description": str(turn)})
                encoded[0] = turn
            return True
        sdk = webtest.TestApp(service.app)
        etag, results = "", 0
        while encoded[0] < 29:
            before = encoded[0]
            answer = poll(sdk, status="*", If_None_Match=etag)
            if answer.status_int == 200:
                etag = answer.headers["ETag"]
                results = int(answer.json["features"][0]["description"] or 0)
            assert results >= before
        return True

    assert race(service, 10, work) == [True] * 10
