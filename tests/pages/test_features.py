"""One flag: new, page, edit, clone, tags, parent, archive. test_feature_list.py has the list."""

from __future__ import annotations

import contextlib

import pytest

from tests.pages.page_reader import alert, find_error, follow, form_to, heading, notice
from tests.pages.test_hostile_text import HOSTILE, faults

LIST = "/admin/features"


# new


def submit_new(person, *, status, **fields):
    form = form_to(person.get("/admin/features/new"), "/admin/features/new")
    for name, value in fields.items():
        form[name] = value
    return form.submit(status=status)


def test_new_flag_is_created_with_all_fields(ada, flags):
    page = submit_new(
        ada,
        status=303,
        name=" checkout ",
        type="kill-switch",
        description=" Two\r\nlines ",
        tags="simple:shop\r\n\r\n simple : two words ",
        impressionData=True,
    ).follow()
    assert heading(page) == "checkout"
    assert "disabled in every environment" in notice(page)
    flag = flags.get_flag()
    assert (flag["type"], flag["impressionData"], flag["stale"]) == ("kill-switch", True, False)
    assert flag["description"] == "Two\nlines"
    assert [tag["value"] for tag in flag["tags"]] == ["shop", "two words"]
    assert not any(environment["enabled"] for environment in flag["environments"])


def test_form_describes_the_types(ada):
    page = ada.get("/admin/features/new")
    form = form_to(page, "/admin/features/new")
    assert form["type"].value == "release"
    hint = page.html.find(id="type-release-hint").get_text()
    assert "Remove after full rollout." in hint
    assert "40 days" in hint


def test_every_problem_is_shown_beside_its_field_and_the_values_stay(ada, read_state):
    before = read_state()
    page = submit_new(
        ada, status=400, name="a b", description="d" * 5001, tags="x\nnone:shop", type="permission"
    )
    assert "letters" in find_error(page, "name")
    assert "5000" in find_error(page, "description")
    assert find_error(page, "tags") == '"x" must be in the form type:value.'
    form = form_to(page, "/admin/features/new")
    assert (form["name"].value, form["type"].value) == ("a b", "permission")
    assert (form["description"].value, form["tags"].value) == ("d" * 5001, "x\nnone:shop")
    page = submit_new(ada, status=400, name="good", tags="none:shop\nsimple:s")
    assert "Tag type none not found" in find_error(page, "tags")
    assert "2 to 50" in find_error(page, "tags")
    fields = {"csrf": ada.csrf, "name": "good", "project": "default", "type": "none"}
    assert "Flag type none not found" in alert(ada.post("/admin/features/new", fields, status=400))
    fields |= {"project": "none", "type": "release"}
    assert "Project none not found" in alert(ada.post("/admin/features/new", fields, status=404))
    assert read_state() == before


def test_existing_name_is_409_beside_the_field(ada, flags, read_state):
    flags.create_flag()
    flags.create_flag("old")
    flags.archive("old")
    before = read_state()
    assert "in project" in find_error(submit_new(ada, status=409, name="checkout"), "name")
    assert "in the archive" in find_error(submit_new(ada, status=409, name="old"), "name")
    assert read_state() == before


def test_flag_may_be_called_new(ada, flags):
    page = submit_new(ada, status=303, name="new").follow()
    assert heading(page) == "new"
    link = ada.get(LIST).html.find(id="flag-new").a["href"]
    assert heading(ada.get(link)) == "new"
    switch = "/admin/features/new/environments/production/on"
    question = ada.post(switch, {"csrf": ada.csrf}, status=200)
    assert heading(question.click("In steps …")) == "Release new in production"
    assert heading(ada.get("/admin/features/new")) == "New flag"


# one flag


def test_page_summarizes_strategies(vera, flags):
    flags.create_flag(description="Two\nlines")
    segment = flags.create_segment()
    flags.add_strategy(
        title="First",
        parameters={"rollout": "50", "stickiness": "userId", "groupId": "x"},
        constraints=[{"contextName": "country", "operator": "IN", "values": ["DE", "FR"]}],
        segments=[segment],
        variants=[{"name": "a"}, {"name": "b"}],
    )
    flags.add_strategy(name="userWithId", parameters={"userIds": "ada"}, disabled=True)
    flags.switch()
    page = vera.get("/admin/features/checkout")
    card = page.html.find(id="in-production")
    first, second = (" ".join(li.get_text(" ").split()) for li in card.ol.find_all("li"))
    assert first == (
        "First 50% of users in segment beta users with country is one of DE, FR, by userId"
        " 50% a · 50% b"
    )
    assert second == "disabled users with userId ada"
    assert card.h2.get_text(" ", strip=True) == "● On for some users"
    assert page.html.find("p", class_="text").get_text() == "Two\nlines"
    forms = page.html.find("main").find_all("form")
    assert [form["action"] for form in forms] == [
        "/admin/features/checkout/favorite",
        "/admin/features/checkout#why",
    ]


