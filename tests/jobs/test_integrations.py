"""Deliveries of integrations: queue, order, retries, and what is given up."""

from __future__ import annotations

import json
import re
import threading
from contextlib import ExitStack, suppress
from datetime import timedelta

import pytest

from sigservice.jobs import integrations as job
from sigservice.jobs import retention
from sigservice.repository.integrations import integrations
from sigservice.services.identity import SYSTEM
from sigservice.services.integrations import integrations as integration_services
from sigservice.services.system import events
from tests.conftest import ADMIN
from tests.integrations_kit import ADDONS, ENVIRON, FEATURES, Integrations, make_body
from tests.receiver import receiving
from tests.waiting import until

OFF = ("given up", "The server responded with status 400.")


@pytest.fixture
def kit(make_service, receiver, clock):
    return Integrations(make_service(environ=ENVIRON), receiver, clock)


def test_a_webhook_gets_the_event_of_the_audit_log(kit, receiver):
    id = kit.create()
    kit.flag(description="Zoë")
    kit.run()
    (request,) = receiver.requests
    (event,) = kit.bodies()
    (logged, *_) = kit.call("get", "/api/admin/search/events?type=IS:feature-created")["events"]
    assert event == {name: value for name, value in logged.items() if name != "ip"}
    assert event["featureName"] == "f1"
    assert event["tags"] == []
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["webhook-id"].startswith("msg_")
    assert kit.states(id) == [("sent", None)]
    (entry,) = kit.entries(id)
    assert entry["event"] == event
    assert re.fullmatch(r"The receiver answered 204 in \d+ ms\.", entry["stateDetails"])


def test_a_configured_header_replaces_the_one_of_the_service(kit, receiver):
    parameters = {"url": receiver.url, "customHeaders": '{"user-agent": "mine"}'}
    kit.create(parameters=parameters)
    kit.flag()
    kit.run()
    (request,) = receiver.requests
    assert request.headers.get_all("User-Agent") == ["mine"]


def test_events_are_sent_after_the_system_had_no_thread_left(kit, receiver, monkeypatch):
    def fail(thread):
        raise RuntimeError("can't start new thread")

    id = kit.create()
    kit.flag()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", fail)
        with pytest.raises(RuntimeError):
            job.run_once(kit.service.context)
    kit.run()
    assert kit.states(id) == [("sent", None)]


@pytest.fixture(params=["disabled", "deleted"])
def end(request, rows):
    """Disables or deletes an integration."""

    def run(conn, id):
        if request.param == "deleted":
            integration_services.delete(conn, id, SYSTEM)
        else:
            ((version,),) = rows("SELECT xmin::text FROM integrations")
            integration_services.disable(conn, id, "gone", version=version)

    return run


def count_unsent(rows):
    ((count,),) = rows("SELECT count(*) FROM outbox")
    return count


def test_a_change_that_no_integration_wants_queues_nothing(kit, rows):
    kit.create(events=["feature-archived"])
    kit.create(enabled=False)
    kit.create(environments=["development"], events=["feature-environment-enabled"])
    kit.flag()
    assert count_unsent(rows) == 0


def test_a_change_that_is_rolled_back_sends_nothing(kit, rows):
    kit.create()
    with suppress(ZeroDivisionError), kit.service.context.database.transaction() as conn:
        events.record(conn, "feature-created", SYSTEM, feature_name="f1", project="default")
        raise ZeroDivisionError
    assert count_unsent(rows) == 0


def test_filters_of_projects_and_environments(kit, rows):
    kit.call("post", "/api/admin/projects", {"id": "web", "name": "Web"}, 201)
    events = ["feature-created", "feature-environment-enabled", "segment-created"]
    web = kit.create(events=events, projects=["web"])
    development = kit.create(events=events, environments=["development"])
    every = kit.create(events=["*"], projects=["web", "*"])
    kit.flag()
    kit.call("post", f"{FEATURES}/f1/environments/production/on", {}, 200)
    kit.call("post", "/api/admin/segments", {"name": "s", "constraints": []}, 201)
    assert [one["type"] for one in kit.deliveries(web)] == ["segment-created"]
    assert [one["type"] for one in kit.deliveries(development)] == [
        "segment-created",
        "feature-created",
    ]
    assert len(kit.deliveries(every)) >= 4


