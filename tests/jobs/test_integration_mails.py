"""Integrations of the provider email: a mail for each event and recipient."""

from __future__ import annotations

import pytest
import webtest

from tests.conftest import ADMIN
from tests.integrations_kit import ADDONS, FEATURES, URL, Integrations, make_body

EVENTS = ["feature-environment-enabled"]


@pytest.fixture
def kit(make_service, mails, receiver, clock):
    environ = {"EMAIL_HOST": "127.0.0.1", "EMAIL_PORT": str(mails.port), "SERVICE_URL": URL}
    environ["EMAIL_SENDER"] = "Flags <flags@example.com>"
    return Integrations(make_service(environ=environ), receiver, clock)


def create(kit, to="ada@example.com, oncall@example.com"):
    parameters = {"to": to}
    return kit.create(provider="email", parameters=parameters, events=EVENTS)


def switch(kit, name="f1"):
    kit.flag(name)
    path = f"{FEATURES}/{name}/environments/production/on"
    kit.web.post(path, headers=ADMIN)
    kit.run()


def test_each_recipient_gets_a_mail(kit, mails):
    id = create(kit)
    switch(kit)
    assert [mail.recipients for mail in mails.got] == [["ada@example.com"], ["oncall@example.com"]]
    message = mails.got[0].message
    assert (message["From"], message["To"]) == ("Flags <flags@example.com>", "ada@example.com")
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Message-ID"] == mails.got[1].message["Message-ID"]
    sentence = "API token admin turned f1 on in production (project default)"
    assert message["Subject"] == f"sigservice: {sentence}"
    assert message.get_content_type() == "text/plain"
    assert mails.got[0].text.splitlines() == [
        sentence,
        "",
        "User: API token admin",
        "Event: feature-environment-enabled",
        "Project: default",
        "Environment: production",
        "Flag: f1",
        "",
        f"{URL}/admin/features/f1",
    ]
    assert kit.states(id) == [("sent", None)]
    assert "ada@example.com: The mail server accepted it in" in kit.entries(id)[0]["stateDetails"]


def test_a_subject_has_at_most_150_characters(kit, mails):
    create(kit, to="ada@example.com")
    switch(kit, "f" * 100)
    (mail,) = mails.got
    assert len(mail.message["Subject"]) == 150
    assert mail.text.startswith(
        f"API token admin turned {'f' * 100} on in production (project default)"
    )


def test_a_retry_goes_to_the_recipients_that_have_got_none(kit, mails):
    id = create(kit)
    mails.refuses = {"oncall@example.com": "451 Later"}
    switch(kit)
    reason = "oncall@example.com: The server refuses the recipient (451)."
    assert kit.states(id) == [("waiting", reason)]
    mails.refuses = {}
    kit.clock.advance(7)
    kit.run()
    assert [mail.recipients[0] for mail in mails.got] == ["ada@example.com", "oncall@example.com"]
    assert kit.states(id) == [("sent", None)]


def test_an_address_that_is_refused_is_given_up(kit, mails):
    id = create(kit)
    mails.refuses = {"oncall@example.com": "550 Unknown"}
    switch(kit)
    reason = "oncall@example.com: The server refuses the recipient (550)."
    assert kit.states(id) == [("given up", reason)]
    assert kit.entries(id)[0]["state"] == "successWithErrors"


def test_a_test_sends_a_mail(kit, mails):
    id = create(kit, to="ada@example.com")
    assert kit.call("post", f"{ADDONS}/{id}/test", {}, 200)["state"] == "success"
    assert len(mails.got) == 1


@pytest.mark.parametrize(
    "to",
    [
        "",
        "ada",
        "ada@example.com,",
        "a@b.c\r\nBcc: x@y.z",
        ", ".join(f"a{n}@x.y" for n in range(21)),
    ],
)
def test_recipients_are_checked(kit, to):
    body = make_body(provider="email", parameters={"to": to})
    error = kit.call("post", ADDONS, body, 400)
    assert [one["path"] for one in error["details"]] == ["parameters.to"]


def test_without_a_mail_server_none_is_created(service):
    web = webtest.TestApp(service.app)
    body = make_body(provider="email", parameters={"to": "ada@example.com"})
    error = web.post_json(ADDONS, body, headers=ADMIN, status=400).json
    assert (error["details"][0]["path"], "EMAIL_HOST" in error["message"]) == ("provider", True)
