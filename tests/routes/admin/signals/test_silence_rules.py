"""The rule of an endpoint that expects signals, in the admin API."""

from __future__ import annotations

import json

from tests.conftest import ADMIN
from tests.table_tests import each

ENDPOINTS = "/api/admin/signal-endpoints"
BAD_RULES = [
    ({}, "options.silence"),
    ({"everySeconds": 60, "cron": "0 2 * * *"}, "options.silence"),
    ({"everySeconds": 0}, "options.silence.everySeconds"),
    ({"everySeconds": -1}, "options.silence.everySeconds"),
    ({"everySeconds": 10**9}, "options.silence.everySeconds"),
    ({"everySeconds": 10**30}, "options"),
    ({"everySeconds": 1.5}, "options"),
    ({"everySeconds": 60, "graceSeconds": -1}, "options.silence.graceSeconds"),
    ({"everySeconds": 60, "graceSeconds": 10**9}, "options.silence.graceSeconds"),
    ({"cron": ""}, "options.silence.cron"),
    ({"cron": "* * * * * *"}, "options.silence.cron"),
    ({"cron": "0 0 30 2 *"}, "options.silence.cron"),
    ({"cron": "0 0 LW */7 */7"}, "options.silence.cron"),
    ({"cron": "99 * * * *"}, "options.silence.cron"),
    ({"cron": "²\u0663 * * * *"}, "options.silence.cron"),
    ({"cron": "@daily"}, "options.silence.cron"),
    ({"cron": "1," * 1000 + "1 * * * *"}, "options.silence.cron"),
    ({"cron": "0 2 * * *", "timezone": "Mars/Base"}, "options.silence.timezone"),
    ({"cron": "0 2 * * *", "timezone": ""}, "options.silence.timezone"),
    ({"cron": "0 2 * * *", "timezone": "../../etc/passwd"}, "options.silence.timezone"),
    ({"cron": "0 2 * * *", "timezone": "/etc/localtime"}, "options.silence.timezone"),
    ({"cron": "0 2 * * *", "timezone": "Europe"}, "options.silence.timezone"),
    ({"cron": "0 2 * * *", "timezone": "europe/berlin"}, "options.silence.timezone"),
]


@each("row", BAD_RULES, name=lambda row: json.dumps(row[0])[:60])
def test_a_bad_rule_names_its_field(web, row):
    rule, path = row
    body = {"name": "backup", "options": {"silence": rule}}
    answer = web.post_json(ENDPOINTS, body, headers=ADMIN, status=400).json
    assert any(detail["path"].startswith(path) for detail in answer["details"]), answer


def test_a_rule_is_returned_as_it_was_sent(web):
    rule = {"cron": "30 2 * * MON-FRI", "timezone": "Europe/Berlin", "graceSeconds": 600}
    body = {"name": "backup", "options": {"silence": rule}}
    endpoint = web.post_json(ENDPOINTS, body, headers=ADMIN, status=201).json
    assert endpoint["options"]["silence"] == rule
    assert endpoint["silence"]["state"] == "new"
    renamed = web.put_json(
        f"{ENDPOINTS}/{endpoint['id']}", {"name": "dump"}, headers=ADMIN, status=200
    ).json
    assert renamed["options"]["silence"] == rule
