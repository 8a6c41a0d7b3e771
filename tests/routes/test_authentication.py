"""Each authentication type: which requests it accepts, their identity, and the other errors."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import webtest

from tests.application.test_app import Log
from tests.conftest import ADMIN
from tests.routes.kit import FOREIGN, NEW_PROJECT, PEOPLE, people, who


def demo(web, email, status=200, **more):
    return web.post_json("/auth/demo/login", {"email": email}, status=status, **more)


def test_open_source_names_its_sign_in_and_has_no_other(make_site):
    web = make_site("open-source", server={"baseUriPath": "/flags"})
    body = web.get("/flags/api/admin/projects", status=401).json
    assert (body["name"], body["type"], body["path"], body["defaultHidden"]) == (
        "AuthenticationRequired",
        "password",
        "/flags/auth/simple/login",
        False,
    )
    unknown = web.get("/flags/api/admin/projects", headers={"Authorization": "x"}, status=401).json
    assert unknown["name"] == "UnauthorizedError"
    assert "path" not in unknown
    web.post_json("/flags/auth/demo/login", {"email": "a@b"}, status=404)


def test_demo_needs_only_an_email_address(make_site, clock):
    web = make_site("demo")
    refused = web.get("/api/admin/projects", status=401).json
    assert (refused["type"], refused["path"]) == ("demo", "/auth/demo/login")
    answer = demo(web, " Eve@b ").json
    assert (answer["email"], answer["role"], "password" in answer) == ("Eve@b", "Editor", False)
    assert who(web) == "Eve@b"
    web.post_json("/api/admin/projects", NEW_PROJECT, status=403)  # no CSRF token
    web.post_json("/api/admin/segments", {"name": "s", "constraints": []},
                  headers={"X-CSRF-Token": answer["csrfToken"]}, status=201)  # fmt: skip
    assert demo(web, "eve@B").json["id"] == answer["id"]
    assert people(web) == {"ada": "Admin", "Eve@b": "Editor"}
    (event,) = web.get("/api/admin/events?type=user-created", headers=ADMIN).json["events"][:1]
    assert event["createdBy"] == "system"

    clock.advance(60)
    for login in ("admin", "ADMIN", "ada", "", "a", "a@b@c", "@", "a b@c", "x" * 330 + "@b"):
        web.reset()
        body = demo(web, login, 400).json
        assert body["error"] == body["message"]
        assert who(web) is None
        clock.advance(10)
    web.post_json("/auth/demo/login", {}, status=400)
    for headers in FOREIGN[:3]:
        clock.advance(10)
        demo(web, "eve@b", 403, headers=headers)
    web.post_json("/auth/simple", {"username": "ada", "password": "Correct-Horse-7"}, status=422)
    web.get("/api/client/features", status=401)
    assert people(web) == {"ada": "Admin", "Eve@b": "Editor"}


def test_demo_counts_as_sign_in_for_the_limit(make_site):
    web = make_site("demo")
    for n in range(10):
        demo(web, f"a{n}@b" if n % 2 else "admin", 200 if n % 2 else 400)
    assert demo(web, "z@b", 429).headers["Retry-After"]
    assert "z@b" not in people(web)


@pytest.mark.parametrize("allowed", [False, True])
def test_demo_allows_admins_only_if_configured(make_site, allowed):
    web = make_site("demo", {"AUTH_DEMO_ALLOW_ADMIN_LOGIN": str(allowed)})
    for name in ("root", "robert"):
        body = {"username": name, "email": f"{name}@b", "rootRole": "Admin"}
        web.post_json(PEOPLE, body, headers=ADMIN)
    web.post_json(PEOPLE, {"username": "vera", "rootRole": "Viewer"}, headers=ADMIN)
    for login, expected in (("admin", "ada"), ("root", "root"), ("ROBERT@b", "robert")):
        web.reset()
        demo(web, login, 200 if allowed else 400)
        assert who(web) == (expected if allowed else None)
    web.reset()
    demo(web, "vera", 400)  # no admin, and no address


def test_a_session_counts_under_its_own_type_only(make_site, make_service):
    web = make_site("demo")
    demo(web, "eve@b")
    browser = {"Cookie": f"service-session={web.cookies['service-session']}"}
    assert who(make_site("demo"), **browser) == "eve@b"
    strict = make_site("open-source")
    assert who(strict, **browser) is None
    login = {"username": "ada", "password": "Correct-Horse-7"}
    strict.reset()
    strict.post_json("/auth/simple", login)
    assert who(strict) == "ada"


def personal_token(web, email):
    csrf = demo(web, email).json["csrfToken"]
    expires_at = (datetime.now(UTC) + timedelta(days=30)).isoformat()
    body = {"description": "mine", "expiresAt": expires_at}
    answer = web.post_json("/api/admin/user/tokens", body, headers={"X-CSRF-Token": csrf})
    return answer.json["secret"]


def test_a_demo_session_does_not_become_an_admin_session(make_site):
    web = make_site("demo")
    secret = personal_token(web, "eve@b")
    (eve,) = [u for u in web.get(PEOPLE, headers=ADMIN).json["users"] if u["email"] == "eve@b"]
    browser = {"Cookie": f"service-session={web.cookies['service-session']}"}
    web.get("/api/admin/projects", headers={"Authorization": secret})
    web.put_json(f"{PEOPLE}/{eve['id']}", {"rootRole": "Admin"}, headers=ADMIN)
    assert who(web) is None
    assert web.get("/admin/users", status=303).location.startswith("/sign-in")
    web.get(PEOPLE, headers={"Authorization": secret}, status=401)
    allowed = make_site("demo", {"AUTH_DEMO_ALLOW_ADMIN_LOGIN": "true"})
    assert who(allowed, **browser) == "eve@b"
    allowed.get(PEOPLE, headers={"Authorization": secret})


def test_a_personal_token_of_a_demo_counts_there_only(make_site):
    secret = personal_token(make_site("demo"), "eve@b")
    for kind in ("open-source", "custom"):
        make_site(kind).get("/api/admin/projects", headers={"Authorization": secret}, status=401)
    make_site("demo").get("/api/admin/projects", headers={"Authorization": secret})


def test_the_default_password_is_irrelevant_without_passwords(make_service):
    options = {"authentication": {"type": "demo", "demoAllowAdminLogin": True}}
    web = webtest.TestApp(make_service(options).app)
    demo(web, "admin")
    page = web.get("/admin/users", status=200)
    assert "built-in" not in page.text
    assert web.get("/api/admin/projects").status_int == 200


def test_none_is_open_except_to_other_sites(make_site):
    web = make_site("none")
    me = web.get("/api/admin/user").json
    assert (me["user"]["id"], me["user"]["username"], me["user"]["isAPI"]) == (-1, "unknown", True)
    assert {"permission": "ADMIN"} in me["permissions"]
    web.post_json("/api/admin/projects", NEW_PROJECT, status=201)
    for headers in FOREIGN:
        web.post_json("/api/admin/projects", NEW_PROJECT | {"id": "x"}, headers=headers, status=403)
        web.delete("/api/admin/projects/web", headers=headers, status=403)
        web.post("/admin/projects/new", {"id": "x", "name": "X"}, headers=headers, status=403)
    assert len(web.get("/api/admin/projects").json["projects"]) == 2
    web.get("/api/admin/projects", headers={"Authorization": "wrong"}, status=401)
    web.get("/api/admin/projects", headers=ADMIN)
    date = "2999-01-01T00:00:00Z"
    web.post_json("/api/admin/user/tokens", {"description": "x", "expiresAt": date}, status=403)
    web.post_json("/api/admin/user/change-password",
                  {"password": "Aa1!aaaaaaB", "confirmPassword": "Aa1!aaaaaaB", "oldPassword": ""},
                  status=403)  # fmt: skip
    web.post_json("/auth/simple", {"username": "ada", "password": "Correct-Horse-7"}, status=422)
    web.post_json("/api/signal-endpoint/x", {}, status=401)
    page = web.get("/admin/projects/new")
    form = next(form for form in page.forms.values() if "csrf" in form.fields)
    assert not [form for form in page.forms.values() if form.action.endswith("/logout")]
    assert page.html.find("main").find(role="alert").text.startswith("Authentication is off")
    form["id"], form["name"] = "shop", "Shop"
    for headers in FOREIGN[:3]:
        form.submit(headers=headers, status=403)
    form.submit(headers={"Origin": "null"}, status=303)  # what browsers say over plain HTTP
    form["csrf"] = "x"
    form.submit(headers={"Origin": "null"}, status=403)
    (event,) = web.get("/api/admin/events?type=project-created").json["events"][:1]
    assert (event["createdBy"], event["createdByUserId"]) == ("unknown", -1)


def test_none_answers_only_under_safe_host_names(make_site):
    web = make_site(
        "none", {"SERVICE_URL": "https://flags.example.org", "HTTP_HOST": "own.example.org"}
    )
    for host in ("localhost:4242", "127.0.0.1", "[::1]:4242", "10.1.2.3:80", "flags:4242",
                 "FLAGS.example.org",
                 "own.example.org:4242", "a.localhost"):  # fmt: skip
        web.get("/api/admin/projects", headers={"Host": host}, status=200)
    for host in ("evil.example", "evil.example:4242", "flags.example.org.evil.example",
                 "127.0.0.1.evil.example", "localhost.evil.example", "evil.example."):  # fmt: skip
        web.get("/api/admin/projects", headers={"Host": host}, status=403)
        web.get("/", headers={"Host": host}, status=403)
        web.get("/api/client/features", headers={"Host": host}, status=200)


def test_none_serves_the_default_environment_without_a_token(make_site):
    web = make_site("none")
    path = "/api/admin/projects/default/features"
    web.post_json(path, {"name": "demo"})
    web.post(f"{path}/demo/environments/default/on")
    for path, field in (("/api/client/features", "features"), ("/api/frontend", "toggles")):
        (flag,) = web.get(path).json[field]
        assert flag["enabled"]
        web.get(path, headers={"Authorization": "*:development.0000"}, status=401)
    scoped = web.post_json("/api/admin/api-tokens", {"tokenName": "t", "type": "client", "environment": "production"}).json  # fmt: skip  # noqa: E501
    headers = {"Authorization": scoped["secret"]}
    assert not web.get("/api/client/features", headers=headers).json["features"][0]["enabled"]


@pytest.mark.parametrize(
    ("kind", "more", "line"),
    [
        ("demo", {}, "WARN not for production"),
        ("none", {}, "WARN deprecated, WARN HTTP_HOST=127.0.0.1"),
        ("none", {"server": {"host": "127.0.0.1"}}, "WARN deprecated"),
        ("none", {"server": {"host": "10.1.1.1"}}, "WARN deprecated, WARN HTTP_HOST=127.0.0.1"),
        ("custom", {}, "ERROR customAuthHandler"),
        ("open-source", {}, ""),
    ],
)
def test_the_start_tells_what_is_open(make_site, kind, more, line):
    log = Log()
    make_site(kind, getLogger=log, **more)
    expected = [tuple(item.split(" ", 1)) for item in line.split(", ") if item]
    lines = [line for line in log.lines if line[1] in ("warn", "error")]
    assert len(lines) == len(expected), lines
    for (level, text), line in zip(expected, lines, strict=True):
        assert line[1] == level.lower()
        assert text in line[2]


@pytest.mark.parametrize("kind", ["open-source", "demo", "custom"])
def test_optional_tokens_are_the_same_with_every_type(make_site, kind):
    web = make_site(kind, enableApiToken=False)
    for path in ("/api/client/features", "/api/frontend"):
        web.get(path, status=200)
        web.get(path, headers={"Authorization": "*:default.wrong"}, status=401)
    web.get("/api/admin/projects", status=401)
    web.post_json("/api/signal-endpoint/x", {}, status=401)