@pytest.fixture
def add_usage(flags, database):
    """`add_usage((hours ago, application, yes, no), …)` of checkout in production."""
    flags.create_flag()

    def add(*rows):
        conn = database.connect()
        with conn.cursor() as cursor:
            for ago, app, yes, no in rows:
                cursor.execute(
                    "INSERT INTO client_metrics (feature, app_name, environment, hour, yes, no)"
                    " VALUES ('checkout', %s, 'production',"
                    " date_trunc('hour', now()) - make_interval(hours => %s), %s, %s)",
                    (app, ago, yes, no),
                )
                cursor.execute(
                    "INSERT INTO client_metrics_variants"
                    " (feature, app_name, environment, hour, variant, count)"
                    " VALUES ('checkout', %s, 'production',"
                    " date_trunc('hour', now()) - make_interval(hours => %s), %s, %s)",
                    (app, ago, f"v-{app}", 1000 * yes),
                )
        conn.close()

    return add


def test_usage_is_a_chart_by_hour_and_a_table(ada, add_usage):
    add_usage((0, "a", 3, 1), (0, "b", 3, 1), (5, "a", 0, 4), (30, "a", 9, 9))
    page = ada.get("/admin/features/checkout")
    card = page.html.find(id="in-production")
    chart = card.select_one(".chart svg")
    assert chart["aria-label"] == "50% of 12 evaluations got it"
    bars = {
        (bar["class"][0], bar["x"]): (float(bar["y"]), float(bar["height"]))
        for bar in chart.find_all("rect")
    }
    assert bars == {  # stacked
        ("v0", "95.83%"): (45, 27),
        ("v1", "95.83%"): (18, 27),
        ("no", "95.83%"): (0, 18),
        ("no", "75.0%"): (36, 36),
    }
    rows = [[cell.get_text() for cell in row.find_all("td")] for row in card.tbody.find_all("tr")]
    assert [row[1:] for row in rows] == [["0", "4", "0", "0"], ["6", "2", "3,000", "3,000"]]
    development = ada.get("/admin/features/checkout?env=development").html
    assert not development.find(class_="chart")
    assert "No evaluations in 24 h." in development.find(id="in-development").get_text()


@pytest.mark.parametrize(
    ("query", "summary"),
    [
        ("usage=24h", "60% of 10 evaluations got it"),
        ("usage=7d", "54% of 28 evaluations got it"),
        ("usage=none", "60% of 10 evaluations got it"),
    ],
)
def test_usage_has_a_period(ada, add_usage, query, summary):
    add_usage((0, "a", 3, 1), (0, "b", 3, 0), (5, "a", 0, 3), (30, "a", 9, 9), (700, "a", 7, 0))
    card = ada.get(f"/admin/features/checkout?{query}").html.find(id="in-production")
    assert card.select_one(".chart svg")["aria-label"] == summary


def test_usage_stays_after_changes_in_an_environment(ada, flags, add_usage):
    add_usage((0, "a", 3, 1), (30, "b", 9, 9))
    strategy_id = flags.add_strategy()
    path, usage = "/admin/features/checkout", "usage=7d"
    strategy = f"{path}/environments/production/strategies/{strategy_id}"
    page = ada.get(f"{path}?{usage}&done=saved")
    for action, message in (
        (f"{path}/environments/production/on", "Enabled checkout in production."),
        (f"{path}/environments/production/off", "Disabled checkout in production."),
        (f"{strategy}/off", "Strategy disabled."),
        (f"{strategy}/copy", "Strategy copied."),
    ):
        form = [form for form in page.forms.values() if form.action == action][-1]
        page = form.submit("environment" if action.endswith("copy") else None)
        if page.status_int == 200:  # production
            page = form_to(page, action).submit()
        page = page.follow()
        assert notice(page) == message
        assert page.request.query_string.startswith(f"{usage}&env=")
        assert "Last 7 d" in page.html.find(class_="environment").get_text()
        undo = page.html.select_one("#notice form input[name=usage]")
        assert not undo or undo["value"] == usage


def test_usage_has_the_variants_of_the_period(ada, add_usage):
    add_usage((0, "a", 3, 1), (0, "b", 5, 0), (30, "c", 9, 9))
    card = ada.get("/admin/features/checkout").html.find(id="in-production")
    chips = [chip.get_text() for chip in card.select(".tags .tag")]
    assert chips == ["v-b 5,000", "v-a 3,000"]


