"""Action sets that a clock triggers, as the actions job runs them, on the real database."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
import webtest

from sigservice.clock import format_iso
from sigservice.errors import ConflictError
from sigservice.jobs import actions, retention
from sigservice.repository.actions import action_runs
from sigservice.services.actions import action_sets, scheduled_runs
from sigservice.services.identity import SYSTEM
from tests.actions_kit import SETS, Alerts
from tests.conftest import ADMIN, Make
from tests.waiting import DEADLINE_SECONDS, until

MINUTE, HOUR, DAY = 60, 3600, 86_400


class Schedules:
    """Sets with a schedule, beside the flag `checkout` that is on in production."""

    def __init__(self, alerts):
        self.alerts, self.clock = alerts, alerts.clock

    def at(self, seconds, **more):
        """A set that runs once, after so many seconds."""
        at = format_iso(self.clock.now() + timedelta(seconds=seconds))
        return self.alerts.set(match={"source": "schedule", "at": at}, **more)

    def cron(self, cron, timezone="UTC", **more):
        match = {"source": "schedule", "cron": cron, "timezone": timezone}
        return self.alerts.set(match=match, **more)

    def set_clock(self, *moment):
        self.clock.step((datetime(*moment, tzinfo=UTC) - self.clock.now()).total_seconds())

    def wait(self, seconds):
        self.clock.advance(seconds)
        self.alerts.work()

    def read(self, one):
        return self.alerts.web.get(f"{SETS}/{one['id']}", headers=ADMIN).json

    def reasons(self, one):
        """Oldest first."""
        return [run["reason"] for run in self.alerts.runs(one["id"])[::-1]]


@pytest.fixture
def schedules(alerts):
    return Schedules(alerts)


def test_a_set_runs_once_at_its_time(schedules, alerts, web):
    one = schedules.at(HOUR)
    schedules.wait(HOUR - 1)
    assert alerts.runs(one["id"]) == []
    schedules.wait(1)
    (run,) = alerts.runs(one["id"])
    assert (run["cause"], run["state"], run["reason"]) == ("schedule", "success", None)
    assert (run["signalId"], run["signal"]) == (None, None)
    assert not alerts.is_on()
    event = web.get("/api/admin/events/checkout", headers=ADMIN).json["events"][0]
    assert (event["type"], event["createdBy"]) == ("feature-environment-disabled", "robot")
    schedules.wait(DAY)
    assert len(alerts.runs(one["id"])) == 1


def test_a_set_that_has_run_at_its_time_is_done(schedules):
    one = schedules.at(HOUR)
    assert (one["done"], one["dueAt"]) == (False, one["match"]["at"])
    schedules.wait(HOUR)
    assert (schedules.read(one)["done"], schedules.read(one)["dueAt"]) == (True, None)


def test_a_cron_expression_runs_in_its_time_zone(schedules, alerts):
    schedules.set_clock(2027, 1, 8, 20, 0)
    one = schedules.cron("0 22 * * FRI", "Europe/Berlin")
    assert one["dueAt"] == "2027-01-08T21:00:00.000Z"
    schedules.wait(HOUR)
    assert alerts.states(one["id"]) == [("schedule", "success")]
    assert schedules.read(one)["dueAt"] == "2027-01-15T21:00:00.000Z"


def test_a_time_that_the_change_to_summer_time_skips_runs_after_it(schedules, alerts):
    """As cronsim, and so silence, has it: at 3 o'clock."""
    schedules.set_clock(2027, 3, 28, 0, 0)
    one = schedules.cron("30 2 * * *", "Europe/Berlin")
    schedules.wait(HOUR)
    assert alerts.states(one["id"]) == [("schedule", "success")]
    assert schedules.read(one)["dueAt"] == "2027-03-29T00:30:00.000Z"


def test_a_time_that_occurs_twice_at_the_end_of_summer_time_runs_once(schedules, alerts):
    schedules.set_clock(2027, 10, 30, 23, 0)
    one = schedules.cron("30 2 * * *", "Europe/Berlin")
    for _ in range(8):
        schedules.wait(HOUR / 2)
    assert alerts.states(one["id"]) == [("schedule", "success")]


def test_a_time_that_passed_in_a_downtime_runs_with_the_delay_as_its_reason(schedules, alerts):
    one = schedules.at(HOUR)
    schedules.wait(HOUR + 12 * MINUTE)
    assert alerts.states(one["id"]) == [("schedule", "success")]
    assert schedules.reasons(one) == [f"12 min late: it was due at {one['dueAt']}."]


