"""A service below /flags: every link, form, cookie and redirect stays below it."""

from __future__ import annotations

from urllib.parse import urljoin

import pytest
import webtest

from tests.conftest import ADMIN
from tests.pages.page_reader import crawl, form_to, is_page, notice, sign_in

BASE = "/flags"


@pytest.fixture
def web(make_service):
    service = make_service({"server": {"baseUriPath": BASE}})
    return webtest.TestApp(service.app)


@pytest.fixture
def ada(web):
    """Ada with an endpoint, a token and a signal."""
    sign_in(web, path=f"{BASE}/sign-in")
    endpoint = web.post_json(f"{BASE}/api/admin/signal-endpoints", {"name": "e"}, headers=ADMIN)
    path = f"{BASE}/api/admin/signal-endpoints/{endpoint.json['id']}/tokens"
    token = web.post_json(path, {"name": "t"}, headers=ADMIN).json
    web.post(f"{BASE}/api/signal-endpoint/e", headers={"Authorization": token["token"]})
    features = f"{BASE}/api/admin/projects/default/features"
    web.post_json(features, {"name": "checkout"}, headers=ADMIN)
    web.post(f"{features}/checkout/environments/default/on", headers=ADMIN)
    segment = {
        "name": "beta",
        "constraints": [{"contextName": "a", "operator": "REGEX", "value": "b"}],
    }
    web.post_json(f"{BASE}/api/admin/segments", segment, headers=ADMIN)
    return web


def addresses(page):
    """(tag, attribute, absolute address) of all that a page leads to or loads."""
    for name in ("href", "src", "action", "formaction"):
        for tag in page.html.find_all(attrs={name: True}):
            yield tag.name, name, urljoin(page.request.path_qs, tag[name])


def test_every_link_form_and_file_is_below_the_base_path(ada):
    pages = crawl(ada, f"{BASE}/")
    assert len(pages) > 8
    for page in [*pages.values(), ada.get(f"{BASE}/nowhere", status=404)]:
        for tag, name, address in addresses(page):
            assert address.startswith(f"{BASE}/"), (page.request.path, tag, name, address)
            if tag in ("link", "script") and "#" not in address:
                ada.get(address, status=200)


def test_every_redirect_stays_below_the_base_path(web, ada):
    signed_out = webtest.TestApp(ada.app)
    answer = signed_out.get(f"{BASE}/admin/signals?done=on", status=303)
    assert answer.headers["Location"].endswith(
        f"{BASE}/sign-in?next=%2Fadmin%2Fsignals%3Fdone%3Don"
    )
    form = answer.follow().form
    form["username"], form["password"] = "ada", "Correct-Horse-7"
    there = form.submit(status=303).headers["Location"]
    assert there.endswith(f"{BASE}/admin/signals?done=on")
    form = form_to(ada.get(f"{BASE}/admin/segments/new"), f"{BASE}/admin/segments/new")
    form["name"] = "from the form"
    page = form.submit("do", value="remove-constraints.0", status=200)
    there = form_to(page, f"{BASE}/admin/segments/new").submit(status=303)
    assert there.headers["Location"].endswith(f"{BASE}/admin/segments?done=created")
    page = form_to(ada.get(f"{BASE}/"), f"{BASE}/logout").submit(status=303)
    assert page.headers["Location"].endswith(f"{BASE}/sign-in?done=signed-out")
    assert notice(page.follow()) == "You have signed out."


def test_cookies_are_for_the_base_path(web):
    answer = sign_in(web, path=f"{BASE}/sign-in")
    for line in answer.headers.getall("Set-Cookie"):
        assert f"; Path={BASE}" in line.replace("path=", "Path="), line
    answer = form_to(web.get(f"{BASE}/"), f"{BASE}/logout").submit(status=303)
    (line,) = answer.headers.getall("Set-Cookie")
    assert f"path={BASE};" in line.lower() + ";"


def test_url_for_senders_holds_the_base_path(ada):
    page = ada.get(f"{BASE}/admin/signals").click(href=r"\d+/setup$", index=0)
    url = page.html.find("input", attrs={"readonly": True})["value"]
    assert url == "http://localhost:80/flags/api/signal-endpoint/e"


def test_base_path_itself_is_the_first_page(ada):
    for address in (BASE, f"{BASE}/", f"{BASE}//"):
        assert ada.get(address, status=200).html.h1.string == "Home"


def test_nothing_is_outside_of_the_base_path(ada):
    for address in ("/", "/sign-in", "/admin/signals", "/flagsx/sign-in", "/static/app.css"):
        answer = ada.get(address, status=404)
        assert is_page(answer)


def test_work_goes_on_below_the_base_path(ada):
    page = ada.get(f"{BASE}/admin/signals/new")
    form = form_to(page, f"{BASE}/admin/signals/new")
    form["name"], form["token"] = "second", "later"
    page = form.submit(status=303).follow()
    assert notice(page) == "Signal endpoint created."
    action = page.request.path.removesuffix("/setup")
    form = form_to(ada.get(f"{action}/settings"), f"{action}/settings")
    form["name"] = "third"
    assert notice(form.submit(status=303).follow()) == "Signal endpoint saved."
    assert action.startswith(f"{BASE}/admin/signals/")
    form = form_to(ada.get(f"{action}/delete"), f"{action}/delete")
    assert notice(form.submit(status=303).follow()) == "Signal endpoint deleted."


def test_next_never_doubles_the_base_path(web):
    form = web.get(f"{BASE}/sign-in?next=/profile").form
    form["username"], form["password"] = "ada", "Correct-Horse-7"
    assert form.submit(status=303).headers["Location"].endswith("/flags/profile")
    web.get(f"{BASE}/profile", status=200)