def test_events_are_sent_in_order_and_wait_for_the_one_before(kit, receiver):
    id = kit.create()
    receiver.answers = [(500, {}), (204, {})]
    for number in range(5):
        kit.flag(f"f{number}")
    kit.run()
    assert len(receiver.requests) == 1
    kit.run()
    assert len(receiver.requests) == 1, "not before the retry is due"
    kit.clock.advance(7)
    kit.run()
    names = [one["featureName"] for one in kit.bodies()]
    assert names == ["f0", "f0", "f1", "f2", "f3", "f4"]
    ids = [one.headers["webhook-id"] for one in receiver.requests]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 5
    assert [state for state, _ in kit.states(id)] == ["sent"] * 5


def test_retry_after_is_honoured(kit, receiver):
    id = kit.create()
    receiver.answers = [(429, {"Retry-After": "600"}), (204, {})]
    kit.flag()
    kit.run()
    kit.clock.advance(599)
    kit.run()
    assert kit.states(id) == [("waiting", "The server responded with status 429.")]
    kit.clock.advance(1)
    kit.run()
    assert kit.states(id) == [("sent", None)]


def test_redirects_are_repeated_and_not_followed(kit, receiver):
    id = kit.create()
    receiver.answers = [(302, {"Location": f"{receiver.url}/other"})]
    kit.flag()
    kit.run()
    assert [one.path for one in receiver.requests] == ["/hook"]
    assert kit.states(id)[0][0] == "waiting"


def test_a_final_answer_gives_up_one_event_and_the_next_follow(kit, receiver):
    id = kit.create()
    receiver.answers = [(400, {}), (204, {})]
    kit.flag("f1")
    kit.flag("f2")
    kit.run()
    assert kit.states(id) == [OFF, ("sent", None)]
    (entry,) = [one for one in kit.entries(id) if one["state"] == "failed"]
    assert entry["stateDetails"] == OFF[1]
    given_up = kit.deliveries(id)[1]["id"]
    kit.call("post", f"{ADDONS}/{id}/deliveries/{given_up}/retry", {}, 202)
    kit.run()
    assert kit.states(id) == [("sent", None), ("sent", None)]
    kit.call("post", f"{ADDONS}/{id}/deliveries/{given_up}/retry", {}, 409)
    kit.call("post", f"{ADDONS}/{id}/deliveries/999999/retry", {}, 404)
    for state, count in (("sent", 2), ("waiting", 0), ("given%20up", 0)):
        answer = kit.call("get", f"{ADDONS}/{id}/deliveries?state={state}", status=200)
        assert len(answer["deliveries"]) == count
    problem = kit.call("get", f"{ADDONS}/{id}/deliveries?state=lost", status=400)
    assert problem["details"][0]["path"] == "state"


STATES = {
    "sent": (200, 201, 204, 299),
    "waiting": (301, 307, 408, 425, 429, 500, 503),
    "given up": (400, 401, 403, 404, 413, 422),
}


def test_the_status_decides_whether_an_event_is_sent_again(kit, receiver):
    statuses = [(status, state) for state, some in STATES.items() for status in some]
    for status, state in statuses:
        receiver.answers = [(status, {})]
        id = kit.create(f"{receiver.url}/{status}")
        kit.flag(f"f{status}")
        kit.run()
        assert kit.states(id)[0][0] == state, status
        kit.web.delete(f"{ADDONS}/{id}", headers=ADMIN)


