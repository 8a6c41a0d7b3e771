"""Email: server, connection, sender, links, and what happens without a server.

One service sends a welcome and a reset mail; what came is kept for the other rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.mail_server import PASSWORD, USER, Got, Mails, mail_server
from tests.server.process import until
from tests.spec.kit import ADMIN_SECRET, Case, Row, Services

USERS = "/api/admin/user-admin"
# An address of this machine that no other run of the suite listens on.
HOST = f"127.{os.getpid() % 250 + 3}.{os.getpid() // 250 % 250}.1"
URL = "https://flags.example/sub"


@dataclass
class Post:
    welcome: Got
    reset: Got
    signed_in: list[tuple[str, str]]


@contextmanager
def send_mails(services: Services) -> Iterator[Post]:
    mails = Mails()
    mails.good = (USER, PASSWORD)
    environ = {name: text for row in ROWS if row.alone for name, text in row.environ.items()}
    with (
        mail_server(mails, host=HOST, port=int(environ["EMAIL_PORT"]), smtps=None, auth=True),
        services.run_service(environ) as service,
    ):

        def send(path: str, body: Any, status: int) -> Any:
            code, answer = service.request("POST", path, body, ADMIN_SECRET)
            assert code == status, answer
            return answer

        for name in ("bo", "cy"):
            body = {"email": f"{name}@example.com", "sendEmail": name == "bo"}
            assert send(USERS, body, 201)["emailSent"] is (name == "bo")
        until(lambda: len(mails.got) == 1, f"the welcome mail: {service.stderr}")
        assert send("/auth/reset/password-email", {"email": "cy@example.com"}, 200) == b""
        until(lambda: len(mails.got) == 2, f"the reset mail: {service.stderr}")
        welcome, reset = mails.got
        assert (welcome.recipients, reset.recipients) == (["bo@example.com"], ["cy@example.com"])
        new = {"token": reset.link.partition("=")[2], "password": "New-Horse-Staple-8"}
        send("/auth/reset/password", new, 200)
        login = {"username": "cy@example.com", "password": new["password"]}
        send("/auth/simple/login", login, 200)
    yield Post(welcome, reset, mails.signed_in)


def fetch_mails(case: Case) -> Post:
    return case.services.open_once(send_mails, case.services)


def check_host(case: Case) -> None:
    assert fetch_mails(case).welcome.message["Subject"].startswith("Welcome")


def check_secure(case: Case) -> None:
    assert not fetch_mails(case).reset.is_encrypted


def check_sender(case: Case) -> None:
    assert fetch_mails(case).reset.message["From"] == case.value


def check_user(case: Case) -> None:
    assert {name for name, _ in fetch_mails(case).signed_in} == {case.value}


def check_password(case: Case) -> None:
    assert {secret for _, secret in fetch_mails(case).signed_in} == {case.value}


def check_links(case: Case) -> None:
    came = fetch_mails(case)
    assert came.welcome.link.startswith(f"{URL}/new-user?token=")
    assert came.reset.link.startswith(f"{URL}/reset-password?token=")


def check_without_mail_server(case: Case) -> None:
    body = {"email": f"{case.name}@example.com"}
    user = case.admin("POST", USERS, body)
    assert user["emailSent"] is False
    assert case.request("POST", "/auth/reset/password-email", body).status == 200
    page = case.request("GET", "/forgot-password").text
    assert "configured. Ask an admin for a reset link" in page
    assert "<form" not in page
    assert "users can't reset their passwords" in case.service.stdout + case.service.stderr
    link = case.admin("POST", f"{USERS}/reset-password", {"id": body["email"]})
    path = link["resetPasswordUrl"].partition("/reset-password")
    assert case.request("GET", path[1] + path[2]).status == 200


ROWS = (
    Row("email.host", check_host, "EMAIL_HOST", HOST, alone=True),
    Row("email.port", check_host, "EMAIL_PORT", "2525", alone=True),
    Row("email.secure", check_secure, "EMAIL_SECURE", "false", alone=True),
    Row("email.sender", check_sender, "EMAIL_SENDER", "Flags <flags@env.example>", alone=True),
    Row("email.smtpuser", check_user, "EMAIL_USER", USER, alone=True),
    Row("email.smtppass", check_password, "EMAIL_PASSWORD", PASSWORD, alone=True),
    Row("server.unleashUrl", check_links, "SERVICE_URL", f"{URL}/", alone=True),
    Row(
        "mail: without a mail server users cannot reset their own passwords",
        check_without_mail_server,
    ),
)
