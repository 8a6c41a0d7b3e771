"""The frame around the routes: hooks, base path, headers, logs, errors."""

from __future__ import annotations

import pytest
import webtest
from bottle import request, response

from sigservice.errors import StartError
from tests.conftest import ADMIN


class Log:
    """A log provider that keeps lines."""

    def __init__(self):
        self.lines = []

    def __call__(self, name):
        return Named(name, self.lines)


class Named:
    def __init__(self, name, lines):
        self._name, self._lines = name, lines

    def _add(self, level, message, args):
        self._lines.append((self._name, level, message % args if args else message))

    def debug(self, message, *args):
        self._add("debug", message, args)

    def info(self, message, *args):
        self._add("info", message, args)

    def warn(self, message, *args):
        self._add("warn", message, args)

    def error(self, message, *args):
        self._add("error", message, args)


def test_pre_hook_may_wrap_everything_and_see_raw_requests(make_service):
    calls = []

    def hook(app):
        def wrap(inner):
            def outer(environ, start_response):
                calls.append(environ["PATH_INFO"])
                return inner(environ, start_response)

            return outer

        return wrap

    web = webtest.TestApp(make_service({"preHook": hook}).app)
    web.get("//health/")
    assert calls == ["//health/"]


def test_pre_router_hook_adds_routes_and_wraps_inside_the_frame(make_service):
    calls = []

    def hook(app):
        @app.get("/own")
        def own():
            return "mine"

        def wrap(inner):
            def outer(environ, start_response):
                calls.append(environ["PATH_INFO"])
                return inner(environ, start_response)

            return outer

        return wrap

    web = webtest.TestApp(make_service({"preRouterHook": hook}).app)
    answer = web.get("//own/")
    assert answer.text == "mine"
    assert calls == ["/own"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_hook_that_returns_nonsense_stops_the_start(make_service):
    with pytest.raises(StartError, match="preHook"):
        make_service({"preHook": lambda app: 5})


def test_a_hook_that_raises_stops_the_start(make_service):
    with pytest.raises(StartError, match="preRouterHook failed: ZeroDivisionError: division"):
        make_service({"preRouterHook": lambda app: 1 / 0})


def test_a_bug_of_a_route_is_a_500_with_an_id_and_nothing_internal(make_service):
    log = Log()

    def hook(app):
        @app.get("/api/bug")
        def bug():
            raise RuntimeError("secret detail")

    service = make_service({"preRouterHook": hook, "getLogger": log})
    answer = webtest.TestApp(service.app).get("/api/bug", status=500)
    assert answer.json["name"] == "InternalError"
    assert "secret detail" not in answer.text
    lines = "\n".join(text for _, level, text in log.lines if level == "error")
    assert "secret detail" in lines
    assert any(answer.json["id"] in text for _, _, text in log.lines)


def test_a_log_provider_must_have_its_methods(make_service):
    with pytest.raises(StartError, match="getLogger"):
        make_service({"getLogger": lambda name: object()})


def test_the_request_log_has_status_method_and_path(make_service):
    log = Log()
    service = make_service({"getLogger": log, "enableRequestLogger": True})
    web = webtest.TestApp(service.app)
    web.get("/health?token=secret")
    web.get("/api/nowhere/", status=404)
    lines = [text for name, level, text in log.lines if name == "HTTP"]
    assert lines == ["200 GET /health", "404 GET /api/nowhere/"]


def test_request_lines_are_shown_whatever_the_level(make_service, capsys):
    service = make_service({"enableRequestLogger": True, "logLevel": "error"})
    webtest.TestApp(service.app).get("/health")
    assert "[INFO] HTTP - 200 GET /health" in capsys.readouterr().err


def test_a_forged_log_line_stays_on_its_line(make_service, capsys):
    service = make_service({"enableRequestLogger": True})
    webtest.TestApp(service.app).get("/a%0A[ERROR]%20forged", status=404)
    assert "\\n[ERROR] forged" in capsys.readouterr().err


def test_the_base_path_prefixes_everything(make_service):
    web = webtest.TestApp(make_service({"server": {"baseUriPath": "/flags/"}}).app)
    web.get("/flags/health")
    web.get("/health", status=404)
    web.get("/flagshealth", status=404)
    assert web.get("/flags", status=303).headers["Location"] == "/flags/sign-in"
    page = web.get("/flags/sign-in")
    assert page.form.action == "/flags/sign-in"
    assert "Path=/flags" in page.headers["Set-Cookie"]
    body = {"name": "deploys"}
    result = web.post_json("/flags/api/admin/signal-endpoints", body, headers=ADMIN)
    assert result.headers["Location"].startswith("/flags/api/admin/signal-endpoints/")


def test_service_url_makes_links_and_secure_cookies(make_service):
    environ = {"SERVICE_URL": "https://flags.example.com/sub/"}
    web = webtest.TestApp(make_service(environ=environ).app)
    result = web.post_json("/api/admin/signal-endpoints", {"name": "a"}, headers=ADMIN).json
    assert result["url"] == "https://flags.example.com/sub/api/signal-endpoint/a"
    assert "Secure" in web.get("/sign-in").headers["Set-Cookie"]


def test_the_host_header_is_not_believed(web):
    headers = ADMIN | {"Host": "evil.example"}
    result = web.post_json("/api/admin/signal-endpoints", {"name": "a"}, headers=headers)
    assert "evil" not in result.text
    redirect = web.get("/", headers={"Host": "evil.example"}, status=303)
    assert redirect.headers["Location"] == "/sign-in"


def test_security_headers_by_kind(web):
    api, page = web.get("/api", status=404).headers, web.get("/sign-in").headers
    for headers in (api, page):
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "Strict-Transport-Security" not in headers
    assert api["Content-Security-Policy"] == "default-src 'none';frame-ancestors 'none'"
    assert "script-src 'self';" in page["Content-Security-Policy"]
    assert "unsafe-inline" not in page["Content-Security-Policy"]


def test_secure_headers_and_more_csp_sources(make_service):
    environ = {
        "SECURE_HEADERS": "true",
        "CSP_ALLOWED_SCRIPT": "a.example,b.example",
        "CSP_ALLOWED_OBJECT": "c.example",
    }
    headers = webtest.TestApp(make_service(environ=environ).app).get("/sign-in").headers
    policy = headers["Content-Security-Policy"]
    assert "script-src 'self' a.example b.example;" in policy
    assert "object-src c.example;" in policy
    assert "upgrade-insecure-requests" in policy
    assert headers["Strict-Transport-Security"].startswith("max-age=63072000")
    assert "; secure" in headers["Set-Cookie"].lower()


def test_errors_are_json_under_the_api_and_pages_elsewhere(web):
    for path in ("/api", "/api/x", "/auth/x", "/internal-backstage/x"):
        assert web.get(path, status=404).json["name"] == "NotFoundError"
    page = web.get("/nowhere", status=404)
    assert page.content_type == "text/html"
    assert "<h1>404" in page.text


def test_wrong_methods_are_405_with_allow(web):
    answer = web.post("/health", status=405)
    assert answer.headers["Allow"] == "GET, HEAD"
    assert answer.json["name"] == "MethodNotAllowedError"
    page = web.delete("/sign-in", status=405)
    assert page.headers["Allow"] == "GET, HEAD, POST"


def test_head_is_get_without_a_body(web):
    answer = web.head("/sign-in")
    assert answer.body == b""
    assert int(answer.headers["Content-Length"]) > 500
    web.head("/api/nowhere", status=404)


def test_static_files_are_cached_by_their_hash(web):
    page = web.get("/sign-in")
    address = page.html.find("link", rel="stylesheet")["href"]
    answer = web.get(address)
    assert answer.content_type == "text/css"
    assert "immutable" in answer.headers["Cache-Control"]
    web.get("/static/../setup.cfg", status=404)
    web.get("/static/%2e%2e%2fsetup.cfg", status=404)


def test_who_has_queued_too_long_is_told_to_come_again(web):
    late = {"sigservice.waited": 2.5}
    answer = web.get("/api/admin/signals", headers=ADMIN, extra_environ=late, status=503)
    assert answer.headers["Retry-After"] == "1"
    web.get("/health", extra_environ=late)
    web.get("/ready", extra_environ={"sigservice.waited": 0.1})


def test_a_hook_may_wrap_with_a_generator(make_service):
    def hook(app):
        def wrap(inner):
            def outer(environ, start_response):
                yield from inner(environ, start_response)

            return outer

        return wrap

    web = webtest.TestApp(make_service({"preRouterHook": hook}).app)
    assert web.get("/health").json == {"health": "GOOD"}


def test_the_start_lines_never_show_a_configured_password(make_service):
    make_service({"authentication": {}}).stop()  # the built-in admin is made and stays
    for configured in ({"username": "eve", "password": "hunter2-of-eve"}, None):
        service = make_service({"authentication": {"initialAdminUser": configured}})
        lines = "\n".join(service.describe())
        assert "admin with the default password unleash4all" in lines
        assert "hunter2" not in lines
        assert len(service.describe()) <= 12


@pytest.mark.parametrize(("host", "is_said"), [(None, True), ("::", True), ("127.0.0.1", False)])
def test_the_start_says_that_it_listens_on_all_addresses(make_service, host, is_said):
    lines = "\n".join(make_service({"server": {"host": host}}).describe())
    assert ("HTTP_HOST=127.0.0.1" in lines) is is_said


def test_the_start_says_nothing_twice(make_service):
    log = Log()
    options = {"getLogger": log, "authentication": {"type": "none"}}
    service = make_service(options, {"SERVICE_METRIC_TOKEN": "x", "SERVICE_URLS": "x"})
    service.start()
    messages = [message for _, level, message in log.lines if level in ("info", "warn")]
    banner = "\n".join(service.describe())
    for text in ("every visitor is an admin", "SERVICE_METRIC_TOKEN", "SERVICE_URLS", "mail"):
        assert sum(text in message for message in messages) == 1
        assert text not in banner


def test_start_lines_need_no_database(make_service):
    """They follow the start: an interruption of the database must not end the service."""
    service = make_service()
    service.context.database.close()
    assert service.describe()[0].startswith("sigservice ")


def test_hooks_of_bottle_see_the_requests_of_the_service(make_service):
    calls = []

    def hook(app):
        app.add_hook("before_request", lambda: calls.append(request.path))
        app.add_hook("after_request", lambda: response.headers.update({"X-Own": "yes"}))

    web = webtest.TestApp(make_service({"preHook": hook}).app)
    assert web.get("/health").headers["X-Own"] == "yes"
    assert calls == ["/health"]


def test_answers_are_compressed_around_the_wrapper_of_a_hook(make_service):
    def hook(app):
        def wrap(inner):
            def outer(environ, start_response):
                body = b"".join(inner(environ, lambda *_: None))
                start_response("200 OK", [("Content-Type", "text/plain")])
                return [body * 100]

            return outer

        return wrap

    web = webtest.TestApp(make_service({"preRouterHook": hook}).app)
    answer = web.get("/health", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["Vary"] == "Accept-Encoding"  # webtest has decompressed the body
