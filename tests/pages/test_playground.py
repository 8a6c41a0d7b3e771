"""The playground as a person meets it: the question in the address, the reasons in words."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from sigservice.routes.pages.flags import playground
from tests.conftest import ADMIN
from tests.flags.kit import constraint, rollout, variant
from tests.pages.accessibility import RULES
from tests.pages.seen import alert, beside, form_to
from tests.pages.test_hostile_text import HOSTILE, faults

PATH = "/admin/playground"
FLAGS = "/api/admin/projects/{}/features"


@pytest.fixture
def add(web):
    """`add(name, *strategies)`: a flag that is on in development."""

    def made(name, *strategies, project="default", on=True):
        path = FLAGS.format(project)
        web.post_json(path, {"name": name}, headers=ADMIN, status=201)
        path += f"/{name}/environments/development"
        for strategy in strategies:
            web.post_json(f"{path}/strategies", strategy, headers=ADMIN)
        if on:
            web.post(f"{path}/on", headers=ADMIN)

    return made


def ask(person, status=200, **given):
    return person.get(PATH, {"environment": "development"} | given, status=status)


def told(page, name):
    """What a person reads of a flag, line by line; the reason comes second."""
    lines = page.html.find(id=f"flag-{name}").get_text(" ", strip=True)
    return " ".join(lines.split())


def state(page, name):
    return page.html.find(id=f"flag-{name}").summary.find(class_="result").string


def test_form_asks_and_the_address_keeps_the_question(ada, add):
    add("checkout", {"name": "default", "constraints": [constraint("plan", "IN", "pro=1")]})
    page = ada.get(PATH)
    assert not page.html.main.find("details")
    form = form_to(page, PATH)
    assert form.method == "get"
    assert [option[0] for option in form["environment"].options][-1] == "production"
    form["environment"], form["userId"] = "development", "7"
    form["properties"] = " plan = pro=1\r\n\r\nregion=eu"
    form["flag"] = "CHECK"
    answer = form.submit()
    asked = parse_qs(urlsplit(answer.request.url).query)
    assert asked["userId"] == ["7"]
    assert answer.html.h1.string == "Playground"
    assert state(answer, "checkout") == "on"
    again = form_to(answer, PATH)
    assert (again["userId"].value, again["flag"].value) == ("7", "CHECK")
    assert again["properties"].value.splitlines() == ["plan = pro=1", "", "region=eu"]
    assert again["environment"].value == "development"
    assert answer.html.main.find("details").has_attr("open")  # there is one flag


def test_reasons_in_words(vera, web, add):
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
    page = ask(vera, userId="7", properties="region=eu")
    for name, expected in (
        ("all", "on variant blue default Matched strategy 2. Payload of the variant: <b>&</b>"),
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
        assert expected in told(page, name), told(page, name)
    assert "random" not in page.html.find("main").get_text().lower()
    page = ask(vera, flag="half")
    assert "Random stickiness" in told(page, "half")
    assert "sticky on userId or sessionId · group f : " in told(page, "half")
    assert told(page, "half").endswith("random Open half")
    page = ask(vera, userId="7", properties="region=us", flag="all")
    assert (state(page, "all"), page.html.h2.string) == ("off", "1 flag in development")
    assert "segment Europe : no region IN [eu, uk] : no" in told(page, "all")


def test_projects_names_and_places(ada, web, add, monkeypatch):
    web.post_json("/api/admin/projects", {"id": "shop", "name": "Shop"}, headers=ADMIN)
    for name, project in (("a1", "default"), ("a2", "shop"), ("b1", "shop")):
        add(name, project=project)

    def names(**given):
        return [
            it["id"].removeprefix("flag-") for it in ask(ada, **given).html.main.find_all("details")
        ]

    assert names() == ["a1", "a2", "b1"]
    assert names(project="shop") == ["a2", "b1"]
    assert names(flag="A") == ["a1", "a2"]
    assert names(flag="x") == []
    assert "No flag has such a name" in ask(ada, flag="x").text
    assert state(ask(ada, environment="production"), "a1") == "off"
    web.post_json("/api/admin/environments", {"name": "old", "type": "test"}, headers=ADMIN)
    web.post("/api/admin/environments/old/off", headers=ADMIN)
    assert "old" not in [option[0] for option in form_to(ask(ada), PATH)["environment"].options]
    assert form_to(ask(ada, environment="old"), PATH)["environment"].value == "old"
    monkeypatch.setattr(playground, "SHOWN", 2)
    assert names() == ["a1", "a2"]
    page = ask(ada)
    assert "The first 2 are shown" in page.text
    assert page.html.h2.string == "3 flags in development"


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"environment": "nowhere"}, "environment", "Environment nowhere not found"),
        ({"project": "none"}, "project", "Project none not found"),
        ({"currentTime": "soon"}, "currentTime", "ISO 8601"),
        ({"properties": "a=1\nplan"}, "properties", "unlike plan"),
        ({"properties": "=1"}, "properties", "name=value"),
        ({"properties": f"a.b={'x' * 10_001}"}, "properties", "10000"),
        ({"userId": "x" * 10_001}, "userId", "10000"),
    ],
)
def test_what_is_wrong_is_told_beside_its_field_and_kept(ada, given, field, message):
    page = ask(ada, status=400, **given)
    assert message in beside(page, field)
    assert alert(page)
    assert not page.html.main.find("details")
    form = form_to(page, PATH)
    if field not in ("environment", "project"):
        assert form[field].value == given[field]


def test_result_keeps_the_rules_of_every_page(ada, add):
    add("a", rollout(50, constraints=[constraint("plan", "IN", "x")]), {"name": "default"})
    add("b")
    for page in (ask(ada), ask(ada, flag="a"), ask(ada, currentTime="x", status=400)):
        wrong = {name: list(rule(page.html)) for name, rule in RULES.items()}
        assert not any(wrong.values()), wrong


def test_hostile_text_is_text(ada, add):
    add("flag", {"name": "default", "title": "".join(HOSTILE)[:100]})
    for text in HOSTILE:
        for field in ("flag", "userId", "currentTime", "properties", "environment", "project"):
            page = ada.get(PATH, {"environment": "development"} | {field: text}, status="*")
            assert page.status_int in (200, 400), (field, text)
            assert faults(page) == [], (field, text)


def test_a_flag_leads_here_and_back(ada, vera, add):
    add("new")
    for person in (ada, vera):
        flag = person.get("/admin/features/new/flag")
        (why,) = [a for a in flag.html.find_all("a") if "new in development" in a.get_text()][-1:]
        assert why.get_text().startswith("Evaluate in playground")
        answer = person.get(why["href"])
        assert state(answer, "new") == "on"
        back = answer.html.find(id="flag-new").find("a")
        assert back["href"] == "/admin/features/new/flag#in-development"
        assert person.get(back["href"]).html.find(id="in-development")