def test_evaluations_without_a_variant_are_none_of_its_chart(ada, add_usage, database):
    add_usage((0, "a", 3, 97))
    with contextlib.closing(database.connect()) as conn, conn, conn.cursor() as cursor:
        cursor.execute("UPDATE client_metrics_variants SET variant = 'disabled'")
    card = ada.get("/admin/features/checkout").html.find(id="in-production")
    assert [bar["class"] for bar in card.select(".chart rect")] == [["yes"], ["no"]]
    assert not card.select(".tags .tag.v0")
    assert "disabled" not in card.select_one("table").get_text()


def test_recent_changes_link_to_the_event_log_of_the_flag(ada, vera, flags):
    flags.create_flag("other")
    flags.create_flag()
    for to in ("on", "off") * 6:
        flags.switch(to=to)
    page = ada.get("/admin/features/checkout")
    rows = page.html.find(id="events").find_all("li")
    assert len(rows) == 6
    assert " ".join(rows[0].get_text(" ").split()).endswith(
        "admin turned checkout off in production Undo …"
    )
    events = page.goto(page.html.find("a", string="Audit log of this flag")["href"])
    summaries = [row.span.get_text() for row in events.html.find("ol", class_="log").find_all("li")]
    assert len(summaries) == 14
    assert all("other" not in text for text in summaries)
    form = events.forms[1]
    assert form["feature"].value == "checkout"
    form["type"] = "feature-created"
    assert len(form.submit().html.find("ol", class_="log").find_all("li")) == 1
    assert "Audit log of this flag" in vera.get("/admin/features/checkout").text


def test_metadata_is_edited(ada, flags):
    flags.create_flag(description="old", impressionData=True)
    path = "/admin/features/checkout/edit"
    form = form_to(ada.get("/admin/features/checkout"), path)
    assert (form["description"].value, form["type"].value) == ("old", "release")
    assert (form["impressionData"].checked, form["stale"].checked) == (True, False)
    form["description"], form["type"], form["stale"] = "x" * 5001, "permission", True
    page = form.submit(status=400)
    assert "5000" in find_error(page, "description")
    form = form_to(page, path)
    assert page.html.find("details", open=True).find(id="description")
    assert (form["type"].value, form["stale"].checked) == ("permission", True)
    form["description"] = ""
    page = form.submit(status=303).follow()
    assert notice(page) == "Flag saved."
    flag = flags.get_flag()
    assert (flag["description"], flag["type"], flag["stale"]) == (None, "permission", True)
    assert flag["impressionData"] is True


def test_a_flag_that_is_ready_to_be_removed_has_a_task_and_can_be_marked_permanent(
    ada, flags, rows, clock
):
    flags.create_flag(type="experiment")
    flags.switch()
    rows("UPDATE features SET stale = true")
    page = ada.get("/admin/features/checkout")
    text = page.html.find(id="task-checkout").get_text()
    today = f"{clock.now():%-d %b %Y}"
    assert text == (
        f"Remove the flag checkout. Keep: on. On for everyone in production since {today}."
        " 1. Delete the check, keep the code for “on”. 2. Deploy; its page shows when nobody asks"
        " any longer: http://localhost:80/admin/features/checkout. 3. Archive it."
    )
    page = form_to(page, "/admin/features/checkout/permanent").submit(status=303).follow()
    assert notice(page) == "Flag marked permanent."
    assert not page.html.find(id="task-checkout")
    assert "Permanent" in page.html.find(id="details").dl.get_text()
    assert (flags.get_flag()["permanent"], flags.get_flag()["stale"]) == (True, False)


def test_clone_has_the_strategies_and_is_disabled(ada, flags):
    flags.create_flag()
    flags.add_strategy(parameters={"rollout": "7"})
    flags.switch()
    path = "/admin/features/checkout/clone"
    form = form_to(ada.get("/admin/features/checkout"), path)
    for name, status in (("checkout", 409), ("a b", 400), ("", 400)):
        form["name"] = name
        page = form.submit(status=status)
        assert find_error(page, "name")
        form = form_to(page, path)
        assert form["name"].value == name
    form["name"] = "copy"
    page = form.submit(status=303).follow()
    assert heading(page) == "copy"
    (strategy,) = flags.list_strategies("copy")
    assert strategy["parameters"] == {"rollout": "7", "stickiness": "default", "groupId": "copy"}
    assert not flags.is_on("copy")


