"""ENABLED_ENVIRONMENTS at start: states, links and warnings."""

from __future__ import annotations

import threading

import pytest
import webtest

from sigservice.services import startup
from tests.conftest import ADMIN


class Warnings:
    def __init__(self):
        self.messages = []

    def warn(self, message, *args):
        self.messages.append(message % args)

    debug = info = error = lambda self, *args: None


def start(make_service, names, warnings=None):
    options = {"getLogger": lambda name: warnings} if warnings else {}
    return webtest.TestApp(make_service(options, {"ENABLED_ENVIRONMENTS": names}).app)


def list_enabled(web):
    rows = web.get("/api/admin/environments", headers=ADMIN).json["environments"]
    return {row["name"] for row in rows if row["enabled"]}


def events(web, type):
    return web.get("/api/admin/events", {"type": type}, headers=ADMIN).json["events"]


def list_of_project(web):
    rows = web.get("/api/admin/environments/project/default", headers=ADMIN).json["environments"]
    return {row["name"] for row in rows if row["visible"]}


def test_only_the_listed_environments_are_enabled(make_service):
    web = start(make_service, "production, development")
    assert list_enabled(web) == {"production", "development"}
    (event,) = events(web, "environment-updated")
    assert (event["createdBy"], event["createdByUserId"]) == ("system", -1337)
    assert (event["environment"], event["data"]["enabled"]) == ("default", False)
    assert list_of_project(web) == {"default", "development", "production"}
    assert events(web, "project-environment-added") == []
    start(make_service, "production,development")
    assert len(events(web, "environment-updated")) == 1


def test_projects_get_the_newly_enabled_environments(make_service, database):
    web = start(make_service, "")
    body = {"name": "staging", "type": "test", "enabled": False}
    web.post_json("/api/admin/environments", body, headers=ADMIN)
    web.post_json("/api/admin/environments", body | {"name": "spare"}, headers=ADMIN)
    web.post_json("/api/admin/environments", body | {"name": "on", "enabled": True}, headers=ADMIN)
    assert list_of_project(web) == {"default", "development", "production"}
    start(make_service, "staging,on")
    assert list_enabled(web) == {"staging", "on"}
    assert list_of_project(web) == {"default", "development", "production", "staging"}
    (event,) = events(web, "project-environment-added")
    assert (event["project"], event["environment"]) == ("default", "staging")
    assert event["createdByUserId"] == -1337


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("production,typo", {"production"}),
        ("typo", {"default", "development", "production"}),
        ("", {"default", "development", "production"}),
    ],
)
def test_an_unknown_name_is_a_warning(make_service, names, expected):
    warnings = Warnings()
    web = start(make_service, names, warnings)
    assert list_enabled(web) == expected
    lines = [line for line in warnings.messages if "ENABLED_ENVIRONMENTS" in line]
    assert len(lines) == ("typo" in names)
    assert all("typo" in line for line in lines)


def test_parallel_starts_change_the_environments_once(service, web):
    database, logger = service.context.database, Warnings()
    gate = threading.Barrier(4)

    def start_process():
        gate.wait()
        startup.switch_environments(database, ["production"], logger)

    threads = [threading.Thread(target=start_process) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list_enabled(web) == {"production"}
    assert len(events(web, "environment-updated")) == 2
