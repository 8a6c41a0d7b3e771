"""The request log: one line an answer, at any level, with the path as it was asked."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
import webtest

from tests.conftest import ADMIN
from tests.waiting import until


def await_lines(capsys, count):
    """Lines that come fast are written in bundles, a moment later."""
    lines = []

    def are_there():
        lines.extend(x for x in capsys.readouterr().err.splitlines() if "] HTTP - " in x)
        return len(lines) >= count

    until(are_there, "the lines of the log")
    return lines


@pytest.mark.parametrize("level", ["info", "fatal"])
def test_a_line_for_each_answer_at_any_level(make_service, capsys, level):
    base = {"server": {"baseUriPath": "/flags"}, "logLevel": level, "enableRequestLogger": True}
    web = webtest.TestApp(make_service(base).app)
    web.get("/flags/health?token=s3cret")
    web.get("/health", status=404)
    web.post("/flags/api/admin/projects", headers=ADMIN, status=415)
    web.get("/flags/api/f%C3%A9%0A%1B[2J", status=404)
    lines = await_lines(capsys, 4)
    assert [line.partition("] [")[2] for line in lines] == [
        "INFO] HTTP - 200 GET /flags/health",
        "INFO] HTTP - 404 GET /health",
        "INFO] HTTP - 415 POST /flags/api/admin/projects",
        "INFO] HTTP - 404 GET /flags/api/fé\\n\\x1b[2J",
    ]


def test_no_line_is_lost_when_many_come_at_once(make_service, capsys):
    options = {"enableRequestLogger": True, "server": {"serverMetrics": False}}
    get_logger = make_service(options).context.get_logger

    def write(name):
        log = get_logger("HTTP")
        for n in range(500):
            log.info("%s %d", name, n)

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = await_lines(capsys, 2000)
    for name in "abcd":
        own = [int(line.split()[-1]) for line in lines if f" {name} " in line]
        assert own == list(range(500))


@pytest.mark.external
def test_the_last_lines_are_written_when_the_program_ends():
    program = (
        "from sigservice.log import build_line_loggers\n"
        "log = build_line_loggers('info', frozenset({'HTTP'}))('HTTP')\n"
        "for n in range(100): log.info('%d', n)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert len(done.stderr.splitlines()) == 100


def test_a_provider_of_ones_own_gets_them_by_the_name_http(make_service):
    lines = []

    class Log:
        def __init__(self, name):
            self.name = name

        def info(self, text, *args):
            lines.append((self.name, text % args))

        debug = warn = error = lambda self, *args: None

    options = {"getLogger": Log, "enableRequestLogger": True, "server": {"serverMetrics": False}}
    web = webtest.TestApp(make_service(options).app)
    web.get("/health")
    assert ("HTTP", "200 GET /health") in lines


def test_none_is_written_unless_it_is_wanted(make_service, capsys):
    webtest.TestApp(make_service({"logLevel": "debug"}).app).get("/health")
    assert "HTTP" not in capsys.readouterr().err


def test_what_is_kept_of_made_up_names_is_short(make_service, monkeypatch):
    service = make_service()
    web, requests, cached = webtest.TestApp(service.app), service.context.telemetry.requests, []
    series = requests.find_series
    monkeypatch.setattr(requests, "find_series", lambda *key: cached.append(key) or series(*key))
    path = "/api/admin/projects"
    for n in range(3):  # which differ in what is cut off
        web.get(path, headers=ADMIN | {"X-Unleash-AppName": "a" * 9_000 + str(n)})
        web.get(f"{path}?appName={'b' * 9_000}{n}", headers=ADMIN)
    assert [name for _, _, _, name in cached] == ["a" * 100, "b" * 100]


LIVE = f"default:development.{'1a2b3c4d' * 7}"
API_TOKENS = "/api/admin/api-tokens"


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (f"{API_TOKENS}/{LIVE}", f"{API_TOKENS}/(hidden)"),
        (f"{API_TOKENS}/*:*.chosen/by hand", f"{API_TOKENS}/(hidden)"),
        (
            f"/api/admin/projects/default/api-tokens/{LIVE}",
            "/api/admin/projects/default/api-tokens/(hidden)",
        ),
        (f"/api/{LIVE}", "/api/default:development.(hidden)"),
        (f"{API_TOKENS}/17", f"{API_TOKENS}/17"),
        ("/x/*:*.chosen-by-hand/y", "/x/*:*.(hidden)/y"),
        (f"/x/user:{'1a2b3c4d' * 7}", "/x/user:(hidden)"),
        ("/x/default%253Adevelopment%2Echosen-by-hand", "/x/default:development.(hidden)"),
        ("/x/" + "%25" * 9 + "41", "/x/" + "%" * 9 + "41"),
        ("/x/%" + "25" * 9 + "41", "(hidden)"),
        ("/x/100%25/2026-01-01T10:00:00.000Z", "/x/100%/2026-01-01T10:00:00.000Z"),
    ],
)
def test_secrets_in_paths_are_in_no_line(make_service, capsys, path, line):
    web = webtest.TestApp(make_service({"enableRequestLogger": True}).app)
    web.delete(f"/{path}", headers=ADMIN, expect_errors=True)
    (logged,) = await_lines(capsys, 1)
    assert logged.rpartition("DELETE ")[2].lstrip("/") == line.lstrip("/")


def test_a_refusal_does_not_show_the_token_that_somebody_may_not_delete(make_service, capsys):
    web = webtest.TestApp(make_service({"logLevel": "warn"}).app)
    body = {"tokenName": "sdk", "type": "client", "environment": "development"}
    secret = web.post_json(API_TOKENS, body, headers=ADMIN).json["secret"]
    web.delete(f"{API_TOKENS}/{secret}", headers={"Authorization": secret}, status=403)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "refusals - 403" in line]
    assert f"DELETE {API_TOKENS}/(hidden) by" in line
