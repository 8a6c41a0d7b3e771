"""Notifications, from the end of a run to the receiver: real servers, the fake clock."""

from __future__ import annotations

import base64
import json
import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from sigservice.application.service import JOBS
from sigservice.jobs import outbox as job
from sigservice.jobs import retention
from sigservice.jobs.runner import Runner
from sigservice.services import outbox
from sigservice.services.actions.notifications import KIND
from sigservice.services.channel_delivery import DeliveryResult
from tests.actions_kit import SETS, Alerts
from tests.conftest import ADMIN, Make
from tests.jobs.conftest import await_first_look
from tests.receiver import receiving
from tests.waiting import DEADLINE_SECONDS, until

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()
URL = "https://flags.example/base"


class AlertsWithReceiver(Alerts):
    """A service that may connect to this machine, and a receiver."""

    def __init__(self, service, web, make, receiver):
        super().__init__(service, web, make)
        self.receiver = receiver

    def channel(self, path="/hook?token=s3cret", on=("success",), **more):
        return {"type": "webhook", "url": self.receiver.url + path, "on": list(on)} | more

    def create_set_with(self, *channels, **options):
        return self.set(options={"notifications": list(channels)} | options)["id"]

    def fire(self, payload=None):
        self.send(payload)
        self.work()

    def send_due(self):
        return job.run_once(self.service.context)

    def list_notifications(self, id):
        return self.web.get(f"{SETS}/{id}/notifications", headers=ADMIN).json["notifications"]

    def events(self):
        return [json.loads(request.body) for request in self.receiver.requests]


@pytest.fixture
def lines():
    return []


@pytest.fixture
def alerts(make_service, receiver, lines):
    import webtest

    class Log:
        def debug(self, message, *args):
            lines.append(message % args if args else message)

        info = warn = error = debug

    environ = {"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1,localhost", "SERVICE_URL": URL}
    service = make_service({"getLogger": lambda name: Log()}, environ)
    web = webtest.TestApp(service.app)
    return AlertsWithReceiver(service, web, Make(web), receiver)


def test_a_signed_webhook(alerts):
    id = alerts.create_set_with(alerts.channel(secret=SECRET))
    alerts.fire({"private": "payload"})
    assert alerts.service.context.outbox_waiting.is_set()
    assert alerts.send_due() == 1
    (request,) = alerts.receiver.requests
    event = Webhook(SECRET).verify(request.body, dict(request.headers))
    assert event["type"] == "action.run.success"
    data = event["data"]
    (run,) = alerts.runs(id)
    assert (data["id"], data["actionSetId"], data["project"]) == (run["id"], id, "default")
    assert data["url"] == f"{URL}/admin/projects/default/actions/{id}/runs/{run['id']}"
    flag = {
        "name": "checkout",
        "environment": "production",
        "url": f"{URL}/admin/features/checkout",
    }
    assert data["flags"] == [flag]
    assert data["actions"][0]["details"] == "Disabled checkout in production."
    assert b"payload" not in request.body
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(request.body + b" ", dict(request.headers))
    (notification,) = alerts.list_notifications(id)
    assert (notification["state"], notification["attempts"], notification["lastError"]) == (
        "sent",
        1,
        None,
    )
    assert alerts.send_due() == 0
    metrics = alerts.web.get("/internal-backstage/prometheus").text
    assert 'notifications_sent_total{result="sent",type="webhook"} 1.0' in metrics


def test_an_unsigned_webhook_has_no_signature(alerts):
    alerts.create_set_with(alerts.channel())
    alerts.fire()
    alerts.send_due()
    (request,) = alerts.receiver.requests
    assert request.headers["webhook-id"]
    assert request.headers["webhook-signature"] is None


