"""Two processes on one database: every signal has one run, and they happen in order."""

from __future__ import annotations

import threading

import webtest

from sigservice.jobs import actions
from tests.actions_kit import Alerts
from tests.conftest import Make
from tests.waiting import DEADLINE_SECONDS

SIGNALS = 300


def queue(alerts, count, payload="{}"):
    """Signals as many senders would have left them."""
    alerts.rows(
        "WITH made AS (INSERT INTO signals (endpoint_id, token_id, payload, payload_bytes) "
        "SELECT %s, 0, %s::json, 2 FROM generate_series(1, %s) RETURNING id, endpoint_id) "
        "INSERT INTO signal_queue (signal_id, endpoint_id) SELECT id, endpoint_id FROM made",
        alerts.endpoint["id"],
        payload,
        count,
    )


def test_two_workers_share_the_queue(make_service):
    services = [make_service(), make_service()]
    web = webtest.TestApp(services[0].app)
    alerts = Alerts(services[0], web, Make(web))
    one = alerts.set()
    limited = alerts.set(name="limited", options={"maxRunsPerHour": 7})
    queue(alerts, SIGNALS)
    done, gate = [], threading.Barrier(2)

    def work(service):
        gate.wait(DEADLINE_SECONDS)
        done.append(actions.run_once(service.context))

    threads = [threading.Thread(target=work, args=(service,)) for service in services]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive()
    assert sum(done) == SIGNALS + 7
    assert alerts.queued() == 0
    assert alerts.rows("SELECT count(*) FROM signal_results") == [(SIGNALS,)]
    rows = alerts.rows(
        "SELECT signal_id, state, finished_at, next_action FROM action_runs "
        "WHERE action_set_id = %s ORDER BY id",
        one["id"],
    )
    assert [row[0] for row in rows] == sorted({row[0] for row in rows})
    assert {(row[1], row[3]) for row in rows} == {("success", 1)}
    assert [row[2] for row in rows] == sorted(row[2] for row in rows)
    assert len(rows) == SIGNALS
    assert alerts.rows(
        "SELECT state, count(*) FROM action_runs WHERE action_set_id = %s GROUP BY 1 ORDER BY 1",
        limited["id"],
    ) == [("success", 7), ("suppressed", SIGNALS - 7)]
    assert len(alerts.events(type="feature-environment-disabled")) == 1


def test_resolved_and_firing_in_turns_with_two_workers(make_service):
    services = [make_service(), make_service()]
    web = webtest.TestApp(services[0].app)
    alerts = Alerts(services[0], web, Make(web))
    resolved = {"path": "s", "values": ["resolved"], "key": "k"}
    firing = {"s": {"operator": "IN", "values": ["firing"]}}
    one = alerts.set(payload=firing, options={"restoreWhenResolved": resolved})
    for _ in range(15):
        queue(alerts, 1, '{"s": "firing", "k": "a"}')
        queue(alerts, 1, '{"s": "resolved", "k": "a"}')
    threads = [
        threading.Thread(target=actions.run_once, args=(service.context,)) for service in services
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive()
    assert alerts.states(one["id"]) == [("signal", "success"), ("resolved", "success")] * 15
    assert alerts.is_on()
    assert alerts.queued() == 0
