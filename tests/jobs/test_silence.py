"""Alert rules on silence: states, the excuse after a stop, clocks, processes, failures, changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import webtest

from sigservice.jobs import alert_rules as job
from sigservice.jobs.runner import Job, Runner
from sigservice.repository.system import due_work
from sigservice.services.rules import rule_evaluation
from sigservice.services.rules.rule_conditions import Silence as Source
from tests.actions_kit import Alerts
from tests.conftest import ADMIN, Make
from tests.jobs.silence_kit import ENDPOINTS, RULES, Silence
from tests.waiting import until

HOUR = 3600


@pytest.fixture
def silence(service, clock):
    return Silence(service, clock)


def test_a_rule_is_unknown_until_the_first_signal(silence):
    rule = silence.rule(everySeconds=60, graceSeconds=30)
    silence.wait(1000)
    state = silence.read(rule)
    assert (state["state"], state["reason"]) == ("unknown", "No signal has come yet.")
    silence.send()
    assert silence.state(rule) == "ok"
    assert silence.own_signals(rule) == []


def test_a_rule_fires_after_the_grace_and_the_next_signal_resolves_it(silence):
    rule = silence.rule(everySeconds=60, graceSeconds=30)
    silence.send()
    silence.wait(85)
    assert silence.state(rule) == "ok"
    silence.wait(5)
    assert silence.state(rule) == "firing"
    silence.wait(500)
    silence.send()  # without an evaluation by the job
    assert silence.state(rule) == "ok"
    down, up = silence.own_signals(rule)
    assert (down["type"], down["status"], down["state"]) == ("silence", "firing", "down")
    assert (up["type"], up["status"], up["state"]) == ("silence", "resolved", "up")
    assert (down["data"]["silentSeconds"], up["data"]["silentSeconds"]) == (90, 592)
    assert down["data"]["key"] == up["data"]["key"] == "silence/backup"
    assert (down["data"]["endpoint"], down["data"]["rule"]) == ("backup", "backup-silence")
    assert down["data"]["lastSignalAt"] < down["data"]["expectedAt"]


def test_the_end_of_silence_is_stored_with_the_signal_or_not_at_all(silence, monkeypatch):
    rule = silence.rule(everySeconds=60)
    silence.send()
    silence.wait(60)

    def fail(*args):
        raise ConnectionError

    silence.clock.advance(2)
    monkeypatch.setattr(rule_evaluation, "read_silence", fail)
    headers = {"Authorization": f"Bearer {silence.tokens['backup']}"}
    silence.web.post_json(
        "/api/signal-endpoint/backup", {}, headers=headers, status=500, expect_errors=True
    )
    path = f"{ENDPOINTS}/{rule['endpointId']}/signals"
    rows = silence.web.get(path, headers=ADMIN).json["signalEndpointSignals"]
    assert [row["sentBy"] for row in rows] == ["sigservice", None]  # the alert, the first signal
    assert silence.state(rule) == "firing"


def test_signals_of_users_do_not_count(silence):
    rule = silence.rule(everySeconds=60)
    silence.send()
    path = f"{ENDPOINTS}/{rule['endpointId']}"
    signal = silence.web.get(f"{path}/signals", headers=ADMIN).json["signalEndpointSignals"][0]
    silence.wait(50)
    silence.web.post_json(f"{path}/test-signal", {"payload": {}}, headers=ADMIN, status=201)
    silence.web.post(f"{path}/signals/{signal['id']}/replay", headers=ADMIN, status=201)
    silence.wait(10)
    assert silence.state(rule) == "firing"


def test_the_wait_for_a_new_rule_begins_now_if_signals_came_before(silence):
    endpoint = silence.endpoint()
    silence.send()
    silence.clock.advance(1000)
    rule = silence.add(endpoint, everySeconds=60)
    silence.look()
    assert silence.state(rule) == "ok"
    silence.wait(60)
    assert silence.state(rule) == "firing"


def test_the_signals_of_a_rule_may_be_stored_at_another_endpoint(silence):
    watched, other = silence.endpoint(), silence.endpoint("other")
    rule = silence.add(watched, everySeconds=60)
    rule = silence.put(rule, endpointId=other["id"])
    silence.look()
    silence.send()
    silence.wait(60)
    silence.send()
    assert rule["endpointId"] == other["id"]
    assert silence.statuses(rule) == ["firing", "resolved"]


def test_a_signal_that_a_stop_may_have_lost_is_excused_once(silence, make_service):
    """The sender reports every minute; the report at 60 s met a service that was stopped."""
    rule = silence.rule(everySeconds=60)
    silence.send()
    silence.wait(58)
    silence.services = [make_service()]
    silence.clock.advance(1)
    silence.look()
    silence.wait(30)
    state = silence.read(rule)
    assert state["state"] == "unknown"
    assert state["reason"].startswith("The service was not running or had no database")
    silence.services = [make_service()]  # restarts don't hide the silence any longer
    silence.wait(35)
    assert silence.statuses(rule) == ["firing"]


def test_a_long_stop_fires_nothing(silence, make_service):
    rule = silence.rule(everySeconds=60, graceSeconds=10)
    silence.send()
    silence.wait(40)
    silence.clock.advance(5 * HOUR)
    silence.services = [make_service()]
    silence.look()
    assert (silence.state(rule), silence.statuses(rule)) == ("unknown", [])


def test_an_alert_goes_on_after_a_stop(silence, make_service):
    rule = silence.rule(everySeconds=60)
    silence.send()
    silence.wait(60)
    silence.services = [make_service()]
    silence.look()
    assert (silence.state(rule), silence.statuses(rule)) == ("firing", ["firing"])


def test_an_alert_does_not_end_when_the_clock_goes_back(silence):
    rule = silence.rule(everySeconds=60)
    silence.send()
    silence.wait(60)
    silence.clock.step(-HOUR)
    silence.wait(100)
    assert (silence.state(rule), silence.statuses(rule)) == ("firing", ["firing"])
    silence.send()
    assert (silence.state(rule), silence.statuses(rule)) == ("ok", ["firing", "resolved"])


def test_a_signal_that_an_unavailable_database_may_have_lost_is_excused(silence, monkeypatch):
    rule = silence.rule(everySeconds=60)
    silence.send()
    silence.wait(20)
    with monkeypatch.context() as patch:
        patch.setattr(rule_evaluation, "evaluate_due", lambda *args, **options: 1 / 0)
        silence.clock.advance(45)
        with pytest.raises(ZeroDivisionError):
            silence.look()
    silence.wait(50)
    assert (silence.state(rule), silence.statuses(rule)) == ("unknown", [])
    silence.wait(15)
    assert silence.statuses(rule) == ["firing"]


def test_a_failed_look_for_work_excuses_a_signal_too(silence, monkeypatch):
    """Without a database, nothing wakes the job."""
    rule = silence.rule(everySeconds=60)
    silence.send()
    silence.wait(20)
    context = silence.services[0].context
    with monkeypatch.context() as patch:
        patch.setattr(due_work, "find", lambda *args: 1 / 0)
        silence.clock.advance(45)
        runner = Runner(context, (Job("rules", job.run_once, 9999, 9999, work="rules"),))
        runner.start()
        until(lambda: context.silence_observer.started_at is None, "the failed look")
        runner.request_stop()
        runner.join(10)
    silence.look()
    assert (silence.state(rule), silence.statuses(rule)) == ("unknown", [])


@pytest.mark.parametrize("step", [HOUR, -HOUR, 24 * 365 * HOUR])
def test_a_step_of_the_clock_restarts_the_wait(silence, step):
    rule = silence.rule(everySeconds=60)
    silence.send()
    silence.wait(30)
    silence.clock.step(step)
    silence.look()
    silence.wait(55)
    assert silence.statuses(rule) == []
    silence.wait(5)
    assert silence.statuses(rule) == ["firing"]


def test_of_several_processes_one_records_a_change(silence, make_service):
    rule = silence.rule(everySeconds=60, graceSeconds=30)
    silence.services.append(make_service())
    silence.look()
    silence.send()
    silence.wait(100)
    assert silence.statuses(rule) == ["firing"]
    silence.services = silence.services[1:]  # the other one was killed
    silence.send()
    assert silence.statuses(rule) == ["firing", "resolved"]


def test_a_failed_evaluation_is_repeated(silence, monkeypatch):
    rule = silence.rule(everySeconds=60)
    silence.send()
    silence.wait(59)
    with monkeypatch.context() as patch:
        patch.setattr(rule_evaluation, "store_change", lambda *args: 1 / 0)
        silence.clock.advance(1)
        with pytest.raises(ZeroDivisionError):
            silence.look()
    assert (silence.state(rule), silence.statuses(rule)) == ("ok", [])
    silence.wait(5)
    assert (silence.state(rule), silence.statuses(rule)) == ("firing", ["firing"])


@pytest.mark.parametrize(
    ("start", "zone", "expected"),
    [
        ("2031-01-10T12:00:00+00:00", "UTC", "2031-01-11T02:30:00+00:00"),
        ("2031-01-10T12:00:00+00:00", "Asia/Kolkata", "2031-01-10T21:00:00+00:00"),
        ("2031-07-10T12:00:00+00:00", "Europe/Berlin", "2031-07-11T00:30:00+00:00"),
        # 2031-03-30: there is no 02:30 in Berlin. 2031-10-26: it comes twice.
        ("2031-03-29T12:00:00+00:00", "Europe/Berlin", "2031-03-30T01:00:00+00:00"),
        ("2031-10-25T12:00:00+00:00", "Europe/Berlin", "2031-10-26T00:30:00+00:00"),
        ("2031-10-26T00:30:01+00:00", "Europe/Berlin", "2031-10-27T01:30:00+00:00"),
    ],
)
def test_cron_has_a_time_zone(start, zone, expected):
    source = Source(7, cron="30 2 * * *", timezone=zone, graceSeconds=600)
    assert source.find_expected(datetime.fromisoformat(start)).isoformat() == expected
    grace = source.find_deadline(datetime.fromisoformat(start)) - datetime.fromisoformat(expected)
    assert grace == timedelta(minutes=10)


def start_cron(silence):
    """At 01:50, before 02:00, in UTC."""
    at = datetime(2031, 1, 10, 1, 50, tzinfo=UTC)
    silence.clock.advance((at - silence.clock.now()).total_seconds())
    rule = silence.rule(cron="0 2 * * *", graceSeconds=120)
    silence.send()
    return rule


def test_cron_fires_after_its_time_and_the_grace(silence):
    rule = start_cron(silence)
    silence.wait(715)
    assert silence.state(rule) == "ok"
    silence.wait(5)
    assert silence.state(rule) == "firing"
    silence.send()
    assert silence.statuses(rule) == ["firing", "resolved"]


def test_cron_times_during_a_stop_are_excused(silence, make_service):
    rule = start_cron(silence)
    silence.clock.advance(HOUR)
    silence.services = [make_service()]
    silence.look()
    silence.wait(300)
    assert (silence.state(rule), silence.statuses(rule)) == ("unknown", [])


def test_another_schedule_begins_a_new_wait_and_ends_the_alert(silence):
    rule = silence.rule(everySeconds=60)
    silence.send()
    silence.wait(60)
    silence.put(rule, source=rule["source"] | {"everySeconds": 90})
    silence.look()
    assert (silence.state(rule), silence.statuses(rule)) == ("ok", ["firing", "resolved"])
    silence.wait(90)
    assert silence.state(rule) == "firing"


def test_a_disabled_endpoint_pauses_the_rule_and_enabling_restarts_the_wait(silence):
    rule = silence.rule(everySeconds=120)
    silence.send()
    silence.switch(f"{ENDPOINTS}/{rule['endpointId']}", "off")
    silence.wait(500)
    assert silence.statuses(rule) == []
    silence.switch(f"{ENDPOINTS}/{rule['endpointId']}", "on")
    silence.wait(115)
    assert silence.statuses(rule) == []
    silence.wait(10)
    assert silence.statuses(rule) == ["firing"]


def test_a_renamed_endpoint_resolves_the_alert_of_its_old_name(silence):
    rule = silence.rule(everySeconds=60)
    silence.send()
    silence.wait(60)
    path = f"{ENDPOINTS}/{rule['endpointId']}"
    silence.web.put_json(path, {"name": "dump"}, headers=ADMIN)
    silence.tokens["dump"] = silence.tokens["backup"]
    silence.send("dump")
    down, up = (payload["data"] for payload in silence.own_signals(rule))
    assert (down["key"], up["key"], up["endpoint"]) == ("silence/backup", "silence/backup", "dump")


@pytest.mark.parametrize("change", ["delete", "disable"])
def test_a_rule_that_goes_resolves_its_alert(silence, change):
    rule = silence.rule(everySeconds=60)
    silence.send()
    silence.wait(60)
    if change == "delete":
        silence.web.delete(f"{RULES}/{rule['id']}", headers=ADMIN)
    else:
        silence.switch(f"{RULES}/{rule['id']}", "disable")
    assert silence.statuses(rule) == ["firing", "resolved"]


def test_a_deleted_endpoint_takes_its_rules_with_it(silence):
    watched, other = silence.endpoint(), silence.endpoint("other")
    silence.put(silence.add(watched, everySeconds=60), endpointId=other["id"])
    silence.web.delete(f"{ENDPOINTS}/{watched['id']}", headers=ADMIN)
    silence.wait(100)
    assert silence.web.get(RULES, headers=ADMIN).json["alertRules"] == []


def test_a_deleted_token_keeps_the_last_signal(silence):
    rule = silence.rule(everySeconds=60)
    silence.send()
    path = f"{ENDPOINTS}/{rule['endpointId']}/tokens"
    token = silence.web.get(path, headers=ADMIN).json["signalEndpointTokens"][0]
    silence.web.delete(f"{path}/{token['id']}", headers=ADMIN)
    silence.wait(60)
    assert silence.state(rule) == "firing"


def test_an_action_set_from_the_template_runs_and_reverts(make_service, clock):
    service = make_service()
    web = webtest.TestApp(service.app)
    alerts, silence = Alerts(service, web, Make(web)), Silence(service, clock)
    silence.tokens["alerts"] = alerts.token
    silence.add(alerts.endpoint, everySeconds=60, graceSeconds=30)
    silence.look()
    recipes = web.get("/api/admin/action-recipes", headers=ADMIN).json["recipes"]
    (recipe,) = [recipe for recipe in recipes if recipe["name"] == "silence"]
    set = alerts.set(filters=recipe["filters"], options=recipe["options"])["id"]
    silence.send("alerts")
    alerts.work()
    silence.wait(90)
    assert service.context.signals_waiting.is_set()
    alerts.work()
    assert not alerts.is_on()
    silence.send("alerts")
    assert service.context.signals_waiting.is_set()
    alerts.work()
    assert alerts.is_on()
    assert [state for state in alerts.states(set) if state[1] == "success"] == [
        ("signal", "success"),
        ("resolved", "success"),
    ]


def test_silence_is_recorded_like_other_rules(silence):
    rule = silence.rule(everySeconds=60, graceSeconds=30)
    silence.send()
    silence.wait(100)
    silence.send()
    events = silence.web.get("/api/admin/events", headers=ADMIN).json["events"]
    recorded = [
        e for e in events[::-1] if e["type"] in ("alert-rule-firing", "alert-rule-resolved")
    ]
    assert [(e["type"], e["data"]["ruleName"], e["data"]["source"]) for e in recorded] == [
        ("alert-rule-firing", "backup-silence", "silence"),
        ("alert-rule-resolved", "backup-silence", "silence"),
    ]
    assert recorded[0]["data"]["ruleId"] == rule["id"]
    assert recorded[0]["data"]["reason"].startswith("No signal came since ")


def test_a_preview_says_when_it_would_have_fired(silence):
    endpoint = silence.endpoint()
    silence.send()
    source = {"kind": "silence", "endpointId": endpoint["id"], "everySeconds": 60}
    path = f"{RULES}/preview"
    silence.clock.advance(HOUR)
    preview = silence.web.post_json(path, {"source": source}, headers=ADMIN).json
    assert (preview["state"], preview["limit"], len(preview["series"])) == ("firing", None, 289)
    assert [point["firing"] for point in preview["series"][-3:]] == [True] * 3
    assert preview["series"][0]["value"] is None


def test_the_job_evaluates_a_rule_when_it_fires(silence):
    """Not half a minute later, when it is due by its interval."""
    rule = silence.rule(everySeconds=31)
    silence.send()
    silence.clock.advance(1)
    silence.look()
    silence.clock.advance(30)
    job.run_once(silence.services[0].context)
    assert silence.state(rule) == "firing"
