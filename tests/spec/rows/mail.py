"""Mail: to which server, how, as whom; where its links lead; what happens without a server.

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
from tests.spec.kit import Asked, Row, Services

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


def post(asked: Asked) -> Post:
    """Of the way that is asked; sent when the first row wants it."""
    made = _posts.setdefault(asked.services, {})
    if asked.way not in made:
        with ExitStack() as stack:
            made[asked.way] = _send(asked, stack)
    return made[asked.way]


def _send(asked: Asked, stack: ExitStack) -> Post:
    way = asked.way
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
    service = asked.services.start(environ | {"SSL_CERT_FILE": certificates.ca_file}, options)
    for name in ("bo", "cy"):
        body = {"email": f"{name}@example.com", "sendEmail": name == "bo"}
        made = asked.admin("POST", USERS, body, service=service)
        assert made["emailSent"] is (name == "bo")
    until(lambda: len(mails.got) == 1, f"the welcome mail: {service.stderr}")
    body = {"email": "cy@example.com"}
    answer = asked.ask("POST", "/auth/reset/password-email", body, service=service)
    assert (answer.status, answer.body) == (200, b"")
    until(lambda: len(mails.got) == 2, f"the reset mail: {service.stderr}")
    welcome, reset = mails.got
    assert (welcome.recipients, reset.recipients) == (["bo@example.com"], ["cy@example.com"])
    token = reset.link.partition("=")[2]
    new = {"token": token, "password": "New-Horse-Staple-8"}
    assert asked.ask("POST", "/auth/reset/password", new, service=service).status == 200
    login = {"username": "cy@example.com", "password": new["password"]}
    assert asked.sign_in(service, **login).status == 200
    return Post(welcome, reset, port, mails.signed_in)


def host(asked: Asked) -> None:
    if asked.value is None:
        without_a_server(asked)
    else:
        assert post(asked).welcome.message["Subject"].startswith("Welcome")


def port(asked: Asked) -> None:
    assert post(asked).port in (asked.value, 0)


def secure(asked: Asked) -> None:
    assert post(asked).reset.is_encrypted == asked.value


def sender(asked: Asked) -> None:
    assert post(asked).reset.message["From"] == asked.value


def user(asked: Asked) -> None:
    assert {name for name, _ in post(asked).signed_in} == ({asked.value} - {None})


def password(asked: Asked) -> None:
    assert {secret for _, secret in post(asked).signed_in} == ({asked.value} - {None})


def links(asked: Asked) -> None:
    came = post(asked)
    assert came.welcome.link.startswith(f"{asked.value}/new-user?token=")
    assert came.reset.link.startswith(f"{asked.value}/reset-password?token=")


def without_a_server(asked: Asked) -> None:
    body = {"email": f"{asked.name}@example.com"}
    made = asked.admin("POST", USERS, body)
    assert made["emailSent"] is False
    assert asked.ask("POST", "/auth/reset/password-email", body).status == 200
    page = asked.ask("GET", "/forgot-password").text
    assert "sends no mails. Ask an admin" in page
    assert "<form" not in page
    assert "mail (users can't reset their own passwords)" in asked.service.stdout
    link = asked.admin("POST", f"{USERS}/reset-password", {"id": body["email"]})
    path = link["resetPasswordUrl"].partition("/reset-password")
    assert asked.ask("GET", path[1] + path[2]).status == 200


LINKS = Row(
    "server.unleashUrl",
    links,
    "SERVICE_URL",
    text=URLS["environment"] + "/",
    value=URLS["environment"],
    code=URLS["code"],
    alone=True,
)
ROWS = (
    Row(
        "email.host", host, "EMAIL_HOST", text=HOSTS["environment"], code=HOSTS["code"], alone=True
    ),
    Row("email.port", port, "EMAIL_PORT", 465, "2525", 2525, code=2526, alone=True),
    Row("email.secure", secure, "EMAIL_SECURE", True, "false", False, code=True, alone=True),
    Row(
        "email.sender",
        sender,
        "EMAIL_SENDER",
        "noreply@localhost",
        "Flags <flags@env.example>",
        code="flags@code.example",
        alone=True,
    ),
    Row(
        "email.smtpuser",
        user,
        "EMAIL_USER",
        None,
        USERS_OF["environment"],
        code=USERS_OF["code"],
        alone=True,
    ),
    Row(
        "email.smtppass",
        password,
        "EMAIL_PASSWORD",
        None,
        PASSWORDS["environment"],
        code=PASSWORDS["code"],
        alone=True,
    ),
    LINKS,
    Row("email.host", host, default=None),
    Row("mail: without a mail server users cannot reset their own passwords", without_a_server),
)
