"""A release with pages alone: the form, the panel, the commands, the list and the home page."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from sigservice.clock import format_iso
from sigservice.repository.releases import releases as release_rows
from sigservice.routes.pages.releases import releases as pages
from tests.conftest import ADMIN, Cast
from tests.jobs.release_kit import FLAGS, STEPS, Releases
from tests.pages.page_reader import find_error

PLACE = "/admin/features/checkout/environments/production/releases"


@pytest.fixture
def kit(service, clock):
    return Releases(service, clock)


@pytest.fixture
def ed(kit, cast: Cast):
    return cast.signed_in("ed")


def start(kit, ed, **texts):
    form = ed.get(f"{PLACE}/new").forms["editor"]
    for name, text in texts.items():
        form[name] = text
    return form.submit().follow()


def add_guard(form, kind):
    return form.submit("do", value=f"add-guard:{kind}").forms["editor"]


def ask(page, command):
    """The form of the question before a command."""
    question = page.click(href=f"/{command}([?]|$)")
    return question.forms["question-form"]


def press(page, command):
    """The button of a command, or its link and the button of its question."""
    forms = [form for form in page.forms.values() if form.action.endswith(f"/{command}")]
    return (forms[0] if forms else ask(page, command)).submit().follow()


def test_a_release_is_started_held_continued_and_rolled_back(kit, ed):
    page = start(kit, ed)
    assert "Release created." in page
    assert "Running at 1%, step 1 of 4, next 10% in 10 min" in page.text
    page = press(page, "hold")
    assert "On hold at 1% for 0 s by ed" in page.text
    page = press(page, "resume")
    page = press(page, "advance")
    assert kit.rollout() == 10
    page = press(page, "rollback")
    assert "Rolled back 0 s ago by ed. 10% → 0%" in page.text
    assert "ed rolled it back to 0%" in page.html.select_one(".log").get_text(" ", strip=True)
    assert kit.rollout() == 0


def test_a_page_says_why_a_release_rolled_back(kit, ed):
    endpoint = kit.endpoint("alertmanager", template="alertmanager")
    form = ed.get(f"{PLACE}/new").forms["editor"]
    form = add_guard(form, "signal")
    form["guards.0.endpointId"] = str(endpoint["id"])
    form.submit().follow()
    kit.signal("firing")
    page = ed.get("/admin/features/checkout")
    assert re.search(r"Rolled back \d+ s ago: .+ fired. 1% → 0%", page.text)


def test_a_preview_shows_what_would_have_happened_and_keeps_the_form(kit, ed):
    guards = [kit.guard(kit.endpoint("alertmanager", template="alertmanager"))]
    kit.command(kit.create(guards=guards), "stop")
    kit.signal("firing")
    kit.signal("resolved")
    form = ed.get(f"{PLACE}/new").forms["editor"]
    form["steps"] = "7% for 30 min, 100%"
    page = form.submit("do", value="preview")
    row = page.html.select_one(".proposal")
    assert "would have broken 1 time" in row.text
    assert row.select("svg")
    assert "1% → 7% → 100%, then watched 1 h. Done in 1 h 30 min at the earliest" in page
    assert page.forms["editor"]["steps"].value == "7% for 30 min, 100%"
    assert kit.rollout() == 1


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ("25%% for 1 h, 100%", "“25%% for 1 h” isn't a step. Write 25% for 1 h."),
        ("50% for 1 h, 25% for 1 h, 100%", "25% is not more than 50% before it."),
    ],
)
def test_a_wrong_step_is_marked(kit, ed, steps, message):
    form = ed.get(f"{PLACE}/new").forms["editor"]
    form["steps"] = steps
    assert find_error(form.submit(status=400), "steps") == message
    assert kit.rollout() == 0


def test_an_edit_offers_both_ways_to_go_on(kit, ed):
    page = start(kit, ed)
    kit.edit_strategy(rollout="30")
    kit.progress()
    page = ed.get(page.request.path)
    assert "Back to 1% …" in page.text
    assert "Go on from 30% …" in page.text
    press(page, "adopt")
    assert kit.rollout() == 30


def test_a_question_of_an_earlier_step_changes_nothing(kit, ed):
    page = start(kit, ed)
    question = page.click(href="/advance")
    kit.wait(10)
    assert kit.rollout() == 10
    answer = question.forms["question-form"].submit(status=409)
    assert "The present step is 1, not 0." in answer.text
    assert kit.rollout() == 10


def test_lists_show_what_is_under_way(kit, ed):
    assert "No release is under way." in ed.get("/admin/releases").text
    page = press(start(kit, ed), "hold")
    for path in ("/admin/releases", "/", "/admin/projects/default/overview"):
        part = ed.get(path).html.select_one("[data-announce]")
        assert part["data-announce"] == "checkout in production: on hold at 1%"
    assert "1 under way, 1 on hold" in ed.get("/admin/projects/default/overview").html.text
    press(page, "stop")
    assert "No release is under way." in ed.get("/admin/releases").text
    assert "Releases under way" not in ed.get("/").text


def test_a_list_of_ended_releases_says_why_and_how_long_they_ran(kit, ed):
    release = kit.create()
    kit.jump(7)
    kit.command(release, "rollback", reason="too slow")
    row = (
        ed.get("/admin/releases?state=ended").html.select_one("tbody tr").get_text(" ", strip=True)
    )
    assert row.startswith("⟲ rolled back checkout production 1% → 0%")
    assert "too slow" in row
    assert "ran 7 min" in row


def test_a_list_is_filtered_by_project_flag_and_environment(kit, ed):
    kit.create()
    for query in ("project=default", "flag=PROD", "flag=CHECK"):
        assert ed.get(f"/admin/releases?{query}").html.select("tbody tr"), query
    for query in ("project=other", "flag=development", "flag=other", "state=scheduled"):
        assert not ed.get(f"/admin/releases?{query}").html.select("tbody tr"), query


def test_an_older_release_is_found_by_its_flag_among_many(kit, ed, monkeypatch):
    kit.create()
    kit.post(FLAGS, {"name": "other"}, 201)
    place = f"{FLAGS}/other/environments/production"
    kit.post(f"{place}/releases", {"steps": STEPS}, 201)
    monkeypatch.setitem(release_rows.list_newest.__kwdefaults__, "limit", 1)
    for name in ("checkout", "other"):
        (row,) = ed.get(f"/admin/releases?flag={name}").html.select("tbody tr")
        assert name in row.get_text()


def test_a_filter_that_matches_nothing_is_no_empty_list(kit, ed):
    kit.create()
    text = ed.get("/admin/releases?flag=other").html.find(id="release-list").get_text()
    assert "No release matches." in text
    assert "No release is under way." not in text


def test_a_list_says_how_many_releases_it_leaves_out(kit, ed, monkeypatch):
    monkeypatch.setattr(pages, "MAX_ROWS", 2)
    for _ in range(3):
        kit.command(kit.create(), "stop")
    page = ed.get("/admin/releases?state=ended")
    assert len(page.html.select("tbody tr")) == 2
    assert "Only the newest 2." in page
    assert "the other 1." in page


def test_a_release_is_held_in_the_list(kit, ed):
    kit.create()
    page = press(ed.get("/admin/releases"), "hold")
    assert page.request.path == "/admin/releases"
    assert "Release held." in page
    assert kit.get(f"{kit.place}/releases")["releases"][0]["state"] == "held"


@pytest.mark.parametrize("command", ["hold", "rollback"])
def test_a_command_in_the_list_keeps_its_filters(kit, ed, command):
    kit.create()
    query = "project=default&flag=check"
    page = press(ed.get(f"/admin/releases?{query}"), command)
    assert page.request.path_qs == f"/admin/releases?state=active&{query}&done=release-{command}"


def test_a_release_that_a_guard_resumes_says_so_and_can_be_held_by_a_person(kit, ed):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold", autoResume=True)])
    kit.signal("firing")
    page = ed.get(f"{PLACE}/{release['id']}")
    assert "It goes on automatically when all guards are ok." in page
    page = press(page, "hold")
    assert "It goes on automatically" not in page
    kit.signal("resolved")
    assert kit.state(release) == ("held", "person", 1)


def test_a_broken_guard_that_only_records_does_not_hide_that_the_others_are_ok(kit, ed):
    tried, trusted = kit.endpoint("tried"), kit.endpoint()
    guards = [kit.guard(tried, "hold", dryRun=True), kit.guard(trusted, "hold")]
    release = kit.create(guards=guards)
    kit.signal("firing")
    kit.signal("resolved")
    kit.endpoint_name = "tried"
    kit.token = kit.make.token(tried, "another")["token"]
    kit.signal("firing")
    page = ed.get(f"{PLACE}/{release['id']}")
    assert "Continue …" in page
    kit.endpoint_name, kit.token = "alerts", kit.make.token(trusted, "another")["token"]
    kit.signal("firing")
    page = ed.get(f"{PLACE}/{release['id']}")
    assert "Continue …" not in page


def test_a_freeze_is_shown_and_viewers_have_no_commands(kit, ed, cast):
    page = start(kit, ed)
    kit.post("/api/admin/emergency", {"freezeReleases": True, "reason": "incident"})
    vera = cast.signed_in("vera")
    answer = vera.get(page.request.path)
    assert "Releases are frozen" in answer.text
    assert "Roll back" not in answer.text
    vera.get(f"{PLACE}/new", status=403)
    assert "Releases are frozen" in ed.get(f"{PLACE}/new").text


def test_the_page_of_a_flag_shows_the_steps_and_what_comes_next(kit, ed):
    start(kit, ed)
    page = ed.get("/admin/features/checkout")
    present = page.html.select_one("ol.track [aria-current=step]").get_text(" ", strip=True)
    assert present == "▶ 1% , running, 0 s of 10 min"
    kit.jump(4)
    page = ed.get("/admin/features/checkout")
    assert "4 min of 10 min" in page.text
    assert "next 10% in 6 min" in page.html.select_one(".release").text


def test_the_strategy_that_a_release_moves_leads_to_the_release(kit, ed):
    start(kit, ed)
    page = ed.get("/admin/features/checkout")
    strategy = page.html.select_one(".strategies .strategy")
    assert "Edit strategy 1" not in strategy.get_text(" ")
    assert page.html.select_one(".release a", string=re.compile("^Details"))
    form = f"{PLACE.removesuffix('releases')}strategies/{kit.strategy['id']}"
    assert "moves this percentage." in ed.get(form).text
    press(page, "hold")
    assert "moves this percentage." not in ed.get(form).text


def test_commands_return_to_the_page_that_asked(kit, ed):
    start(kit, ed)
    page = press(ed.get("/admin/features/checkout"), "hold")
    assert page.request.path == "/admin/features/checkout"
    assert "Release held." in page
    page = press(page, "rollback")
    assert page.request.path == "/admin/features/checkout"
    assert "1% → 0%" in page.text


def test_a_rollback_says_its_percentages_first(kit, ed):
    page = start(kit, ed).click(href="/rollback")
    assert "Roll back to 0% of users?" in page
    assert "checkout in production goes from 1% to 0% at once." in page


def test_a_next_step_says_what_it_skips_first(kit, ed):
    page = start(kit, ed)
    kit.jump(4)
    page = page.click(href="/advance")
    assert "Go to 10% now?" in page
    assert "Step 1 has run 4 min of 10 min. Guards are ok." in page


def test_a_broken_guard_says_how_the_release_goes_on(kit, ed):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold")])
    kit.signal("firing")
    page = ed.get(f"{PLACE}/{release['id']}")
    assert "To continue while a guard is broken, let it record only" in page
    assert "Continue" not in page.html.select_one(".commands").text
    form = page.click("Edit guards").forms["editor"]
    form["guards.0.dryRun"] = True
    page = press(form.submit().follow(), "resume")
    assert kit.state(release)[0] == "running"


def test_an_alert_that_nothing_resolves_is_continued_with_a_button(kit, ed):
    guard = kit.guard(kit.endpoint(), "hold")
    del guard["resolved"]
    release = kit.create(guards=[guard])
    kit.signal("firing")
    press(ed.get(f"{PLACE}/{release['id']}"), "resume")
    assert kit.state(release)[0] == "running"


def test_a_release_that_ended_long_ago_leaves_the_page_of_its_flag(kit, ed, cast):
    press(start(kit, ed), "stop")
    assert "Stopped at 1% by ed" in ed.get("/admin/features/checkout")
    kit.jump(15 * 24 * 60)
    page = cast.signed_in("ed").get("/admin/features/checkout")
    assert "Stopped at 1%" not in page
    assert "Release in steps" in page


def test_the_form_creates_what_the_api_would(kit, ed):
    options = {"guardPaths": ["commonLabels.service"]}
    endpoint = kit.endpoint("alertmanager", template="alertmanager", options=options)
    form = ed.get(f"{PLACE}/new").forms["editor"]
    for kind in ("signal", "metric", "silence"):
        form = add_guard(form, kind)
    form = form.submit("do", value="add-guards.0.filters").forms["editor"]
    texts = {
        "steps": "1% for 30 min, 10% for 1 h, then wait, 50% for 4 h, 100%",
        "when": "at",
        "zone": "Europe/Berlin",
        "reason": "new menu",
        "guards.0.endpointId": str(endpoint["id"]),
        "guards.0.filters.0.path": "commonLabels.service",
        "guards.0.filters.0.values": "checkout",
        "guards.1.rule.source.metric": "checkout_errors",
        "guards.1.rule.source.per": "checkout_requests",
        "guards.1.rule.above": "0.05",
        "guards.1.effect": "hold",
        "guards.1.autoResume": True,
        "guards.2.rule.source.endpointId": str(endpoint["id"]),
        "guards.2.rule.source.everySeconds": "60",
        "guards.2.dryRun": True,
        "noDataMinutes": "10",
        "watchMinutes": "5",
        "window.timezone": "Europe/Berlin",
        "window.days.mon": True,
        "window.from": "09:00",
        "window.to": "17:00",
        "startAt": f"{kit.clock.now().year + 1}-12-01T08:00",
    }
    for name, value in texts.items():
        form[name] = value
    path = form.submit().follow().request.path
    release = kit.get(f"{kit.place}/releases/{path.rpartition('/')[2]}")
    names = ("steps", "watchMinutes", "noDataMinutes", "window", "startAt")
    assert {name: release[name] for name in names} == {
        "steps": [
            {"rollout": 1, "minutes": 30},
            {"rollout": 10, "minutes": 60, "waitForPerson": True},
            {"rollout": 50, "minutes": 240},
            {"rollout": 100},
        ],
        "watchMinutes": 5,
        "noDataMinutes": 10,
        "window": {
            "timezone": "Europe/Berlin",
            "days": ["mon"],
            "from": "09:00",
            "to": "17:00",
        },
        "startAt": f"{kit.clock.now().year + 1}-12-01T07:00:00.000Z",
    }
    assert kit.events(release)[0]["reason"] == "new menu"
    alert, metric, silence = release["guards"]
    filters = [{"path": "commonLabels.service", "operator": "IN", "values": ["checkout"]}]
    assert alert["filters"] == filters
    assert alert["resolved"] == {"path": "status", "values": ["resolved"], "key": "groupKey"}
    source = {name: metric["rule"]["source"][name] for name in ("metric", "per", "measure")}
    assert source == {
        "metric": "checkout_errors",
        "per": "checkout_requests",
        "measure": "ratio",
    }
    assert metric["rule"]["source"]["environment"] == "production"
    numbers = ("above", "below", "windowMinutes", "minSamples", "breaches", "everySeconds")
    assert [metric["rule"][name] for name in numbers] == [0.05, None, 5, 50, 2, 30]
    assert (metric["effect"], metric["autoResume"]) == ("hold", True)
    assert (silence["rule"]["source"]["kind"], silence["dryRun"]) == ("silence", True)


def test_a_template_fills_in_the_steps(kit, ed):
    form = ed.get(f"{PLACE}/new").forms["editor"]
    form = form.submit("do", value="use-steps:quarters").forms["editor"]
    assert form["steps"].value == "25% for 1 h, 50% for 1 h, 75% for 1 h, 100%"
    assert kit.get(f"{kit.place}/releases")["releases"] == []


def test_a_guard_is_removed_from_the_form(kit, ed):
    form = add_guard(ed.get(f"{PLACE}/new").forms["editor"], "signal")
    form = add_guard(form, "prometheus")
    form = form.submit("do", value="remove-guards.0").forms["editor"]
    assert form["guards.0.rule.source.kind"].value == "prometheus"
    assert "guards.1.kind" not in form.fields


def test_problems_of_guards_are_beside_their_fields(kit, ed):
    form = add_guard(ed.get(f"{PLACE}/new").forms["editor"], "metric")
    form = add_guard(form, "silence")
    form["guards.0.rule.source.metric"] = "errors"
    page = form.submit(status=400)
    problems = {a["href"]: a.text for a in page.html.select(".problem[role=alert] a")}
    assert problems["#guards.0.rule.source.per"].startswith("A ratio needs the counter")
    assert problems["#guards.0.rule.above"] == "Enter either above or below."


def test_a_release_like_one_whose_endpoint_was_deleted_says_so(kit, ed):
    endpoint = kit.endpoint("alerts")
    release = kit.create(guards=[kit.guard(endpoint)])
    kit.command(release, "stop")
    kit.web.delete(f"/api/admin/signal-endpoints/{endpoint['id']}", headers=ADMIN)
    page = ed.get(f"{PLACE}/new?like={release['id']}")
    assert "Alerts of a deleted endpoint" in page
    assert "Signal endpoint not found." in page.forms["editor"].submit(status=400)


def test_the_form_proposes_guards_of_the_last_release_and_rules_by_name(kit, ed):
    endpoint = kit.endpoint()
    kit.command(kit.create(guards=[kit.guard(endpoint)]), "stop")
    source = {"kind": "impactMetric", "metric": "errors", "measure": "rate"}
    for limit, name in enumerate(("b-rule", "a-rule", "c-rule")):
        rule = {"name": name, "endpointId": endpoint["id"], "above": limit}
        rule |= {"source": source | {"environment": "production"}}
        kit.post("/api/admin/alert-rules", rule, 201)
    page = ed.get(f"{PLACE}/new")
    labels = [label.text for label in page.html.select("#proposed label")]
    assert labels == ["Alerts of alerts", "a-rule", "b-rule"]
    assert page.html.select_one("details .proposal label").text == "c-rule"
    form = page.forms["editor"]
    assert [form[f"proposed.{n}"].checked for n in range(4)] == [True, False, False, False]
    form["proposed.1"] = True
    form.submit().follow()
    (newest, _) = kit.get(f"{kit.place}/releases")["releases"]
    assert [guard["kind"] for guard in newest["guards"]] == ["signal", "rule"]


def test_a_proposal_that_was_tampered_with_is_refused(kit, ed):
    kit.command(kit.create(guards=[kit.guard(kit.endpoint())]), "stop")
    form = ed.get(f"{PLACE}/new").forms["editor"]
    form["proposed.0"].force_value("{")
    form.submit(status=400)


def test_a_release_turns_its_flag_on(kit, ed):
    kit.post(f"{kit.place}/off")
    page = ed.get(f"{PLACE}/new")
    assert "The flag is off: without this, nobody gets it." in page
    page.forms["editor"].submit().follow()
    assert kit.get(kit.place)["enabled"]
    assert kit.rollout() == 1


def test_an_hour_that_the_clocks_skip_is_refused(kit, ed):
    form = ed.get(f"{PLACE}/new").forms["editor"]
    form["when"], form["startAt"], form["zone"] = "at", "2032-03-28T02:30", "Europe/Berlin"
    page = form.submit(status=400)
    assert "02:30 doesn't exist on 28 Mar. Choose another time." in page.html.text


@pytest.mark.parametrize(
    ("at", "zone"), [("0001-01-01T00:00", "Europe/Berlin"), ("9999-12-31T23:59", "America/Lima")]
)
def test_a_start_beyond_the_calendar_is_refused(kit, ed, at, zone):
    form = ed.get(f"{PLACE}/new").forms["editor"]
    form["when"], form["startAt"], form["zone"] = "at", at, zone
    assert find_error(form.submit(status=400), "startAt")


def test_a_release_starts_again_with_the_steps_and_guards_of_another(kit, ed):
    kit.create(guards=[kit.guard(kit.endpoint())], watchMinutes=7)
    page = press(ed.get("/admin/features/checkout"), "rollback")
    form = page.click("Start like this one").forms["editor"]
    assert form["steps"].value == "1% for 10 min, 50% for 20 min, 100%"
    assert form["watchMinutes"].value == "7"
    assert form["proposed.0"].checked
    form.submit().follow()
    assert kit.rollout() == 1


def test_the_page_of_a_release_has_its_percentage_done_and_planned_on_one_axis(kit, ed):
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    kit.wait(10)
    page = ed.get(f"{PLACE}/{release['id']}")
    (chart,) = page.html.select("figure svg")
    assert chart["aria-label"] == "Percentage from 0% to 50%"
    assert [text.text for text in chart.select("text")] == ["100%", "50%", "1%", "0%"]
    assert chart.select("line.done")
    assert chart.select("line.planned")
    lane = page.html.select_one(".lanes li").get_text(" ", strip=True)
    assert lane == "Alerts of alerts ✓ ok none firing rolls back"


def test_the_log_of_a_release_has_what_is_planned_first(kit, ed):
    release = kit.create()
    lines = ed.get(f"{PLACE}/{release['id']}").html.select(".log li")
    texts = [" ".join(line.get_text(" ", strip=True).split()) for line in lines]
    assert [text.split()[-1] for text in texts[:3]] == ["finished", "100%", "50%"]
    assert all(text.startswith("in ") for text in texts[:3])
    assert texts[3] == "just now API token admin started it at 1%"


def test_the_tabs_of_a_release_moved_to_its_page(kit, ed):
    release = kit.create()
    path = f"{PLACE}/{release['id']}"
    for tab in ("guards", "log"):
        response = ed.get(f"{path}/{tab}", status=301)
        assert response.headers["Location"].endswith(path)


def test_a_release_on_a_flag_that_is_off_says_that_nobody_gets_it(kit, ed):
    kit.post(f"{kit.place}/off")
    release = kit.create()
    page = ed.get(f"{PLACE}/{release['id']}")
    heading = page.html.select_one("h2")
    assert heading["class"] == ["answer", "waits"]
    assert heading.get_text(" ", strip=True) == "▲ Off, so nobody gets it: step 1 of 3, 1%"
    row = ed.get("/admin/releases").html.select_one("tbody tr").get_text(" ", strip=True)
    assert row.startswith("▲ off checkout production 1%")
    assert "nobody gets it" in row
    form = next(form for form in page.forms.values() if form.action.endswith("/production/on"))
    form.submit().forms["question-form"].submit()
    assert kit.get(kit.place)["enabled"]


def test_a_release_that_was_rolled_back_can_be_copied_as_text(kit, ed):
    release = kit.create()
    kit.command(release, "rollback", reason="too slow")
    text = ed.get(f"{PLACE}/{release['id']}").html.find(id="release-text").text
    assert text.startswith("Release of checkout in production: Rolled back 0 s ago")
    assert "rolled it back to 0%: “too slow”" in text


def test_planned_changes_and_planned_releases_are_one_list_by_time(kit, ed):
    start = kit.clock.now() + timedelta(hours=2)
    kit.create(startAt=format_iso(start))
    row = ed.get("/admin/releases?state=scheduled").html.select_one("tbody tr")
    assert "Starts in 2 h" in row.get_text(" ", strip=True)


def test_the_menu_counts_releases_under_way(kit, ed):
    release = kit.create()
    kit.progress()
    assert menu_badges(ed) == ["1 under way, 0 on hold"]
    kit.command(release, "hold")
    kit.progress()
    assert menu_badges(ed) == ["1 under way, 1 on hold"]
    kit.command(release, "stop")
    kit.progress()
    assert menu_badges(ed) == []


def menu_badges(ed):
    link = ed.get("/").html.select_one("nav a[href='/admin/releases']")
    return [badge.text for badge in link("span", title=True)]


def test_guards_are_edited_from_the_page_of_the_flag(kit, ed):
    endpoint = kit.endpoint("alertmanager", template="alertmanager")
    release = kit.create(guards=[kit.guard(endpoint)])
    page = ed.get("/admin/features/checkout").click("Edit guards")
    form = add_guard(page.forms["editor"], "silence")
    form["guards.1.rule.source.endpointId"] = str(endpoint["id"])
    form["guards.1.rule.source.everySeconds"], form["guards.1.dryRun"] = "60", True
    form["guards.0.effect"], form["reason"] = "hold", "SHOP-1501"
    page = form.submit().follow()
    assert page.request.path == "/admin/features/checkout"
    assert "Guards saved." in page
    event = kit.events(release)[-1]
    assert (event["type"], event["actor"]) == ("guardsEdited", "ed")
    assert event["reason"].endswith(
        "from roll back to hold; added Silence of alertmanager: SHOP-1501"
    )
    form = ed.get(f"{PLACE}/{release['id']}").click("Edit guards").forms["editor"]
    form.submit("do", value="remove-guards.0").forms["editor"].submit().follow()
    (guard,) = kit.read(release)["guards"]
    assert guard["rule"]["source"]["everySeconds"] == 60


def test_a_form_of_guards_that_changes_nothing_keeps_all_they_have(kit, ed):
    endpoint = kit.endpoint("alertmanager", template="alertmanager")
    kit.post("/api/admin/metric-sources", {"name": "main", "url": "http://localhost:9090"}, 201)
    source = {"kind": "impactMetric", "metric": "m", "measure": "p99", "environment": "development"}
    source |= {"labels": {"region": "eu", "zone": "a: b"}, "appName": "shop"}
    query = {"kind": "prometheus", "source": "main", "query": "sum(\n  rate(x[5m]))"}
    numbers = {"windowMinutes": 2, "minSamples": 7, "breaches": 3, "everySeconds": 45}
    metric = {"kind": "rule", "effect": "hold", "autoResume": True}
    resolved = {"path": "state", "values": ["up", "gone"], "key": "id"}
    filters = [
        {"path": "a", "operator": "IN", "values": ["x", "y"], "inverted": True},
        {"path": "b", "operator": "STR_CONTAINS", "values": [7], "caseInsensitive": True},
        {
            "any": [
                {"path": "c", "operator": "NUM_GT", "value": 1.5},
                {"path": "d", "operator": "EXISTS"},
            ]
        },
    ]
    release = kit.create(
        guards=[
            {"kind": "signal", "endpointId": endpoint["id"], "effect": "hold"},
            kit.guard(endpoint, filters=filters, resolved=resolved, dryRun=True),
            metric | {"rule": {"source": source, "below": 0.1234567} | numbers},
            metric | {"rule": {"source": query, "above": 12_345_678.5} | numbers},
        ]
    )
    count = len(kit.events(release))
    form = ed.get(f"{PLACE}/{release['id']}/guards/edit").forms["editor"]
    form = add_guard(form, "silence").submit("do", value="remove-guards.4").forms["editor"]
    form.submit().follow()
    assert kit.read(release)["guards"] == release["guards"]
    assert len(kit.events(release)) == count


def test_a_form_keeps_the_alert_rule_that_a_guard_watches(kit, ed):
    source = {"kind": "impactMetric", "metric": "m", "measure": "p99", "environment": "production"}
    rule = {"name": "slow", "endpointId": kit.endpoint()["id"], "source": source, "above": 9}
    id = kit.post("/api/admin/alert-rules", rule, 201)["id"]
    release = kit.create(guards=[{"kind": "rule", "ruleId": id, "effect": "hold"}])
    form = ed.get(f"{PLACE}/{release['id']}/guards/edit").forms["editor"]
    form["guards.0.effect"] = "rollBack"
    form.submit().follow()
    (guard,) = kit.read(release)["guards"]
    assert (guard["ruleId"], guard["effect"]) == (id, "rollBack")


def test_guards_that_another_user_changed_are_not_overwritten(kit, ed):
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    form = ed.get(f"{PLACE}/{release['id']}/guards/edit").forms["editor"]
    kit.put(f"{kit.place}/releases/{release['id']}/guards", {"guards": []})
    page = form.submit(status=409)
    assert "The guards were changed meanwhile." in page.html.text
    assert kit.read(release)["guards"] == []


def test_problems_of_edited_guards_are_beside_their_fields(kit, ed):
    release = kit.create()
    form = add_guard(ed.get(f"{PLACE}/{release['id']}/guards/edit").forms["editor"], "metric")
    form["guards.0.rule.source.metric"] = "errors"
    page = form.submit(status=400)
    problems = {a["href"]: a.text for a in page.html.select(".problem[role=alert] a")}
    assert problems["#guards.0.rule.above"] == "Enter either above or below."
    kit.command(release, "stop")
    ed.get(f"{PLACE}/{release['id']}/guards/edit", status=409)


def test_the_home_page_begins_with_what_needs_a_person(kit, ed):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold")])
    page = ed.get("/")
    assert " ".join(page.html.select_one("#quiet").text.split()).startswith(
        "✓ Nothing is off by an alert."
    )
    assert "1 release under way" in page
    kit.signal("firing")
    kit.jump(6)
    page = ed.get("/")
    assert page.html.select("#quiet, #releases") == []
    (row,) = page.html.select("#needs-you #held li")
    text = " ".join(row.get_text(" ").split())
    assert text.startswith(
        "‖ on hold checkout in production 1% 1 of 3 1 broken for 6 min Roll back … release"
    )
    assert "An alert fires at alerts" in text
    page = press(page, "rollback")
    assert page.request.path == "/"
    assert kit.read(release)["state"] == "rolledBack"
    assert page.html.select_one("#quiet")


def test_the_home_page_names_a_release_that_a_guard_rolled_back_until_a_newer_one_or_a_day(kit, ed):
    def read_rows():
        rows = ed.get("/").html.select("#needs-you #rolled-back li")
        return [" ".join(row.get_text(" ").split()) for row in rows]

    guard = kit.guard(kit.endpoint())
    kit.create(guards=[guard])
    kit.signal("firing")
    kit.jump(1)
    (text,) = read_rows()
    assert text.startswith("⟲ rolled back")
    assert "fired. 1% → 0%" in text
    kit.signal("resolved")
    newer = kit.create(guards=[guard])
    assert read_rows() == []
    kit.signal("firing")
    assert kit.read(newer)["state"] == "rolledBack"
    assert len(read_rows()) == 1
    kit.jump(24 * 60 + 1)
    assert read_rows() == []


def test_a_scheduled_release_is_cancelled_from_the_home_page(kit, ed):
    release = kit.create(startAt=format_iso(kit.clock.now() + timedelta(hours=3)))
    page = ed.get("/")
    (row,) = page.html.select("#releases li")
    assert "Starts in 3 h" in row.text
    question = page.click(href="/stop")
    assert "Cancel the release?" in question
    assert "It doesn't start. checkout in production stays at 0%." in question.html.text
    page = question.forms["question-form"].submit().follow()
    assert page.request.path == "/"
    assert page.html.select("#releases") == []
    assert kit.state(release) == ("stopped", None, 0)
    kit.jump(4 * 60)
    kit.progress()
    assert kit.rollout() == 0


def test_a_new_release_in_the_list_first_asks_for_flag_and_environment(kit, ed, cast):
    page = ed.get("/admin/releases")
    assert len(page.html.select("main a[href='/admin/releases/new']")) == 1
    question = ed.get("/admin/releases/new")
    form = find_question(question)
    assert form["environment"].value == "production"
    form["flag"] = "checkuot"
    page = form.submit(status=400)
    assert page.html.select_one(".problem[role=alert] a")["href"] == "#flag"
    assert find_question(page)["flag"].value == "checkuot"
    ed.get("/admin/releases/new?flag=checkout&environment=moon", status=400)
    form["flag"] = "checkout"
    page = form.submit(status=303).follow()
    assert page.request.path == f"{PLACE}/new"
    vera = cast.signed_in("vera")
    assert not vera.get("/admin/releases").html.select("a[href='/admin/releases/new']")
    vera.get("/admin/releases/new", status=403)


def find_question(page):
    return next(form for form in page.forms.values() if "flag" in form.fields)


@pytest.mark.parametrize("url", ["https://runbooks.example.com/5xx", "javascript:alert(1)"])
def test_editors_see_the_alert_that_rolled_back_and_admins_its_signal(kit, cast, url):
    endpoint = kit.endpoint("alertmanager", template="alertmanager")
    release = kit.create(
        guards=[{"kind": "signal", "endpointId": endpoint["id"], "effect": "rollBack"}]
    )
    texts = {"summary": "5% fail", "runbook_url": url}
    labels = {"alertname": "CheckoutErrors"}
    kit.signal("firing", commonLabels=labels, commonAnnotations=texts)
    users = {name: cast.signed_in(name) for name in ("ada", "ed", "vera")}
    for path in ("/admin/features/checkout", f"{PLACE}/{release['id']}"):
        for name, user in users.items():
            panel = user.get(path).html.select_one("#release, .release")
            text = " ".join(panel.text.split())
            assert ("an alert of alertmanager fired. 1% → 0%" in text) == (name == "vera")
            assert ("CheckoutErrors fired. 1% → 0%" in text) == (name != "vera")
            assert ("“5% fail”" in text) == (name != "vera")
            link = panel.select_one(f"a[href^='/admin/signals/{endpoint['id']}/log/']")
            assert bool(link) == (name == "ada")
            links = [a["href"] for a in panel.find_all("a", string="runbook ↗")]
            assert links == ([url] if url.startswith("https") and name != "vera" else [])


def test_a_flag_that_is_released_to_all_users_can_be_archived(kit, ed):
    release = kit.create(steps=[{"rollout": 50, "minutes": 1}, {"rollout": 100}], watchMinutes=1)
    kit.wait(5)
    page = ed.get(f"{PLACE}/{release['id']}")
    assert re.search(r"Finished: 0% → 100% in \d+ min, no guard broke", page.text)
    assert "Archive checkout?" in page.click("Archive the flag")


def test_the_lane_of_a_guard_is_red_where_it_was_broken(kit, ed):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold")])
    kit.jump(5)
    page = ed.get(f"{PLACE}/{release['id']}")
    assert page.html.select(".recorder rect")
    assert not page.html.select(".recorder rect.broken")
    kit.signal("firing")
    kit.jump(5)
    assert ed.get(f"{PLACE}/{release['id']}").html.select(".recorder rect.broken")


def test_guards_are_shown_after_the_end_too(kit, ed):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold")])
    path = f"{PLACE}/{release['id']}"
    assert ed.get(path).click("Edit guards").forms["editor"]
    kit.signal("firing")
    kit.command(release, "rollback")
    page = ed.get(path)
    assert "broken" in page.html.select_one(".lanes").text
    assert "Edit guards" not in page.html.main.text


def test_the_log_has_each_event_newest_first(kit, ed):
    release = kit.create()
    kit.command(release, "hold", reason="too slow")
    page = ed.get(f"{PLACE}/{release['id']}")
    rows = [row.get_text(" ", strip=True) for row in page.html.select(".log li:not(.muted)")]
    assert len(rows) == len(kit.events(release))
    assert "held it at 1%: “too slow”" in rows[0]
    assert "planned it" in rows[-1]
