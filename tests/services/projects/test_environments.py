"""ENABLED_ENVIRONMENTS at the start: what it switches, links, warns of and leaves alone."""

from __future__ import annotations

import threading

import pytest
import webtest

from sigservice.services import startup
from tests.conftest import ADMIN


class Warnings:
    def __init__(self):
        self.lines = []

    def warn(self, message, *args):
        self.lines.append(message % args)

    debug = info = error = lambda self, *args: None


def start(make_service, names, warnings=None):
    options = {"getLogger": lambda name: warnings} if warnings else {}
    return webtest.TestApp(make_service(options, {"ENABLED_ENVIRONMENTS": names}).app)


def enabled(web):
    rows = web.get("/api/admin/environments", headers=ADMIN).json["environments"]
    return {row["name"] for row in rows if row["enabled"]}


def events(web, type):
    return web.get("/api/admin/events", {"type": type}, headers=ADMIN).json["events"]


def used(web):
    rows = web.get("/api/admin/environments/project/default", headers=ADMIN).json["environments"]
    return {row["name"] for row in rows if row["visible"]}


def test_those_named_are_on_and_all_others_off(make_service):
    web = start(make_service, "production, development")
    assert enabled(web) == {"production", "development"}
    (event,) = events(web, "environment-updated")
    assert (event["createdBy"], event["createdByUserId"]) == ("system", -1337)
    assert (event["environment"], event["data"]["enabled"]) == ("default", False)
    assert used(web) == {"default", "development", "production"}
    assert events(web, "project-environment-added") == []
    start(make_service, "production,development")
    assert len(events(web, "environment-updated")) == 1


def test_projects_are_linked_to_those_that_were_off(make_service, database):
    web = start(make_service, "")
    body = {"name": "staging", "type": "test", "enabled": False}
    web.post_json("/api/admin/environments", body, headers=ADMIN)
    web.post_json("/api/admin/environments", body | {"name": "spare"}, headers=ADMIN)
    web.post_json("/api/admin/environments", body | {"name": "on", "enabled": True}, headers=ADMIN)
    assert used(web) == {"default", "development", "production"}
    start(make_service, "staging,on")
    assert enabled(web) == {"staging", "on"}
    assert used(web) == {"default", "development", "production", "staging"}
    (event,) = events(web, "project-environment-added")
    assert (event["project"], event["environment"]) == ("default", "staging")
    assert event["createdByUserId"] == -1337


@pytest.mark.parametrize(
    ("names", "left"),
    [
        ("production,typo", {"production"}),
        ("typo", {"default", "development", "production"}),
        ("", {"default", "development", "production"}),
    ],
)
def test_unknown_names_only_warn(make_service, names, left):
    warnings = Warnings()
    web = start(make_service, names, warnings)
    assert enabled(web) == left
    told = [line for line in warnings.lines if "ENABLED_ENVIRONMENTS" in line]
    assert len(told) == ("typo" in names)
    assert all("typo" in line for line in told)


def test_many_that_start_at_once_do_it_once(service, web):
    database, logger = service.context.database, Warnings()
    gate = threading.Barrier(4)

    def one():
        gate.wait()
        startup.switch_environments(database, ["production"], logger)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert enabled(web) == {"production"}
    assert len(events(web, "environment-updated")) == 2