def test_retry_after_is_honoured_up_to_a_day(kit, receiver, rows):
    kit.create()
    receiver.answers = [(503, {"Retry-After": "9999999"})]
    kit.flag()
    kit.run()
    ((due_at,),) = rows("SELECT due_at FROM outbox")
    assert due_at - kit.clock.now() == timedelta(days=1)


def test_pauses_are_tripled_up_to_an_hour(kit, receiver, rows):
    kit.create()
    receiver.answers = [(500, {})]
    kit.flag()
    for seconds in (5, 15, 45, 135, 405, 1215, 3600, 3600, 3600):
        kit.run()
        ((due_at,),) = rows("SELECT due_at FROM outbox")
        pause = (due_at - kit.clock.now()).total_seconds()
        assert 0.75 * seconds <= pause <= 1.25 * seconds
        kit.clock.advance(pause)


def test_ten_failed_attempts_give_up_visibly(kit, receiver):
    id = kit.create()
    receiver.answers = [(0, {})]
    kit.flag()
    for _ in range(10):
        kit.run()
        kit.clock.advance(7200)
    assert [state for state, _ in kit.states(id)] == ["given up"]
    metrics = kit.service.context.telemetry.write_exposition().decode()
    assert 'integration_deliveries_given_up_total{provider="webhook"} 1.0' in metrics


def test_a_receiver_that_is_gone_disables_the_integration(kit, receiver):
    id = kit.create()
    receiver.answers = [(410, {})]
    kit.flag("f1")
    kit.flag("f2")
    kit.run()
    addon = kit.call("get", f"{ADDONS}/{id}")
    assert not addon["enabled"]
    assert "410" in addon["disabledReason"]
    assert len(receiver.requests) == 1
    assert addon["deliveries"]["waiting"] == 0
    (event, *_) = kit.call("get", "/api/admin/search/events?type=IS:addon-config-updated")["events"]
    assert event["createdBy"] == "system"
    assert event["data"]["disabledReason"]


def test_a_receiver_that_is_gone_disables_no_integration_that_was_changed_meanwhile(kit, receiver):
    id = kit.create()
    receiver.answers, receiver.hold = [(410, {}), (204, {})], threading.Event()
    kit.flag("f1")
    job.run_once(kit.service.context)
    until(lambda: receiver.requests, "the first request")
    kit.call("put", f"{ADDONS}/{id}", make_body(f"{receiver.url}/new"), 200)
    receiver.hold.set()
    kit.run()
    kit.flag("f2")
    kit.run()
    assert kit.call("get", f"{ADDONS}/{id}")["enabled"]
    assert [one.path for one in receiver.requests] == ["/hook", "/new"]
    assert [state for state, _ in kit.states(id)] == ["given up", "sent"]


def test_a_receiver_that_hangs_delays_no_other(kit):
    with ExitStack() as stack:
        receivers = [stack.enter_context(receiving()) for _ in range(4)]
        for one in receivers[:3]:
            one.hold = threading.Event()
        for one in receivers:
            kit.create(f"{one.url}/")
        kit.flag()
        job.run_once(kit.service.context)
        try:
            until(lambda: receivers[3].requests, "the receiver that answers")
            kit.flag("f2")
            until(lambda: (kit_run(kit), len(receivers[3].requests) == 2)[1], "the next event")
            assert [len(one.requests) for one in receivers[:3]] == [1, 1, 1]
        finally:
            for one in receivers[:3]:
                one.hold.set()
        until(
            lambda: (retry(kit), all(list_flags(one) == ["f1", "f2"] for one in receivers))[1],
            "all",
        )
        until(lambda: not kit.service.context.integration_senders, "the end of all senders")


def kit_run(kit):
    job.run_once(kit.service.context)


def retry(kit):
    """On a slow machine an attempt that hangs may have failed."""
    kit.clock.advance(3600)
    kit_run(kit)


def list_flags(receiver):
    names = [json.loads(one.body)["featureName"] for one in receiver.requests]
    return list(dict.fromkeys(names))


