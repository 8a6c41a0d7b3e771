"""A release that fails stops neither signals nor other releases; each error is logged."""

from __future__ import annotations

import pytest

from sigservice.db.errors import DatabaseError
from tests.actions_kit import SETS, Alerts
from tests.application.test_app import Log
from tests.jobs.release_kit import Releases
from tests.jobs.test_release_actions import add_set


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def kit(make_service, clock, log):
    return Releases(make_service({"getLogger": log}), clock)


@pytest.fixture
def breaks(rows):
    """`breaks(table, event)`: each such change of the table fails from now on."""
    tables = []

    def add_trigger(table, event):
        tables.append(table)
        rows(
            "CREATE OR REPLACE FUNCTION breaks() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'broken'; END $$"
        )
        rows(
            f"CREATE TRIGGER breaks BEFORE {event} ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION breaks()"
        )

    yield add_trigger
    for table in tables:
        rows(f"DROP TRIGGER breaks ON {table}")


def count_waiting(rows):
    return rows("SELECT count(*) FROM signal_queue")[0][0]


def test_an_alert_of_a_release_that_can_not_be_read_does_not_stop_signals(kit, rows, log):
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    rows("UPDATE releases SET plan = '{}'")
    kit.signal()
    assert count_waiting(rows) == 0
    assert any(f"release {release['id']} can't be read" in text for _, _, text in log.lines)


def test_a_guard_that_can_not_be_stored_does_not_stop_signals(kit, rows, log, breaks):
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    breaks("release_guards", "UPDATE")
    kit.signal()
    assert count_waiting(rows) == 0
    assert any(f"release {release['id']} can't be decided" in text for _, _, text in log.lines)


def test_an_error_that_stops_all_signals_is_raised_for_the_log(kit, rows, breaks):
    kit.create(guards=[kit.guard(kit.endpoint())])
    breaks("signal_queue", "DELETE")
    kit.alert()
    with pytest.raises(DatabaseError):
        kit.evaluate()
    assert count_waiting(rows) == 1


def test_a_guard_gets_a_signal_that_action_sets_can_not_evaluate(kit, rows, breaks):
    add_set(kit, "HOLD_RELEASE")
    (endpoint,) = kit.get("/api/admin/signal-endpoints")["signalEndpoints"]
    release = kit.create(guards=[kit.guard(endpoint)])
    breaks("action_runs", "INSERT")
    kit.signal()
    assert count_waiting(rows) == 0
    assert kit.state(release) == ("rolledBack", None, 0)


def test_an_undo_is_performed_while_no_signal_can_be_evaluated(service, web, make, breaks):
    alerts = Alerts(service, web, make)
    one = alerts.set()
    alerts.send()
    alerts.work()
    breaks("signal_queue", "DELETE")
    alerts.send()
    alerts.post(f"{SETS}/{one['id']}/events/{alerts.runs(one['id'])[0]['id']}/undo", 202)
    for _ in range(2):  # the first run only looks at signals
        with pytest.raises(DatabaseError):
            alerts.work()
    assert alerts.is_on()
