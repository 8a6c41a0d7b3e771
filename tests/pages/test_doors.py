"""Who may come in, for every page and every form there is: roles, CSRF, other sites."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

import pytest
import webtest

from tests.conftest import ADMIN, Cast
from tests.pages.actions import Actions
from tests.pages.seen import heading, is_page

STRATEGIES = "/admin/features/{name}/environments/{environment}/strategies"
RUNS = "/admin/projects/{project}/actions/{set_id}/runs"
VIEW_PAGES = (
    "/",
    "/profile",
    "/admin/applications",
    "/admin/projects",
    "/admin/environments",
    "/admin/context",
    "/admin/playground",
    "/docs",
    "/admin/features",
    "/admin/features/{name}",
    "/admin/features/{name}/flag",
    "/admin/segments",
)
EDIT_PAGES = (
    "/admin/projects/{project}/edit",
    "/admin/context/new",
    "/admin/context/{field}/edit",
    "/admin/context/{field}/delete",
    "/admin/features/new",
    "/admin/features/{name}/archive",
    "/admin/features/{name}/delete",
    f"{STRATEGIES}/new",
    f"{STRATEGIES}/{{strategy_id}}",
    f"{STRATEGIES}/{{strategy_id}}/delete",
    "/admin/segments/new",
    "/admin/segments/{segment_id}",
    "/admin/segments/{segment_id}/delete",
)
ADMIN_PAGES = (
    "/admin/signals",
    "/admin/signals/new",
    "/admin/signals/{id}",
    "/admin/signals/{id}/delete",
    "/admin/signals/{id}/log",
    "/admin/signals/{id}/log/{signal_id}",
    "/admin/signals/{id}/send",
    "/admin/actions",
    "/admin/projects/{project}/actions",
    "/admin/projects/{project}/actions/new",
    "/admin/projects/{project}/actions/{set_id}",
    "/admin/projects/{project}/actions/{set_id}/delete",
    "/admin/projects/{project}/actions/{set_id}/test",
    f"{RUNS}",
    f"{RUNS}/{{run_id}}",
    f"{RUNS}/{{run_id}}/undo",
    "/admin/signals/{id}/tokens/{token_id}/delete",
    "/admin/events",
    "/admin/integrations",
    "/admin/api-tokens",
    "/admin/api-tokens/new",
    "/admin/api-tokens/{api_token_id}/delete",
    "/admin/users",
    "/admin/users/new",
    "/admin/users/{user_id}",
    "/admin/users/{user_id}/delete",
    "/admin/service-accounts/new",
    "/admin/service-accounts/{account_id}",
    "/admin/service-accounts/{account_id}/delete",
    "/admin/service-accounts/{account_id}/tokens/{personal_token_id}/delete",
    "/admin/projects/new",
    "/admin/projects/{project}/delete",
    "/admin/environments/new",
    "/admin/environments/{environment}/delete",
)
VIEW_FORMS = {
    "/logout": {},
    "/profile/password": {
        "old": Cast.PASSWORD,
        "password": "Other-Horse-8",
        "confirm": "Other-Horse-8",
    },
}
STRATEGY = {"name": "userWithId", "shown_type": "userWithId", "parameters.userIds": "eve"}
ACTION_SET = {
    "name": "kill",
    "source": "{id}",
    "actor": "{account_id}",
    "actions.0.shown": "TOGGLE_FEATURES_OFF_BY_TAG",
    "actions.0.action": "TOGGLE_FEATURES_OFF_BY_TAG",
    "actions.0.params.environment": "production",
    "actions.0.params.tag": "simple:shop",
}
EDIT_FORMS = {
    "/admin/projects/{project}/edit": {"name": "New", "default_stickiness": "random"},
    "/admin/projects/{project}/environments/{environment}/link": {},
    "/admin/projects/{project}/environments/{environment}/unlink": {},
    "/admin/context/new": {"name": "region"},
    "/admin/context/{field}/edit": {"description": "What is paid"},
    "/admin/context/{field}/delete": {},
    "/admin/features/new": {"name": "added", "project": "default", "type": "release"},
    "/admin/features/{name}/edit": {"type": "experiment", "description": "other"},
    "/admin/features/{name}/clone": {"clone_name": "copy"},
    "/admin/features/{name}/tags": {"tag": "simple:other"},
    "/admin/features/{name}/tags/remove": {"tag": "simple:shop"},
    "/admin/features/{name}/parent": {"parent": "parent", "state": "off"},
    "/admin/features/{name}/parent/remove": {},
    "/admin/features/{name}/archive": {},
    "/admin/features/{name}/revive": {},
    "/admin/features/{name}/delete": {},
    "/admin/features/{name}/environments/{environment}/on": {},
    "/admin/features/{name}/environments/{environment}/off": {"back": "query=x"},
    f"{STRATEGIES}/new": STRATEGY,
    f"{STRATEGIES}/{{strategy_id}}": STRATEGY,
    f"{STRATEGIES}/{{strategy_id}}/delete": {},
    "/admin/segments/new": {"name": "added"},
    "/admin/segments/{segment_id}": {"name": "renamed"},
    "/admin/segments/{segment_id}/delete": {},
}
ARCHIVED_ONLY = ("/admin/features/{name}/revive", "/admin/features/{name}/delete")
ADMIN_FORMS = {
    "/admin/projects/new": {"name": "Other", "default_stickiness": "default"},
    "/admin/projects/{project}/delete": {},
    "/admin/environments/new": {"name": "other", "type": "test"},
    "/admin/environments/{environment}/on": {},
    "/admin/environments/{environment}/off": {},
    "/admin/environments/{environment}/up": {},
    "/admin/environments/{environment}/down": {},
    "/admin/environments/{environment}/delete": {},
    "/admin/signals/new": {"name": "builds", "token": "now", "token_name": "ci"},
    "/admin/signals/{id}": {"name": "renamed", "description": "", "enabled": "on"},
    "/admin/signals/{id}/on": {},
    "/admin/signals/{id}/off": {},
    "/admin/signals/{id}/delete": {},
    "/admin/signals/{id}/send": {"payload": "[1]"},
    "/admin/signals/{id}/log/{signal_id}/replay": {},
    "/admin/projects/{project}/actions/new": ACTION_SET,
    "/admin/projects/{project}/actions/{set_id}": ACTION_SET,
    "/admin/projects/{project}/actions/{set_id}/on": {},
    "/admin/projects/{project}/actions/{set_id}/off": {},
    "/admin/projects/{project}/actions/{set_id}/arm": {},
    "/admin/projects/{project}/actions/{set_id}/delete": {},
    "/admin/projects/{project}/actions/{set_id}/test": {"payload": "[1]"},
    f"{RUNS}/{{run_id}}/undo": {},
    f"{RUNS}/{{run_id}}/cancel-restore": {},
    "/admin/signals/{id}/tokens": {"token_name": "second"},
    "/admin/signals/{id}/tokens/{token_id}": {"token_name": "renamed"},
    "/admin/signals/{id}/tokens/{token_id}/delete": {},
    "/admin/api-tokens/new": {
        "tokenName": "sdk",
        "type": "client",
        "environment": "production",
        "scope": "all",
    },
    "/admin/api-tokens/{api_token_id}/delete": {},
    "/admin/users/new": {"username": "al", "rootRole": "Viewer", "password": "Other-Horse-8"},
    "/admin/users/{user_id}": {"username": "bob", "rootRole": "Viewer"},
    "/admin/users/{user_id}/password": {"password": "Other-Horse-8"},
    "/admin/users/{user_id}/link": {},
    "/admin/users/{user_id}/delete": {},
    "/admin/service-accounts/new": {"username": "cron", "rootRole": "Viewer"},
    "/admin/service-accounts/{account_id}": {"username": "bot", "rootRole": "Viewer"},
    "/admin/service-accounts/{account_id}/delete": {},
    "/admin/service-accounts/{account_id}/tokens": {
        "description": "second",
        "expiresAt": "2999-01-01",
    },
    "/admin/service-accounts/{account_id}/tokens/{personal_token_id}/delete": {},
}
FOR_STRANGERS = ("/forgot-password", "/reset-password", "/new-user")
OPEN = {
    ("GET", "/sign-in"),
    ("POST", "/sign-in"),
    *((method, path) for method in ("GET", "POST") for path in FOR_STRANGERS),
    ("GET", "/static/{name}"),
    ("GET", "/docs/openapi.json"),
}
FORMS = VIEW_FORMS | EDIT_FORMS | ADMIN_FORMS
PAGES = VIEW_PAGES + EDIT_PAGES + ADMIN_PAGES
JSON_PATHS = ("/api", "/auth", "/edge", "/internal-backstage", "/health", "/ready")
# What is so already.
UNCHANGING = (
    "/admin/signals/{id}/on",
    "/admin/environments/{environment}/off",
    "/admin/projects/{project}/environments/{environment}/unlink",
    "/admin/features/{name}/environments/{environment}/on",
    "/admin/projects/{project}/actions/{set_id}/on",
    "/admin/projects/{project}/actions/{set_id}/arm",
    "/admin/projects/{project}/actions/{set_id}/test",
    "/logout",
)
# Addresses that a browser may be left at, because the answer of the POST is a page.
LEFT_AT = (
    "/admin/signals/{id}/tokens",
    "/admin/users/{user_id}/password",
    "/admin/users/{user_id}/link",
    "/admin/service-accounts/{account_id}/tokens",
    "/profile/password",
    "/admin/features/{name}/edit",
    "/admin/features/{name}/clone",
    "/admin/features/{name}/tags",
    "/admin/features/{name}/parent",
    f"{RUNS}/{{run_id}}/cancel-restore",
)

FOREIGN = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost:80"},
    {"Origin": "https://evil.example"},
    {"Origin": "http://localhost.evil.example"},
)


@pytest.fixture
def place(web, service, endpoint, token, send, flags):
    """Fills the braces of the addresses above. The environment is the last but one, and off."""

    def made(path, **body):
        return web.post_json(f"/api/admin/{path}", body, headers=ADMIN).json.get("id")

    made("projects", name="Shop", id="shop")
    made("environments", name="staging", type="test", enabled=False)
    made("environments", name="zone", type="test")
    made("context", name="plan")
    account = made("service-account", username="robot")
    flags.flag("parent")
    name = flags.flag("checkout", tags=[{"type": "simple", "value": "shop"}])
    strategy_id = flags.strategy(name, "production")
    flags.switch(name, "production")
    flags.depend(name, "parent")
    sets = Actions(service, web, flags, endpoint)
    set_id = sets.set(options={"restoreAfterMinutes": 5})
    signal_id = send(endpoint, token, {"n": 1})["id"]
    sets.work()
    flags.switch(name, "production")
    return {
        "set_id": set_id,
        "run_id": sets.runs(set_id)[0]["id"],
        "id": endpoint["id"],
        "token_id": token["id"],
        "signal_id": signal_id,
        "api_token_id": made("api-tokens", tokenName="shop", type="client"),
        "user_id": made("user-admin", username="bo"),
        "account_id": account,
        "personal_token_id": made(
            f"service-account/{account}/token", description="ci", expiresAt="2999-01-01"
        ),
        "project": "shop",
        "environment": "staging",
        "field": "plan",
        "name": name,
        "strategy_id": strategy_id,
        "segment_id": flags.segment(),
    }


def at(path, place, **other):
    """The address; flags are looked at where they are on."""
    here = {"environment": "production"} if path.startswith("/admin/features") else {}
    here |= {"project": "default"} if "/actions" in path else {}
    return path.format(**(place | here | other))


def test_the_tables_above_name_every_page_and_form(make_service):
    apps = []
    make_service({"preHook": apps.append})
    routes = set()
    for route in apps[0].routes:
        rule = re.sub(r"<(\w+)(:id)?>", r"{\1}", route.rule)
        if not rule.startswith(JSON_PATHS):
            routes.add((route.method, rule))
    listed = {("GET", path) for path in PAGES} | {("POST", path) for path in FORMS} | OPEN
    assert routes - {("GET", path) for path in LEFT_AT} == listed


def test_stranger_is_sent_to_the_sign_in_page_and_comes_back(web, place):
    for path in PAGES:
        path = at(path, place)
        answer = web.get(f"{path}?query=a%20b%26c", status=303)
        where, _, target = answer.headers["Location"].partition("?next=")
        assert where.endswith("/sign-in")
        asked = "/" if path == "/" else f"{path}?query=a%20b%26c"
        assert unquote(target) == ("" if path == "/" else asked)
        assert answer.follow().form["next"].value == asked


def test_made_up_session_is_no_session(web, place):
    headers = {"Cookie": "service-session=" + "A" * 43}
    for path in PAGES:
        answer = web.get(at(path, place), headers=headers, status=303)
        assert "/sign-in" in answer.headers["Location"], path


def test_form_of_a_stranger_changes_nothing(web, place, stored):
    before = stored()
    for path, fields in FORMS.items():
        answer = web.post(at(path, place), fields, status=303)
        assert answer.headers["Location"].endswith("/sign-in"), path
    assert stored() == before


@pytest.mark.parametrize(
    ("name", "pages"), [("ed", ADMIN_PAGES), ("vera", ADMIN_PAGES + EDIT_PAGES)]
)
def test_nobody_sees_pages_beyond_the_own_role(cast, place, name, pages):
    person = cast.signed_in(name)
    for path in pages:
        answer = person.get(at(path, place), status=403)
        assert is_page(answer), path
        assert heading(answer) == "403: Your role does not allow this."
        assert "deploys" not in answer.text


@pytest.mark.parametrize(
    ("name", "pages"),
    [("ada", PAGES), ("ed", VIEW_PAGES + EDIT_PAGES), ("vera", VIEW_PAGES)],
)
def test_everybody_sees_the_pages_of_the_own_role(cast, place, name, pages):
    person = cast.signed_in(name)
    for path in pages:
        status = 303 if path.endswith("{name}/delete") else 200  # it is not archived
        person.get(at(path, place), status=status)


@pytest.mark.parametrize(
    ("name", "forms"), [("ed", ADMIN_FORMS), ("vera", ADMIN_FORMS | EDIT_FORMS)]
)
def test_forms_beyond_the_own_role_change_nothing(cast, place, stored, name, forms):
    person = cast.signed_in(name)
    before = stored()
    for path, fields in forms.items():
        answer = person.post(at(path, place), fields | {"csrf": person.csrf}, status=403)
        assert is_page(answer), path
    assert stored() == before


def test_viewer_changes_no_project_and_no_context_field(cast, place, stored):
    vera, before = cast.signed_in("vera"), stored()
    for path in EDIT_PAGES:
        assert is_page(vera.get(at(path, place), status=403)), path
    for path, fields in EDIT_FORMS.items():
        answer = vera.post(at(path, place), fields | {"csrf": vera.csrf}, status=403)
        assert is_page(answer), path
    assert stored() == before


def test_form_without_the_right_csrf_token_changes_nothing(cast, ada, place, stored):
    others = cast.signed_in("ada").csrf
    before = stored()
    for path, fields in FORMS.items():
        for csrf in ({}, {"csrf": ""}, {"csrf": "x"}, {"csrf": others}, {"csrf": ada.csrf + "é"}):
            answer = ada.post(at(path, place), fields | csrf, status=403)
            assert is_page(answer), path
            assert "Load it again" in heading(answer)
    assert stored() == before
    ada.get("/profile", status=200)


def test_form_sent_by_another_site_changes_nothing(ada, place, stored):
    before = stored()
    for path, fields in FORMS.items():
        where, fields = at(path, place), fields | {"csrf": ada.csrf}
        for headers in FOREIGN:
            answer = ada.post(where, fields, headers=headers, status=403)
            assert "another site" in heading(answer), (path, headers)
    assert stored() == before
    ada.get("/profile", status=200)


@pytest.mark.parametrize("path", FORMS)
def test_right_form_from_our_own_site_is_accepted(ada, place, stored, flags, path):
    if path in ARCHIVED_ONLY:
        flags.archive(place["name"])
    before = stored()
    fields = {name: text.format(**place) for name, text in FORMS[path].items()}
    fields |= {"csrf": ada.csrf}
    headers = {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost:80"}
    answer = ada.post(at(path, place), fields, headers=headers)
    assert answer.status_int in (200, 303)
    is_unchanged = path in UNCHANGING
    assert (stored() == before) is is_unchanged


def test_missing_object_is_a_404_page(ada, place):
    for path in PAGES:
        for part in place:
            for wrong in (0, 999_999, 2**31, 10**18, "9" * 19, "9" * 23, "-1", "١"):
                if f"{{{part}}}" in path:
                    where = quote(at(path, place, **{part: wrong}))
                    assert is_page(ada.get(where, status=404)), where


def test_form_about_a_missing_object_is_a_404_page(ada, place, stored):
    before = stored()
    for path, fields in FORMS.items():
        for part in place:
            if f"{{{part}}}" in path:
                where = at(path, place, **{part: 999_999})
                answer = ada.post(where, fields | {"csrf": ada.csrf}, status=404)
                assert is_page(answer), where
    assert stored() == before


@pytest.mark.parametrize("path", LEFT_AT)
def test_address_that_a_form_leaves_in_the_browser_can_be_loaded(ada, place, path):
    """Enter in the address bar, a restored tab, the way back after signing in again."""
    answer = ada.get(at(path, place), expect_errors=True)
    assert answer.status_int in (200, 303)


def test_token_of_another_endpoint_is_not_found(ada, make, place, stored):
    other = make.endpoint("other")
    before = stored()
    wrong = f"/admin/signals/{other['id']}/tokens/{place['token_id']}"
    fields = {"csrf": ada.csrf, "token_name": "mine"}
    ada.get(f"{wrong}/delete", status=404)
    ada.post(wrong, fields, status=404)
    ada.post(f"{wrong}/delete", fields, status=404)
    ada.get(f"/admin/signals/{other['id']}/log/{place['signal_id']}", status=404)
    assert stored() == before


def test_wrong_method_is_a_405_page_with_allow(ada, place):
    answer = ada.get(f"/admin/signals/{place['id']}/off", status=405)
    assert answer.headers["Allow"] == "POST"
    assert is_page(answer)


def test_form_of_another_type_is_415(ada, stored):
    before = stored()
    body = f"csrf={ada.csrf}&name=x&token=later".encode()
    for kind in ("multipart/form-data; boundary=x", "text/plain", ""):
        assert is_page(ada.post("/admin/signals/new", body, content_type=kind, status=415)), kind
    assert stored() == before


def test_oversized_form_is_413(ada, stored):
    before = stored()
    fields = {"csrf": ada.csrf, "name": "x", "description": "d" * 70_000}
    assert is_page(ada.post("/admin/signals/new", fields, status=413))
    assert stored() == before


def test_form_that_is_no_text_is_400(ada, stored):
    before = stored()
    kind = "application/x-www-form-urlencoded"
    for body in ("name=%FF", "name=%00", "name=%ED%A0%80", "&".join(["a=b"] * 201)):
        whole = f"csrf={ada.csrf}&{body}"
        answer = ada.post("/admin/signals/new", whole, content_type=kind, status=400)
        assert is_page(answer), body
    assert stored() == before


def test_unknown_address_is_a_404_page(web):
    for address in ("/nowhere", "/admin", "/admin/signals/x", "/profile/x", "/sign-in/x"):
        answer = web.get(address, status=404)
        assert is_page(answer), address
        assert heading(answer) == "404: There is nothing at this address."


def test_error_page_keeps_the_navigation_of_who_is_signed_in(ada, vera):
    for person, address in ((ada, "/admin/signals/999999"), (vera, "/admin/signals")):
        page = person.get(address, expect_errors=True)
        assert page.html.find("nav", attrs={"aria-label": "Main"})


def test_pages_are_neither_cached_nor_framed(ada, place):
    for path in PAGES:
        headers = ada.get(at(path, place)).headers
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Frame-Options"] == "SAMEORIGIN"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        policy = headers["Content-Security-Policy"]
        assert "unsafe-inline" not in policy
        assert "frame-ancestors 'self'" in policy
        assert "script-src 'self';" in policy


def test_admin_token_opens_no_page(web: webtest.TestApp, place):
    answer = web.get("/", headers={"Authorization": "Bearer *:*.test-admin-token"}, status=303)
    assert "/sign-in" in answer.headers["Location"]
