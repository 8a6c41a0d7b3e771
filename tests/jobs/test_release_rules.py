"""Guards with a number: they hold, roll back, wait for evidence and for data."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN, Cast
from tests.jobs.release_kit import Releases
from tests.jobs.rules_kit import PATH, RATIO, Rules
from tests.routes.sdk import Sdk

STEPS = [{"rollout": 5, "minutes": 20}, {"rollout": 100}]


@pytest.fixture
def rules(make_service, database, clock):
    return Rules(Sdk(make_service, database), clock)


@pytest.fixture
def kit(rules, clock):
    return Releases(rules.sdk.service, clock, "development")


@pytest.fixture
def minute(kit, rules):
    """`minute(errors=1, requests=100)`: a report of the minute that passes, then the job."""

    def run(**counters):
        kit.clock.advance(60)
        if counters:
            rules.report(**counters)
        kit.progress()

    return run


def guard(effect="rollBack", dry_run=False, **changes):
    rule = {"source": RATIO, "above": 0.05, "windowMinutes": 5, "minSamples": 50, "breaches": 1}
    return {"kind": "rule", "rule": rule | changes, "effect": effect, "dryRun": dry_run}


def test_a_value_beyond_the_limit_rolls_back_and_says_value_and_limit(kit, rules, minute):
    rules.report(errors=1, requests=100)
    release = kit.create(steps=STEPS, guards=[guard()])
    minute(errors=40, requests=100)
    assert kit.state(release) == ("rolledBack", None, 0)
    event = kit.events(release)[-1]
    assert event["text"] == (
        "Rolled back checkout in development from 5% to 0%: errors per requests was 0.205 "
        "(limit 0.05) over 5 minutes, 200 samples."
    )
    number = {name: event["guard"][name] for name in ("value", "limit", "samples")}
    assert number == {"value": 0.205, "limit": 0.05, "samples": 200}


def test_a_guard_watches_an_alert_rule_and_follows_its_changes(kit, rules, minute, rows):
    rules.report(errors=1, requests=100)
    rule = rules.create()
    watching = {"kind": "rule", "ruleId": rule["id"], "effect": "hold", "autoResume": True}
    release = kit.create(steps=STEPS, guards=[watching])
    assert rows("SELECT count(*) FROM alert_rules") == [(1,)]
    minute(errors=40, requests=100)
    assert kit.state(release) == ("held", "guard", 5)
    assert kit.read(release)["guards"][0]["value"] == 0.205
    kit.put(f"{PATH}/{rule['id']}", rules.body(above=0.9))
    minute(requests=100)
    assert kit.state(release) == ("running", None, 5)
    (guard,) = kit.read(release)["guards"]
    assert (guard["ruleId"], guard["rule"]["above"], guard["state"]) == (rule["id"], 0.9, "ok")
    path = f"{kit.place}/releases/{release['id']}"
    plan = kit.get(f"{path}/plan")
    assert kit.put(f"{path}/guards", {"guards": plan["guards"]})["guards"][0]["id"] == guard["id"]
    rules.web.delete(f"{PATH}/{rule['id']}", headers=ADMIN)
    kit.wait(0.5)
    assert kit.read(release)["guards"][0]["reason"] == "The alert rule of a guard was deleted."


def test_a_guard_has_a_rule_or_watches_one_that_exists(kit):
    for members, path in (({}, "rule"), ({"ruleId": 999}, "ruleId")):
        error = kit.create(status=400, guards=[{"kind": "rule", "effect": "hold", **members}])
        assert [detail["path"] for detail in error["details"]] == [f"guards[0].{path}"]


@pytest.mark.parametrize("hours", [0.5, 24])
def test_a_clock_that_was_set_back_delays_no_rollback(kit, rules, minute, hours):
    rules.report(errors=1, requests=100)
    release = kit.create(steps=STEPS, guards=[guard()])
    kit.clock.step(-hours * 3600)
    minute(errors=40, requests=100)
    assert kit.state(release) == ("rolledBack", None, 0)


def test_a_rule_needs_its_breaches_in_a_row(kit, rules, minute):
    rules.report(errors=1, requests=100)
    release = kit.create(steps=STEPS, guards=[guard("hold", breaches=2, windowMinutes=1)])
    minute(errors=40, requests=100)
    minute(errors=0, requests=100)
    minute(errors=40, requests=100)
    assert kit.state(release) == ("running", None, 5)
    minute(errors=40, requests=100)
    assert kit.state(release) == ("held", "guard", 5)


def test_a_step_waits_until_the_value_covers_it(kit, rules, minute):
    rules.report(errors=0, requests=100)
    body = {"steps": [{"rollout": 5, "minutes": 1}, {"rollout": 100}], "guards": [guard()]}
    error = kit.create(status=400, **body)
    assert error["details"][0]["message"] == "The guards need at least 7 minutes for each step."
    preview = kit.post(f"{kit.place}/releases/preview", body)
    assert preview["shortestStepMinutes"] == 7
    assert preview["guards"][0]["state"] == "ok"
    release = kit.create(steps=STEPS, guards=[guard()])
    for _ in range(6):
        minute(errors=0, requests=100)
    kit.command(release, "advance", status=409)  # the window still has the time before the step
    minute(errors=0, requests=100)
    assert kit.command(release, "advance")["rollout"] == 100


def test_missing_data_never_counts_as_ok(kit, minute):
    release = kit.create(steps=STEPS, guards=[guard()])
    for _ in range(25):
        minute()
    assert kit.state(release) == ("running", None, 5)
    for _ in range(10):
        minute()
    assert kit.state(release) == ("held", "noData", 5)
    assert "No reports of requests in development" in kit.read(release)["heldReason"]


def test_a_counter_of_errors_that_never_happened_is_zero(kit, rules, minute):
    rules.report(requests=100)
    release = kit.create(steps=STEPS, guards=[guard()])
    for _ in range(21):
        minute(requests=100)
    assert kit.state(release) == ("running", None, 100)
    assert kit.read(release)["guards"][0]["value"] == 0


def test_a_dry_run_records_what_it_would_have_done(kit, rules, minute):
    rules.report(errors=1, requests=100)
    release = kit.create(steps=STEPS, guards=[guard(dry_run=True)])
    minute(errors=60, requests=100)
    assert kit.state(release) == ("running", None, 5)
    assert kit.event_types(release)[-2:] == ["guardFired", "wouldRollBack"]


def test_a_rule_that_is_beyond_its_limit_now_refuses_the_release(kit, rules):
    rules.report(errors=60, requests=100)
    error = kit.create(status=400, steps=STEPS, guards=[guard()])
    assert error["details"][0]["path"] == "guards[0]"


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"below": 1}, "guards[0].rule.above"),
        ({"windowMinutes": 0}, "guards[0].rule.windowMinutes"),
        (
            {"source": {"kind": "prometheus", "source": "main", "query": "1"}},
            "guards[0].rule.source",
        ),
        ({"source": RATIO | {"environment": "mars"}}, "guards[0].rule.source.environment"),
    ],
)
def test_a_wrong_rule_is_refused_with_its_path(kit, changes, path):
    error = kit.create(status=400, steps=STEPS, guards=[guard(**changes)])
    assert error["details"][0]["path"].startswith(path)


def test_two_processes_evaluate_a_rule_once(kit, rules, minute, make_service):
    kit.services.append(make_service())
    rules.report(errors=1, requests=100)
    release = kit.create(steps=STEPS, guards=[guard()])
    minute(errors=40, requests=100)
    assert kit.event_types(release) == ["created", "started", "guardFired", "rolledBack"]


def test_no_step_is_taken_on_a_value_whose_evaluation_is_overdue(kit, rules, minute, rows):
    rules.report(errors=0, requests=100)
    release = kit.create(steps=STEPS, guards=[guard()])
    for _ in range(15):
        minute(errors=0, requests=100)
    kit.jump(10)
    rows("SELECT pg_advisory_lock(hashtext('alert_rule_evaluation'))")  # another process is stuck
    kit.progress()
    assert kit.state(release) == ("running", None, 5)
    rows("SELECT pg_advisory_unlock_all()")
    rules.report(errors=0, requests=100)
    kit.wait(1)
    assert kit.state(release) == ("running", None, 100)


def test_the_lane_of_a_guard_has_its_values_and_is_red_from_the_minute_it_breaks(
    kit, rules, minute
):
    rules.report(errors=1, requests=100)
    release = kit.create(steps=STEPS, guards=[guard("hold", windowMinutes=2)])
    for errors in (1, 1, 1, 40, 40, 40):
        minute(errors=errors, requests=100)
    path = f"/admin/features/checkout/environments/development/releases/{release['id']}"
    page = Cast(rules.sdk.service).signed_in("ed").get(path)
    bars = page.html.select(".recorder rect")
    first = next(number for number, bar in enumerate(bars) if bar.get("class"))
    assert 20 <= first <= 32
    assert all(bar.get("class") for bar in bars[first:])
    assert int(bars[first]["height"]) > int(bars[first - 1]["height"])


def test_the_rule_of_a_guard_belongs_to_its_release_alone(kit, rules, rows):
    guards = [guard("hold"), guard("hold", below=0.01, above=None)]
    release = kit.create(steps=STEPS, guards=guards)
    ids = [id for (id,) in rows("SELECT id FROM alert_rules ORDER BY id")]
    assert len(ids) == 2
    assert kit.get(PATH)["alertRules"] == []
    kit.get(f"{PATH}/{ids[0]}", 404)
    kit.post(f"{PATH}/{ids[0]}/disable", {}, 404)
    kit.web.delete(f"{PATH}/{ids[0]}", headers=ADMIN, status=404)
    kit.put(f"{kit.place}/releases/{release['id']}/guards", {"guards": guards[:1]})
    assert rows("SELECT id, enabled FROM alert_rules") == [(ids[0], True)]
    kit.command(release, "stop")
    assert rows("SELECT id, enabled FROM alert_rules") == [(ids[0], False)]


def test_the_rules_of_guards_do_not_count_for_the_limit(make_service, database, clock):
    rules = Rules(Sdk(make_service, database, SERVICE_ALERT_RULES_LIMIT="1"), clock)
    Releases(rules.sdk.service, clock, "development").create(steps=STEPS, guards=[guard("hold")])
    rules.create()
