"""Pages of alert rules."""

from __future__ import annotations

import pytest
import webtest

from sigservice.clock import parse_iso
from tests.conftest import ADMIN, Cast, Make, sign_in_by_json
from tests.jobs.rules_kit import PATH as API
from tests.jobs.rules_kit import RATIO, Rules
from tests.pages.actions import Actions
from tests.pages.flags import Flags
from tests.pages.page_reader import alert, find_error, follow, form_to, heading, notice, read_table
from tests.prometheus_script import serve_prometheus, success, vector
from tests.routes.sdk import Sdk

PATH = "/admin/alert-rules"
NEW = f"{PATH}/new"
SOURCES = "/api/admin/metric-sources"
TEXTS = {
    "name": "checkout-errors",
    "source.metric": "errors",
    "source.per": "requests",
    "source.environment": "development",
    "above": "0,05",
}


@pytest.fixture
def prometheus():
    with serve_prometheus() as script:
        yield script


@pytest.fixture
def rules(make_service, database, clock):
    return Rules(Sdk(make_service, database, SERVICE_WEBHOOK_ALLOWED_HOSTS="127.0.0.1"), clock)


@pytest.fixture
def page(rules) -> webtest.TestApp:
    return sign_in_by_json(rules.sdk.service, "ada")


@pytest.fixture
def new_form(page):
    form = form_to(page.get(NEW), NEW)
    for name, text in TEXTS.items():
        form[name] = text
    return form


def list_rules(rules):
    return rules.web.get(API, headers=ADMIN).json["alertRules"]


def read_text(element):
    return " ".join(element.get_text(" ").split())


def choose_query(form):
    """The form after the button that changes the source, as without JavaScript."""
    form["source.kind"] = "prometheus"
    return form_to(form.submit("do", value="source", status=200), NEW)


def add_source(rules, prometheus):
    body = {"name": "main", "url": prometheus.url}
    rules.web.post_json(SOURCES, body, headers=ADMIN, status=201)


@pytest.mark.parametrize("above", [17_179_869_184, 0.123456789012, 5])
def test_a_form_that_is_saved_unchanged_keeps_the_limit(rules, page, above):
    path = f"{PATH}/{rules.create(above=above)['id']}"
    form_to(page.get(path), path).submit(status=303)
    assert list_rules(rules)[0]["above"] == above


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("1,000", 1000),
        ("-12,345,678.5", -12_345_678.5),
        ("0,125", 0.125),
        ("1,5", 1.5),
        ("1e6", 1e6),
        ("1_000", None),
        ("\u0663", None),
    ],
)
def test_a_comma_separates_thousands_as_pages_print_them_or_decimals(rules, page, text, limit):
    path = f"{PATH}/{rules.create(above=5)['id']}"
    form = form_to(page.get(path), path)
    form["above"] = text
    form.submit(status=400 if limit is None else 303)
    assert list_rules(rules)[0]["above"] == (limit or 5)


def test_the_form_creates_a_rule_on_an_impact_metric(rules, new_form):
    new_form["source.labels"] = "region: eu\nplan: pro: 2\na:b: c\nd:e"
    new_form["source.appName"] = "shop"
    page = new_form.submit(status=303).follow()
    assert notice(page) == "Alert rule created."
    (rule,) = list_rules(rules)
    labels = {"region": "eu", "plan": "pro: 2", "a:b": "c", "d": "e"}
    assert rule["source"] == RATIO | {"labels": labels, "appName": "shop"}
    assert (rule["name"], rule["above"], rule["below"]) == ("checkout-errors", 0.05, None)
    assert (rule["endpointId"], rule["enabled"]) == (rules.endpoint["id"], True)


def test_a_rule_that_is_saved_again_stays_as_it_is(rules, page):
    labels = {"region": "eu", "a": "b"}
    rule = rules.create(source=RATIO | {"labels": labels}, windowMinutes=60, everySeconds=15)
    form_to(page.get(f"{PATH}/{rule['id']}"), f"{PATH}/{rule['id']}").submit(status=303)
    assert rules.read(rule) == rule


def test_the_form_creates_a_rule_on_a_query(rules, page, prometheus):
    add_source(rules, prometheus)
    form = choose_query(form_to(page.get(NEW), NEW))
    assert "source.metric" not in form.fields
    form["name"], form["source.query"], form["below"] = "up", "sum(up)", "3"
    prometheus.answer = vector((rules.clock.now().timestamp(), "4"))
    form.submit(status=303)
    (rule,) = list_rules(rules)
    assert rule["source"] == {"kind": "prometheus", "source": "main", "query": "sum(up)"}
    assert (rule["above"], rule["below"]) == (None, 3)