def test_who_enabled_a_flag_has_not_switched_it_off_when_it_is_revived(ada, flags):
    flags.create_flag()
    flags.switch()
    assert "Turned on by" in ada.get("/admin/features/checkout").text
    flags.archive("checkout")
    ada.post("/admin/features/checkout/revive", {"csrf": ada.csrf}, status=303)
    assert "Turned on by" not in ada.get("/admin/features/checkout").text


@pytest.mark.parametrize("form", ["edit", "clone", "tags", "parent"])
def test_a_line_break_in_the_address_of_a_form_is_no_fault(ada, form):
    answer = ada.get(f"/admin/features/a%0D%0Ab/{form}", status=303)
    assert answer.location.endswith("/admin/features/a%0D%0Ab")
    answer.follow(status=404)


def test_tags_are_added_and_removed(ada, flags):
    flags.create_flag()
    path = "/admin/features/checkout/tags"
    page = ada.get("/admin/features/checkout")
    for tag in ("shop", "none:shop", "simple:s", "simple:" + "x" * 51):
        form = form_to(page, path)
        form["tag"] = tag
        page = form.submit(status=400)
        assert find_error(page, "tag")
        assert form_to(page, path)["tag"].value == tag
    for value in ("shop", "a:b"):
        form = form_to(page, path)
        form["tag"] = f"simple:{value}"
        page = form.submit(status=303).follow()
    assert [tag["value"] for tag in flags.get_flag()["tags"]] == ["a:b", "shop"]
    remove = [form for form in page.forms.values() if form.action == f"{path}/remove"]
    assert remove[0]["tag"].value == "simple:a:b"
    page = remove[0].submit(status=303).follow()
    assert notice(page) == "Tag removed."
    assert [tag["value"] for tag in flags.get_flag()["tags"]] == ["shop"]


def test_favorites_are_of_each_user(ada, vera, flags):
    flags.create_flag()
    page = vera.get("/admin/features/checkout")
    page = form_to(page, "/admin/features/checkout/favorite").submit(status=303).follow()
    assert "★" in page.text
    assert "☆" in ada.get("/admin/features/checkout").text
    page = form_to(page, "/admin/features/checkout/favorite/remove").submit(status=303).follow()
    assert "☆" in page.text


def test_parent_is_set_and_removed(ada, flags):
    for name in ("checkout", "parent", "child"):
        flags.create_flag(name)
    flags.set_parent("child", "checkout")
    page = ada.get("/admin/features/checkout")
    assert page.html.find(id="parent-flag").a["href"] == "/admin/features/child"
    page = ada.get("/admin/features/parent")
    path = "/admin/features/parent/parent"
    form = form_to(page, path)
    parents = page.html.find("datalist", id="parents").find_all("option")
    assert [option["value"] for option in parents] == ["checkout"]
    form["feature"] = "none"
    page = form.submit(status=403)
    assert "Flag none not found" in find_error(page, "feature")
    form = form_to(page, path)
    assert form["feature"].value == "none"
    form["feature"] = " checkout "
    form["state"], form["variants"] = "off", "a"
    page = form.submit(status=400)
    assert "Variants" in find_error(page, "variants")
    form = form_to(page, path)
    assert (form["state"].value, form["variants"].value) == ("off", "a")
    form["state"], form["variants"] = "on", "a\r\nb"
    page = form.submit(status=303).follow()
    text = " ".join(page.html.find(id="parent-flag").get_text(" ").split())
    assert "Evaluated only when checkout is enabled with variant a or b ." in text
    page = form_to(page, f"{path}/remove").submit(status=303).follow()
    assert flags.get_flag("parent")["dependencies"] == []
    fields = {"csrf": ada.csrf, "feature": "child"}
    page = ada.post(path, fields, status=403)
    assert "has a parent flag itself" in find_error(page, "feature")


# archive


def test_flag_is_archived_revived_and_deleted(ed, flags):
    flags.create_flag()
    flags.switch()
    page = follow(ed.get("/admin/features/checkout"), "Archive")
    assert "Currently enabled in: production" in page.text
    page = form_to(page, "/admin/features/checkout/archive").submit(status=303).follow()
    assert notice(page) == "Flag archived."
    assert not page.html.find(role="switch")
    assert "Save flag" not in page.text
    page = form_to(page, "/admin/features/checkout/revive").submit(status=303).follow()
    assert notice(page) == "Flag revived; disabled in every environment."
    assert not flags.is_on()
    flags.archive("checkout")
    page = follow(ed.get("/admin/features/checkout"), "Delete permanently")
    page = form_to(page, "/admin/features/checkout/delete").submit(status=303).follow()
    assert notice(page) == "Flag permanently deleted."
    assert not page.html.find("li", id="flag-checkout")
    ed.get("/admin/features/checkout", status=404)