def test_channels_receive_the_states_that_they_select(alerts):
    paths = {"/ok": ["success"], "/bad": ["failed"], "/not": ["suppressed"]}
    off = {"environment": "production", "featureName": "checkout"}
    gone = {"environment": "production", "featureName": "gone"}
    alerts.flag("gone")
    alerts.create_set_with(*(alerts.channel(path, on) for path, on in paths.items()), latch=True)
    acts = [{"action": "TOGGLE_FEATURE_OFF", "executionParams": p} for p in (off, gone)]
    alerts.set(name="b", acts=acts, options={"notifications": [alerts.channel("/bad", ["failed"])]})
    alerts.set(name="c", options={"dryRun": True, "notifications": [alerts.channel("/dry")]})
    alerts.web.delete("/api/admin/projects/default/features/gone", headers=ADMIN)
    alerts.fire()
    alerts.send_due()
    alerts.fire()
    alerts.send_due()
    messages = {}
    for request, event in zip(alerts.receiver.requests, alerts.events(), strict=True):
        messages.setdefault(request.path, []).append((event["type"], event["data"]["text"]))
    assert messages["/ok"] == [("action.run.success", "Action set kill checkout ran")]
    suppressed = ("action.run.suppressed", "Action set kill checkout did not run")
    assert messages["/not"] == [suppressed]
    assert messages["/bad"][0] == ("action.run.failed", "Action set b failed")
    assert messages["/dry"][0][1] == "Action set c ran (dry run: nothing was changed)"
    reasons = [e["data"]["reason"] for e in alerts.events() if e["data"]["state"] == "suppressed"]
    assert reasons == ["It runs once and has run. Re-enable it to let it run again."]


def test_retries_back_off_and_end(alerts):
    alerts.receiver.answers = [(500, {})]
    id = alerts.create_set_with(alerts.channel(secret=SECRET))
    alerts.fire()
    for attempt in range(1, 11):
        assert alerts.send_due() == 1, attempt
        pause = min(5 * 3 ** (attempt - 1), 3600)
        alerts.clock.advance(pause * 0.75 - 0.01)
        assert alerts.send_due() == 0, attempt
        alerts.clock.advance(pause * 0.5 + 0.02)
    assert alerts.send_due() == 0
    (notification,) = alerts.list_notifications(id)
    assert (notification["state"], notification["attempts"]) == ("given up", 10)
    assert notification["lastError"] == "The server responded with status 500."
    assert len({request.headers["webhook-id"] for request in alerts.receiver.requests}) == 1
    assert len({request.headers["webhook-timestamp"] for request in alerts.receiver.requests}) == 10
    alerts.receiver.answers = [(200, {})]
    path = f"{SETS}/{id}/notifications/{notification['id']}/retry"
    assert alerts.web.post(path, headers=ADMIN, status=202).json["state"] == "waiting"
    assert alerts.send_due() == 1
    (notification,) = alerts.list_notifications(id)
    assert (notification["state"], notification["attempts"], notification["lastError"]) == (
        "sent",
        1,
        None,
    )
    alerts.web.post(path, headers=ADMIN, status=409)
    assert alerts.send_due() == 0


@pytest.mark.parametrize(
    ("retry_after", "waits"),
    [("120", 120), ("Sat, 01 Jan 2050 00:00:00 GMT", 86_400), ("soon", 0), ("-5", 0), ("٣", 0)],
)
def test_retry_after(alerts, retry_after, waits):
    alerts.receiver.answers = [(429, {"Retry-After": retry_after}), (200, {})]
    alerts.create_set_with(alerts.channel())
    alerts.fire()
    alerts.send_due()
    alerts.clock.advance(max(waits - 1, 3))
    assert alerts.send_due() == 0
    alerts.clock.advance(5)
    assert alerts.send_due() == 1