def test_another_source_is_not_saved_before_its_fields_are_there(rules, new_form):
    new_form["source.kind"] = "prometheus"
    page = new_form.submit(status=200)
    assert "source.query" in form_to(page, NEW).fields
    assert list_rules(rules) == []


def test_several_series_are_a_problem_of_the_query(rules, page, prometheus):
    add_source(rules, prometheus)
    form = choose_query(form_to(page.get(NEW), NEW))
    form["name"], form["source.query"], form["above"] = "up", "up", "3"
    prometheus.answer = vector((0, "1"), (0, "2"))
    assert "job-1" in find_error(form.submit(status=400), "source.query")


def test_problems_are_beside_their_fields(new_form):
    new_form["name"], new_form["source.per"] = "a b", ""
    new_form["below"], new_form["windowMinutes"] = "1", "0"
    page = new_form.submit(status=400)
    assert find_error(page, "source.per").startswith("A ratio needs")
    assert find_error(page, "above") == "Enter either above or below."
    assert find_error(page, "windowMinutes") == "Must be 1 to 1440."
    assert find_error(page, "name")
    new_form["source.labels"] = "region"
    assert find_error(new_form.submit(status=400), "source.labels") == (
        "Write region as name: value."
    )


def test_the_limit_of_a_ratio_is_a_percentage(rules, new_form):
    new_form["above"] = "7,5%"
    page = new_form.submit(status=303).follow()
    (rule,) = list_rules(rules)
    assert rule["above"] == 0.075
    assert form_to(page, f"{PATH}/{rule['id']}")["above"].value == "7.5%"


@pytest.mark.parametrize("text", ["nan", "1e400", "many", "1e300", "%", "nan%", "1e999999999%"])
def test_a_limit_that_is_no_number_is_a_problem(rules, new_form, text):
    new_form["above"] = text
    assert find_error(new_form.submit(status=400), "above")
    assert list_rules(rules) == []


def read_periods(preview):
    """The minutes of the day from and to which the rule fires."""
    items = [[parse_iso(time["datetime"]) for time in item("time")] for item in preview("li")]
    return [[at.hour * 60 + at.minute for at in pair] for pair in items]


def test_the_preview_of_what_is_stored_by_hour_has_whole_hours(rules, new_form):
    hour = rules.clock.now().timestamp() // 3600 * 3600 - 20 * 3600
    ago = rules.clock.now().timestamp() - hour - 3600
    rules.report(errors=200, requests=1000, ago=ago, seconds=3600)
    preview = new_form.submit("do", value="preview", status=200).html.find(id="preview")
    ((start, stop),) = read_periods(preview)
    assert (start % 60, (stop - start) % 1440) == (0, 60)
    assert start == hour % 86400 // 60


def test_the_preview_says_what_would_have_happened(rules, new_form):
    for minute, errors in enumerate((1, 20, 20, 1, 1, 1, 1, 1)):
        rules.report(errors=errors, requests=100, ago=60 * (40 - 5 * minute), seconds=300)
    new_form["breaches"] = "1"
    new_form["name"] = ""
    page = new_form.submit("do", value="preview", status=200)
    preview = page.html.find(id="preview")
    assert "It would have fired 1 time" in read_text(preview)
    ((start, stop),) = read_periods(preview)
    assert 10 <= (stop - start) % 1440 <= 18
    assert len(preview.find_all("rect")) == 1
    assert preview.find("polyline") is not None
    assert "20%" in read_text(preview.find("table"))
    assert form_to(page, NEW)["source.metric"].value == "errors"
    assert list_rules(rules) == []


def test_the_page_of_a_rule_has_its_preview(rules, page):
    rule = rules.create()
    rules.minute(errors=9, requests=100)
    answer = page.get(f"{PATH}/{rule['id']}")
    assert heading(answer) == "Alert rule checkout-errors"
    preview = read_text(answer.html.find(id="preview"))
    assert "✕ firing now: errors per requests was 0.09 (limit 0.05)" in preview
    assert "firing for a moment" in read_text(answer.html.find("main"))


def test_a_rule_whose_environment_was_deleted_can_be_opened(rules, page):
    path = f"{PATH}/{rules.create()['id']}"
    change = "UPDATE alert_rules SET condition = jsonb_set(condition, '{source,environment}', %s)"
    rules.sdk.rows(change, '"gone"')
    assert "gone" in page.get(PATH).text
    form = form_to(page.get(path), path)
    assert form["source.environment"].value == "gone"
    assert "gone doesn't exist" in find_error(form.submit(status=400), "source.environment")