def test_parent_can_not_be_archived_before_its_children(ada, flags):
    flags.create_flag("parent")
    flags.create_flag("child")
    flags.set_parent("child", "parent")
    page = ada.get("/admin/features/parent/archive")
    assert page.html.find("main").find("a", string="child")
    assert not page.html.find("button", class_="danger")
    page = ada.post("/admin/features/parent/archive", {"csrf": ada.csrf}, status=403)
    assert "is the parent of child" in alert(page)
    assert not flags.get_flag("parent")["archived"]


def test_active_flag_is_not_deleted(ada, flags):
    flags.create_flag()
    ada.post("/admin/features/checkout/delete", {"csrf": ada.csrf}, status=303)
    ada.post("/admin/features/checkout/revive", {"csrf": ada.csrf}, status=404)
    assert flags.get_flag()


# hostile text


def test_hostile_text_is_text_on_every_page(ada, flags):
    text = "\n".join(HOSTILE)
    flags.create_flag(description=text)
    segment = flags.create_segment(HOSTILE[0], description=text)
    values = [line[:100] for line in HOSTILE]
    id = flags.add_strategy(
        title=HOSTILE[1],
        parameters={"rollout": "50", "stickiness": HOSTILE[2], "groupId": HOSTILE[4]},
        constraints=[{"contextName": HOSTILE[3], "operator": "IN", "values": values}],
        segments=[segment],
        variants=[{"name": HOSTILE[7], "payload": {"type": "string", "value": text}}],
    )
    ada.post("/admin/features/checkout/tags", {"csrf": ada.csrf, "tag": f"simple:{HOSTILE[0]}"})
    strategy = f"/admin/features/checkout/environments/production/strategies/{id}"
    for path in (
        LIST,
        "/admin/features/checkout",
        strategy,
        f"{strategy}/delete",
        "/admin/segments",
        f"/admin/segments/{segment}",
        f"/admin/segments/{segment}/delete",
        "/admin/events?feature=checkout",
    ):
        page = ada.get(path)
        assert faults(page) == [], path
    before = flags.list_strategies()
    form_to(ada.get(strategy), strategy).submit(status=303)
    assert flags.list_strategies() == before


def test_rejected_hostile_text_comes_back_as_text(ada, flags):
    flags.create_flag()
    for text in HOSTILE:
        fields = {"csrf": ada.csrf, "name": text, "tags": text, "description": text}
        page = ada.post("/admin/features/new", fields, status="4*")
        assert faults(page) == []
        form = form_to(page, "/admin/features/new")
        assert (form["name"].value, form["tags"].value) == (text, text)
        page = ada.get(LIST, dict.fromkeys(("tag", "state", "type", "project", "done"), text))
        assert faults(page) == []
        page = ada.get(LIST, {"query": text})
        assert page.html.find(id="query")["value"] == text
        fields = {"csrf": ada.csrf, "name": text, "shown_type": text, "title": text}
        path = "/admin/features/checkout/environments/production/strategies/new"
        assert faults(ada.post(path, fields, status=400)) == []


def test_recent_changes_name_the_run_but_not_the_payload(sets, endpoint, token, send, ed, ada):
    set_id = sets.set("kill <checkout>")
    send(endpoint, token, {"secret": "hunter2"})
    sets.work()
    (run,) = sets.runs(set_id)
    for browser in (ed, ada):
        page = browser.get("/admin/features/checkout")
        newest = page.html.find(id="events").find("li")
        text = " ".join(newest.get_text(" ").split())
        origin = f"run {run['id']} of kill <checkout>"
        signal = f" signal {run['signalId']}" if browser is ada else ""
        assert text.endswith(f"switcher turned checkout off in production {origin}{signal} Undo …")
        assert ("hunter2" in page.text) == (browser is ada)  # the name of the alert
        links = [link["href"] for link in newest.find_all("a")]
        path = f"/admin/projects/default/actions/{set_id}/runs/{run['id']}"
        log = f"/admin/signals/{endpoint['id']}/log/{run['signalId']}"
        assert links == ([path, log] if browser is ada else [path])
    event = ed.get("/api/admin/events/checkout").json["events"][0]
    action_run = {
        "id": run["id"],
        "actionSetId": set_id,
        "actionSet": "kill <checkout>",
        "signalId": run["signalId"],
        "signalEndpointId": endpoint["id"],
    }
    assert event["data"]["actionRun"] == action_run
    for browser in (ada, ed):
        assert ("hunter2" in browser.get(path, status=200).text) == (browser is ada)
