"""Text of users and senders is text on every page, never markup, code or template."""

from __future__ import annotations

import json

import pytest
import webtest

from tests.conftest import ADMIN, Cast
from tests.pages.page_reader import crawl, form_to, sign_in

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)' x='",
    "{{7*7}}",
    "{{!base}}",
    "% import os",
    "<!-- --><b>bold</b>",
    "</title></textarea></pre></code>",
    "&lt;i&gt; &amp; &#39;",
    "javascript:alert(1)",
    "\u202egnp.exe \u0645\u0631\u062d\u0628\u0627",
    "\U0001f600\U0001f469\u200d\U0001f469\u200d\U0001f467 \u00e9 \u4f60",
    "$(id) `id` \\ \\n %s %(x)s",
    "]]></script><svg onload=alert(1)>",
)


EXISTS = {"path": "b", "operator": "EXISTS", "inverted": True}


def faults(page: webtest.TestResponse) -> list[str]:
    """The signs that a user's text became part of the page."""
    html, signs = page.html, []
    for script in html.find_all("script"):
        if script.get_text() or "/static/app.js" not in script.get("src", ""):
            signs.append(str(script))
    for tag in html.find_all(True):
        if tag.name in ("b", "i", "img", "iframe", "style", "template"):
            signs.append(str(tag)[:100])
        for name, value in tag.attrs.items():
            if name.startswith("on") or name == "style":
                signs.append(f"{tag.name} {name}")
            if name in ("href", "action", "src") and str(value).lower().startswith("javascript"):
                signs.append(f"{tag.name} {name}={value}")
    return signs


def read_texts(page: webtest.TestResponse) -> str:
    """All that a user can read: text and the values of fields."""
    values = [tag["value"] for tag in page.html.find_all("input") if tag.get("value")]
    return "\n".join([page.html.get_text(), *values])


@pytest.fixture
def hostile(ada, web, make, clock, endpoint, sets):
    """Ada at a service where every name, description and payload is hostile."""
    clock.advance(60)
    texts = iter(HOSTILE)
    body = {
        "username": "<svg/onload=alert(1)>'\"{{7*7}}",
        "name": HOSTILE[1],
        "rootRole": "Admin",
        "password": Cast.PASSWORD,
    }
    web.post_json("/api/admin/user-admin", body, headers=ADMIN)
    body = {"username": "<img/src=x>{{7*7}}", "name": HOSTILE[0]}
    account = web.post_json("/api/admin/service-account", body, headers=ADMIN).json
    for text in HOSTILE[:9]:
        body = {"tokenName": text, "type": "client"}
        web.post_json("/api/admin/api-tokens", body, headers=ADMIN)
        body = {"description": text, "expiresAt": "2999-01-01"}
        path = f"/api/admin/service-account/{account['id']}/token"
        web.post_json(path, body, headers=ADMIN)
    for n in range(3):
        endpoint = make.endpoint(f"e{n}", description=" ".join(HOSTILE))
        for _ in range(5):
            text = next(texts, "last")
            token = make.token(endpoint, text)
            if n == 0:
                add_hostile_set(sets, text, f"set {text}")
            clock.advance(1)
            web.post(
                f"/api/signal-endpoint/e{n}",
                json.dumps({text: [text, {"unleashTitle": text}]}, ensure_ascii=False).encode(),
                headers={"Authorization": token["token"]},
                content_type="application/json",
            )
    for n, text in enumerate(HOSTILE[:4]):
        add_hostile_rule(web, endpoint, text, f"rule-{n}")
    sets.work()
    return ada


def add_hostile_rule(web, endpoint, text, name):
    """An alert rule on a metric with a hostile name and label."""
    source = {"kind": "impactMetric", "measure": "rate", "environment": "development"}
    source |= {"metric": text, "appName": text, "labels": {text: text}}
    rule = {"name": name, "endpointId": endpoint["id"], "source": source, "above": 1}
    web.post_json("/api/admin/alert-rules", rule, headers=ADMIN, status=201)


def add_hostile_set(sets, text, name):
    """An action set with a hostile name, description, filter and tag."""
    tag = {"environment": "development", "tag": f"simple:{text}"}
    sets.set(
        name,
        description=text,
        filters=[{"any": [{"path": "a", "operator": "IN", "values": [text]}, EXISTS]}],
        actions=[{"action": "TOGGLE_FEATURES_OFF_BY_TAG", "sortOrder": 1, "executionParams": tag}],
    )


def test_text_is_markup_on_no_page(hostile):
    pages = crawl(hostile)
    assert len(pages) > 30
    assert {address: faults(page) for address, page in pages.items() if faults(page)} == {}
    assert not any("&amp;lt;script" in page.text for page in pages.values())