def test_a_preview_without_reports_says_so(new_form):
    preview = new_form.submit("do", value="preview", status=200).html.find(id="preview")
    assert "▲ no data now: No reports of requests in development" in read_text(preview)
    assert preview.find("svg") is None


def test_the_preview_of_a_query_asks_for_48_hours(rules, page, prometheus):
    add_source(rules, prometheus)
    start = rules.clock.now().timestamp() - 48 * 3600
    values = [[start + 600 * n, "9" if 10 <= n < 20 else "1"] for n in range(289)]
    prometheus.answer = success("matrix", [{"metric": {}, "values": values}])
    form = choose_query(form_to(page.get(NEW), NEW))
    form["source.query"], form["above"] = "up", "3"
    preview = form.submit("do", value="preview", status=200).html.find(id="preview")
    assert "It would have fired 1 time" in read_text(preview)


def test_a_preview_that_fires_often_lists_the_last_times(rules, page, prometheus):
    add_source(rules, prometheus)
    start = rules.clock.now().timestamp() - 48 * 3600
    values = [[start + 600 * n, "9" if n % 20 == 0 else "1"] for n in range(289)]
    prometheus.answer = success("matrix", [{"metric": {}, "values": values}])
    form = choose_query(form_to(page.get(NEW), NEW))
    form["source.query"], form["above"], form["breaches"] = "up", "3", "1"
    preview = form.submit("do", value="preview", status=200).html.find(id="preview")
    assert "It would have fired 15 times, 2 h 30 min in all." in read_text(preview)
    periods = read_periods(preview)
    assert len(periods) == 10
    assert {(stop - start) % 1440 for start, stop in periods} == {10}


def test_the_list_shows_state_value_limit_and_chart(rules, page):
    rules.create()
    rules.create(
        name="quiet", source=RATIO | {"metric": "none", "per": "nothing"}, above=None, below=1
    )
    for _ in range(10):
        rules.minute(errors=9, requests=100)
    table = read_table(page.get(PATH), "alert-rules")
    row = table["checkout-errors"]
    assert read_text(row["State"]) == "✕ firing for 9 min"
    assert read_text(row["Now and limit"]) == "9% of 5%"
    assert read_text(row["Measures"]) == "errors per requests in development"
    assert row["Last 2 h"].find("polyline") is not None
    assert "▲ no data" in read_text(table["quiet"]["State"])
    assert "No reports of nothing" in read_text(table["quiet"]["State"])
    assert read_text(table["quiet"]["Now and limit"]) == "at least 100%"
    assert table["quiet"]["Last 2 h"].find("svg") is None


def test_the_list_says_what_happens_when_a_rule_fires(rules, page):
    rules.create()
    rules.create(name="other")
    sets = Actions(rules.sdk.service, rules.web, Flags(rules.web), rules.endpoint)
    sets.set(filters=[{"path": "data.rule", "operator": "IN", "values": ["checkout-errors"]}])
    table = read_table(page.get(PATH), "alert-rules")
    effects = {rule: table[rule]["What happens then"] for rule in ("checkout-errors", "other")}
    assert effects["checkout-errors"].bdi.get_text() == "turns checkout off in production"
    assert effects["other"].bdi.get_text() == "nothing yet: Protect a flag"
    assert effects["other"].a["href"] == f"/admin/automation/new?endpoint={rules.endpoint['id']}"


def test_a_rule_is_disabled_and_enabled_in_the_list(rules, page):
    rule = rules.create()
    answer = form_to(page.get(PATH), f"{PATH}/{rule['id']}/off").submit(status=303).follow()
    assert notice(answer) == "Alert rule disabled."
    assert rules.read(rule)["enabled"] is False
    form_to(answer, f"{PATH}/{rule['id']}/on").submit(status=303)
    assert rules.read(rule)["enabled"] is True


def test_a_rule_is_deleted_after_a_question(rules, page):
    rule = rules.create()
    rules.minute(errors=9, requests=100)
    question = follow(page.get(f"{PATH}/{rule['id']}"), "Delete this alert rule")
    assert "the signal “resolved” is stored" in question.text
    answer = form_to(question, f"{PATH}/{rule['id']}/delete").submit(status=303).follow()
    assert notice(answer) == "Alert rule deleted."
    assert rules.statuses() == ["firing", "resolved"]
    assert list_rules(rules) == []


