"""The forms in which senders present a token, and the limits of their endpoint."""

from __future__ import annotations

import base64
from urllib.parse import unquote

import pytest
import webtest

from sigservice.jobs import buffers
from tests.conftest import ADMIN

URL = "/api/signal-endpoint/deploys"
PATH = "/api/admin/signal-endpoints"


@pytest.fixture
def endpoint(make):
    return make.endpoint()


@pytest.fixture
def token(make, endpoint):
    return make.token(endpoint)["token"]


def encode_all(text):
    return "".join(f"%{ord(character):02X}" for character in text)


def basic(user, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def set_options(web, endpoint, **options):
    web.put_json(f"{PATH}/{endpoint['id']}", {"name": "deploys", "options": options}, headers=ADMIN)


@pytest.mark.parametrize("form", ["{}", "Bearer {}", "bearer  {}", "BEARER {}"])
def test_the_authorization_header_has_the_token(web, token, form):
    web.post(URL, headers={"Authorization": form.format(token)})


@pytest.mark.parametrize("user", ["", "alertmanager", "a b"])
def test_the_password_of_basic_authentication_is_the_token(web, token, user):
    web.post(URL, headers=basic(user, token))


@pytest.mark.parametrize(
    "text", ["Basic", "Basic ", "Basic %%%", "Basic /w==", "Basic TOKEN", "Basic Og=="]
)
def test_invalid_basic_credentials_are_401(web, token, text):
    web.post(URL, headers={"Authorization": text.replace("TOKEN", token)}, status=401)


def encode(text):
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "write_headers",
    [
        lambda token: {"Authorization": "Bearer Basic " + encode(f"a:{token}")},
        lambda token: {"Authorization": "Basic " + encode(f"a\0:{token}")},
        lambda token: {"Authorization": "Basic " + encode(f"a:{token}") + "\xa0"},
        lambda token: {"Authorization": "Basic " + encode("a"), "X-Gitlab-Token": token},
        lambda token: {"Authorization": "bEaReR", "X-Gitlab-Token": token},
        lambda token: {"X-Gitlab-Token": f"{token}\xa0"},
    ],
)
def test_what_a_proxy_would_read_as_another_token_is_none(web, token, write_headers):
    """The limit of a token is exact behind a proxy that sends each token to one process."""
    web.post(URL, headers=write_headers(token), status=401)


@pytest.mark.parametrize(
    "query",
    [
        "token=x&token={}",
        "token={}&token={}",
        "a=1;token=x&token={}",
        "tok%65n={}&x=token",
        "x=y?token=x&token={}",
        "?token=x&token={}",
        "token={}&x=y?token=x",
        "token={}?",
    ],
)
def test_a_query_that_a_proxy_would_read_otherwise_is_400(web, token, endpoint, query):
    set_options(web, endpoint, allowQueryToken=True)
    web.post(f"{URL}?token={token}")
    web.post(f"{URL}?{query.replace('{}', token)}", status=400)


def test_another_parameter_may_have_a_question_mark(web, token, endpoint):
    set_options(web, endpoint, allowQueryToken=True)
    web.post(f"{URL}?from=https://ci.example.com/?a=b&token={token}")


def test_the_username_is_not_the_token(web, token):
    web.post(URL, headers=basic(token, "x"), status=401)


def test_gitlab_sends_the_token_in_a_header_of_its_own(web, token):
    web.post(URL, headers={"X-Gitlab-Token": token})


def test_a_token_in_the_url_is_refused_by_default(web, token):
    web.post(f"{URL}?token={token}", status=401)


def test_an_endpoint_can_allow_tokens_in_the_url(web, endpoint, token):
    set_options(web, endpoint, allowQueryToken=True)
    web.post(f"{URL}?token={token}")
    set_options(web, endpoint)
    web.post(f"{URL}?token={token}", status=401)


def test_a_header_comes_before_the_url(web, endpoint, token):
    set_options(web, endpoint, allowQueryToken=True)
    web.post(f"{URL}?token={token}", headers={"Authorization": "signal_x"}, status=401)


@pytest.mark.parametrize("query", ["token=%ff", "token=%00", "token", "token="])
def test_a_broken_query_is_refused(web, endpoint, query):
    assert web.post(f"{URL}?{query}", status="4*").status_int in (400, 401)


