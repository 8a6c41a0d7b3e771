"""Endpoints that expect signals: states, clocks, processes, failures, changes of the settings."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import webtest

from sigservice.jobs import silence as job
from sigservice.services.signals import silence_checks
from tests.actions_kit import Alerts
from tests.conftest import ADMIN, Make
from tests.jobs.silence_kit import ENDPOINTS, Silence
from tests.repository.kit import run

HOUR = 3600
YEAR = 365 * 24 * HOUR


@pytest.fixture
def silence(service, clock):
    return Silence(service, clock)


def test_an_endpoint_waits_for_its_first_signal(silence):
    endpoint = silence.endpoint(everySeconds=60, graceSeconds=30)
    silence.wait(1000)
    state = silence.read(endpoint)
    assert (state["state"], state["lastSignalAt"], state["expectedAt"]) == ("new", None, None)
    assert silence.own_signals(endpoint) == []


def test_an_endpoint_is_late_then_down_then_up(silence):
    endpoint = silence.endpoint(everySeconds=60, graceSeconds=30)
    silence.send()
    silence.wait(55)
    assert silence.state(endpoint) == "up"
    silence.wait(5)
    assert silence.state(endpoint) == "late"
    silence.wait(25)
    assert silence.state(endpoint) == "late"
    silence.wait(5)
    assert silence.state(endpoint) == "down"
    silence.wait(500)
    silence.send()
    assert silence.state(endpoint) == "up"
    late, down, up = (signal["payload"] for signal in silence.own_signals(endpoint))
    assert (late["type"], late["status"], late["state"]) == ("silence", "pending", "late")
    assert (down["status"], down["state"], down["data"]["silentSeconds"]) == ("firing", "down", 90)
    assert (up["status"], up["state"], up["data"]["silentSeconds"]) == ("resolved", "up", 592)
    assert {p["data"]["key"] for p in (late, down, up)} == {"silence/backup"}
    assert late["data"]["lastSignalAt"] is not None


def test_the_expected_times_are_shown(silence, clock):
    endpoint = silence.endpoint(everySeconds=60, graceSeconds=30)
    silence.send()
    start = clock.now().timestamp()
    silence.wait(20)
    state = silence.read(endpoint)
    expected, down = (
        datetime.fromisoformat(state[name]).timestamp() for name in ("expectedAt", "downAt")
    )
    assert (round(expected - start), round(down - start)) == (60, 90)
    (item,) = silence.web.get(ENDPOINTS, headers=ADMIN).json["signalEndpoints"]
    assert item["silence"] == state


def test_without_grace_there_is_no_late(silence):
    endpoint = silence.endpoint(everySeconds=60)
    silence.send()
    silence.wait(60)
    assert silence.statuses(endpoint) == ["firing"]


def test_signals_of_users_are_no_sign_of_life(silence):
    endpoint = silence.endpoint(everySeconds=60)
    silence.send()
    path = f"{ENDPOINTS}/{endpoint['id']}"
    signal = silence.web.get(f"{path}/signals", headers=ADMIN).json["signalEndpointSignals"][0]
    silence.wait(50)
    silence.web.post_json(f"{path}/test-signal", {"payload": {}}, headers=ADMIN, status=201)
    silence.web.post(f"{path}/signals/{signal['id']}/replay", headers=ADMIN, status=201)
    silence.wait(10)
    assert silence.state(endpoint) == "down"


def test_an_endpoint_with_old_signals_is_up_from_the_first_look_on(silence):
    endpoint = silence.make.endpoint("backup")
    silence.tokens["backup"] = silence.make.token(endpoint)["token"]
    silence.send()
    silence.clock.advance(1000)
    silence.put(endpoint, options={"silence": {"everySeconds": 60}})
    silence.look()
    assert silence.state(endpoint) == "up"
    silence.wait(60)
    assert silence.state(endpoint) == "down"


@pytest.mark.parametrize("step", [HOUR, -HOUR, YEAR, -YEAR])
def test_a_step_of_the_clock_neither_raises_nor_delays_an_alarm(silence, step):
    endpoint = silence.endpoint(everySeconds=60)
    silence.send()
    silence.wait(30)
    silence.clock.step(step)
    silence.wait(25)
    assert silence.state(endpoint) == "up"
    silence.wait(5)
    assert silence.state(endpoint) == "down"


def test_a_stop_does_not_count(silence, make_service):
    endpoint = silence.endpoint(everySeconds=60, graceSeconds=10)
    silence.send()
    silence.wait(40)
    silence.clock.advance(5 * HOUR)
    silence.services = [make_service()]
    silence.look()
    assert silence.statuses(endpoint) == []


def test_a_signal_that_a_stop_has_lost_is_excused_once(silence, make_service):
    """The sender reports every minute; the report at 60 s met a service that was stopped."""
    endpoint = silence.endpoint(everySeconds=60)
    silence.send()
    silence.wait(59)
    silence.clock.advance(2)
    silence.services = [make_service()]
    silence.look()
    silence.wait(55)
    assert silence.statuses(endpoint) == []
    silence.services = [make_service()]  # restarts don't hide the silence any longer
    silence.look()
    silence.wait(5)
    assert silence.statuses(endpoint) == ["firing"]


def test_a_stalled_process_counts_half_a_minute(silence):
    endpoint = silence.endpoint(everySeconds=300)
    silence.send()
    silence.clock.advance(5 * HOUR)
    silence.look()
    assert silence.statuses(endpoint) == []
    silence.wait(300)
    assert silence.statuses(endpoint) == ["firing"]


def test_an_unavailable_database_does_not_count(silence, monkeypatch):
    endpoint = silence.endpoint(everySeconds=60)
    silence.send()
    with monkeypatch.context() as patch:
        patch.setattr(job, "_check", _fail)
        for _ in range(20):
            silence.clock.advance(5)
            with pytest.raises(ConnectionError):
                silence.look()
    silence.look()
    assert silence.statuses(endpoint) == []
    silence.wait(55)
    assert silence.statuses(endpoint) == []
    silence.wait(5)
    assert silence.statuses(endpoint) == ["firing"]


def _fail(*args):
    raise ConnectionError


def test_of_several_processes_one_speaks_and_seconds_count_once(silence, make_service):
    endpoint = silence.endpoint(everySeconds=60, graceSeconds=30)
    silence.services.append(make_service())
    silence.look()
    silence.send()
    silence.wait(55)
    assert silence.state(endpoint) == "up"
    silence.wait(100)
    assert silence.statuses(endpoint) == ["pending", "firing"]
    silence.services = silence.services[1:]  # the other one was killed
    silence.send()
    assert silence.statuses(endpoint) == ["pending", "firing", "resolved"]


def test_a_process_without_the_lock_does_not_wait(silence, database):
    endpoint = silence.endpoint(everySeconds=60)
    silence.send()
    silence.wait(40)
    conn = database.connect()
    conn.autocommit = False
    run(conn, "SELECT 1 FROM silence_clock FOR UPDATE")
    silence.wait(20)
    assert silence.statuses(endpoint) == []
    conn.rollback()
    conn.close()
    silence.look()
    assert silence.statuses(endpoint) == ["firing"]


@pytest.mark.parametrize("place", ["_save", "build_signal"])
def test_a_change_is_stored_completely_or_not_at_all(silence, monkeypatch, place):
    endpoint = silence.endpoint(everySeconds=60)
    silence.send()
    silence.wait(59)
    original = getattr(silence_checks, place)

    def fail(*args):
        original(*args)
        raise ConnectionError

    monkeypatch.setattr(silence_checks, place, fail)
    silence.clock.advance(1)
    with pytest.raises(ConnectionError):
        silence.look()
    assert (silence.state(endpoint), silence.statuses(endpoint)) == ("up", [])
    monkeypatch.undo()
    silence.wait(65)
    assert (silence.state(endpoint), silence.statuses(endpoint)) == ("down", ["firing"])


def test_an_older_copy_of_the_database_raises_no_alarm(silence, rows):
    endpoint = silence.endpoint(everySeconds=60)
    silence.send()
    silence.wait(20)
    rows("UPDATE silence_clock SET seconds = 0")
    rows("UPDATE silence_checks SET waits_from_seconds = 0, started_seconds = 0")
    silence.wait(10)
    assert silence.state(endpoint) == "up"


def set_clock(clock, text):
    """To the next such time of a day in the future."""
    at = datetime.fromisoformat(text).astimezone(UTC)
    clock.advance((at - clock.now()).total_seconds())


@pytest.mark.parametrize(
    ("start", "zone", "expected"),
    [
        ("2031-01-10T12:00:00+00:00", "UTC", "2031-01-11T02:30:00.000Z"),
        ("2031-01-10T12:00:00+00:00", "Asia/Kolkata", "2031-01-10T21:00:00.000Z"),
        ("2031-07-10T12:00:00+00:00", "Europe/Berlin", "2031-07-11T00:30:00.000Z"),
        # 2031-03-30: there is no 02:30 in Berlin. 2031-10-26: it comes twice.
        ("2031-03-29T12:00:00+00:00", "Europe/Berlin", "2031-03-30T01:00:00.000Z"),
        ("2031-10-25T12:00:00+00:00", "Europe/Berlin", "2031-10-26T00:30:00.000Z"),
        ("2031-10-26T00:30:01+00:00", "Europe/Berlin", "2031-10-27T01:30:00.000Z"),
    ],
)
def test_cron_has_a_time_zone(silence, clock, start, zone, expected):
    set_clock(clock, start)
    endpoint = silence.endpoint(cron="30 2 * * *", timezone=zone, graceSeconds=600)
    silence.send()
    assert silence.read(endpoint)["expectedAt"] == expected


def start_cron(silence, **more):
    """At 01:50, before 02:00, in UTC."""
    set_clock(silence.clock, "2031-01-10T01:50:00+00:00")
    endpoint = silence.endpoint(cron="0 2 * * *", graceSeconds=120, **more)
    silence.send()
    return endpoint


def test_cron_late_at_the_time_and_down_after_the_grace(silence):
    endpoint = start_cron(silence)
    silence.wait(590)
    assert silence.state(endpoint) == "up"
    silence.wait(10)
    assert silence.state(endpoint) == "late"
    silence.wait(115)
    assert silence.state(endpoint) == "late"
    silence.wait(5)
    assert silence.state(endpoint) == "down"
    silence.send()
    state = silence.read(endpoint)
    assert (state["state"], state["expectedAt"]) == ("up", "2031-01-11T02:00:00.000Z")
    assert silence.statuses(endpoint) == ["pending", "firing", "resolved"]


@pytest.mark.parametrize("step", [HOUR, YEAR])
def test_cron_times_inside_a_step_forward_are_excused(silence, step):
    endpoint = start_cron(silence)
    silence.wait(60)
    silence.clock.step(step)
    silence.wait(300)
    assert silence.statuses(endpoint) == []


def test_cron_times_during_a_stop_are_excused(silence, make_service):
    endpoint = start_cron(silence)
    silence.clock.advance(HOUR)
    silence.services = [make_service()]
    silence.look()
    silence.wait(300)
    assert silence.statuses(endpoint) == []
    assert silence.read(endpoint)["expectedAt"] == "2031-01-11T02:00:00.000Z"


def test_a_step_back_cancels_a_late_of_cron(silence):
    endpoint = start_cron(silence)
    silence.wait(620)
    assert silence.state(endpoint) == "late"
    silence.clock.step(-HOUR)
    silence.wait(300)
    assert silence.statuses(endpoint) == ["pending", "resolved"]
    state = silence.read(endpoint)
    assert (state["state"], state["expectedAt"]) == ("up", "2031-01-10T02:00:00.000Z")


def test_a_new_schedule_restarts_the_wait(silence):
    endpoint = silence.endpoint(everySeconds=60, graceSeconds=100)
    silence.send()
    silence.wait(60)
    assert silence.state(endpoint) == "late"
    silence.put(endpoint, options={"silence": {"everySeconds": 90, "graceSeconds": 100}})
    silence.look()
    assert silence.state(endpoint) == "up"
    silence.wait(85)
    assert silence.statuses(endpoint) == ["pending", "resolved"]
    silence.wait(5)
    assert silence.state(endpoint) == "late"


def test_a_new_grace_does_not_restart_the_wait(silence):
    endpoint = silence.endpoint(everySeconds=60, graceSeconds=100)
    silence.send()
    silence.wait(60)
    silence.put(endpoint, options={"silence": {"everySeconds": 60, "graceSeconds": 5}})
    silence.wait(5)
    assert silence.statuses(endpoint) == ["pending", "firing"]


def test_a_disabled_endpoint_is_paused_and_enabling_restarts_the_wait(silence):
    endpoint = silence.endpoint(everySeconds=60)
    silence.send()
    silence.switch(endpoint, "off")
    silence.wait(500)
    state = silence.read(endpoint)
    assert (state["state"], state["expectedAt"]) == ("paused", None)
    assert state["lastSignalAt"] is not None
    silence.switch(endpoint, "on")
    silence.look()
    silence.wait(55)
    assert silence.statuses(endpoint) == []
    silence.wait(5)
    assert silence.statuses(endpoint) == ["firing"]


def test_a_renamed_endpoint_resolves_the_alert_of_its_old_name(silence):
    endpoint = silence.endpoint(everySeconds=60)
    silence.send()
    silence.wait(60)
    silence.put(endpoint | {"name": "dump"})
    silence.tokens["dump"] = silence.tokens["backup"]
    silence.send("dump")
    down, up = (signal["payload"]["data"] for signal in silence.own_signals(endpoint))
    assert (down["key"], up["key"], up["endpoint"]) == ("silence/backup", "silence/backup", "dump")


def test_a_removed_rule_resolves_its_alert(silence, rows):
    endpoint = silence.endpoint(everySeconds=60)
    silence.send()
    silence.wait(60)
    silence.put(endpoint, options={})
    silence.look()
    assert silence.statuses(endpoint) == ["firing", "resolved"]
    assert silence.read(endpoint) is None
    assert rows("SELECT 1 FROM silence_checks") == []


def test_a_deleted_endpoint_is_forgotten(silence, rows):
    endpoint = silence.endpoint(everySeconds=60)
    silence.send()
    silence.web.delete(f"{ENDPOINTS}/{endpoint['id']}", headers=ADMIN)
    silence.wait(100)
    assert rows("SELECT 1 FROM silence_checks") == []


def test_a_deleted_token_keeps_the_last_signal(silence):
    endpoint = silence.endpoint(everySeconds=60)
    silence.send()
    last = silence.read(endpoint)["lastSignalAt"]
    path = f"{ENDPOINTS}/{endpoint['id']}/tokens"
    token = silence.web.get(path, headers=ADMIN).json["signalEndpointTokens"][0]
    silence.web.delete(f"{path}/{token['id']}", headers=ADMIN)
    silence.wait(60)
    state = silence.read(endpoint)
    assert (state["state"], state["lastSignalAt"]) == ("down", last)


def test_without_rules_nothing_is_written(silence, rows):
    silence.make.endpoint("backup")
    silence.wait(20)
    assert rows("SELECT 1 FROM silence_clock") == []


def test_an_action_set_from_the_template_runs_and_reverts(make_service, clock):
    service = make_service()
    web = webtest.TestApp(service.app)
    alerts, silence = Alerts(service, web, Make(web)), Silence(service, clock)
    silence.tokens["alerts"] = alerts.token
    silence.put(alerts.endpoint, options={"silence": {"everySeconds": 60, "graceSeconds": 30}})
    recipes = web.get("/api/admin/action-recipes", headers=ADMIN).json["recipes"]
    (recipe,) = [recipe for recipe in recipes if recipe["name"] == "silence"]
    set = alerts.set(filters=recipe["filters"], options=recipe["options"])["id"]
    silence.send("alerts")
    silence.wait(60)
    alerts.work()
    assert (silence.state(alerts.endpoint), alerts.is_on()) == ("late", True)
    silence.wait(30)
    assert service.context.signals_waiting.is_set()
    alerts.work()
    assert not alerts.is_on()
    silence.send("alerts")
    alerts.work()
    assert alerts.is_on()
    assert [state for state in alerts.states(set) if state[1] == "success"] == [
        ("signal", "success"),
        ("resolved", "success"),
    ]


def test_integrations_hear_that_an_endpoint_is_down_and_up_again(silence):
    silence.endpoint(everySeconds=60, graceSeconds=30)
    silence.send()
    silence.wait(100)
    silence.send()
    events = silence.web.get("/api/admin/events", headers=ADMIN).json["events"]
    recorded = [event for event in events[::-1] if event["type"].startswith("alert-rule-")]
    assert [(event["type"], event["data"]["ruleName"]) for event in recorded] == [
        ("alert-rule-firing", "backup (silence)"),
        ("alert-rule-resolved", "backup (silence)"),
    ]
    assert "No signal came in time" in recorded[0]["data"]["reason"]
