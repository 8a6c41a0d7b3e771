"""Telling people, from the end of a run to the receiver: real servers, the fake clock."""

from __future__ import annotations

import base64
import json
import re
import threading
from dataclasses import replace

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from sigservice.jobs import notifications as job
from sigservice.jobs import retention
from sigservice.jobs.runner import Runner
from sigservice.server import JOBS
from sigservice.services.actions import notification_channels
from sigservice.services.actions import notifications as service_of
from tests.actions_kit import SETS, Alerts
from tests.conftest import ADMIN, Make
from tests.jobs.conftest import await_first_look
from tests.receiver import receiving
from tests.waiting import DEADLINE_SECONDS, until

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()
URL = "https://flags.example/base"


class Told(Alerts):
    """A service that may connect to this machine, and a receiver."""

    def __init__(self, service, web, make, receiver):
        super().__init__(service, web, make)
        self.receiver = receiver

    def channel(self, path="/hook?token=s3cret", on=("success",), **more):
        return {"type": "webhook", "url": self.receiver.url + path, "on": list(on)} | more

    def set_with(self, *channels, **options):
        return self.set(options={"notifications": list(channels)} | options)["id"]

    def fire(self, payload=None):
        self.send(payload)
        self.work()

    def tell(self):
        return job.run_once(self.service.context)

    def listed(self, id):
        return self.web.get(f"{SETS}/{id}/notifications", headers=ADMIN).json["notifications"]

    def events(self):
        return [json.loads(asked.body) for asked in self.receiver.asked]


@pytest.fixture
def receiver():
    with receiving() as one:
        yield one


@pytest.fixture
def lines():
    return []


@pytest.fixture
def told(make_service, receiver, lines):
    import webtest

    class Log:
        def debug(self, message, *args):
            lines.append(message % args if args else message)

        info = warn = error = debug

    environ = {"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1,localhost", "SERVICE_URL": URL}
    service = make_service({"getLogger": lambda name: Log()}, environ)
    web = webtest.TestApp(service.app)
    return Told(service, web, Make(web), receiver)


def test_a_signed_webhook(told):
    id = told.set_with(told.channel(secret=SECRET))
    told.fire({"private": "payload"})
    assert told.service.context.notifications_waiting.is_set()
    assert told.tell() == 1
    (asked,) = told.receiver.asked
    event = Webhook(SECRET).verify(asked.body, dict(asked.headers))
    assert event["type"] == "action.run.success"
    data = event["data"]
    (run,) = told.runs(id)
    assert (data["id"], data["actionSetId"], data["project"]) == (run["id"], id, "default")
    assert data["url"] == f"{URL}/admin/projects/default/actions/{id}/runs/{run['id']}"
    flag = {
        "name": "checkout",
        "environment": "production",
        "url": f"{URL}/admin/features/checkout",
    }
    assert data["flags"] == [flag]
    assert data["actions"][0]["details"] == "Disabled checkout in production."
    assert b"payload" not in asked.body
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(asked.body + b" ", dict(asked.headers))
    (seen,) = told.listed(id)
    assert (seen["state"], seen["attempts"], seen["lastError"]) == ("sent", 1, None)
    assert told.tell() == 0
    metrics = told.web.get("/internal-backstage/prometheus").text
    assert 'notifications_sent_total{result="sent",type="webhook"} 1.0' in metrics


def test_an_unsigned_webhook_has_no_signature(told):
    told.set_with(told.channel())
    told.fire()
    told.tell()
    (asked,) = told.receiver.asked
    assert asked.headers["webhook-id"]
    assert asked.headers["webhook-signature"] is None


def test_who_wants_to_know_of_what(told):
    paths = {"/ok": ["success"], "/bad": ["failed"], "/not": ["suppressed"]}
    off = {"environment": "production", "featureName": "checkout"}
    gone = {"environment": "production", "featureName": "gone"}
    told.flag("gone")
    told.set_with(*(told.channel(path, on) for path, on in paths.items()), latch=True)
    acts = [{"action": "TOGGLE_FEATURE_OFF", "executionParams": p} for p in (off, gone)]
    told.set(name="b", acts=acts, options={"notifications": [told.channel("/bad", ["failed"])]})
    told.set(name="c", options={"dryRun": True, "notifications": [told.channel("/dry")]})
    told.web.delete("/api/admin/projects/default/features/gone", headers=ADMIN)
    told.fire()
    told.tell()
    told.fire()
    told.tell()
    found = {}
    for asked, event in zip(told.receiver.asked, told.events(), strict=True):
        found.setdefault(asked.path, []).append((event["type"], event["data"]["text"]))
    assert found["/ok"] == [("action.run.success", "Action set kill checkout ran")]
    suppressed = ("action.run.suppressed", "Action set kill checkout did not run")
    assert found["/not"] == [suppressed]
    assert found["/bad"][0] == ("action.run.failed", "Action set b failed")
    assert found["/dry"][0][1] == "Action set c ran (dry run: nothing was changed)"
    reasons = [e["data"]["reason"] for e in told.events() if e["data"]["state"] == "suppressed"]
    assert reasons == ["It runs once and has run. Re-enable it to let it run again."]


