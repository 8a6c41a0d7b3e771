"""The service inside a program: hooks, create, start and stop, options alone, eventHook."""

from __future__ import annotations

import json
from contextlib import closing

from tests.server.process import run_failing_service, run_service
from tests.spec.kit import ADMIN_SECRET, ADMIN_USER, Case, Row, script_for

PRE, INNER = "X-Pre-Hook", "X-Pre-Router-Hook"


def check_pre_hook(case: Case) -> None:
    """Around everything: sees each request as it came in, refusals and preflights included."""
    for method, path, status, expected in (
        ("GET", "/sign-in", 200, "|/sign-in"),
        ("GET", "//api//nowhere/", 404, "|/api//nowhere/"),  # waitress's own cleaning
        ("GET", "/%FF", 400, "|/\xff"),
        ("OPTIONS", "/api/frontend", 204, "|/api/frontend"),
    ):
        answer = case.request(method, path)
        assert (answer.status, answer.headers[PRE]) == (status, expected), path
    own = case.request("GET", "/of-pre-hook")
    assert (own.status, own.headers["X-Content-Type-Options"]) == (200, "nosniff")
    bug = case.request("GET", "/api/of-pre-hook/bug")
    assert (bug.status, bug.json["name"]) == (500, "InternalError")
    assert bug.json["id"] in case.service.stderr
    assert "ZeroDivisionError" in case.service.stderr
    assert "division" not in bug.text


def check_pre_router_hook(case: Case) -> None:
    """Inside of the frame, before our routes: what it adds beats them; no preflight gets there."""
    answer = case.request("GET", "//api//nowhere/")
    assert (answer.status, answer.headers[INNER]) == (404, "|/api/nowhere")
    assert case.request("OPTIONS", "/api/frontend").headers[INNER] is None
    assert case.request("GET", "/of-pre-router-hook").status == 200
    assert case.request("GET", "/docs").body == b"first come, first served"


def check_failing_hooks(case: Case) -> None:
    process = case.start_failing(options={case.row.name: case.value})
    assert process.wait() == 1
    (line,) = process.stderr.splitlines()
    raises = case.value["call"] == "failing_hook"
    says = "failed: LookupError: no such" if raises else "must return None or a function"
    assert f"{case.row.name} {says}" in line


def check_event_hook(case: Case) -> None:
    """Taken with a warning, and never called."""
    case.admin("POST", "/api/admin/projects/default/features", {"name": case.row.name[:3] + "-e"})
    assert (
        "eventHook was removed in version 5 and is ignored."
        in case.service.stdout + case.service.stderr
    )
    assert "the event hook was called" not in case.service.stdout


PROGRAM = """
import json, socket, sys, threading
import sigservice

def can(act):
    try:
        act()
    except RuntimeError:
        return False
    return True

def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True

def threads():
    return threading.active_count() - 1

service = sigservice.create()
told = {"created": [service.port, service.url, threads()]}
status = []
asked = {"REQUEST_METHOD": "GET", "PATH_INFO": "/health"}
service.app(asked, lambda line, headers, error=None: status.append(line))
told["app"] = status
service.start()
port = service.port
told["started"] = [answers(port), threads() > 0, can(service.start)]
service.stop()
service.stop()
told["stopped"] = [answers(port), service.port, can(service.start), threads()]
never = sigservice.create()
never.stop()
told["never started"] = can(never.start)
again = sigservice.start()
told["another"] = answers(again.port)
again.stop()
print(json.dumps(told))
"""


def check_create_start_stop(case: Case) -> None:
    with closing(run_failing_service(case.services.make_environ(), PROGRAM)) as process:
        assert process.wait() == 0, process.stderr
        result = json.loads(process.stdout)
    assert result == {
        "created": [None, "", 0],
        "app": ["200 OK"],
        "started": [True, True, False],
        "stopped": [False, None, False, 0],
        "never started": False,
        "another": True,
    }


def check_options_only(case: Case) -> None:
    """The same by an options object, with nothing in the environment, as by variables alone."""
    basis = case.services.make_environ()
    options = {
        "db": {
            "host": basis["DATABASE_HOST"],
            "port": int(basis["DATABASE_PORT"]),
            "user": basis["DATABASE_USERNAME"],
            "database": basis["DATABASE_NAME"],
        },
        "authentication": {
            "initialAdminUser": ADMIN_USER,
            "initApiTokens": [
                {"type": "admin", "secret": ADMIN_SECRET, "environment": "*", "project": "*"}
            ],
        },
        "session": {"ttlHours": 7},
    }
    with run_service({"HTTP_PORT": ""}, script_for(options)) as by_options:
        by_variables = case.services.get_shared("default", case.rows)
        for service, hours in ((by_options, 7), (by_variables, 48)):
            cookie = case.sign_in(service).headers["Set-Cookie"]
            assert f"Max-Age={hours * 3600};" in cookie
            assert case.admin("GET", "/api/admin/projects", service=service)["projects"]


ROWS = (
    Row("preHook", check_pre_hook, code={"call": "pre_hook"}),
    Row("preHook", check_failing_hooks, code={"call": "failing_hook"}, alone=True),
    Row("preRouterHook", check_pre_router_hook, code={"call": "pre_router_hook"}),
    Row(
        "preRouterHook",
        check_failing_hooks,
        code={"call": "hook_that_returns_nonsense"},
        alone=True,
    ),
    *(
        Row(name, check_event_hook, code={"call": "event_hook"}, option="eventHook")
        for name in (
            "options: eventHook is no longer part of the interface",
            "versioning: eventHook is gone",
        )
    ),
    Row(
        "programs: create does not listen, start does, stop ends it permanently",
        check_create_start_stop,
        alone=True,
    ),
    Row(
        "service 6: configured by an options object or by variables", check_options_only, alone=True
    ),
)
