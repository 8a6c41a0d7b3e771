"""Signals that can't be evaluated: which ones become dead letters, and where that is shown."""

from __future__ import annotations

import re

import pytest
import webtest

from sigservice.jobs import actions
from sigservice.services.actions.action_evaluation import EvaluationError
from tests.actions_kit import Alerts
from tests.application.test_app import Log
from tests.conftest import Make


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def service(make_service, log):
    return make_service({"getLogger": log})


@pytest.fixture
def alerts(service):
    web = webtest.TestApp(service.app)
    return Alerts(service, web, Make(web))


def poison(rows, signal):
    """A number that the database can't copy into a run."""
    rows("UPDATE signals SET payload = '[1e99999, \"secret\"]' WHERE id = %s", signal)


def dead_letters(rows):
    """Ids of the signals that became dead letters."""
    results = rows(
        "SELECT signal_id FROM signal_results WHERE results @> '[{\"actionSetId\": null}]'"
    )
    return [id for (id,) in results]


def alone(context):
    return actions._evaluate_batch(context, context.get_logger("actions"), 1)


def test_its_page_and_its_endpoints_log_show_it(alerts, rows, cast, log):
    alerts.set()
    signal = alerts.send()
    poison(rows, signal)
    alerts.work()
    ada = cast.signed_in("ada")
    (error_id,) = re.findall(r"error ([0-9a-f-]{36})", str(alerts.list_results(signal)))
    log_page = f"/admin/signals/{alerts.endpoint['id']}/log"
    for page in (ada.get(log_page), ada.get(f"{log_page}/{signal}")):
        assert "Dead letter" in page
        assert "not evaluated" in page
        assert error_id in page
    (line,) = [text for _, _, text in log.lines if error_id in text]
    assert "Traceback" in line
    assert "in _evaluate" in line
    assert "secret" not in line


def test_another_signal_that_is_the_oldest_by_then_is_left_alone(alerts, make_service, rows):
    """Two processes: one meets the failure, the other one does the work before it goes on."""
    one = alerts.set()
    context = alerts.service.context
    poisoned = alerts.send()
    poison(rows, poisoned)
    with pytest.raises(EvaluationError) as caught:
        alone(context)
    rows("UPDATE signals SET payload = '{}' WHERE id = %s", poisoned)
    assert alone(make_service().context) == (1, 0)
    healthy = alerts.send()
    actions._store_dead_letter(context, context.get_logger("actions"), caught.value)
    assert dead_letters(rows) == []
    alerts.work()
    assert [run["signalId"] for run in alerts.runs(one["id"])] == [healthy, poisoned]


@pytest.fixture
def failing_times(rows):
    """`failing_times(n)`: the next n attempts to write a run fail."""

    def add_trigger(n):
        rows("CREATE SEQUENCE attempts")
        rows(
            "CREATE FUNCTION fail_for_a_while() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF nextval('attempts') <= {n} THEN RAISE EXCEPTION 'broken' USING ERRCODE = 'XX000'; "
            "END IF; RETURN NEW; END $$"
        )
        rows(
            "CREATE TRIGGER fail_for_a_while BEFORE INSERT ON action_runs "
            "FOR EACH ROW EXECUTE FUNCTION fail_for_a_while()"
        )

    yield add_trigger
    rows("DROP TRIGGER fail_for_a_while ON action_runs")
    rows("DROP FUNCTION fail_for_a_while; DROP SEQUENCE attempts")


@pytest.mark.parametrize(("failures", "becomes_one"), [(3, False), (4, True)])
def test_only_what_fails_twice_alone_becomes_one(
    alerts, rows, failing_times, failures, becomes_one
):
    """In a batch two attempts fail before it is tried alone."""
    alerts.set()
    signal = alerts.send()
    failing_times(failures)
    alerts.work()
    assert dead_letters(rows) == ([signal] if becomes_one else [])
    assert rows("SELECT count(*) FROM action_runs") == [(0 if becomes_one else 1,)]


def test_an_unexpected_error_is_logged_once_with_the_id_that_the_run_shows(alerts, rows, log):
    one = alerts.set()
    rows("UPDATE action_sets SET filters = '[{\"operator\": 5}]'")
    alerts.send()
    alerts.work()
    (run,) = alerts.runs(one["id"])
    error_id = re.search(r"error ([0-9a-f-]{36})", run["reason"])[1]
    (line,) = [text for _, _, text in log.lines if error_id in text]
    assert f"action set {one['id']} can't be evaluated" in line
    assert "Traceback" in line
    assert sum("Traceback" in text for _, _, text in log.lines) == 1


def test_a_run_shows_whether_its_set_may_run_now(alerts, make_service):
    """Two processes: the copy of a set in a run follows what another one did."""
    options = {"latch": True}
    one = alerts.set(options=options)
    other = make_service().context
    first = alerts.send()
    actions.run_once(other)
    alerts.send()
    alerts.work()
    actions.run_once(other)
    alerts.send()
    actions.run_once(other)
    runs = alerts.runs(one["id"])
    assert [run["state"] for run in runs] == ["suppressed", "suppressed", "success"]
    assert [run["actionSet"]["armed"] for run in runs] == [False, False, True]
    assert runs[-1]["signalId"] == first