def test_times_of_a_cron_expression_that_passed_in_a_downtime_run_once(schedules, alerts):
    schedules.set_clock(2027, 1, 8, 20, 30)
    one = schedules.cron("0 * * * *")
    schedules.wait(5 * HOUR)
    assert alerts.states(one["id"]) == [("schedule", "success")]
    assert schedules.reasons(one) == ["4 h 30 min late: it was due at 2027-01-08T21:00:00.000Z."]
    assert schedules.read(one)["dueAt"] == "2027-01-09T02:00:00.000Z"


@pytest.mark.parametrize("late", [9, 11])
def test_a_run_that_would_be_too_late_is_skipped(schedules, alerts, late):
    one = schedules.at(HOUR, options={"skipIfLateMinutes": 10})
    schedules.wait(HOUR + late * MINUTE)
    assert alerts.states(one["id"]) == [("schedule", "success" if late == 9 else "suppressed")]
    prefix = "" if late == 9 else "Skipped: "
    assert schedules.reasons(one) == [f"{prefix}{late} min late: it was due at {one['dueAt']}."]
    assert alerts.is_on() is (late == 11)
    assert schedules.read(one)["done"]


def test_a_time_of_a_cron_expression_runs_although_earlier_ones_are_too_late(schedules, alerts):
    schedules.set_clock(2027, 1, 8, 20, 30)
    one = schedules.cron("0 * * * *", options={"skipIfLateMinutes": 10})
    schedules.wait(2 * HOUR + 35 * MINUTE)
    assert schedules.reasons(one) == ["5 min late: it was due at 2027-01-08T23:00:00.000Z."]
    schedules.wait(2 * HOUR + 10 * MINUTE)
    assert alerts.states(one["id"]) == [("schedule", "success"), ("schedule", "suppressed")]
    assert schedules.reasons(one)[1].startswith("Skipped: 1 h 15 min late")


def test_a_schedule_with_auto_revert_is_on_for_a_time(schedules, alerts):
    one = schedules.at(HOUR, options={"restoreAfterMinutes": 120})
    schedules.wait(HOUR)
    (run,) = alerts.runs(one["id"])
    assert run["restoreDueAt"]
    assert not alerts.is_on()
    alerts.clock.advance(3 * 3600)
    alerts.work()
    assert alerts.states(one["id"]) == [("schedule", "success"), ("timer", "success")]
    assert alerts.is_on()


def test_the_run_of_a_schedule_can_be_undone(schedules, alerts):
    one = schedules.at(HOUR)
    schedules.wait(HOUR)
    alerts.post(f"{SETS}/{one['id']}/events/{alerts.runs(one['id'])[0]['id']}/undo", status=202)
    alerts.work()
    assert alerts.is_on()


def test_a_dry_run_of_a_schedule_changes_nothing(schedules, alerts):
    one = schedules.at(HOUR, options={"dryRun": True})
    schedules.wait(HOUR)
    assert alerts.details(one["id"]) == [
        ("success", "Would have: Disabled checkout in production.")
    ]
    assert alerts.is_on()


def test_options_hold_back_runs_of_a_schedule(schedules, alerts):
    schedules.set_clock(2027, 1, 8, 20, 30)
    one = schedules.cron("0 * * * *", options={"latch": True})
    schedules.wait(HOUR)
    schedules.wait(HOUR)
    assert alerts.states(one["id"]) == [("schedule", "success"), ("schedule", "suppressed")]


def test_a_disabled_set_does_not_run(schedules, alerts):
    one = schedules.at(HOUR)
    alerts.post(f"{SETS}/{one['id']}/off")
    schedules.wait(2 * HOUR)
    assert alerts.runs(one["id"]) == []
    assert alerts.post(f"{SETS}/{one['id']}/on", status=409).json["message"].startswith("The time")


def test_a_set_that_is_enabled_again_waits_for_the_next_time(schedules, alerts):
    schedules.set_clock(2027, 1, 8, 20, 30)
    one = schedules.cron("0 * * * *")
    alerts.post(f"{SETS}/{one['id']}/off")
    schedules.wait(3 * HOUR)
    assert alerts.post(f"{SETS}/{one['id']}/on").json["dueAt"] == "2027-01-09T00:00:00.000Z"
    schedules.wait(0)
    assert alerts.runs(one["id"]) == []


