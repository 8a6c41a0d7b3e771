"""The pages of signal endpoints: list, create, edit, enable, disable, delete."""

from __future__ import annotations

import re

import pytest
import webtest
import yaml

from tests.conftest import ADMIN, Make
from tests.pages.page_reader import (
    alert,
    find_error,
    follow,
    form_to,
    heading,
    notice,
    read_table,
    sign_in,
)

URL = "http://localhost:80/api/signal-endpoint/"
BAD_NAMES = ("", " ", "Deploys", "a b", "a/b", "..", "é", "x" * 101, "a\tb", "a.b", "<b>")


def list_endpoints(page):
    return read_table(page, "endpoints")


def submit_new(person, *, status=303, **fields):
    form = form_to(person.get("/admin/signals/new"), "/admin/signals/new")
    for name, value in ({"name": "builds", "token": "later"} | fields).items():
        form[name] = value
    return form.submit(status=status)


def names(read_api):
    return [endpoint["name"] for endpoint in read_api("signal-endpoints")["signalEndpoints"]]


# list


def test_empty_list_says_what_to_do_next(ada):
    page = ada.get("/admin/signals")
    assert list_endpoints(page) == {}
    assert page.html.find("a", href="/admin/signals/new")
    assert "how to configure the sender" in page.html.find(class_="empty").get_text()


def test_row_shows_signals_and_has_a_menu(ada, make, endpoint, token, send):
    signals = [send(endpoint, token, {"n": n}) for n in range(3)]
    make.endpoint("builds")
    page = ada.get("/admin/signals")
    row = list_endpoints(page)["deploys"]
    assert "What the platform team ships" in row["Name"].get_text()
    assert row["Last signal"].time["datetime"] == signals[-1]["createdAt"]
    chart = row["24 h"].svg
    assert chart["aria-label"] == "3 signals in the last 24 hours"
    assert sum(int(bar["height"]) > 0 for bar in chart.find_all("rect")) in (1, 2)
    assert row["Refused"].get_text(strip=True) == ""
    assert row["Last signal"].a.bdi.get_text() == "2"
    assert [a.get_text() for a in row["More"].find_all("a")] == [
        "View signals of deploys",
        "Set up the sender of deploys",
        "Edit deploys",
        "Send a test signal to deploys",
        "Delete deploys",
    ]


def test_chart_marks_the_hours_in_which_a_set_ran(ada, endpoint, token, send, sets):
    sets.set("kill")
    send(endpoint, token, {})
    sets.work()
    row = list_endpoints(ada.get("/admin/signals"))["deploys"]
    assert row["Switches"].get_text(strip=True) == "1 automation"
    chart = row["24 h"].svg
    assert chart["aria-label"] == "1 signal and 1 run in the last 24 hours"
    assert len(chart.find_all("path")) == 1


def test_sparkline_has_a_bar_for_each_hour_of_24(ada, database, endpoint, token, send):
    ids = [send(endpoint, token, {})["id"] for _ in range(6)]
    hours = (0, 0, 1, 12, 23, 30)
    conn = database.connect()
    with conn.cursor() as cursor:
        for id, ago in zip(ids, hours, strict=True):
            cursor.execute(
                "UPDATE signals SET created_at = date_trunc('hour', now()) "
                "- make_interval(hours => %s) WHERE id = %s",
                (ago, id),
            )
    conn.close()
    chart = list_endpoints(ada.get("/admin/signals"))["deploys"]["24 h"].svg
    assert chart["aria-label"] == "5 signals in the last 24 hours"
    bars = {int(bar["x"]): int(bar["height"]) for bar in chart.find_all("rect")}
    assert bars == {0: 12, 66: 12, 132: 12, 138: 24}


def test_endpoint_without_tokens_links_to_the_token_form(ada, endpoint):
    name = list_endpoints(ada.get("/admin/signals"))["deploys"]["Name"]
    link = name.find("a", href=re.compile("/tokens$"))
    path = f"/admin/signals/{endpoint['id']}/tokens"
    assert link["href"] == path
    assert form_to(ada.get(path), path)