def lease(kit, owner, limit=job.MAX_LEASED):
    """The next deliveries of the queues that another process leases."""
    values = {"now": kit.clock.now(), "owner": owner}
    with kit.service.context.database.transaction() as conn:
        ids = integrations.lease_queues(conn, busy=[], **values)
        return [
            row for id in ids for row in integrations.list_next(conn, id, limit=limit, **values)
        ]


def end_leases(rows, end="-1 s"):
    assert rows(
        f"UPDATE integration_leases SET leased_until = now() + interval '{end}' RETURNING 1"
    )


@pytest.mark.parametrize("end", ["-1 s", "1 hour"])  # the clock of the database was set back
def test_a_killed_sender_delays_its_integration_until_its_lease_ends(kit, receiver, rows, end):
    id = kit.create()
    kit.flag()
    lease(kit, "killed")
    kit.run()
    assert not receiver.requests
    end_leases(rows, end)
    kit.run()
    assert kit.states(id) == [("sent", None)]


def test_a_process_whose_clock_is_ahead_takes_no_queue_from_another(kit, receiver):
    kit.create()
    kit.flag()
    lease(kit, "another")
    kit.clock.step(60)
    kit.run()
    assert not receiver.requests


def test_one_connection_carries_all_events_of_a_queue(kit, receiver):
    receiver.keeps_connections = True
    kit.create()
    for number in range(30):
        kit.flag(f"f{number}")
    kit.run()
    assert len(receiver.requests) == 30
    assert receiver.connections == 1


def test_a_changed_integration_stops_what_was_leased_before(kit, receiver):
    id = kit.create()
    for number in range(5):
        kit.flag(f"f{number}")
    receiver.hold = threading.Event()
    job.run_once(kit.service.context)
    until(lambda: receiver.requests, "the first request")
    kit.call("put", f"{ADDONS}/{id}", make_body(f"{receiver.url}/new"), 200)
    receiver.hold.set()
    until(lambda: not kit.service.context.integration_senders, "the end of the sender")
    kit.run()
    assert [one.path for one in receiver.requests] == ["/hook"] + ["/new"] * 4
    assert [state for state, _ in kit.states(id)] == ["sent"] * 5


def test_a_failure_leaves_what_follows_as_it_was(kit, receiver, rows):
    kit.create()
    receiver.answers = [(503, {}), (204, {})]
    for number in range(3):
        kit.flag(f"f{number}")
    kit.run()
    assert rows("SELECT attempts, due_at <= now() FROM outbox ORDER BY id") == [
        (1, False),
        (0, True),
        (0, True),
    ]


def test_deliveries_that_a_killed_process_had_leased_lose_no_attempt(kit, receiver, rows):
    kit.create()
    kit.flag("f1")
    kit.flag("f2")
    for number in range(10):
        assert len(lease(kit, f"killed {number}")) == 2
        end_leases(rows)
    assert rows("SELECT DISTINCT attempts FROM outbox") == [(0,)]
    kit.run()
    assert [one["featureName"] for one in kit.bodies()] == ["f1", "f2"]


def test_deliveries_that_the_version_before_has_leased_are_left_to_it(kit, rows):
    kit.create()
    for number in range(4):
        kit.flag(f"f{number}")
    lease(kit, "one", limit=1)
    rows(
        "UPDATE outbox SET due_at = now() + interval '1 day' "
        "WHERE id = (SELECT id FROM outbox ORDER BY id OFFSET 2 LIMIT 1) RETURNING id"
    )
    assert [row["feature_name"] for row in lease(kit, "one")] == ["f0", "f1"]


def test_two_processes_never_send_from_one_queue_at_the_same_time(kit, rows):
    id = kit.create()
    for number in range(3):
        kit.flag(f"f{number}")
    assert len(lease(kit, "one", limit=2)) == 2
    assert lease(kit, "another") == []
    assert len(lease(kit, "one")) == 3
    end_leases(rows)
    assert len(lease(kit, "another")) == 3
    with kit.service.context.database.autocommit() as conn:
        lost = {"now": kit.clock.now(), "owner": "one", "limit": 9}
        assert integrations.list_next(conn, id, **lost) == [], "its lease has ended"


