"""Action sets, pages: what lists say, the form that grows, the tester."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.pages.page_reader import alert, find_error, follow, form_to, heading, notice

PATH = "/admin/projects/default/actions"
OPTIONS = {
    "cooldownSeconds": 60,
    "maxRunsPerHour": 3,
    "latch": True,
    "dryRun": True,
    "continueOnFailure": True,
    "restoreAfterMinutes": 5,
    "restoreWhenResolved": {"path": "status", "values": ["resolved"], "key": "id"},
}
FILTERS = [
    {"path": "status", "operator": "IN", "values": ["firing", "open"], "caseInsensitive": True},
    {
        "any": [
            {"path": "n", "operator": "NUM_GT", "value": "4"},
            {"path": "x", "operator": "EXISTS"},
        ]
    },
    {"path": "silent", "operator": "EXISTS", "inverted": True},
]


def main(page):
    return " ".join(page.html.find("main").get_text(" ").split())


def press(form, do, status=200):
    """The button that sends the form to itself."""
    return form.submit("do", value=do, status=status)


def test_empty_page_explains_and_leads_on(ada, endpoint):
    page = ada.get("/admin/automation")
    assert "No automation yet. When an alert fires, it turns a flag off" in main(page)
    assert heading(follow(page, "Protect a flag")) == "Protect a flag"


def test_row_says_what_a_set_does(ada, web, cast, sets, endpoint, token, send):
    service = {"path": "commonLabels.service", "operator": "IN", "values": ["checkout"]}
    options = OPTIONS | {"dryRun": False}
    id = sets.set(filters=[service, *FILTERS], options=options)
    sentence = "When service is checkout and "
    end = ", turn checkout off in production"
    text = main(ada.get("/admin/automation"))
    assert sentence in text
    assert "(deploys)" in text
    assert end in text
    assert "never" in text
    viewed = main(cast.signed_in("vera").get("/admin/automation"))
    assert f"When an alert arrives from deploys{end}" in viewed
    assert "service" not in viewed
    page = form_to(ada.get("/admin/automation"), f"{PATH}/{id}/off").submit().follow()
    assert notice(page) == "Automation turned off."
    assert not sets.look(id)["enabled"]
    web.delete(f"/api/admin/service-account/{sets.account}", headers=ADMIN)
    web.delete(f"/api/admin/signal-endpoints/{endpoint['id']}", headers=ADMIN)
    text = main(ada.get("/admin/automation"))
    assert "No service account" in text
    assert "No signal endpoint" in text


def test_a_set_that_has_run_once_can_act_again(ada, sets, endpoint, token, send):
    id = sets.set(options={"latch": True})
    send(endpoint, token, {})
    sets.work()
    page = ada.get("/admin/automation")
    assert "has run once" in main(page)
    page = form_to(page, f"{PATH}/{id}/arm").submit().follow()
    assert notice(page) == "It can act again."
    assert sets.look(id)["armed"]


def test_a_new_user_writes_a_set(ada, web, sets, endpoint, token, send):
    payload = {"alerts": [{"status": "firing", "id": "<b>"}], "big": 2**70}
    send(endpoint, token, payload)
    page = ada.get(f"{PATH}/new")
    form = form_to(page, f"{PATH}/new")
    assert form["match.sourceId"].value == str(endpoint["id"])
    assert "big" in [tag["value"] for tag in page.html.find(id="suggested").find_all("option")]
    form["name"], form["actorId"] = "kill", str(sets.account)
    form["filters.0.path"], form["filters.0.values"] = "alerts[*].status", "firing\nopen\n"
    form = form_to(press(form, "add-filters"), f"{PATH}/new")
    form["filters.1.path"], form["filters.1.operator"] = "big", "NUM_GT"
    form["filters.1.values"], form["filters.1.group"] = "5", "A"
    form = form_to(press(form, "add-filters"), f"{PATH}/new")
    form["filters.2.path"], form["filters.2.operator"] = "alerts[0].id", "EXISTS"
    form["filters.2.group"], form["filters.2.inverted"] = "A", True
    form["actions.0.action"] = "SET_FEATURE_ROLLOUT"
    page = form.submit(status=200)  # Enter: the fields of the other kind are seen first
    form = form_to(page, f"{PATH}/new")
    form["actions.0.executionParams.environment"] = "production"
    form["actions.0.executionParams.featureName"] = "checkout"
    form["actions.0.executionParams.rollout"] = "10"
    form = form_to(press(form, "add-actions"), f"{PATH}/new")
    form["actions.1.executionParams.environment"] = "development"
    form["actions.1.executionParams.featureName"] = "checkout"
    form = form_to(press(form, "up-actions.1"), f"{PATH}/new")
    form["options.restoreWhenResolved.path"], form["options.restoreWhenResolved.key"] = (
        "status",
        "id",
    )
    form["options.restoreWhenResolved.values"], form["options.latch"] = "resolved", True
    form["options.maxRunsPerHour"] = "3"
    page = form.submit(status=303).follow()
    assert notice(page) == "Protected."
    (one,) = web.get(f"/api/admin{PATH.removeprefix('/admin')}", headers=ADMIN).json["actions"]
    match = one["match"]
    assert match["payload"]["alerts[*].status"]["values"] == ["firing", "open"]
    (group,) = match["filters"]
    assert [(f["path"], f["operator"]) for f in group["any"]] == [
        ("big", "NUM_GT"),
        ("alerts[0].id", "EXISTS"),
    ]
    assert [(a["action"], a["executionParams"]) for a in one["actions"]] == [
        (
            "TOGGLE_FEATURE_OFF",
            {"project": "default", "environment": "development", "featureName": "checkout"},
        ),
        (
            "SET_FEATURE_ROLLOUT",
            {
                "project": "default",
                "environment": "production",
                "featureName": "checkout",
                "rollout": "10",
            },
        ),
    ]
    assert one["options"]["latch"] is True
    assert one["options"]["restoreWhenResolved"]["key"] == "id"


def test_saving_what_is_shown_changes_nothing(ada, database, sets, read_state):
    id = sets.set(filters=FILTERS, options=OPTIONS, description="d", enabled=False)
    before, previous = read_state(), settings(database)
    page = ada.get(f"{PATH}/{id}")
    form_to(page, f"{PATH}/{id}").submit(status=303)
    assert read_state() == before
    assert settings(database) == previous


def settings(database):
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute("SELECT settings FROM action_sets")
        ((results,),) = cursor.fetchall()
    conn.close()
    return results


@pytest.mark.parametrize("group", ["A.any.5", "A[3]", "A.any.99999999999999999999"])
def test_a_group_that_is_no_letter_is_none(ada, sets, group):
    filters = {"filters.0.path": "", "filters.0.values": "x", "filters.0.operator": "IN"}
    filters |= {"filters.0.group": group}
    page = ada.post(f"{PATH}/new", {"csrf": ada.csrf, "name": "x"} | filters, status=400)
    assert find_error(page, "filters.0.path")


def test_all_problems_stand_beside_their_fields(ada, sets, read_state):
    before = read_state()
    form = {
        "csrf": ada.csrf,
        "back": "on",
        "name": "",
        "match.sourceId": "",
        "actorId": "",
        "filters.0.path": "a..b",
        "filters.0.operator": "IN",
        "filters.0.values": "ok\n" + "x" * 101,
        "filters.1.path": "a",
        "filters.1.operator": "NUM_GT",
        "filters.1.values": "x",
        "filters.1.group": "B",
        "filters.2.path": "a",
        "filters.2.operator": "nope",
        "filters.2.group": "B",
        "actions.0.action": "TOGGLE_FEATURE_ON",
        "actions.0.shown": "TOGGLE_FEATURE_ON",
        "actions.0.executionParams.environment": "",
        "actions.0.executionParams.featureName": "",
        "actions.1.action": "NOPE",
        "actions.1.shown": "NOPE",
        "options.cooldownSeconds": "-1",
        "options.maxRunsPerHour": "x",
        "options.restoreAfterMinutes": "0",
        "options.restoreWhenResolved.path": "status",
        "options.restoreWhenResolved.values": "",
        "options.restoreWhenResolved.key": "",
    }
    page = ada.post(f"{PATH}/new", form, status=400)
    for field, words in {
        "match.sourceId": "Choose a signal endpoint",
        "filters.0.path": "path must look like",
        "filters.0.values": "Line 2",
        "filters.1.values": "needs a number",
        "filters.2.operator": "one of",
        "actions.0.executionParams.environment": "required",
        "actions.0.executionParams.featureName": "required",
        "actions.1.action": "one of",
        "options.cooldownSeconds": "must be 0",
        "options.maxRunsPerHour": "must be 1",
        "options.restoreWhenResolved.values": "required",
        "options.restoreWhenResolved.key": "not a valid path",
    }.items():
        assert words in find_error(page, field), field
    assert read_state() == before
    form = {"csrf": ada.csrf, "name": "x", "do": "remove-filters.9"}
    assert ada.post(f"{PATH}/new", form, status=200)
    page = ada.post(f"{PATH}/new", {"csrf": ada.csrf, "name": "x"}, status=400)
    assert "At least one action is required." in alert(page)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("match.sourceId", "9" * 30),
        ("match.sourceId", "x"),
        ("actorId", "-1"),
        ("do", "up-actions.x"),
    ],
)
def test_odd_forms_are_no_error_of_ours(ada, sets, name, value):
    form = {"csrf": ada.csrf, "actions.0.action": "x", "actions.0.shown": "x", name: value}
    assert ada.post(f"{PATH}/new", form, expect_errors=True).status_int in (200, 400)
    assert ada.get(f"{PATH}/new", {name: value}, status=200)


def test_the_page_of_a_flag_leads_to_its_protection(ada, sets):
    page = ada.get("/admin/features/checkout").click("Protect this flag")
    assert heading(page) == "Protect checkout"


def test_a_flag_is_protected_in_words(ada, web, sets, make, send):
    alertmanager = make.endpoint("alertmanager", template="alertmanager")
    token = make.token(alertmanager)
    labels = {"alertname": "Errors", "service": "checkout"}
    payload = {"status": "firing", "groupKey": "a", "commonLabels": labels}
    for _ in range(3):
        send(alertmanager, token, payload)
    query = f"flag=checkout&endpoint={alertmanager['id']}"
    page = ada.get(f"/admin/automation/new?{query}")
    assert heading(page) == "Protect checkout"
    (button,) = [b for b in page.html.select("#when button") if "service checkout 3×" in b.text]
    page = press(form_to(page, f"{PATH}/new"), button["value"])
    form = form_to(page, f"{PATH}/new")
    assert (form["filters.0.path"].value, form["filters.0.operator"].value) == ("service", "IN")
    assert "would have acted 3 times" in main(page)
    form.submit(status=303)
    (one,) = web.get(f"/api/admin{PATH.removeprefix('/admin')}", headers=ADMIN).json["actions"]
    assert one["name"] == "checkout off while service is checkout"
    assert one["match"]["payload"]["commonLabels.service"]["values"] == ["checkout"]
    assert one["match"]["payload"]["status"]["values"] == ["firing"]
    assert one["options"]["restoreWhenResolved"]["values"] == ["resolved"]
    accounts = web.get("/api/admin/service-account", headers=ADMIN).json["serviceAccounts"]
    (account,) = [row for row in accounts if row["id"] == one["actorId"]]
    assert (account["username"], account["rootRole"]) == ("automation", 2)
    page = ada.get(f"{PATH}/{one['id']}")
    form = form_to(page, f"{PATH}/{one['id']}")
    assert form["filters.0.path"].value == "service"
    form.submit(status=303)
    (same,) = web.get(f"/api/admin{PATH.removeprefix('/admin')}", headers=ADMIN).json["actions"]
    assert (same["match"], same["options"]) == (one["match"], one["options"])


def test_an_alert_that_resolves_can_leave_the_flag_off(ada, web, sets, make):
    alertmanager = make.endpoint("alertmanager", template="alertmanager")
    query = f"flag=checkout&endpoint={alertmanager['id']}"
    form = form_to(ada.get(f"{PATH}/new?{query}"), f"{PATH}/new")
    form["back"], form["name"] = False, "kill"
    form["filters.0.path"], form["filters.0.values"] = "service", "checkout"
    form["filters.0.operator"] = "!IN"
    form.submit(status=303)
    (one,) = web.get(f"/api/admin{PATH.removeprefix('/admin')}", headers=ADMIN).json["actions"]
    assert "restoreWhenResolved" not in one["options"]
    assert one["match"]["payload"]["commonLabels.service"]["inverted"]
    form = form_to(ada.get(f"{PATH}/{one['id']}"), f"{PATH}/{one['id']}")
    assert (form["filters.0.operator"].value, form["back"].checked) == ("!IN", False)


def test_name_that_is_taken(ada, sets):
    sets.set("first")
    second = sets.set("second")
    form = form_to(ada.get(f"{PATH}/{second}"), f"{PATH}/{second}")
    form["name"] = "first"
    assert "already exists" in find_error(form.submit(status=409), "name")
    page = form_to(ada.get(f"{PATH}/{second}/delete"), f"{PATH}/{second}/delete").submit().follow()
    assert "deleted" in notice(page)


def test_full_project_offers_no_new_set(make_service, ada, sets):
    sets.set()
    ada.app = make_service(environ={"SERVICE_ACTION_SETS_PER_PROJECT_LIMIT": "1"}).app
    page = ada.get("/admin/automation?project=default")
    assert "Protect a flag" not in main(page)
    assert "Delete one to create another" in main(page)


def test_tester_says_what_each_filter_makes_of_a_signal(ada, sets, flags, endpoint, token, send):
    id = sets.set(filters=FILTERS)
    signal = send(endpoint, token, {"status": "firing", "n": 3, "x": None})
    page = follow(ada.get(f"/admin/signals/{endpoint['id']}/log/{signal['id']}"), link_to_test())
    form = form_to(page, f"{PATH}/{id}/test")
    assert form["signal"].value == str(signal["id"])
    page = form.submit(status=200)
    text = main(page)
    for words in (
        "Would run",
        "(case-insensitive) : yes found: firing",
        "n > 4 : no found: 3",
        "x exists : yes found: null",
        "silent is missing : yes field missing",
        "checkout in production: on → off",
    ):
        assert words in text, words
    assert flags.is_on()
    form = form_to(page, f"{PATH}/{id}/test")
    form["signal"], form["payload"] = "", '{"status": "firing", "silent": 1}'
    assert "Would not run" in main(form.submit(status=200))
    form["payload"] = ""
    assert "found: 3" in main(form.submit(status=200)), "the newest signal"
    for payload, words in (("{", "not valid JSON"), ("[" * 99, "JSON")):
        form["payload"] = payload
        assert words in find_error(form.submit(status=400), "payload")
    form["payload"] = "1" * 102_401
    assert "larger" in find_error(form.submit(status=413), "payload")


def link_to_test():
    return "Test kill checkout in default with this signal"


def test_endpoint_that_is_deleted_names_its_sets(ada, sets, endpoint):
    page = ada.get(f"/admin/signals/{endpoint['id']}/delete")
    assert "depend on it" not in main(page)
    sets.set(enabled=False)
    page = ada.get(f"/admin/signals/{endpoint['id']}/delete")
    assert "kill checkout in default (off)" in main(page)
    assert heading(follow(page, "kill checkout in default (off)")) == "Change kill checkout"


@pytest.mark.parametrize(
    "do",
    [
        "filter:",
        "filter:x",
        "filter:[1]",
        'filter:["a", "\\u0000"]',
        "filter:" + "[" * 3000 + "]" * 3000,
        "template:none",
        "template:",
    ],
    ids=range(7),
)
def test_an_unknown_button_changes_nothing(ada, sets, do):
    page = ada.post(f"{PATH}/new", {"csrf": ada.csrf, "name": "x", "do": do}, status=200)
    assert "filters.0.path" not in form_to(page, f"{PATH}/new").fields


def test_options_are_folded_until_there_are_some(ada, sets):
    page = ada.get(f"{PATH}/new")
    assert not page.html.find(id="options").find_parent("details").has_attr("open")
    id = sets.set("kill", options={"cooldownSeconds": 60})
    page = ada.get(f"{PATH}/{id}")
    assert page.html.find(id="options").find_parent("details").has_attr("open")
