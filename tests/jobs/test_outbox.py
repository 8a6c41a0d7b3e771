"""The job that sends the messages of all kinds."""

from __future__ import annotations

import json
import threading

import pytest

from sigservice.jobs import outbox as job
from tests.mail_server import Mails, mail_server
from tests.waiting import DEADLINE_SECONDS, until

CONTENT = {
    "state": "down",
    "timestamp": "2031-01-10T02:00:00.000Z",
    "data": {
        "endpoint": "backup",
        "endpointId": 7,
        "lastSignalAt": None,
        "expectedAt": None,
        "silentSeconds": 60,
    },
}


@pytest.fixture
def post(make_post):
    """Its mail server has ended."""
    mails = Mails()
    with mail_server(mails):
        return make_post(mails, SERVICE_WEBHOOK_ALLOWED_HOSTS="127.0.0.1")


def make_values(receiver):
    return json.dumps({"type": "webhook", "url": receiver.url + "/hook"}), json.dumps(CONTENT)


def test_an_unavailable_mail_server_delays_no_notification(post, receiver):
    for name in ("bo", "cy"):
        post.user(name=name)
        post.ask(f"{name}@example.com")
    post.rows(
        "INSERT INTO outbox (kind, subject_id, target, payload) VALUES ('silence', 7, %s, %s) "
        "RETURNING id",
        *make_values(receiver),
    )
    assert post.send() == 2  # one of the two mails is tried
    assert len(receiver.requests) == 1
    assert [row["attempts"] for row in post.rows()] == [1, 0, 1]


def test_a_mail_is_tried_again_while_notifications_keep_the_job_busy(post, receiver):
    post.user()
    post.ask()
    insert = "INSERT INTO outbox (kind, subject_id, target, payload) VALUES ('silence', 7, %s, %s) "
    insert += "RETURNING id"
    post.rows(insert, *make_values(receiver))

    def answer(_):
        if post.rows()[0]["attempts"] and len(receiver.requests) < 5:
            until(lambda: post.rows()[0]["last_error"], "the failure of the mail")
            post.clock.advance(10)
            post.rows(insert, *make_values(receiver))
        return 204, b""

    receiver.answer = answer
    post.send()
    assert len(receiver.requests) == 5
    assert post.rows()[0]["attempts"] > 1


def test_slow_receivers_of_notifications_do_not_delay_a_mail(make_post, mails, receiver):
    post = make_post(mails, SERVICE_WEBHOOK_ALLOWED_HOSTS="127.0.0.1")
    post.user()
    receiver.hold = threading.Event()
    for number in range(job.MAX_CONCURRENT):
        target = {"type": "webhook", "url": f"{receiver.url}/{number}"}
        post.rows(
            "INSERT INTO outbox (kind, subject_id, target, payload) VALUES ('silence', 7, %s, %s) "
            "RETURNING id",
            *(json.dumps(value) for value in (target, CONTENT)),
        )
    post.ask()
    worker = threading.Thread(target=post.send)
    worker.start()
    try:
        until(lambda: mails.got, "the mail, while all receivers hold their answers back")
        assert len(receiver.requests) < job.MAX_CONCURRENT
    finally:
        receiver.hold.set()
        worker.join(DEADLINE_SECONDS)


def test_messages_of_kinds_that_the_process_does_not_know_are_left(post, receiver):
    target, _ = make_values(receiver)
    post.rows("INSERT INTO outbox (kind, target) VALUES ('newer', %s) RETURNING id", target)
    assert post.send() == 0
    assert [row["attempts"] for row in post.rows()] == [0]