def test_retries_back_off_and_end(told):
    told.receiver.answers = [(500, {})]
    id = told.set_with(told.channel(secret=SECRET))
    told.fire()
    for attempt in range(1, 11):
        assert told.tell() == 1, attempt
        pause = min(5 * 3 ** (attempt - 1), 3600)
        told.clock.advance(pause * 0.75 - 0.01)
        assert told.tell() == 0, attempt
        told.clock.advance(pause * 0.5 + 0.02)
    assert told.tell() == 0
    (seen,) = told.listed(id)
    assert (seen["state"], seen["attempts"]) == ("given up", 10)
    assert seen["lastError"] == "The server responded with status 500."
    assert len({asked.headers["webhook-id"] for asked in told.receiver.asked}) == 1
    assert len({asked.headers["webhook-timestamp"] for asked in told.receiver.asked}) == 10
    told.receiver.answers = [(200, {})]
    path = f"{SETS}/{id}/notifications/{seen['id']}/retry"
    assert told.web.post(path, headers=ADMIN, status=202).json["state"] == "waiting"
    assert told.tell() == 1
    (seen,) = told.listed(id)
    assert (seen["state"], seen["attempts"], seen["lastError"]) == ("sent", 1, None)
    told.web.post(path, headers=ADMIN, status=409)
    assert told.tell() == 0


@pytest.mark.parametrize(
    ("asked", "waits"),
    [("120", 120), ("Sat, 01 Jan 2050 00:00:00 GMT", 86_400), ("soon", 0), ("-5", 0), ("٣", 0)],
)
def test_retry_after(told, asked, waits):
    told.receiver.answers = [(429, {"Retry-After": asked}), (200, {})]
    told.set_with(told.channel())
    told.fire()
    told.tell()
    told.clock.advance(max(waits - 1, 3))
    assert told.tell() == 0
    told.clock.advance(5)
    assert told.tell() == 1


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
def test_answers(told, answer, state, error):
    told.receiver.answers = [answer]
    id = told.set_with(told.channel())
    told.fire()
    told.tell()
    (seen,) = told.listed(id)
    assert (seen["state"], seen["lastError"]) == (state, error)
    assert len(told.receiver.asked) == 1


def test_a_private_name_is_given_up(make_service, receiver):
    import webtest

    service = make_service()
    web = webtest.TestApp(service.app)
    told = Told(service, web, Make(web), receiver)
    url = f"http://localhost:{receiver.port}/"
    id = told.set_with({"type": "webhook", "url": url, "on": ["success"]})
    told.fire()
    told.tell()
    (seen,) = told.listed(id)
    assert seen["state"] == "given up"
    assert "SERVICE_WEBHOOK_ALLOW_PRIVATE" in seen["lastError"]
    assert receiver.asked == []


def test_channels_do_not_wait_for_each_other(told, receiver):
    """One receiver holds its answer back until the other has been told twice."""
    with receiving() as slow:
        slow.hold = threading.Event()
        told.set_with(told.channel("/quick"), told.channel() | {"url": f"{slow.url}/slow"})
        told.fire()
        told.fire()
        worker = threading.Thread(target=told.tell)
        worker.start()
        try:
            until(lambda: len(receiver.asked) == 2, "the messages of the quick one")
            assert len(slow.asked) == 1  # one message of a channel at a time
        finally:
            slow.hold.set()
            worker.join(DEADLINE_SECONDS)
        assert len(slow.asked) == 2


