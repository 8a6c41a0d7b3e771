"""The playground: the input in the URL, the reasons in sentences."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from sigservice.routes.pages.flags import playground
from tests.conftest import ADMIN
from tests.delivery.kit import constraint, rollout, variant
from tests.pages.accessibility import RULES
from tests.pages.page_reader import alert, find_error, form_to
from tests.pages.test_hostile_text import HOSTILE, faults

PATH = "/admin/playground"
FLAGS = "/api/admin/projects/{}/features"


@pytest.fixture
def add(web):
    """`add(name, *strategies)`: a flag that is enabled in development."""

    def add_flag(name, *strategies, project="default", on=True):
        path = FLAGS.format(project)
        web.post_json(path, {"name": name}, headers=ADMIN, status=201)
        path += f"/{name}/environments/development"
        for strategy in strategies:
            web.post_json(f"{path}/strategies", strategy, headers=ADMIN)
        if on:
            web.post(f"{path}/on", headers=ADMIN)

    return add_flag


def evaluate(person, status=200, **fields):
    return person.get(PATH, {"environment": "development"} | fields, status=status)


def read_flag(page, name):
    """The text of a flag; the reason comes second."""
    lines = page.html.find(id=f"flag-{name}").get_text(" ", strip=True)
    return " ".join(lines.split())


def state(page, name):
    return page.html.find(id=f"flag-{name}").summary.find(class_="tag").string


def test_result_has_the_form_and_its_url_has_the_input(ada, add):
    add("checkout", {"name": "default", "constraints": [constraint("plan", "IN", "pro=1")]})
    page = ada.get(PATH)
    assert not page.html.main.find("details")
    form = form_to(page, PATH)
    assert form.method == "get"
    assert form["environment"].options[0][0] == "production"
    form["environment"], form["userId"] = "development", "7"
    form["properties"] = " plan = pro=1\r\n\r\nregion=eu"
    form["flag"] = "CHECK"
    answer = form.submit()
    query = parse_qs(urlsplit(answer.request.url).query)
    assert query["userId"] == ["7"]
    assert answer.html.h1.string == "Playground"
    assert state(answer, "checkout") == "on"
    form = form_to(answer, PATH)
    assert (form["userId"].value, form["flag"].value) == ("7", "CHECK")
    assert form["properties"].value.splitlines() == ["plan = pro=1", "", "region=eu"]
    assert form["environment"].value == "development"
    assert answer.html.main.find("details").has_attr("open")  # there is one flag


def test_reasons_are_sentences(vera, web, add):
    body = {"name": "Europe", "constraints": [constraint("region", "IN", "eu", "uk")]}
    segment = web.post_json("/api/admin/segments", body, headers=ADMIN).json["id"]
    web.post_json("/api/admin/strategies", {"name": "mine", "parameters": []}, headers=ADMIN)
    blue = variant("blue", 1000, payload={"type": "string", "value": "<b>&</b>"})
    add(
        "all",
        {"name": "userWithId", "parameters": {"userIds": "8,9"}, "title": "Friends"},
        rollout(
            100,
            "userId",
            constraints=[constraint("userId", "IN", "7")],
            segments=[segment],
            variants=[blue],
        ),
        {"name": "default", "disabled": True},
    )
    add("child", {"name": "default"})
    parent = {"feature": "all", "enabled": True, "variants": ["green"]}
    web.post_json(f"{FLAGS.format('default')}/child/dependencies", parent, headers=ADMIN)
    add("half", rollout(50))
    add("mine", {"name": "mine"})
    add("none", rollout(0))
    add("off", {"name": "default"}, on=False)
    add("off-too", rollout(0), on=False)
    add("web")
    page = evaluate(vera, userId="7", properties="region=eu")
    for name, expected in (
        ("all", "on variant blue default Matched strategy 2. Variant payload: <b>&</b>"),
        ("all", "Strategy 1: Friends : no userId IN [8, 9] : no"),
        (
            "all",
            "Strategy 2 : yes 100% of users : yes userId IN [7] : yes "
            "segment Europe : yes region IN [eu, uk] : yes",
        ),
        ("all", "Strategy 3 : disabled SDKs never receive it 100% of users : yes"),
        (
            "child",
            "off default Parent flag all is not enabled with variant green.",
        ),
        ("mine", "unknown default Only the application can evaluate"),
        ("mine", "custom strategy mine : unknown"),
        ("none", "off default No strategy matched. Strategy 1 : no 0% of users : no"),
        (
            "off",
            "off default Disabled in development. If enabled, strategy 1 would match.",
        ),
        ("off-too", "off default Disabled in development. Strategy 1"),
        ("web", "on default Matched strategy 1."),
    ):
        assert expected in read_flag(page, name), read_flag(page, name)
    assert "random" not in page.html.find("main").get_text().lower()
    page = evaluate(vera, flag="half")
    assert "Random stickiness" in read_flag(page, "half")
    assert "sticky on userId or sessionId · group f : " in read_flag(page, "half")
    assert read_flag(page, "half").endswith("random Open half")
    page = evaluate(vera, userId="7", properties="region=us", flag="all")
    assert (state(page, "all"), page.html.h2.string) == ("off", "1 flag in development")
    assert "segment Europe : no region IN [eu, uk] : no" in read_flag(page, "all")


def test_flags_are_filtered_by_project_name_and_environment(ada, web, add, monkeypatch):
    web.post_json("/api/admin/projects", {"id": "shop", "name": "Shop"}, headers=ADMIN)
    for name, project in (("a1", "default"), ("a2", "shop"), ("b1", "shop")):
        add(name, project=project)

    def names(**fields):
        return [
            it["id"].removeprefix("flag-")
            for it in evaluate(ada, **fields).html.main.find_all("details")
        ]

    assert names() == ["a1", "a2", "b1"]
    assert names(project="shop") == ["a2", "b1"]
    assert names(flag="A") == ["a1", "a2"]
    assert names(flag="x") == []
    assert "No matching flags." in evaluate(ada, flag="x").text
    assert state(evaluate(ada, environment="production"), "a1") == "off"
    web.post_json("/api/admin/environments", {"name": "old", "type": "test"}, headers=ADMIN)
    web.post("/api/admin/environments/old/off", headers=ADMIN)
    assert "old" not in [
        option[0] for option in form_to(evaluate(ada), PATH)["environment"].options
    ]
    assert form_to(evaluate(ada, environment="old"), PATH)["environment"].value == "old"
    monkeypatch.setattr(playground, "MAX_FLAGS", 2)
    assert names() == ["a1", "a2"]
    page = evaluate(ada)
    assert "Only the first 2 flags." in page.text
    assert page.html.h2.string == "3 flags in development"


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"environment": "nowhere"}, "environment", "Environment nowhere not found"),
        ({"project": "none"}, "project", "Project none not found"),
        ({"currentTime": "soon"}, "currentTime", "ISO 8601"),
        ({"properties": "a=1\nplan"}, "properties", '"plan" must be'),
        ({"properties": "=1"}, "properties", "key=value"),
        ({"properties": f"a.b={'x' * 10_001}"}, "properties", "10000"),
        ({"userId": "x" * 10_001}, "userId", "10000"),
    ],
)
def test_problem_is_shown_beside_its_field_and_the_values_stay(ada, fields, field, message):
    page = evaluate(ada, status=400, **fields)
    assert message in find_error(page, field)
    assert alert(page)
    assert not page.html.main.find("details")
    form = form_to(page, PATH)
    if field not in ("environment", "project"):
        assert form[field].value == fields[field]


def test_result_is_accessible(ada, add):
    add("a", rollout(50, constraints=[constraint("plan", "IN", "x")]), {"name": "default"})
    add("b")
    for page in (
        evaluate(ada),
        evaluate(ada, flag="a"),
        evaluate(ada, currentTime="x", status=400),
    ):
        faults = {name: list(rule(page.html)) for name, rule in RULES.items()}
        assert not any(faults.values()), faults


def test_hostile_text_is_text(ada, add):
    add("flag", {"name": "default", "title": "".join(HOSTILE)[:100]})
    for text in HOSTILE:
        for field in ("flag", "userId", "currentTime", "properties", "environment", "project"):
            page = ada.get(PATH, {"environment": "development"} | {field: text}, status="*")
            assert page.status_int in (200, 400), (field, text)
            assert faults(page) == [], (field, text)


def test_flag_and_playground_link_to_each_other(ada, vera, add):
    add("new")
    for person in (ada, vera):
        flag = person.get("/admin/features/new/flag?env=development")
        (why,) = [
            link
            for link in flag.html.find_all("a")
            if link.get_text().startswith("Playground") and "new in development" in link.get_text()
        ]
        answer = person.get(why["href"])
        assert state(answer, "new") == "on"
        back = answer.html.find(id="flag-new").find("a")
        assert back["href"] == "/admin/features/new/flag?env=development#in-development"
        assert person.get(back["href"]).html.find(id="in-development")


def test_the_environment_with_the_most_enabled_flags_is_selected(ada, add):
    add("checkout", {"name": "default"})
    assert form_to(ada.get(PATH), PATH)["environment"].value == "development"


def test_a_missing_field_and_the_bucket_are_named(ada, add):
    add("checkout", rollout(25, constraints=[constraint("country", "IN", "DE")]))
    text = read_flag(evaluate(ada, userId="7"), "checkout")
    assert "country is missing" in text
    assert re.search(r"bucket \d+ of 100", text)


def test_a_missing_stickiness_field_is_named(ada, add):
    add("checkout", rollout(25, stickiness="userId"))
    assert "userId is missing" in read_flag(evaluate(ada), "checkout")