def test_every_text_is_shown_unchanged(hostile, read_api):
    tokens = read_texts(hostile.get("/admin/api-tokens"))
    accounts = read_api("service-account")["serviceAccounts"]
    page = read_texts(hostile.get(f"/admin/service-accounts/{accounts[-1]['id']}"))
    for text in HOSTILE[:9]:
        assert text in tokens
        assert text in page
    texts = read_texts(hostile.get("/admin/signals"))
    for text in HOSTILE:
        assert text in texts
    for endpoint in read_api("signal-endpoints")["signalEndpoints"]:
        settings = f"/admin/signals/{endpoint['id']}/settings"
        form = form_to(hostile.get(settings), settings)
        assert form["description"].value == endpoint["description"]
        page = hostile.get(f"/admin/signals/{endpoint['id']}/tokens")
        log = hostile.get(f"/admin/signals/{endpoint['id']}/log")
        delete = hostile.get(f"/admin/signals/{endpoint['id']}/delete")
        for token in endpoint["tokens"]:
            for where in (page, log, delete):
                assert token["name"] in read_texts(where)
            confirm = f"/admin/signals/{endpoint['id']}/tokens/{token['id']}/delete"
            assert token["name"] in hostile.get(confirm).html.h1.get_text()
    payloads = {
        key
        for n in read_api("signal-endpoints")["signalEndpoints"]
        for row in hostile.get(f"/admin/signals/{n['id']}/log").html.select(".log details")
        for key in json.loads(row.pre.get_text())
    }
    assert set(HOSTILE) <= payloads


def test_saving_unchanged_forms_changes_nothing(hostile, read_state, read_api):
    before = read_state()
    for endpoint in read_api("signal-endpoints")["signalEndpoints"]:
        path = f"/admin/signals/{endpoint['id']}/settings"
        form_to(hostile.get(path), path).submit(status=303)
        for token in endpoint["tokens"]:
            path = f"/admin/signals/{endpoint['id']}/tokens/{token['id']}"
            form_to(hostile.get(path), path).submit(status=303)
    assert read_state() == before


def test_saving_unchanged_alert_rules_changes_nothing(hostile, read_api):
    before = read_api("alert-rules")["alertRules"]
    for rule in before:
        path = f"/admin/alert-rules/{rule['id']}"
        form_to(hostile.get(path), path).submit(status=303)
    assert read_api("alert-rules")["alertRules"] == before


def test_rejected_text_stays_text(ada, web, endpoint):
    for text in HOSTILE:
        fields = {"csrf": ada.csrf, "name": text, "description": text, "token_name": text}
        page = ada.post("/admin/signals/new", fields | {"token": "now"}, status=400)
        assert faults(page) == []
        form = form_to(page, "/admin/signals/new")
        for field in ("name", "description", "token_name"):
            assert form[field].value == text
        path = f"/admin/signals/{endpoint['id']}/settings"
        page = ada.post(path, fields, status=400)
        assert faults(page) == []
        assert form_to(page, path)["name"].value == text


def test_username_of_a_failed_sign_in_stays_text(web, clock):
    for text in HOSTILE:
        clock.advance(60)
        page = sign_in(web, text, "x", status=401)
        assert faults(page) == []
        assert page.form["username"].value == text


def test_query_stays_text(ada, endpoint):
    for text in HOSTILE:
        for address, field in (
            (f"/admin/signals/{endpoint['id']}/log", "query"),
            ("/admin/events", "type"),
            ("/admin/signals", "done"),
            ("/sign-in", "next"),
        ):
            page = ada.get(address, {field: text})
            if page.status_int == 200:
                assert faults(page) == [], (address, text)
        page = ada.get(f"/admin/signals/{endpoint['id']}/log", {"query": text})
        assert page.html.find(id="query")["value"] == text


def test_path_and_method_stay_text(ada):
    for path in ("/%3Cscript%3Ealert(1)%3C/script%3E", "/%7B%7B7*7%7D%7D", "/admin/'%22%3E"):
        page = ada.get(path, status=404)
        assert faults(page) == []
        assert "49" not in page.html.find("main").get_text()
    browser = webtest.TestApp(ada.app, lint=False)
    page = browser.request("/admin/signals", method="<B>", status=405)
    assert faults(page) == []
    assert "<B>" in page.html.h1.get_text()


def test_hostile_username_is_text_in_the_navigation(hostile, web, service):
    other = webtest.TestApp(service.app)
    name = "<svg/onload=alert(1)>'\"{{7*7}}"
    sign_in(other, name)
    for address in ("/", "/profile", "/admin/signals"):
        page = other.get(address)
        assert faults(page) == []
        assert page.html.find(class_="account").a["title"] == name


def test_text_direction_of_a_name_ends_with_the_name(ada, make, endpoint):
    """U+202E in a token's name must end with the name: <bdi> or dir="auto"."""
    token = make.token(endpoint, "\u202egnp.exe")
    page = ada.get(f"/admin/signals/{endpoint['id']}/tokens/{token['id']}/delete")
    name = page.html.find("h1").find(string=lambda text: "\u202e" in text)
    assert name.find_parent("bdi") or name.find_parent(attrs={"dir": "auto"})