def test_killed_between_sending_and_noting_it(told):
    """It is sent again with the same id when the claim has run out, and not before."""
    id = told.set_with(told.channel(secret=SECRET))
    told.fire()
    context = told.service.context
    with context.database.autocommit() as conn:
        row = service_of.claim(conn, context.clock.now(), [])
    settings = notification_channels.DeliverySettings.from_config(context.config)
    assert (
        notification_channels.deliver_notification(
            row, settings, context.sender, context.clock.now()
        ).error
        == ""
    )
    told.clock.advance(service_of.CLAIM_DURATION.total_seconds() - 1)
    assert told.tell() == 0
    told.clock.advance(2)
    assert told.tell() == 1
    first, second = told.receiver.asked
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    with context.database.autocommit() as conn:  # the first one comes back after all
        service_of.settle(
            conn,
            row,
            notification_channels.DeliveryResult("late", is_final=True),
            context.clock.now(),
        )
    (seen,) = told.listed(id)
    assert (seen["state"], seen["attempts"]) == ("sent", 2)


def test_several_processes_share(told):
    """Nobody takes what another one has claimed, and no lock is held meanwhile."""
    told.set_with(*(told.channel(f"/{n}") for n in range(3)))
    told.fire()
    context = told.service.context
    with context.database.transaction() as one, context.database.transaction() as other:
        first = service_of.claim(one, context.clock.now(), [])
        second = service_of.claim(other, context.clock.now(), [])
        assert first["id"] != second["id"]
    assert told.tell() == 1
    assert [asked.path for asked in told.receiver.asked] == ["/2"]


def test_secrets_are_nowhere(told, lines):
    told.receiver.answers = [(500, {})]
    bad = {"url": "http://127.0.0.1:1099/s3cret?t=s3cret"}
    id = told.set_with(told.channel(secret=SECRET), told.channel() | bad)
    told.fire()
    for _ in range(10):
        told.tell()
        told.clock.advance(5000)
    shown = json.dumps(
        [
            told.listed(id),
            told.runs(id),
            told.web.get(f"{SETS}/{id}", headers=ADMIN).json,
            told.web.get("/api/admin/events", headers=ADMIN).json,
            told.web.get("/internal-backstage/prometheus").text,
            lines,
        ]
    )
    assert [seen["state"] for seen in told.listed(id)] == ["given up"] * 2
    assert any("given up" in line for line in lines)
    assert "s3cret" not in shown
    assert SECRET not in shown
    told_to = told.listed(id)[0]["channel"]
    assert (told_to.keys(), told_to["url"][:-4]) == ({"type", "url"}, "http://127.0.0.1:1099/…")


def test_a_run_that_is_gone(told, database):
    told.set_with(told.channel())
    told.fire()
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute("DELETE FROM action_runs")
        told.tell()
        cursor.execute("SELECT last_error FROM notifications WHERE given_up_at IS NOT NULL")
        assert cursor.fetchall() == [("The run was deleted.",)]
    conn.close()
    assert told.receiver.asked == []


def test_old_ones_are_deleted(told, database):
    told.set_with(told.channel())
    for _ in range(3):
        told.fire()
    told.tell()
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute("SELECT id FROM notifications ORDER BY id")
        old, young, waiting = (row[0] for row in cursor.fetchall())
        past = "UPDATE notifications SET sent_at = now() - %s::interval WHERE id = %s"
        cursor.execute(past, ("31 days", old))
        cursor.execute(past, ("29 days", young))
        cursor.execute(
            "UPDATE notifications SET sent_at = NULL, created_at = now() - interval '99 days' "
            "WHERE id = %s",
            (waiting,),
        )
        assert retention.run_once(told.service.context) == 1
        cursor.execute("SELECT id FROM notifications ORDER BY id")
        assert [row[0] for row in cursor.fetchall()] == [young, waiting]
    conn.close()


def test_a_signal_is_told_of_at_once(told):
    """With the jobs running, which poll only once an hour."""
    told.set_with(told.channel())
    jobs = [replace(job, every_seconds=3600, first_seconds=0.01) for job in JOBS if job.woken_by]
    runner = Runner(told.service.context, tuple(jobs))
    runner.start()
    try:
        await_first_look(told.service, jobs)
        told.send()
        told.service.context.signals_waiting.set()
        until(lambda: told.receiver.asked, "the message")
    finally:
        runner.request_stop()
        runner.join(DEADLINE_SECONDS)


def test_an_unexpected_error_is_in_the_log_under_the_id_that_the_notification_shows(
    told, rows, lines
):
    id = told.set_with(told.channel())
    told.fire()
    rows('UPDATE notifications SET channel = channel || \'{"secret": "whsec_x"}\'')
    told.tell()
    (seen,) = told.listed(id)
    error_id = re.search(r"error ([0-9a-f-]{36})", seen["lastError"])[1]
    (line,) = [line for line in lines if "Traceback" in line]
    assert error_id in line
    assert "in deliver_notification" in line