def test_the_rate_and_burst_of_the_endpoint_replace_the_configured_ones(web, endpoint, token):
    set_options(web, endpoint, rateLimit={"perSecond": 2, "burst": 3})
    auth = {"Authorization": token}
    statuses = [web.post(URL, headers=auth, status="*").status_int for _ in range(4)]
    assert statuses == [200, 200, 200, 429]


def test_without_a_burst_the_rate_is_the_burst(web, endpoint, token):
    set_options(web, endpoint, rateLimit={"perSecond": 2})
    auth = {"Authorization": token}
    statuses = [web.post(URL, headers=auth, status="*").status_int for _ in range(3)]
    assert statuses == [200, 200, 429]


def test_a_slow_rate_allows_one_signal(web, endpoint, token, clock):
    set_options(web, endpoint, rateLimit={"perSecond": 0.1})
    auth = {"Authorization": token}
    web.post(URL, headers=auth)
    assert web.post(URL, headers=auth, status=429).headers["Retry-After"] == "10"
    clock.advance(10)
    web.post(URL, headers=auth)


def test_above_the_limit_an_endpoint_can_answer_503(web, endpoint, token):
    set_options(web, endpoint, rateLimit={"status": 503})
    auth = {"Authorization": token}
    web.post(URL, headers=auth)
    answer = web.post(URL, headers=auth, status=503)
    assert answer.json["name"] == "RateLimitError"
    assert answer.headers["Retry-After"] == "1"


class Log:
    shared_name = "log of requests"

    def __init__(self):
        self.lines = []

    def __getattr__(self, level):
        return lambda text, *args: self.lines.append(text % args)

    def __call__(self, name):
        return self


LOG = Log()


@pytest.fixture
def logged(make_service):
    """(lines of the log, a client of a service that logs every request)."""
    service = make_service({"getLogger": LOG, "enableRequestLogger": True})
    LOG.lines.clear()
    return LOG.lines, webtest.TestApp(service.app)


def test_a_503_of_the_limit_is_not_logged_as_a_fault(logged, web, endpoint, token):
    lines, site = logged
    set_options(web, endpoint, rateLimit={"status": 503})
    auth = {"Authorization": token}
    site.post(URL, headers=auth)
    site.post(URL, headers=auth, status=503)
    assert [line for line in lines if "503" in line] == [f"503 POST {URL}"]


def test_the_token_in_the_url_is_in_no_line_of_the_log(logged, web, endpoint, token):
    lines, site = logged
    set_options(web, endpoint, allowQueryToken=True)
    site.post(f"{URL}?token={token}")
    site.post(f"{URL}?token={token}", status=429)
    site.post(f"{URL}?token={token}x", status=401)
    site.get(f"{URL}?token={token}", status=405)
    site.post(f"{URL}x/?token={token}", status=401)
    assert len(lines) >= 5
    assert not [line for line in lines if token[:20] in line]


MISPLACED = [  # in the path, where senders write a token by mistake
    "/api/signal-endpoint/{}",
    "/api/signal-endpoint/deploys/{}",
    "/api/signal-endpoint/deploys/{}/",
    "/api/signal-endpoint/deploys&token={}",
    "/api/signal-endpoint/deploys%3Ftoken={}",
    "/api/signal-endpoint/deploys;token={}",
    "/{}",
]


@pytest.mark.parametrize("path", MISPLACED)
@pytest.mark.parametrize("encode_token", [str, lambda t: t.replace("_", "%5F", 1), encode_all])
def test_a_token_in_the_path_is_in_no_line_of_the_log(logged, token, path, encode_token):
    lines, site = logged
    for text in (encode_token(token), encode_token(encode_token(token))):
        site.post(path.format(text), expect_errors=True)
    assert len(lines) >= 2
    assert not [line for line in lines if token[-20:] in unquote(unquote(unquote(line)))]
    assert all("(hidden)" in line for line in lines)


@pytest.mark.parametrize("path", MISPLACED)
def test_a_token_in_the_path_is_in_no_refused_call(web, service, token, path, rows):
    web.post(path.format(token), expect_errors=True)
    web.post(path.format(encode_all(encode_all(token))), expect_errors=True)
    buffers.store_counts(service.context)
    text = str(rows("SELECT c::text FROM refused_calls c"))
    assert token[-20:] not in unquote(unquote(text))


def test_the_name_of_an_endpoint_is_logged(logged):
    lines, site = logged
    site.post("/api/signal-endpoint/signal_deploys", status=401)
    assert lines == ["401 POST /api/signal-endpoint/signal_deploys"]