def test_url_ignores_the_host_header(ada, endpoint):
    page = ada.get(
        f"/admin/signals/{endpoint['id']}/setup",
        headers={"Host": "evil.example"},
        expect_errors=True,
    )
    assert "evil.example" not in page.text


def test_url_begins_with_the_public_url(make_service):
    options = {"server": {"unleashUrl": "http://flags.example"}}
    web = webtest.TestApp(make_service(options).app)
    Make(web).endpoint()
    sign_in(web)
    (row,) = list_endpoints(web.get("/admin/signals")).values()
    page = follow(web.get(row["Name"].a["href"]), "Setup")
    url = page.html.find("input", attrs={"readonly": True})["value"]
    assert url == "http://flags.example/api/signal-endpoint/deploys"


# switch


def test_switch_shows_the_state_and_toggles_it(ada, read_api, endpoint):
    path = f"/admin/signals/{endpoint['id']}"
    page = ada.get("/admin/signals")
    for action, state, word in (("off", "off", "disabled"), ("on", "on", "enabled")):
        button = page.html.find("form", action=f"{path}/{action}").button
        assert button["aria-checked"] == ("true" if action == "off" else "false")
        assert button["aria-label"] == "Endpoint deploys"
        page = form_to(page, f"{path}/{action}").submit(status=303).follow()
        assert word in notice(page)
        assert read_api("signal-endpoints")["signalEndpoints"][0]["enabled"] is (state == "on")
        assert page.html.find(role="switch").string == state


def test_disabled_endpoint_rejects_its_senders(ada, web, endpoint, token, clock):
    headers = {"Authorization": token["token"]}
    form_to(ada.get("/admin/signals"), f"/admin/signals/{endpoint['id']}/off").submit()
    web.post("/api/signal-endpoint/deploys", headers=headers, status=404)
    clock.advance(1)
    form_to(ada.get("/admin/signals"), f"/admin/signals/{endpoint['id']}/on").submit()
    web.post("/api/signal-endpoint/deploys", headers=headers, status=200)


def test_enabling_and_disabling_record_events(ada, read_api, endpoint):
    for action in ("off", "off", "on"):
        ada.post(f"/admin/signals/{endpoint['id']}/{action}", {"csrf": ada.csrf}, status=303)
    types = [event["type"] for event in read_api("events")["events"]]
    assert types[:3] == ["signal-endpoint-updated"] * 2 + ["signal-endpoint-created"]
    assert read_api("events")["events"][0]["createdBy"] == "ada"


# new


def test_new_form_is_enabled_and_creates_a_token(ada):
    form = form_to(ada.get("/admin/signals/new"), "/admin/signals/new")
    assert (form["token"].value, form["enabled"].checked) == ("now", True)


def test_endpoint_without_a_token_is_created(ada, read_api):
    answer = submit_new(ada, name="builds", description=" The CI ", status=303)
    (endpoint,) = read_api("signal-endpoints")["signalEndpoints"]
    assert answer.headers["Location"].endswith(
        f"/admin/signals/{endpoint['id']}/setup?done=created"
    )
    assert notice(answer.follow()) == "Signal endpoint created."
    assert (endpoint["name"], endpoint["description"], endpoint["enabled"]) == (
        "builds",
        "The CI",
        True,
    )
    assert endpoint["tokens"] == []


def test_sender_of_a_new_endpoint_sets_its_options(ada, read_api):
    page = submit_new(ada, template="aws-sns", token="now", token_name="aws").follow()
    text = page.html.main.get_text()
    assert "create a signature token" in text
    assert f"{URL}builds" in text.split("Configure AWS SNS")[1]
    assert "ENDPOINT_URL" not in text
    submit_new(ada, name="other", status=303)
    new, other = read_api("signal-endpoints")["signalEndpoints"]
    assert new["options"]["statusPath"] == "Message.NewStateValue"
    assert new["options"]["idempotency"] == {"paths": ["MessageId"]}
    assert other["options"] == {}


def test_list_of_senders_contains_senders_only(ada):
    options = ada.get("/admin/signals/new").html.select("#template option")
    titles = [option.get_text() for option in options]
    assert titles[0] == "No presets"
    assert "Scripts and CI" in titles
    assert not {"Other", "Anything that sends JSON", "Silence of the endpoint"} & {*titles}


