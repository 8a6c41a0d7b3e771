"""The service inside a program: hooks, create, start and stop, options alone, eventHook."""

from __future__ import annotations

import json
from contextlib import closing

from tests.server.process import refused, running
from tests.spec.kit import ADMIN_SECRET, ADMIN_USER, Asked, Row, script_for

PRE, INNER = "X-Pre-Hook", "X-Pre-Router-Hook"


def pre_hook(asked: Asked) -> None:
    """Around everything: sees each request as it came in, refusals and preflights included."""
    for method, path, status in (
        ("GET", "/sign-in", 200),
        ("GET", "//api//nowhere/", 404),
        ("GET", "/%FF", 400),
        ("OPTIONS", "/api/frontend", 204),
    ):
        answer = asked.ask(method, path)
        assert answer.status == status
        seen = f"|{path}".replace("%FF", "\xff").replace("//api", "/api")  # waitress's own cleaning
        assert answer.headers[PRE] == (seen if asked.value else None), path
    own = asked.ask("GET", "/of-pre-hook")
    assert own.status == (200 if asked.value else 404)
    if asked.value:
        assert own.headers["X-Content-Type-Options"] == "nosniff"
        bug = asked.ask("GET", "/api/of-pre-hook/bug")
        assert (bug.status, bug.json["name"]) == (500, "InternalError")
        assert bug.json["id"] in asked.service.stderr
        assert "ZeroDivisionError" in asked.service.stderr
        assert "division" not in bug.text


def pre_router_hook(asked: Asked) -> None:
    """Inside of the frame, before our routes: what it adds beats them; no preflight gets there."""
    answer = asked.ask("GET", "//api//nowhere/")
    assert answer.status == 404
    assert answer.headers[INNER] == ("|/api/nowhere" if asked.value else None)
    assert asked.ask("OPTIONS", "/api/frontend").headers[INNER] is None
    own = asked.ask("GET", "/of-pre-router-hook")
    assert own.status == (200 if asked.value else 404)
    docs = asked.ask("GET", "/docs")
    assert docs.status == (200 if asked.value else 303)
    assert (docs.body == b"first come, first served") == (asked.value is not None)


def failing_hooks(asked: Asked) -> None:
    ended = asked.refuse(options={asked.row.name: asked.value})
    assert ended.wait() == 1
    (line,) = ended.stderr.splitlines()
    raises = asked.value["call"] == "failing_hook"
    says = "failed: LookupError: no such" if raises else "must return nothing or a function"
    assert f"{asked.row.name} {says}" in line


def event_hook(asked: Asked) -> None:
    """Taken with a warning, and never called."""
    asked.admin("POST", "/api/admin/projects/default/features", {"name": asked.row.name[:3] + "-e"})
    assert "eventHook was removed in version 5 and is ignored." in asked.service.stdout
    assert "the event hook was called" not in asked.service.stdout


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


def create_start_stop(asked: Asked) -> None:
    with closing(refused(asked.services.basis(), PROGRAM)) as ended:
        assert ended.wait() == 0, ended.stderr
        told = json.loads(ended.stdout)
    assert told == {
        "created": [None, "", 0],
        "app": ["200 OK"],
        "started": [True, True, False],
        "stopped": [False, None, False, 0],
        "never started": False,
        "another": True,
    }


def options_alone(asked: Asked) -> None:
    """The same by an options object, with nothing in the environment, as by variables alone."""
    basis = asked.services.basis()
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
    with running({"HTTP_PORT": ""}, script_for(options)) as by_options:
        by_variables = asked.services.shared("default", asked.rows)
        for service, hours in ((by_options, 7), (by_variables, 48)):
            cookie = asked.sign_in(service).headers["Set-Cookie"]
            assert f"Max-Age={hours * 3600};" in cookie
            assert asked.admin("GET", "/api/admin/projects", service=service)["projects"]


ROWS = (
    Row("preHook", pre_hook, default=None, code={"call": "pre_hook"}),
    Row("preHook", failing_hooks, code={"call": "failing_hook"}, alone=True),
    Row("preRouterHook", pre_router_hook, default=None, code={"call": "pre_router_hook"}),
    Row("preRouterHook", failing_hooks, code={"call": "hook_that_returns_nonsense"}, alone=True),
    *(
        Row(name, event_hook, code={"call": "event_hook"}, option="eventHook")
        for name in (
            "options: eventHook is no longer part of the interface",
            "versioning: eventHook is gone",
        )
    ),
    Row(
        "programs: create does not listen, start does, stop ends it for good",
        create_start_stop,
        alone=True,
    ),
    Row("service 6: configured by an options object or by variables", options_alone, alone=True),
)
