"""The code flow: to the provider and back, in the same browser, once."""

from __future__ import annotations

import base64
import json
import re
import threading
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import pytest

from tests.oidc.conftest import copy_cookie, find_login, read_code
from tests.oidc_provider import CLIENT_ID, CLIENT_SECRET


def test_new_user_signs_in_with_a_session(site):
    web = site.browser()
    page = web.get("/admin/segments", status=303).follow()
    link = page.html.find("a", string="Sign in with Keycloak")["href"]
    answer = web.get(site.agree(web.get(link, status=303).headers["Location"]), status=303)
    assert answer.headers["Location"].endswith("/admin/segments")
    assert find_login(web) == "eva@example.org"
    eva = site.users()["eva@example.org"]
    assert (eva["role"], eva["name"], eva["username"]) == ("Viewer", "Eva Example", None)


def test_request_to_the_provider_has_what_the_flow_needs(make_site):
    site = make_site(
        SERVICE_OIDC_SCOPES="email groups",
        SERVICE_OIDC_AUTHORIZATION_PARAMETERS="acr_values=mfa,prompt=select_account",
    )
    headers = {"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    answer = site.web.get("/auth/oidc?next=/profile", headers=headers, status=303)
    assert "no-store" in answer.headers["Cache-Control"]
    query = {name: text for name, (text,) in parse_qs(location(answer).query).items()}
    assert location(answer).path == "/authorize"
    assert query["tenant"] == "a"  # the provider's own
    assert query["response_type"] == "code"
    assert query["client_id"] == CLIENT_ID
    assert query["redirect_uri"] == "http://localhost/auth/oidc/callback"
    assert query["scope"] == "openid email groups"
    assert (query["acr_values"], query["prompt"]) == ("mfa", "select_account")
    assert query["code_challenge_method"] == "S256"
    assert len(query["code_challenge"]) == 43
    assert len({query["state"], query["nonce"], query["code_challenge"]}) == 3
    assert "response_mode" not in query


def location(answer):
    return urlsplit(answer.headers["Location"])


def test_cookie_of_the_flow_is_short_and_ends_with_it(site):
    web = site.browser()
    answer = web.get("/auth/oidc", status=303)
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("service-session-oidc=")
    for part in ("HttpOnly", "Path=/", "SameSite=Lax", "Max-Age=600"):
        assert part.lower() in cookie.lower()
    done = web.get(site.agree(answer.headers["Location"]), status=303)
    ended = [line for line in done.headers.getall("Set-Cookie") if "-oidc=" in line]
    assert "Max-Age=0" in ended[0]


def test_token_request_authenticates_by_basic_with_encoded_parts(site):
    site.sign_in()
    (request,) = site.provider.token_requests
    pair = base64.b64decode(request["authorization"].removeprefix("Basic ")).decode()
    assert [unquote_plus(part) for part in pair.split(":")] == [CLIENT_ID, CLIENT_SECRET]
    assert "client_secret" not in request
    assert request["grant_type"] == "authorization_code"


def test_secret_is_in_the_form_if_the_provider_lists_that_alone(site):
    site.provider.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    site.sign_in()
    (request,) = site.provider.token_requests
    assert (request["client_id"], request["client_secret"]) == (CLIENT_ID, CLIENT_SECRET)
    assert not request["authorization"]


def test_public_client_sends_its_id_alone(make_site):
    site = make_site(SERVICE_OIDC_CLIENT_SECRET="", SERVICE_OIDC_CREATE_USERS="true")
    site.sign_in()
    (request,) = site.provider.token_requests
    assert request["client_id"] == CLIENT_ID
    assert "client_secret" not in request
    assert not request["authorization"]


def test_secret_file_is_read_at_each_sign_in(make_site, tmp_path):
    file = tmp_path / "secret"
    file.write_text("first\n")
    variables = {"SERVICE_OIDC_CLIENT_SECRET": "", "SERVICE_OIDC_CLIENT_SECRET_FILE": str(file)}
    site = make_site(SERVICE_OIDC_CREATE_USERS="true", **variables)
    site.sign_in()
    file.write_text("second\r\n")
    site.sign_in()
    pairs = [
        base64.b64decode(request["authorization"].removeprefix("Basic ")).decode()
        for request in site.provider.token_requests
    ]
    assert pairs == [f"{CLIENT_ID}:first", f"{CLIENT_ID}:second"]
    file.unlink()
    assert site.refusal(status=503) == "oidc-client"


def test_forged_states_are_refused_without_a_request_to_the_provider(site):
    web = site.browser()
    callback = site.begin(web)
    query = dict(part.split("=", 1) for part in callback.partition("?")[2].split("&"))
    content, _, signature = query["state"].partition(".")
    state = json.loads(base64.urlsafe_b64decode(content + "==="))
    changed = base64.urlsafe_b64encode(json.dumps(state | {"next": "/x"}).encode()).decode()
    count = len(site.provider.paths)
    for text in (
        "",
        "x",
        f"{content}.{signature}x",
        f"x{content}.{signature}",
        f"{changed.rstrip('=')}.{signature}",
        content,
        f"{content}.",
        "x" * 5000,
        query["state"] + "é",
    ):
        address = "/auth/oidc/callback?" + urlencode({"code": query["code"], "state": text})
        assert read_code(web.get(address, status=403)) == "oidc-state", text
    for address in (
        "/auth/oidc/callback",
        f"{callback}&state=x",
        callback.replace("state=", "State="),
        f"{callback}&x=%ff",
    ):
        assert read_code(web.get(address, status=403)) == "oidc-state", address
    assert len(site.provider.paths) == count
    assert find_login(web) is None


def test_another_browser_cannot_end_the_flow(site):
    first, second = site.browser(), site.browser()
    callback = site.begin(first)
    site.begin(second)
    for web in (second, site.browser()):
        assert read_code(web.get(callback, status=403)) == "oidc-state"
        assert find_login(web) is None


def test_flow_expires_after_ten_minutes(site, clock):
    web = site.browser()
    callback = site.begin(web)
    clock.advance(599)
    web.get(callback, status=303)
    web = site.browser()
    callback = site.begin(web)
    clock.advance(601)
    assert read_code(web.get(callback, status=403)) == "oidc-state"


def test_two_tabs_sign_in_one_after_the_other(site):
    web = site.browser()
    first, second = site.begin(web), site.begin(web, "?next=/profile")
    assert web.get(first, status=303).headers["Location"].endswith("/")
    assert web.get(second, status=303).headers["Location"].endswith("/")  # not an error
    assert find_login(web) == "eva@example.org"


def test_replayed_code_is_refused(site):
    web = site.browser()
    callback = site.begin(web)
    replay = site.browser()
    copy_cookie(web, replay, "service-session-oidc")
    web.get(callback, status=303)
    assert read_code(replay.get(callback, status=403)) == "oidc-code"
    assert find_login(replay) is None


@pytest.mark.parametrize(
    ("ignores_verifier", "expected"), [(False, "oidc-code"), (True, "oidc-invalid-token")]
)
def test_code_of_another_flow_is_refused(site, ignores_verifier, expected):
    """By the provider; by the nonce if the provider ignores the code verifier."""
    site.provider.ignores_verifier = ignores_verifier
    web, attacker = site.browser(), site.browser()
    stolen = site.begin(attacker)
    callback = site.begin(web)
    code = re.search("code=([^&]+)", stolen)[1]
    mixed = re.sub("code=[^&]+", f"code={code}", callback)
    assert read_code(web.get(mixed, status=403)) == expected
    assert find_login(web) is None


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({}, 400, "oidc-request"),
        ({"code": ""}, 400, "oidc-request"),
        ({"code": "x" * 4097}, 400, "oidc-request"),
        ({"code": "x", "iss": "https://evil.example"}, 403, "oidc-issuer"),
        ({"code": "x", "iss": ""}, 403, "oidc-issuer"),
        ({"error": "access_denied"}, 403, "oidc-denied"),
        ({"error": "server_error", "error_description": "<b>secret</b>"}, 403, "oidc-error"),
        ({"error": "access_denied", "iss": "x"}, 403, "oidc-issuer"),
    ],
)
def test_answers_of_the_provider_are_checked(site, query, status, code):
    web = site.browser()
    state = parse_qs(urlsplit(site.begin(web)).query)["state"][0]
    address = "/auth/oidc/callback?" + urlencode({"state": state, **query})
    page = web.get(address, status=status)
    assert read_code(page) == code
    assert "secret" not in page.text