def test_unknown_sender_is_an_error_of_the_field(ada, read_api):
    form = form_to(ada.get("/admin/signals/new"), "/admin/signals/new")
    form["template"].force_value("<x>")
    form["name"], form["token"] = "builds", "later"
    page = form.submit(status=400)
    assert "must be one of alertmanager, grafana" in find_error(page, "template")
    assert names(read_api) == []


def test_new_endpoint_can_be_disabled(ada, read_api):
    form = form_to(ada.get("/admin/signals/new"), "/admin/signals/new")
    form["name"], form["token"], form["enabled"] = "builds", "later", False
    form.submit(status=303)
    assert read_api("signal-endpoints")["signalEndpoints"][0]["enabled"] is False


def test_invalid_name_is_an_error_and_all_input_stays(ada, read_state):
    before = read_state()
    values = {"description": "<i>kept</i>", "token": "now", "token_name": "first"}
    for name in BAD_NAMES:
        page = submit_new(ada, name=name, **values, status=400)
        assert "name" in find_error(page, "name"), name
        form = form_to(page, "/admin/signals/new")
        assert form["name"].value.strip() == name.strip()
        assert {field: form[field].value for field in values} == values
    assert read_state() == before


def test_unchecked_box_stays_unchecked_after_an_error(ada):
    form = form_to(ada.get("/admin/signals/new"), "/admin/signals/new")
    form["name"], form["enabled"], form["token"] = "No", False, "later"
    page = form.submit(status=400)
    form = form_to(page, "/admin/signals/new")
    assert (form["enabled"].checked, form["token"].value) == (False, "later")


def test_duplicate_name_is_a_409_error_of_the_field(ada, read_state, endpoint):
    before = read_state()
    page = submit_new(ada, name="deploys", token="now", token_name="first", status=409)
    assert find_error(page, "name") == "The name deploys already exists."
    assert form_to(page, "/admin/signals/new")["token_name"].value == "first"
    assert read_state() == before


def test_long_description_is_an_error_of_the_field(ada, read_state):
    before = read_state()
    page = submit_new(ada, description="d" * 1001, status=400)
    assert "1000" in find_error(page, "description")
    assert form_to(page, "/admin/signals/new")["description"].value == "d" * 1001
    assert read_state() == before


def test_limit_of_endpoints_is_on_the_page_and_in_the_error(ada, make, read_state):
    for n in range(5):
        make.endpoint(f"e{n}")
    before = read_state()
    fields = {"csrf": ada.csrf, "name": "sixth", "token": "later"}
    page = ada.post("/admin/signals/new", fields, status=400)
    assert "There can't be more than 5 signal endpoints." in alert(page)
    assert form_to(page, "/admin/signals/new")["name"].value == "sixth"
    assert read_state() == before
    assert "The limit of 5 signal endpoints is reached." in ada.get("/admin/signals").text


# edit


def test_edit_form_shows_the_endpoint_and_saves_it(ada, read_api, endpoint):
    path = f"/admin/signals/{endpoint['id']}/settings"
    page = ada.get(path)
    assert heading(page) == "deploys"
    form = form_to(page, path)
    assert form["name"].value == "deploys"
    assert form["description"].value == "What the platform team ships"
    assert form["enabled"].checked
    form["name"], form["description"], form["enabled"] = "ships", "", False
    page = form.submit(status=303).follow()
    assert notice(page) == "Signal endpoint saved."
    assert follow(page, "Setup").html.find(id="call-url")["value"] == f"{URL}ships"
    (row,) = read_api("signal-endpoints")["signalEndpoints"]
    assert (row["name"], row["description"], row["enabled"]) == ("ships", None, False)
    event = read_api("events")["events"][0]
    assert event["preData"]["name"] == "deploys"
    assert event["data"]["name"] == "ships"


def test_saving_without_a_change_records_nothing(ada, read_state, endpoint):
    before = read_state()
    path = f"/admin/signals/{endpoint['id']}/settings"
    form_to(ada.get(path), path).submit(status=303)
    assert read_state() == before