@pytest.mark.parametrize("id", ["0", "99", "2147483648", "9223372036854775808", "9" * 19])
def test_an_id_that_no_rule_has_is_not_found(rules, page, id):
    for path in (f"{PATH}/{id}", f"{PATH}/{id}/delete"):
        page.get(path, status=404)
        page.post(path, {"csrf": page.csrf, "name": "a"}, status=404)
    page.post(f"{PATH}/{id}/on", {"csrf": page.csrf}, status=404)
    rules.web.get(f"{API}/{id}", headers=ADMIN, status=404)
    rules.web.put_json(f"{API}/{id}", rules.body(), headers=ADMIN, status=404)
    rules.web.delete(f"{API}/{id}", headers=ADMIN, status=404)


def test_viewers_read_rules_and_change_none(rules):
    rule = rules.create()
    Cast(rules.sdk.service)
    vera = sign_in_by_json(rules.sdk.service, "vera")
    answer = vera.get(PATH)
    assert "checkout-errors" in read_table(answer, "alert-rules")
    assert answer.html.find("main").find("form") is None
    assert answer.html.find("main").find("a", href=f"{PATH}/{rule['id']}") is None
    vera.get(API)
    vera.get(f"{API}/{rule['id']}")
    for path in (NEW, f"{PATH}/{rule['id']}", f"{PATH}/{rule['id']}/delete"):
        vera.get(path, status=403)
    vera.post(f"{PATH}/{rule['id']}/off", {"csrf": vera.csrf}, status=403)


def test_metrics_that_were_reported_are_suggested(rules, page):
    rules.report(errors=1, requests=9)
    options = page.get(NEW).html.find(id="metrics").find_all("option")
    assert [option["value"] for option in options] == ["errors", "requests"]


def test_the_limit_of_rules_is_a_problem_of_the_form(make_service, database, clock):
    rules = Rules(Sdk(make_service, database, SERVICE_ALERT_RULES_LIMIT="1"), clock)
    page = sign_in_by_json(rules.sdk.service, "ada")
    rules.create()
    assert "New alert rule" not in page.get(PATH).text
    form = form_to(page.get(NEW), NEW)
    for name, text in (TEXTS | {"name": "b"}).items():
        form[name] = text
    assert "more than 1 alert rule" in alert(form.submit(status=400))


def test_the_question_before_an_endpoint_is_deleted_names_its_rules(rules, page):
    rules.create()
    question = page.get(f"/admin/signals/{rules.endpoint['id']}/delete")
    assert "Its alert rules are deleted too: checkout-errors" in read_text(question.html)


@pytest.fixture
def silence_form(rules, page):
    endpoint = Make(rules.web).endpoint("backup")
    log = page.get(f"/admin/signals/{endpoint['id']}/log")
    return form_to(log.click("New rule for silence"), NEW)


def test_the_page_of_an_endpoint_opens_the_form_of_a_rule_on_its_silence(rules, silence_form):
    assert silence_form["name"].value == "backup-silence"
    assert "above" not in silence_form.fields
    silence_form["source.everySeconds"], silence_form["source.everyUnit"] = "26", "hours"
    silence_form["source.graceSeconds"], silence_form["source.graceUnit"] = "10", "minutes"
    page = silence_form.submit().follow()
    (rule,) = list_rules(rules)
    assert (rule["source"]["everySeconds"], rule["source"]["graceSeconds"]) == (93_600, 600)
    assert rule["endpointId"] == rule["source"]["endpointId"]
    form = form_to(page, f"{PATH}/{rule['id']}")
    units = ("source.everySeconds", "source.everyUnit", "source.graceSeconds", "source.graceUnit")
    assert [form[name].value for name in units] == ["26", "hours", "10", "minutes"]
    assert "nothing from backup for 26 h, 10 min grace" in page.goto(PATH).text


def test_a_rule_on_silence_can_have_times(rules, silence_form):
    silence_form["source.cron"], silence_form["source.timezone"] = "30 2 * * *", "Europe/Berlin"
    page = silence_form.submit("do", value="preview")
    assert "Next: " in page.text
    form = form_to(page, NEW)
    form.submit().follow()
    (rule,) = list_rules(rules)
    source = rule["source"]
    assert (source["cron"], source["everySeconds"]) == ("30 2 * * *", None)


def test_a_rule_on_silence_needs_a_time(silence_form):
    page = silence_form.submit(status=400)
    assert "Enter either everySeconds or cron." in page.text