@pytest.mark.parametrize(
    ("answer", "state", "error"),
    [
        ((410, {}), "given up", "The server responded with status 410."),
        (
            (301, {"Location": "/x"}),
            "waiting",
            "The server redirects (301); redirects are not followed.",
        ),
        ((404, {}), "waiting", "The server responded with status 404."),
    ],
)
def test_answers(alerts, answer, state, error):
    alerts.receiver.answers = [answer]
    id = alerts.create_set_with(alerts.channel())
    alerts.fire()
    alerts.send_due()
    (notification,) = alerts.list_notifications(id)
    assert (notification["state"], notification["lastError"]) == (state, error)
    assert len(alerts.receiver.requests) == 1


def test_a_private_name_is_given_up(make_service, receiver):
    import webtest

    service = make_service()
    web = webtest.TestApp(service.app)
    alerts = AlertsWithReceiver(service, web, Make(web), receiver)
    url = f"http://localhost:{receiver.port}/"
    id = alerts.create_set_with({"type": "webhook", "url": url, "on": ["success"]})
    alerts.fire()
    alerts.send_due()
    (notification,) = alerts.list_notifications(id)
    assert notification["state"] == "given up"
    assert "SERVICE_WEBHOOK_ALLOW_PRIVATE" in notification["lastError"]
    assert receiver.requests == []


def test_channels_do_not_wait_for_each_other(alerts, receiver):
    """One receiver holds its answer back until the other has received two messages."""
    with receiving() as slow:
        slow.hold = threading.Event()
        alerts.create_set_with(
            alerts.channel("/quick"), alerts.channel() | {"url": f"{slow.url}/slow"}
        )
        alerts.fire()
        alerts.fire()
        worker = threading.Thread(target=alerts.send_due)
        worker.start()
        try:
            until(lambda: len(receiver.requests) == 2, "the messages of the quick one")
            until(lambda: slow.requests, "the first message of the slow one")
            assert len(slow.requests) == 1  # one message of a channel at a time
        finally:
            slow.hold.set()
            worker.join(DEADLINE_SECONDS)
        assert len(slow.requests) == 2


def test_killed_between_sending_and_noting_it(alerts):
    """It is sent again with the same id when the claim has run out, and not before."""
    id = alerts.create_set_with(alerts.channel(secret=SECRET))
    alerts.fire()
    context = alerts.service.context
    with context.database.autocommit() as conn:
        row = outbox.claim(conn, [KIND], context.clock.now())
    assert job.deliver(context, row).error == ""
    alerts.clock.advance(outbox.CLAIM_DURATION.total_seconds() - 1)
    assert alerts.send_due() == 0
    alerts.clock.advance(2)
    assert alerts.send_due() == 1
    first, second = alerts.receiver.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    with context.database.autocommit() as conn:  # the first one comes back after all
        outbox.settle(conn, row, DeliveryResult("late", is_final=True), context.clock.now())
    (notification,) = alerts.list_notifications(id)
    assert (notification["state"], notification["attempts"]) == ("sent", 2)


def test_several_processes_share(alerts):
    """No process takes a notification that another one has claimed, and none holds a lock."""
    alerts.create_set_with(*(alerts.channel(f"/{n}") for n in range(3)))
    alerts.fire()
    context = alerts.service.context
    with context.database.transaction() as one, context.database.transaction() as other:
        first = outbox.claim(one, [KIND], context.clock.now())
        second = outbox.claim(other, [KIND], context.clock.now())
        assert first["id"] != second["id"]
    assert alerts.send_due() == 1
    assert [request.path for request in alerts.receiver.requests] == ["/2"]


