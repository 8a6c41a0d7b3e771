"""Schedules in the admin API: what it accepts, refuses and lists."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sigservice.clock import format_iso
from tests.actions_kit import SETS
from tests.conftest import ADMIN
from tests.table_tests import each

SCHEDULED = "/api/admin/projects/default/scheduled"

# the schedule, the path of the detail
BAD = [
    ({}, "match"),
    ({"at": "2999-12-01T08:00:00Z", "cron": "0 8 * * *"}, "match"),
    ({"at": None, "cron": None}, "match"),
    ({"at": "2020-12-01T08:00:00Z"}, "match.at"),
    ({"at": "tomorrow"}, "match.at"),
    ({"at": ""}, "match.at"),
    ({"at": "2999-12-01"}, "match.at"),
    ({"at": "2999-12-01T08:00:00"}, "match.at"),
    ({"at": "2999-13-01T08:00:00Z"}, "match.at"),
    ({"at": "9999-12-31T23:59:59-10:00"}, "match.at"),
    ({"at": "9999-12-31T23:59:59Z", "timezone": "Asia/Tokyo"}, "match.at"),
    ({"at": "2999-12-01T08:00:00Z" + "0" * 5000}, "match.at"),
    ({"at": 5}, "match.at"),
    ({"at": "2999-12-01T08:00", "timezone": "Mars/Base"}, "match.timezone"),
    ({"at": "2037-03-29T02:30", "timezone": "Europe/Berlin"}, "match.at"),
    ({"cron": ""}, "match.cron"),
    ({"cron": "x"}, "match.cron"),
    ({"cron": "0 8 * *"}, "match.cron"),
    ({"cron": "0 0 8 * * *"}, "match.cron"),
    ({"cron": "0 0 30 2 *"}, "match.cron"),
    ({"cron": "61 * * * *"}, "match.cron"),
    ({"cron": 5}, "match.cron"),
    ({"cron": "0 8 * * *", "timezone": "../etc/passwd"}, "match.timezone"),
    ({"cron": "0 8 * * *", "timezone": ""}, "match.timezone"),
    ({"cron": "0 8 * * *", "timezone": 1}, "match.timezone"),
]
RESOLVED = {"path": "status", "values": ["resolved"], "key": "key"}
# options, the path of the detail
BAD_OPTIONS = [
    ({"skipIfLateMinutes": 0}, "options.skipIfLateMinutes"),
    ({"skipIfLateMinutes": 43_201}, "options.skipIfLateMinutes"),
    ({"skipIfLateMinutes": "5"}, "options.skipIfLateMinutes"),
    ({"restoreWhenResolved": RESOLVED}, "options.restoreWhenResolved"),
]


def cron(cron="0 22 * * FRI", **more):
    return {"source": "schedule", "cron": cron, "timezone": "Europe/Berlin"} | more


def refuse(alerts, **more):
    response = alerts.web.post_json(SETS, alerts.body(**more), headers=ADMIN, status=400)
    return [detail["path"] for detail in response.json["details"]]


@each("case", BAD)
def test_a_bad_schedule_is_refused(alerts, case):
    schedule, path = case
    assert refuse(alerts, match={"source": "schedule"} | schedule) == [path]


@each("case", BAD_OPTIONS)
def test_a_bad_option_of_a_schedule_is_refused(alerts, case):
    options, path = case
    assert refuse(alerts, match=cron(), options=options) == [path]


def test_an_endpoint_is_never_late(alerts):
    assert refuse(alerts, options={"skipIfLateMinutes": 5}) == ["options.skipIfLateMinutes"]


@pytest.mark.parametrize(
    "schedule",
    [
        {"at": "2999-12-01T08:00:00Z"},
        {"at": "2999-12-01T08:00:00.5+05:30"},
        {"at": "2999-12-01T08:00", "timezone": "Europe/Berlin"},
        {"cron": "*/5 8-18 * * MON-FRI", "timezone": "Asia/Kolkata"},
        {"cron": "0 8 1 * *"},
    ],
)
def test_a_schedule_is_read_as_it_was_sent(alerts, schedule):
    match = {"source": "schedule"} | schedule
    one = alerts.set(match=match)
    assert one["match"] == match
    assert alerts.put(one, match=one["match"]) == one


def test_a_local_time_is_due_in_its_time_zone(alerts):
    match = {"source": "schedule", "at": "2999-12-01T08:00", "timezone": "America/New_York"}
    assert alerts.set(match=match)["dueAt"] == "2999-12-01T13:00:00.000Z"


def test_an_endpoint_becomes_a_schedule_and_back(alerts):
    one = alerts.set()
    assert "dueAt" not in one
    changed = alerts.put(one, match=cron())
    assert (changed["match"], changed["done"]) == (cron(), False)
    assert alerts.put(changed) == one
    assert alerts.web.get(SCHEDULED, headers=ADMIN).json == {"scheduled": []}


def test_a_past_time_is_refused_when_it_changes(alerts):
    one = alerts.set(match={"source": "schedule", "at": "2999-12-01T08:00:00Z"})
    body = alerts.body(match={"source": "schedule", "at": "2020-12-01T08:00:00Z"})
    response = alerts.web.put_json(f"{SETS}/{one['id']}", body, headers=ADMIN, status=400)
    assert response.json["details"][0]["path"] == "match.at"
    assert alerts.web.get(f"{SETS}/{one['id']}", headers=ADMIN).json == one


def test_the_list_has_what_is_due_next_first(alerts):
    later = format_iso(alerts.clock.now() + timedelta(days=30))
    first = alerts.set(match=cron("* * * * *"))
    last = alerts.set(name="later", match={"source": "schedule", "at": later})
    alerts.set(name="endpoint")
    alerts.set(name="off", match=cron(), enabled=False)
    assert alerts.web.get(SCHEDULED, headers=ADMIN).json == {
        "scheduled": [
            {
                "actionSetId": first["id"],
                "name": "kill checkout",
                "dueAt": first["dueAt"],
                "cron": "* * * * *",
                "timezone": "Europe/Berlin",
                "actions": [alerts.off()],
            },
            {
                "actionSetId": last["id"],
                "name": "later",
                "dueAt": later,
                "cron": None,
                "timezone": None,
                "actions": [alerts.off()],
            },
        ]
    }


def test_the_list_of_an_unknown_project_is_404(web):
    web.get("/api/admin/projects/none/scheduled", headers=ADMIN, status=404)


def test_done_sets_do_not_count_against_the_limit(alerts):
    at = {"source": "schedule", "at": format_iso(alerts.clock.now() + timedelta(hours=1))}
    for number in range(50):
        alerts.set(name=f"set {number}", match=at)
    body = alerts.body(match=cron())
    assert alerts.web.post_json(SETS, body, headers=ADMIN, expect_errors=True).status_int >= 400
    alerts.clock.advance(3600)
    alerts.work()
    alerts.set(match=cron())


def test_a_test_of_a_schedule_says_what_would_change(alerts):
    one = alerts.set(match=cron())
    result = alerts.web.post_json(f"{SETS}/{one['id']}/test", {}, headers=ADMIN).json
    assert (result["matched"], [item["wouldSucceed"] for item in result["actions"]]) == (
        True,
        [True],
    )
    assert alerts.is_on()