def test_a_schedule_without_its_account_fails_visibly(schedules, alerts, web):
    one = schedules.at(HOUR)
    web.delete(f"/api/admin/service-account/{alerts.account}", headers=ADMIN)
    schedules.wait(HOUR)
    assert alerts.states(one["id"]) == [("schedule", "failed")]


@pytest.mark.parametrize("column", ["settings", "schedule"])
def test_an_unreadable_set_fails_once_and_others_run(schedules, alerts, column):
    broken, one = schedules.at(HOUR), schedules.at(HOUR, name="good")
    statement = f"UPDATE action_sets SET {column} = '[]' WHERE id = %s RETURNING 1"
    alerts.rows(statement, broken["id"])
    schedules.wait(HOUR)
    schedules.wait(HOUR)
    assert [run["state"] for run in alerts.runs(broken["id"])] == ["failed"]
    assert alerts.states(one["id"]) == [("schedule", "success")]


def test_a_change_that_was_read_before_the_run_does_not_schedule_it_again(schedules, alerts):
    """The name changes; the time that has passed stays passed."""
    one = schedules.at(HOUR)
    schedules.wait(HOUR)
    changed = alerts.put(one, match=one["match"], name="renamed")
    assert (changed["done"], changed["dueAt"]) == (True, None)
    schedules.wait(0)
    assert len(alerts.runs(one["id"])) == 1


def test_a_new_time_schedules_a_set_again(schedules, alerts):
    one = schedules.at(HOUR)
    schedules.wait(HOUR)
    at = format_iso(schedules.clock.now() + timedelta(hours=1))
    alerts.put(one, match={"source": "schedule", "at": at})
    schedules.wait(HOUR)
    assert len(alerts.runs(one["id"])) == 2


def test_the_clock_of_another_process_that_is_ahead_runs_a_time_once(schedules, alerts):
    schedules.set_clock(2027, 1, 8, 20, 59, 30)
    one = schedules.cron("0 * * * *")
    schedules.wait(MINUTE)
    schedules.clock.step(-MINUTE)
    schedules.wait(MINUTE)
    assert alerts.states(one["id"]) == [("schedule", "success")]


def test_two_processes_run_each_due_set_once(make_service):
    services = [make_service(), make_service()]
    web = webtest.TestApp(services[0].app)
    schedules = Schedules(Alerts(services[0], web, Make(web)))
    sets = [schedules.cron("0 * * * *", name=f"set {number}") for number in range(5)]
    schedules.clock.advance(HOUR)
    gate = threading.Barrier(2)

    def work(service):
        gate.wait(DEADLINE_SECONDS)
        actions.run_once(service.context)

    threads = [threading.Thread(target=work, args=(service,)) for service in services]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive()
    assert {tuple(schedules.alerts.states(one["id"])) for one in sets} == {
        (("schedule", "success"),)
    }


def test_a_set_that_is_running_is_not_run_again_by_a_person(schedules, alerts):
    one, database = schedules.at(HOUR), alerts.service.context.database
    schedules.clock.advance(HOUR)
    now, results = schedules.clock.now(), []

    def run_by_hand():
        try:
            with database.transaction() as conn:
                action_sets.run_now(conn, "default", one["id"], SYSTEM, now)
        except ConflictError as error:
            results.append(error.message)

    thread = threading.Thread(target=run_by_hand)
    with database.transaction() as conn:
        action_runs.lock(conn)
        evaluator, logger = alerts.service.context.evaluator, alerts.service.context.get_logger("x")
        assert scheduled_runs.start_due_runs(conn, evaluator, logger, now) == 1
        thread.start()
        query = "SELECT 1 FROM pg_locks WHERE NOT granted"
        until(lambda: alerts.rows(query), "the wait for the run")
    thread.join(DEADLINE_SECONDS)
    schedules.wait(1)
    assert results == ["Nothing is scheduled for one time."]
    assert len(alerts.runs(one["id"])) == 1


def test_retention_deletes_a_done_set_with_its_runs(schedules, alerts, web):
    one, other = schedules.at(HOUR), schedules.at(DAY, name="later")
    schedules.wait(HOUR)
    retention.run_once(alerts.service.context)
    assert len(alerts.runs(one["id"])) == 1
    alerts.rows("UPDATE action_runs SET created_at = now() - interval '91 days' RETURNING 1")
    retention.run_once(alerts.service.context)
    sets = web.get(SETS, headers=ADMIN).json["actions"]
    assert [item["id"] for item in sets] == [other["id"]]