def test_issuer_is_required_if_the_provider_announces_it(site):
    site.provider.metadata["authorization_response_iss_parameter_supported"] = True
    web = site.browser()
    callback = site.begin(web)
    assert read_code(web.get(callback, status=403)) == "oidc-issuer"
    web.get(f"{site.begin(web)}&iss={site.provider.url}", status=303)


@pytest.mark.parametrize("error", ["invalid_client", "unauthorized_client"])
def test_rejected_client_names_the_variables(site, error):
    site.provider.status["token"] = 401
    site.provider.change_answer = lambda answer: {"error": error}
    page = site.sign_in(status=503)
    assert read_code(page) == "oidc-client"
    assert "SERVICE_OIDC_CLIENT_SECRET" in page.text
    assert page.headers["Retry-After"]


def test_next_page_is_a_path_of_the_service(site):
    for text, expected in (
        ("/admin/features?x=1", "/admin/features?x=1"),
        ("https://evil.example", "/"),
        ("//evil.example", "/"),
        ("/" + "x" * 1000, "/"),
        ("/\\evil.example", "/"),
    ):
        web = site.browser()
        callback = site.begin(web, "?" + urlencode({"next": text}))
        answer = web.get(callback, status=303)
        assert answer.headers["Location"].removeprefix("http://localhost") == expected


def test_signed_in_user_is_not_sent_to_the_provider(site):
    web = site.browser()
    site.sign_in(web)
    answer = web.get("/auth/oidc?next=/profile", status=303)
    assert answer.headers["Location"].endswith("/profile")


