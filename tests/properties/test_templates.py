"""Hostile text on every page that shows text of other users: it stays text."""

from __future__ import annotations

import html
import random
import re
from urllib.parse import quote

import pytest
import webtest

from tests.conftest import ADMIN, Make
from tests.pages.page_reader import form_to
from tests.properties.generate import make_text

ROUNDS = 12
# Breaks out of elements, attributes, comments, raw text and template source alike.
CANARY = "\"'><zq></title></textarea><!--<zq zq=1 onerror=zq>{{!zq}}{{zq}}<%zq%>\n% zq\n"


def hostile(random_: random.Random, longest: int) -> str:
    item = CANARY + make_text(random_).replace("\x00", "")
    return (make_text(random_) + item if random_.random() < 0.5 else item)[:longest]


def elements(page: webtest.TestResponse) -> list[tuple[str, tuple[str, ...]]]:
    """Each element with the names of its attributes."""
    return [(result.name, tuple(sorted(result.attrs))) for result in page.html.find_all(True)]


def check(page: webtest.TestResponse) -> str:
    """Checks that hostile text isn't markup. Returns the visible text."""
    assert not re.search(r"</?zq|<!--|<%", page.text, re.I)
    assert page.text.lower().count("</textarea") == len(page.html.find_all("textarea"))
    assert page.text.count("<script") == page.text.count("</title>") == 1
    for name, attributes in elements(page):
        assert name not in ("zq", "img", "b"), name
        assert not any(a.startswith("on") or "zq" in a for a in attributes), attributes
    return html.unescape(page.text)


@pytest.fixture
def ada(service, cast) -> webtest.TestApp:
    return cast.signed_in("ada")


def test_hostile_text_is_shown_and_nothing_more(make_service):
    service = make_service(environ={"SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND": "100000"})
    web, ada = webtest.TestApp(service.app), webtest.TestApp(service.app)
    form = ada.get("/sign-in").form
    form["username"], form["password"] = "ada", "Correct-Horse-7"
    form.submit(status=303)
    random_ = random.Random(8)
    endpoint = Make(web).endpoint()
    id = endpoint["id"]
    api, page = f"/api/admin/signal-endpoints/{id}", f"/admin/signals/{id}"
    for _ in range(ROUNDS):
        description, name = hostile(random_, 1000).strip(), hostile(random_, 100).strip()
        key, payload = hostile(random_, 300), hostile(random_, 300)
        web.put_json(api, {"name": "deploys", "description": description}, headers=ADMIN)
        token = web.post_json(f"{api}/tokens", {"name": name}, headers=ADMIN).json
        auth = {"Authorization": token["token"]}
        body = web.post_json("/api/signal-endpoint/deploys", {key: payload}, headers=auth).json
        (signal,) = body["signals"]

        assert description in check(ada.get("/admin/signals"))
        edit = ada.get(f"{page}/settings")
        assert description in check(edit)
        assert edit.html.find(id="description")["value"] == description
        assert name in check(ada.get(f"{page}/tokens"))
        token_page = ada.get(f"{page}/tokens/{token['id']}")
        check(token_page)
        assert token_page.html.find(id="name")["value"] == name
        assert name in check(ada.get(f"{page}/tokens/{token['id']}/delete"))
        check(ada.get(f"{page}/delete"))
        check(ada.get("/"))
        check(ada.get("/admin/events"))
        log = ada.get(f"{page}/log?query={quote(payload)}&token={token['id']}")
        check(log)
        assert log.html.find(id="query")["value"] == payload.strip()
        check(ada.get(f"{page}/log/{signal['id']}"))
        assert signal["payload"] == {key: payload}
        web.delete(f"{api}/tokens/{token['id']}", headers=ADMIN)


def test_hostile_input_is_shown_again_beside_its_problem(ada):
    random_ = random.Random(9)
    path = "/admin/signals/new"
    for _ in range(8):  # ten sign-ins a minute are allowed
        entry = hostile(random_, 400)
        form = form_to(ada.get(path), path)
        form["name"], form["description"], form["token_name"] = entry, entry, entry
        page = form.submit(status=400)
        check(page)
        second = form_to(page, path)
        for field in ("name", "description", "token_name"):
            assert second[field].value.strip() == entry.strip()
        anonymous = webtest.TestApp(ada.app)
        form = anonymous.get("/sign-in?next=" + quote(entry)).form
        assert form["next"].value == "/"
        form["username"], form["password"] = entry, "x"
        page = form.submit(status=401)
        check(page)
        assert page.form["username"].value == entry


def test_hostile_addresses_are_answered_with_a_clean_page(ada):
    random_ = random.Random(10)
    for _ in range(3 * ROUNDS):
        entry = quote(hostile(random_, 200), safe="<>\"'(){}!=;:@&+$,/")
        for path in (f"/{entry}", f"/admin/signals/{entry}", f"/admin/signals?done={entry}"):
            page = ada.get(path.replace("//", "/"), expect_errors=True)
            assert page.status_int in (200, 400, 404, 405)
            check(page)