def test_a_sender_that_ends_leaves_its_queue_to_other_processes(kit):
    kit.create()
    kit.flag("f1")
    kit.run()
    kit.flag("f2")
    assert [row["feature_name"] for row in lease(kit, "another")] == ["f2"]


def test_a_change_during_the_end_of_an_integration_waits_and_queues_nothing(kit, rows, end):
    id = kit.create()
    change = threading.Thread(target=kit.flag)
    with kit.service.context.database.transaction() as conn:
        end(conn, id)
        change.start()
        until(lambda: rows("SELECT 1 FROM pg_locks WHERE NOT granted"), "the change")
    change.join()
    assert rows("SELECT feature_name FROM events ORDER BY id DESC LIMIT 1") == [("f1",)]
    assert count_unsent(rows) == 0


def test_the_end_of_an_integration_waits_for_a_change_and_drops_its_event(kit, rows, end):
    id = kit.create()
    database = kit.service.context.database

    def run_end():
        with database.transaction() as conn:
            end(conn, id)

    ending = threading.Thread(target=run_end)
    with database.transaction() as conn:
        events.record(conn, "feature-created", SYSTEM, feature_name="f1", project="default")
        ending.start()
        until(lambda: rows("SELECT 1 FROM pg_locks WHERE NOT granted"), "the end")
    ending.join()
    assert count_unsent(rows) == 0


def test_a_disabled_integration_drops_what_waits(kit, receiver):
    id = kit.create()
    kit.flag()
    body = make_body(f"{receiver.url}/hook", enabled=False)
    kit.call("put", f"{ADDONS}/{id}", body, 200)
    kit.call("put", f"{ADDONS}/{id}", body | {"enabled": True}, 200)
    kit.run()
    assert not receiver.requests
    assert kit.deliveries(id) == []


def test_retention_keeps_events_that_wait(make_service, receiver, clock, rows):
    service = make_service(environ=ENVIRON | {"SERVICE_EVENTS_RETENTION_DAYS": "1"})
    kit = Integrations(service, receiver, clock)
    kit.create()
    kit.flag("f1")
    rows("UPDATE events SET created_at = now() - interval '3 days' RETURNING id")
    retention.run_once(service.context)
    assert rows("SELECT feature_name FROM events") == [("f1",)]


def test_a_refused_address_is_given_up_without_a_request(make_service, receiver, clock):
    kit = Integrations(make_service(), receiver, clock)
    id = kit.create(f"http://localhost:{receiver.port}/")
    kit.flag()
    kit.run()
    assert not receiver.requests
    assert kit.states(id)[0][0] == "given up"


def test_an_event_has_the_tags_of_its_flag(kit):
    kit.create(events=["feature-archived"])
    kit.flag()
    kit.call("post", "/api/admin/features/f1/tags", {"type": "simple", "value": "hello"}, 201)
    kit.web.delete(f"{FEATURES}/f1", headers=ADMIN)
    kit.run()
    assert kit.bodies()[0]["tags"] == [{"type": "simple", "value": "hello"}]


def test_long_queues_of_integrations_do_not_delay_other_messages(kit, rows):
    rows(
        "INSERT INTO outbox (kind, subject_id, target) SELECT 'integration', 1, '{}' "
        "FROM generate_series(1, 5000) RETURNING id"
    )
    rows("ANALYZE outbox")
    plan = rows(
        "EXPLAIN SELECT id FROM outbox WHERE due_at <= now() AND sent_at IS NULL "
        "AND given_up_at IS NULL AND kind <> 'integration' AND kind = ANY('{run,silence}') "
        "ORDER BY due_at, id LIMIT 1"
    )
    assert "outbox_due_message_idx" in str(plan)