@pytest.mark.parametrize(("name", "status"), [("", 400), ("A B", 400), ("other", 409)])
def test_invalid_name_in_the_edit_form_is_an_error_and_stays(
    ada, make, read_state, endpoint, name, status
):
    make.endpoint("other")
    before = read_state()
    path = f"/admin/signals/{endpoint['id']}/settings"
    form = form_to(ada.get(path), path)
    form["name"], form["description"], form["enabled"] = name, "kept", False
    page = form.submit(status=status)
    assert find_error(page, "name")
    form = form_to(page, path)
    assert (form["name"].value, form["description"].value) == (name, "kept")
    assert not form["enabled"].checked
    assert read_state() == before


# delete


def test_delete_page_names_tokens_and_signals(ada, make, endpoint, token, send):
    make.token(endpoint, "backup")
    for n in range(2):
        send(endpoint, token, {"n": n})
    page = ada.get(f"/admin/signals/{endpoint['id']}/delete")
    assert heading(page) == "Delete deploys?"
    text = page.html.find("main").get_text(" ", strip=True)
    for part in ("2 tokens", "ci", "backup", "2 signals", "disable"):
        assert part in text
    cancel = page.html.find("a", string="Cancel")["href"]
    assert cancel == f"/admin/signals/{endpoint['id']}/settings"


def test_delete_page_lists_what_is_deleted(ada, endpoint):
    page = ada.get(f"/admin/signals/{endpoint['id']}/delete").html
    (consequences,) = [it for it in page.find_all("ul") if "webhook URL" in it.text]
    assert "class" not in consequences.attrs  # such as names, whose items are on one line


def test_delete_page_deletes_nothing(ada, read_state, endpoint):
    before = read_state()
    ada.get(f"/admin/signals/{endpoint['id']}/delete")
    assert read_state() == before


def test_delete_removes_tokens_and_signals(ada, web, clock, read_api, endpoint, token, send):
    send(endpoint, token, {})
    path = f"/admin/signals/{endpoint['id']}/delete"
    page = form_to(ada.get(path), path).submit(status=303).follow()
    assert notice(page) == "Signal endpoint deleted."
    assert list_endpoints(page) == {}
    assert names(read_api) == []
    assert read_api("signals")["signals"] == []
    assert read_api("events")["events"][0]["type"] == "signal-endpoint-deleted"
    clock.advance(1)
    headers = {"Authorization": token["token"]}
    web.post("/api/signal-endpoint/deploys", headers=headers, status=401)
    ada.get(f"/admin/signals/{endpoint['id']}/log", status=404)
    ada.post(path, {"csrf": ada.csrf}, status=404)


def test_unknown_notice_in_the_url_is_not_shown(ada):
    for text in ("<b>", "created%00", "x", "__class__"):
        page = ada.get(f"/admin/signals?done={text}", expect_errors=True)
        assert not page.html.find(role="status")


def test_form_shows_an_endpoint_created_by_the_api(ada, web):
    body = {"name": "api", "description": None, "enabled": False}
    endpoint = web.post_json("/api/admin/signal-endpoints", body, headers=ADMIN).json
    path = f"/admin/signals/{endpoint['id']}/settings"
    form = form_to(ada.get(path), path)
    assert (form["description"].value, form["enabled"].checked) == ("", False)


def test_new_form_shows_all_errors_at_once(cast):
    form = form_to(cast.signed_in("ada").get("/admin/signals/new"), "/admin/signals/new")
    form["name"], form["token_name"] = "Bad Name", ""
    page = form.submit(status=400)
    assert page.html.find(id="name-problem")
    assert page.html.find(id="token_name-problem")


def test_the_setup_of_a_new_endpoint_has_its_token_and_can_be_pasted(ada):
    page = ada.get("/admin/signals/new")
    form = form_to(page, "/admin/signals/new")
    form["name"], form["template"], form["token_name"] = "alerts", "alertmanager", "eu"
    page = form.submit(status=303).follow()
    configuration = yaml.safe_load(page.html.find("code", id="setup").get_text().split("\n\n")[1])
    (webhook,) = configuration["receivers"][0]["webhook_configs"]
    assert webhook["url"].endswith("/api/signal-endpoint/alerts")
    secret = page.html.find(id="secret").get_text()
    assert webhook["http_config"]["authorization"]["credentials"] == secret
