"""Email: server, connection, sender, links, and what happens without a server.

One service for each way sends a welcome and a reset mail; what came is kept for the other rows.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from tests.mail_server import PASSWORD, USER, Certificates, Got, Mails, mail_server
from tests.server.process import until
from tests.spec.kit import Case, Row, Services

USERS = "/api/admin/user-admin"
# Addresses of this machine that no other run of the suite listens on.
_NET = f"127.{os.getpid() % 250 + 3}.{os.getpid() // 250 % 250}"
HOSTS = {"default": f"{_NET}.1", "environment": f"{_NET}.2", "code": f"{_NET}.3"}
PORTS = {"default": 465, "environment": 2525, "code": 2526}
USERS_OF = {"environment": USER, "code": f"{USER}-of-code"}
PASSWORDS = {"environment": PASSWORD, "code": f"{PASSWORD}-of-code"}
SECURE = {"default": True, "environment": False, "code": True}
URLS = {"environment": "https://flags.example/sub", "code": "https://code.example"}


@dataclass
class Post:
    """What came to the server of one way; `port` is where it listened, 0 where that is forbidden
    to who runs this."""

    welcome: Got
    reset: Got
    port: int
    signed_in: list[tuple[str, str]]


_posts: WeakKeyDictionary[Services, dict[str, Post]] = WeakKeyDictionary()


def fetch_emails(case: Case) -> Post:
    """Of the way that is asked; sent when the first row wants it."""
    emails_by_way = _posts.setdefault(case.services, {})
    if case.way not in emails_by_way:
        with ExitStack() as stack:
            emails_by_way[case.way] = _send(case, stack)
    return emails_by_way[case.way]


def _send(case: Case, stack: ExitStack) -> Post:
    way = case.way
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    certificates = Certificates(folder, *HOSTS.values())
    smtps = certificates.context if SECURE[way] else None
    mails, auth, port = Mails(), way != "default", PORTS[way]
    if auth:
        mails.good = (USERS_OF[way], PASSWORDS[way])
    try:
        stack.enter_context(mail_server(mails, host=HOSTS[way], port=port, smtps=smtps, auth=auth))
    except PermissionError:
        port = 0
        stack.enter_context(mail_server(mails, host=HOSTS[way], smtps=smtps, auth=auth))
    environ: dict[str, str] = {}
    options: dict[str, Any] = {}
    for row in (*ROWS[:6], LINKS):
        if way == "default":
            elsewhere = {"EMAIL_PORT": str(mails.port), "EMAIL_SECURE": "true"}
            environ |= {"EMAIL_HOST": HOSTS[way]} | ({} if port else elsewhere)
        else:
            environ |= row.environ(way)
            for name, value in row.options(way).items():
                options[name] = {**options.get(name, {}), **value}
    service = case.services.start(environ | {"SSL_CERT_FILE": certificates.ca_file}, options)
    for name in ("bo", "cy"):
        body = {"email": f"{name}@example.com", "sendEmail": name == "bo"}
        user = case.admin("POST", USERS, body, service=service)
        assert user["emailSent"] is (name == "bo")
    until(lambda: len(mails.got) == 1, f"the welcome mail: {service.stderr}")
    body = {"email": "cy@example.com"}
    answer = case.request("POST", "/auth/reset/password-email", body, service=service)
    assert (answer.status, answer.body) == (200, b"")
    until(lambda: len(mails.got) == 2, f"the reset mail: {service.stderr}")
    welcome, reset = mails.got
    assert (welcome.recipients, reset.recipients) == (["bo@example.com"], ["cy@example.com"])
    token = reset.link.partition("=")[2]
    new = {"token": token, "password": "New-Horse-Staple-8"}
    assert case.request("POST", "/auth/reset/password", new, service=service).status == 200
    login = {"username": "cy@example.com", "password": new["password"]}
    assert case.sign_in(service, **login).status == 200
    return Post(welcome, reset, port, mails.signed_in)


def check_host(case: Case) -> None:
    if case.value is None:
        check_without_mail_server(case)
    else:
        assert fetch_emails(case).welcome.message["Subject"].startswith("Welcome")


def check_port(case: Case) -> None:
    assert fetch_emails(case).port in (case.value, 0)


def check_secure(case: Case) -> None:
    assert fetch_emails(case).reset.is_encrypted == case.value


def check_sender(case: Case) -> None:
    assert fetch_emails(case).reset.message["From"] == case.value


def check_user(case: Case) -> None:
    assert {name for name, _ in fetch_emails(case).signed_in} == ({case.value} - {None})


def check_password(case: Case) -> None:
    assert {secret for _, secret in fetch_emails(case).signed_in} == ({case.value} - {None})


def check_links(case: Case) -> None:
    came = fetch_emails(case)
    assert came.welcome.link.startswith(f"{case.value}/new-user?token=")
    assert came.reset.link.startswith(f"{case.value}/reset-password?token=")


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


LINKS = Row(
    "server.unleashUrl",
    check_links,
    "SERVICE_URL",
    text=URLS["environment"] + "/",
    value=URLS["environment"],
    code=URLS["code"],
    alone=True,
)
ROWS = (
    Row(
        "email.host",
        check_host,
        "EMAIL_HOST",
        text=HOSTS["environment"],
        code=HOSTS["code"],
        alone=True,
    ),
    Row("email.port", check_port, "EMAIL_PORT", 465, "2525", 2525, code=2526, alone=True),
    Row("email.secure", check_secure, "EMAIL_SECURE", True, "false", False, code=True, alone=True),
    Row(
        "email.sender",
        check_sender,
        "EMAIL_SENDER",
        "noreply@localhost",
        "Flags <flags@env.example>",
        code="flags@code.example",
        alone=True,
    ),
    Row(
        "email.smtpuser",
        check_user,
        "EMAIL_USER",
        None,
        USERS_OF["environment"],
        code=USERS_OF["code"],
        alone=True,
    ),
    Row(
        "email.smtppass",
        check_password,
        "EMAIL_PASSWORD",
        None,
        PASSWORDS["environment"],
        code=PASSWORDS["code"],
        alone=True,
    ),
    LINKS,
    Row("email.host", check_host, default=None),
    Row(
        "mail: without a mail server users cannot reset their own passwords",
        check_without_mail_server,
    ),
)