def test_new_session_replaces_the_one_of_the_browser(site):
    web = site.browser()
    site.sign_in(web)
    other, thief = site.browser(), site.browser()
    callback = site.begin(other)
    for browser in (other, thief):
        copy_cookie(web, browser, "service-session")
    other.get(callback, status=303)
    assert find_login(other) == "eva@example.org"
    assert find_login(thief) is None


def test_other_methods_are_not_allowed(site):
    for path in ("/auth/oidc/callback", "/auth/oidc"):
        assert site.web.post(path, {}, status=405).headers["Allow"] == "GET, HEAD"


def test_without_an_issuer_there_are_no_routes(web):
    for path in ("/auth/oidc", "/auth/oidc/callback?state=x", "/auth/oidc/signed-out"):
        assert "html" in web.get(path, status=404).content_type


def test_addresses_of_the_flow_share_a_limit(make_site):
    site = make_site(SERVICE_OIDC_LIMIT_PER_MINUTE="2")
    site.web.get("/auth/oidc", status=303)
    site.web.get("/auth/oidc/callback", status=403)
    page = site.web.get("/auth/oidc", status=429)
    assert "html" in page.content_type


def test_auto_redirect_leads_to_the_provider_but_never_in_a_loop(make_site):
    site = make_site(SERVICE_OIDC_AUTO_REDIRECT="true")
    answer = site.web.get("/sign-in?next=/profile", status=303)
    assert answer.headers["Location"].endswith("/auth/oidc?next=%2Fprofile")
    for query in ("done=signed-out", "error=x", "method=password"):
        site.web.get(f"/sign-in?{query}", status=200)


def test_base_path_is_in_redirect_uri_cookie_and_links(make_site):
    site = make_site(SERVICE_URL="http://localhost/flags", BASE_URI_PATH="/flags")
    answer = site.web.get("/flags/auth/oidc?next=/profile", status=303)
    query = parse_qs(location(answer).query)
    assert query["redirect_uri"] == ["http://localhost/flags/auth/oidc/callback"]
    assert "path=/flags" in answer.headers["Set-Cookie"].lower()
    page = site.web.get("/flags/sign-in")
    link = page.html.find("a", string="Sign in with Keycloak")["href"]
    assert link.startswith("/flags/auth/oidc?")


def test_secure_cookie_has_a_prefix(make_site):
    site = make_site(SERVICE_URL="https://flags.example")
    cookie = site.web.get("/auth/oidc", status=303).headers["Set-Cookie"]
    assert cookie.startswith("__Host-service-session-oidc=")
    assert "secure" in cookie.lower()


def test_two_processes_share_a_flow(make_site):
    variables = {"SERVICE_OIDC_CREATE_USERS": "true"}
    first, second = make_site(**variables), make_site(**variables)
    web = first.browser()
    callback = first.begin(web)
    other = second.browser()
    copy_cookie(web, other, "service-session-oidc")
    other.get(callback, status=303)
    assert find_login(other) == "eva@example.org"


def test_simultaneous_first_sign_ins_create_one_user(site):
    browsers = [site.browser() for _ in range(4)]
    callbacks = [site.begin(web) for web in browsers]
    statuses = []

    def end(web, callback):
        statuses.append(web.get(callback, status="*").status_int)

    threads = [
        threading.Thread(target=end, args=pair) for pair in zip(browsers, callbacks, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [303] * 4
    assert set(site.users()) == {"ada", "eva@example.org"}
    assert len(site.events("user-identity-linked")) == 1


def test_nothing_secret_is_logged(site):
    web = site.browser()
    callback = site.begin(web)
    web.get(callback, status=303)
    site.provider.change_token = lambda claims: claims | {"nonce": "another"}
    site.refusal()
    lines = "\n".join(site.log.lines)
    assert "nonce: the token is of another sign-in." in lines
    secrets = [CLIENT_SECRET, "the-access-token", "eyJ", web.cookies["service-session"]]
    secrets += [text for (text,) in parse_qs(urlsplit(callback).query).values()]
    secrets += [request["code_verifier"] for request in site.provider.token_requests]
    for secret in secrets:
        assert secret not in lines


def test_sign_ins_are_counted_by_method_and_result(site):
    site.sign_in()
    site.provider.claims["email_verified"] = False
    site.provider.claims["sub"] = "other"
    site.refusal()
    metrics = site.web.get("/internal-backstage/prometheus").text
    assert 'login_attempts_total{method="oidc",result="success"} 1.0' in metrics
    assert 'login_attempts_total{method="oidc",result="failed"} 1.0' in metrics
    assert 'oidc_requests_total{endpoint="token",result="success"} 2.0' in metrics
    assert 'oidc_request_seconds_count{endpoint="discovery"} 1.0' in metrics


def test_start_prints_the_redirect_uri(site):
    line = "  provider        redirect URI: http://localhost/auth/oidc/callback"
    assert line in site.service.describe()


def test_sign_out_in_a_second_tab_does_not_sign_in_again(make_site):
    site = make_site(SERVICE_OIDC_AUTO_REDIRECT="true")
    answer = site.browser().post("/logout", {"csrf": "of an ended session"}, status=303)
    assert "You have signed out." in answer.follow(status=200).text
