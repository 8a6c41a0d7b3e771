"""Mails to users, from the request to the mail server: real servers, fake clock."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from sigservice.application.service import JOBS
from sigservice.jobs import mails as job
from sigservice.jobs import retention, upkeep
from sigservice.jobs.runner import Runner
from sigservice.services import outbox
from sigservice.services.deliveries import DeliveryResult
from tests.conftest import ADMIN
from tests.jobs.conftest import ASK, URL, USERS, await_first_look
from tests.mail_server import PASSWORD, USER, Mails, mail_server
from tests.routes.kit import race_for_statuses
from tests.waiting import DEADLINE_SECONDS, until


def test_a_reset_mail_has_a_working_link(post, mails):
    post.user(name="bo")
    assert post.ask().body == b""
    assert post.service.context.mails_waiting.is_set()
    assert post.send() == 1
    (got,) = mails.got
    assert (got.sender, got.recipients) == ("flags@example.com", ["bo@example.com"])
    message = got.message
    assert (message["From"], message["To"]) == ("Flags <flags@example.com>", "bo@example.com")
    assert message["Subject"] == "sigservice - Reset your password"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Message-ID"].endswith("@example.com>")
    assert message.get_content_type() == "multipart/alternative"
    assert got.link.startswith(f"{URL}/reset-password?token=")
    assert f'<a href="{got.link}">' in got.html
    assert post.status_of(got.link) == 200
    assert post.send() == 0
    assert [state for state, _ in post.states()] == ["sent"]
    metrics = post.web.get("/internal-backstage/prometheus").text
    assert 'mails_sent_total{kind="reset",result="sent"} 1.0' in metrics
    (event,) = post.web.get("/api/admin/events?type=password-reset-requested", headers=ADMIN).json[
        "events"
    ]
    assert (event["createdBy"], event["data"]["username"]) == ("anonymous", "bo")


def test_a_welcome_mail_and_the_link_of_the_admin_both_work(post, mails):
    user = post.user(name="zoë", email="zoe@example.com", sendEmail=True)
    assert user["emailSent"] is True
    assert post.send() == 1
    (got,) = mails.got
    assert got.message["Subject"] == "Welcome to sigservice"
    links = [user["inviteLink"], got.link]
    assert len(set(links)) == 2
    for link in links:
        assert link.startswith(f"{URL}/new-user?token=")
        assert post.status_of(link) == 200
    for more in ({"sendEmail": False}, {"sendEmail": True, "email": None}):
        assert post.user(name="bo", **more)["emailSent"] is False
        post.web.delete(
            f"{USERS}/{post.rows('SELECT max(id) FROM users')[0]['max']}", headers=ADMIN
        )
    assert post.send() == 0


def test_responses_do_not_reveal_accounts(post, mails):
    post.user(name="bo")
    answers = [post.ask(email) for email in ("bo@example.com", "no@example.com", "bo", "x" * 400)]
    assert len({(a.status, a.body, str(sorted(a.headers.items()))) for a in answers}) == 1
    assert [row["user_id"] is None for row in post.rows()] == [False, True, True, True]
    assert post.send() == 1
    # A user gets no second mail within the interval, and the response doesn't reveal it.
    post.ask()
    assert post.send() == 0
    assert post.rows()[-1]["user_id"] is None
    post.clock.advance(61)
    post.ask("BO@example.com")
    assert post.send() == 1


def test_the_link_of_a_reset_mail_works_for_an_hour(post, mails):
    user = post.user(name="bo")
    post.ask()
    post.send()
    assert "expires in 1 hour" in mails.got[0].text
    assert "expires in 1 hour" in mails.got[0].html
    post.clock.advance(3599)
    assert post.status_of(mails.links()[0]) == 200
    post.clock.advance(1)
    assert post.status_of(mails.links()[0]) == 401
    assert post.status_of(user["inviteLink"]) == 200


def test_the_lifetime_of_mailed_links_is_an_option(make_post):
    with mail_server() as mails:
        post = make_post(mails, PASSWORD_RESET_LINK_MINUTES="90")
        post.user(name="bo")
        post.ask()
        post.user(name="cy", sendEmail=True)
        assert post.send() == 2
        reset, welcome = sorted(mails.got, key=lambda got: "/new-user?" in got.link)
        assert "expires in 90 minutes" in reset.text
        assert "expires in 24 hours" in welcome.text
        post.clock.advance(90 * 60)
        assert [post.status_of(got.link) for got in (reset, welcome)] == [401, 200]


def test_another_request_keeps_earlier_links(post, mails):
    post.user(name="bo")
    for _ in range(2):
        post.ask()
        assert post.send() == 1
        post.clock.advance(61)
    assert [post.status_of(link) for link in mails.links()] == [200, 200]


def test_a_new_password_ends_all_links(post, mails):
    post.user(name="bo")
    for _ in range(2):
        post.ask()
        post.send()
        post.clock.advance(61)
    first, second = mails.links()
    body = {"token": first.partition("=")[2], "password": "Other-Horse-8"}
    post.web.post_json("/auth/reset/password", body)
    assert post.status_of(second) == 401


def test_of_two_parallel_links_one_sets_the_password(post, mails):
    for n in range(5):
        invited = post.user(name=f"bo{n}", sendEmail=True)
        post.send()
        links = (invited["inviteLink"], mails.links()[-1])

        def redeem(racer, m, links=links):
            body = {"token": links[m].partition("=")[2], "password": f"Other-Horse-{m}"}
            return racer.post_json("/auth/reset/password", body, expect_errors=True)

        assert race_for_statuses(post.service, 2, redeem) == [200, 401]


def test_requests_for_one_account_are_limited_whether_it_exists_or_not(post):
    post.user(name="bo")
    answers = []
    for email in ("bo@example.com", "nobody@example.com"):
        for spelling in (email, email.upper(), f" {email}"):
            post.ask(spelling)
            post.clock.advance(61)
        refused = post.ask(email, status=429)
        assert int(refused.headers["Retry-After"]) > 3000
        answers.append((refused.json["name"], sorted(refused.headers)))
        post.ask(f"other-{email}")
    assert answers[0] == answers[1]
    post.clock.advance(3600)
    post.ask()


def test_a_mailbox_gets_three_mails_an_hour_from_all_processes(post, make_post, mails):
    post.user(name="bo")
    for process in (post, make_post(mails)):
        for _ in range(3):
            process.ask()
            process.send()
            post.clock.advance(61)
    assert len(mails.got) == 3
    assert [row["user_id"] is None for row in post.rows()] == [False] * 3 + [True] * 3
    post.clock.advance(3600)
    post.ask()
    assert post.send() == 1


def test_a_later_request_replaces_a_waiting_mail(post, mails):
    user = post.user(name="bo")
    post.ask()
    link = post.web.post_json(f"{USERS}/reset-password", {"id": user["email"]}, headers=ADMIN)
    assert post.send() == 0  # the admin created a link
    assert post.status_of(link.json["resetPasswordUrl"]) == 200
    post.clock.advance(61)
    post.ask()
    post.clock.advance(61)
    post.ask()
    assert post.send() == 1
    assert post.status_of(link.json["resetPasswordUrl"]) == 200
    post.clock.advance(3600)
    post.ask()
    path = f"{USERS}/{user['id']}/change-password"
    post.web.post_json(path, {"password": "Other-Horse-8"}, headers=ADMIN)
    assert post.send() == 0  # the password was set
    assert [post.status_of(link) for link in mails.links()] == [401]


def test_mails_are_retried_after_an_outage(make_post):
    mails = Mails()
    with mail_server(mails):
        post = make_post(mails)
    for name in ("bo", "cy", "di"):
        post.user(name=name)
        post.ask(f"{name}@example.com")
    assert post.send() == 1  # the others aren't tried
    assert ("waiting", "Connection failed: Connection refused.") in post.states()
    with mail_server(mails, port=mails.port):
        assert post.send() == 2
        assert post.send() == 0
        post.clock.advance(3.5)
        assert post.send() == 0
        post.clock.advance(3)
        assert post.send() == 1
        assert all(post.status_of(link) == 200 for link in mails.links())
        post.clock.advance(9999)
        assert post.send() == 0
    assert sorted(got.recipients[0] for got in mails.got) == [
        "bo@example.com",
        "cy@example.com",
        "di@example.com",
    ]
    assert {state for state, _ in post.states()} == {"sent"}


def test_a_mail_is_given_up_after_a_day(post, mails, monkeypatch):
    monkeypatch.setattr(outbox.random, "uniform", lambda low, high: 1.0)
    mails.answer = "451 Later, bo@example.com"
    post.user(name="bo")
    post.ask()
    attempts = waited = 0
    while waited < 90_000:
        attempts += post.send()
        post.clock.advance(300)
        waited += 300
    ((state, error),) = post.states()
    assert (state, error) == ("given up", "The server refuses the email (451).")
    assert 22 <= attempts <= 36
    assert mails.got == []
    output = json.dumps([post.lines, post.web.get("/internal-backstage/prometheus").text])
    assert "given up" in output
    assert "example.com" not in output
    assert "token=" not in output


def test_a_welcome_mail_does_not_block_a_reset_mail(post, mails):
    post.web.post_json(USERS, {"email": "bo@example.com"}, headers=ADMIN, status=201)
    post.ask()
    assert post.send() == 2
    welcome, reset = mails.links()
    assert "/new-user?" in welcome
    assert "/reset-password?" in reset
    assert post.status_of(reset) == 200


def test_a_mail_that_waited_a_day_is_given_up_unsent(post, mails):
    post.user(name="bo")
    post.ask()
    post.clock.advance(24 * 3600)
    assert post.send() == 0
    assert post.states() == [("given up", "Expired before it could be sent.")]
    assert mails.got == []


def test_a_rejected_recipient_is_final(post, mails):
    mails.refuses["bo@example.com"] = "550 No such user here"
    for name in ("bo", "cy"):
        post.user(name=name)
        post.ask(f"{name}@example.com")
    assert post.send() == 2
    post.clock.advance(9999)
    assert post.send() == 0
    assert post.states() == [
        ("given up", "The server refuses the recipient (550)."),
        ("sent", None),
    ]


def test_a_mail_is_sent_again_after_a_kill(post, mails):
    """The same message is sent again after the lease expires, and not before."""
    post.user(name="bo")
    post.ask()
    context = post.service.context
    with context.database.autocommit() as conn:
        row = outbox.lease_mail(conn, context.clock.now())
    assert job.deliver(context, context.mail_server, row).error == ""
    post.clock.advance(outbox.LEASE_DURATION.total_seconds() - 1)
    assert post.send() == 0
    post.clock.advance(2)
    assert post.send() == 1
    first, second = mails.got
    assert first.message["Message-ID"] == second.message["Message-ID"]
    assert [post.status_of(link) for link in mails.links()] == [200, 200]
    with context.database.autocommit() as conn:  # the first sender finishes late
        outbox.settle_mail(conn, row, DeliveryResult("late", is_final=True), context.clock.now())
    assert post.states() == [("sent", None)]


def test_processes_share_the_mails(post, mails):
    """A process skips leased mails and holds no lock while it sends."""
    for name in ("bo", "cy", "di"):
        post.user(name=name)
        post.ask(f"{name}@example.com")
    context = post.service.context
    with context.database.transaction() as one, context.database.transaction() as other:
        first = outbox.lease_mail(one, context.clock.now())
        second = outbox.lease_mail(other, context.clock.now())
        assert first["id"] != second["id"]
    assert post.send() == 1
    assert mails.got[0].recipients == ["di@example.com"]


def test_names_and_addresses_cannot_inject_headers(post, mails):
    name = "Eve\r\nBcc: all@example.com\r\n\r\n<b>https://evil.example/</b> %s {{1}} _x_"
    post.user(name="eve", sendEmail=True)
    post.send()
    id = post.rows("SELECT max(id) FROM users")[0]["max"]
    post.rows("UPDATE users SET name = %s WHERE id = %s RETURNING id", name, id)
    post.clock.advance(61)
    post.ask("eve@example.com")
    post.send()
    got = mails.got[-1]
    assert got.recipients == ["eve@example.com"]
    assert got.message["Bcc"] is None
    plain = "Hello Eve Bcc all example com b https evil example b s 1 x,"
    assert got.text.splitlines()[0] == plain
    assert f"<p>{plain}</p>" in got.html
    assert "evil.example" not in got.text + got.html
    before = len(mails.got)
    strange = ["a,all@example.com", "<a@example.com>", "a@b,c", "a;b@c", "é@example.com", "a@[x"]
    for n, address in enumerate(strange):
        post.rows("UPDATE users SET email = %s WHERE id = %s RETURNING id", address, id)
        post.clock.advance(3600)
        post.ask(address)
        assert post.send() == 1, address
        assert post.states()[-1][0] == "given up", address
        assert len(mails.got) == before, (n, address)
    post.rows("UPDATE users SET email = '\"a,b\"@example.com' WHERE id = %s RETURNING id", id)
    post.clock.advance(61)
    post.ask('"a,b"@example.com')
    post.send()
    assert mails.got[-1].recipients == ['"a,b"@example.com']
    assert mails.got[-1].message["To"] == '"a,b"@example.com'
    post.rows("UPDATE users SET email = 'a@bücher.example' WHERE id = %s RETURNING id", id)
    post.clock.advance(61)
    post.ask("a@bücher.example")
    post.send()
    assert mails.got[-1].recipients == ["a@xn--bcher-kva.example"]


def test_links_are_never_stored_or_logged(make_post):
    with mail_server(auth=True) as mails:
        post = make_post(mails, EMAIL_USER=USER, EMAIL_PASSWORD=PASSWORD)
        invited = post.user(name="bo", sendEmail=True)
        post.send()
        post.clock.advance(61)
        post.ask()
        post.send()
        assert all(got.is_signed_in for got in mails.got)
        links = [invited["inviteLink"], *mails.links()]
    tables = [
        row["t"] for row in post.rows("SELECT tablename t FROM pg_tables WHERE schemaname='public'")
    ]
    rows = " ".join(str(post.rows(f'SELECT x::text FROM "{table}" x')) for table in tables)
    assert "bo@example.com" in rows
    output = rows + json.dumps(
        [
            post.lines,
            post.web.get("/api/admin/events", headers=ADMIN).json,
            post.web.get("/internal-backstage/prometheus").text,
        ]
    )
    for link in links:
        assert link.partition("token=")[2] not in output
    assert PASSWORD not in output
    assert "bo@example.com" not in json.dumps(post.lines)


def test_a_forged_host_is_not_in_links(make_post):
    with mail_server() as mails:
        post = make_post(mails, SERVICE_URL="", BASE_URI_PATH="/flags")
        for n, host in enumerate(("192.0.2.66", "evil.example", "localhost:99")):
            post.web.post_json(
                f"/flags{USERS}",
                {"email": f"u{n}@example.com"},
                headers=ADMIN | {"Host": host},
                status=201,
            )
            forged = {"Host": host, "X-Forwarded-Host": host}
            place = {"REMOTE_ADDR": f"10.0.1.{n}"}
            post.clock.advance(61)
            body = {"email": f"u{n}@example.com"}
            post.web.post_json(f"/flags{ASK}", body, headers=forged, extra_environ=place)
        post.send()
    assert {link.partition("?")[0] for link in mails.links()} == {
        "http://localhost:80/flags/reset-password"
    }


def test_links_expire_when_the_email_changes(post, mails):
    user = post.user(name="bo")
    post.ask()
    post.send()
    path = f"{USERS}/{user['id']}"
    post.web.put_json(path, {"name": "Bo"}, headers=ADMIN)
    assert post.status_of(mails.links()[0]) == 200
    post.web.put_json(path, {"email": "other@example.com"}, headers=ADMIN)
    assert post.status_of(mails.links()[0]) == 401
    post.ask("other@example.com")
    post.clock.advance(61)
    post.ask("other@example.com")
    post.web.delete(path, headers=ADMIN)
    assert post.send() == 0


def test_old_mails_and_expired_links_are_deleted(post, mails):
    post.user(name="bo")
    post.ask()
    post.send()
    context = post.service.context
    assert upkeep.delete_reset_tokens(context) == 0
    post.clock.advance(24 * 3600)
    assert upkeep.delete_reset_tokens(context) == 2  # the mailed link and the invite link
    assert retention.run_once(context) == 0
    post.rows("UPDATE outbox SET sent_at = now() - interval '31 days' RETURNING id")
    assert retention.run_once(context) == 1


def test_a_mail_is_sent_immediately(post, mails):
    """With running jobs that poll once an hour."""
    post.user(name="bo")
    jobs = [replace(job, every_seconds=3600, first_seconds=0.01) for job in JOBS if job.woken_by]
    runner = Runner(post.service.context, tuple(jobs))
    runner.start()
    try:
        await_first_look(post.service, jobs)
        post.ask()
        until(lambda: mails.got, "the mail")
    finally:
        runner.request_stop()
        runner.join(DEADLINE_SECONDS)


def test_an_unexpected_error_is_logged_with_the_id_of_the_mail(post):
    post.user(name="bo")
    post.ask()
    post.rows("UPDATE outbox SET payload = '{}' RETURNING id")
    assert post.send() == 1
    ((state, error),) = post.states()
    assert state == "waiting"
    error_id = re.search(r"error ([0-9a-f-]{36})", error)[1]
    (text,) = [text for _, _, text in post.lines if "Traceback" in text]
    assert f"sending mail {post.rows()[0]['id']} failed ({error_id})" in text
    assert "in deliver" in text