def test_no_output_contains_secrets(alerts, lines):
    alerts.receiver.answers = [(500, {})]
    bad = {"url": "http://127.0.0.1:1099/s3cret?t=s3cret"}
    id = alerts.create_set_with(alerts.channel(secret=SECRET), alerts.channel() | bad)
    alerts.fire()
    for _ in range(10):
        alerts.send_due()
        alerts.clock.advance(5000)
    output = json.dumps(
        [
            alerts.list_notifications(id),
            alerts.runs(id),
            alerts.web.get(f"{SETS}/{id}", headers=ADMIN).json,
            alerts.web.get("/api/admin/events", headers=ADMIN).json,
            alerts.web.get("/internal-backstage/prometheus").text,
            lines,
        ]
    )
    assert [notification["state"] for notification in alerts.list_notifications(id)] == [
        "given up"
    ] * 2
    assert any("given up" in line for line in lines)
    assert "s3cret" not in output
    assert SECRET not in output
    channel = alerts.list_notifications(id)[0]["channel"]
    assert (channel.keys(), channel["url"][:-4]) == ({"type", "url"}, "http://127.0.0.1:1099/…")


def test_the_notification_of_a_deleted_run_is_given_up(alerts, database):
    alerts.create_set_with(alerts.channel())
    alerts.fire()
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute("DELETE FROM action_runs")
        alerts.send_due()
        cursor.execute("SELECT last_error FROM outbox WHERE given_up_at IS NOT NULL")
        assert cursor.fetchall() == [("The run was deleted.",)]
    conn.close()
    assert alerts.receiver.requests == []


def test_old_notifications_are_deleted(alerts, database):
    alerts.create_set_with(alerts.channel())
    for _ in range(3):
        alerts.fire()
    alerts.send_due()
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute("SELECT id FROM outbox ORDER BY id")
        old, young, waiting = (row[0] for row in cursor.fetchall())
        past = "UPDATE outbox SET sent_at = now() - %s::interval WHERE id = %s"
        cursor.execute(past, ("31 days", old))
        cursor.execute(past, ("29 days", young))
        cursor.execute(
            "UPDATE outbox SET sent_at = NULL, created_at = now() - interval '99 days' "
            "WHERE id = %s",
            (waiting,),
        )
        assert retention.run_once(alerts.service.context) == 1
        cursor.execute("SELECT id FROM outbox ORDER BY id")
        assert [row[0] for row in cursor.fetchall()] == [young, waiting]
    conn.close()


def test_a_signal_is_sent_at_once(alerts):
    """With the jobs running, which poll only once an hour."""
    alerts.create_set_with(alerts.channel())
    jobs = [replace(job, every_seconds=3600, first_seconds=0.01) for job in JOBS if job.woken_by]
    runner = Runner(alerts.service.context, tuple(jobs))
    runner.start()
    try:
        await_first_look(alerts.service, jobs)
        alerts.send()
        alerts.service.context.signals_waiting.set()
        until(lambda: alerts.receiver.requests, "the message")
    finally:
        runner.request_stop()
        runner.join(DEADLINE_SECONDS)


def test_an_unexpected_error_is_in_the_log_under_the_id_that_the_notification_shows(
    alerts, rows, lines
):
    id = alerts.create_set_with(alerts.channel())
    alerts.fire()
    rows('UPDATE outbox SET target = target || \'{"secret": "whsec_x"}\'')
    alerts.send_due()
    (notification,) = alerts.list_notifications(id)
    error_id = re.search(r"error ([0-9a-f-]{36})", notification["lastError"])[1]
    (line,) = [line for line in lines if "Traceback" in line]
    assert error_id in line
    assert "in deliver" in line


def list_paths(value, path=""):
    """The path of each key in a JSON value, at any depth."""
    if isinstance(value, list):
        return {key for item in value for key in list_paths(item, f"{path}[]")}
    if not isinstance(value, dict):
        return set()
    paths = {f"{path}.{key}" for key in value}
    return paths.union(*(list_paths(item, f"{path}.{key}") for key, item in value.items()))


def test_the_documentation_shows_each_key_of_a_webhook(alerts):
    page = (Path(__file__).parents[2] / "docs" / "notifications.md").read_text()
    _, example = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.S))
    alerts.create_set_with(alerts.channel(), restoreAfterMinutes=5)
    alerts.fire()
    alerts.send_due()
    (event,) = alerts.events()
    assert list_paths(event) == list_paths(example)
