"""One mail to real mail servers: kinds of TLS, passwords, refusals."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from dataclasses import replace
from email.message import EmailMessage
from types import SimpleNamespace

import pytest

from sigservice.config import load_config
from sigservice.outgoing import smtp
from sigservice.outgoing.smtp import MailError, MailServer
from tests.mail_server import PASSWORD, USER, Certificates, Mails, mail_server
from tests.table_tests import each
from tests.waiting import DEADLINE_SECONDS, take_time

TO = "bo@example.com"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def trusted_proxies(certificates, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", certificates.ca_file)
    return certificates


def to(mails: Mails, **more) -> MailServer:
    """Where `mails` listens."""
    server = MailServer("127.0.0.1", mails.port, False, "", "", "Flags <flags@example.com>")
    return replace(server, **more)


def send(server: MailServer, recipient: str = TO) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = server.sender, recipient, "A"
    message.set_content("Text")
    smtp.send(server, message, recipient)


def refusal(server: MailServer, recipient: str = TO) -> MailError:
    with pytest.raises(MailError) as caught:
        send(server, recipient)
    assert "@" not in caught.value.text
    assert PASSWORD not in caught.value.text
    return caught.value


@pytest.mark.parametrize("auth", [False, True])
@pytest.mark.parametrize("kind", ["plain", "starttls", "smtps"])
def test_each_kind_of_connection(trusted_proxies, kind, auth):
    tls = {} if kind == "plain" else {kind: trusted_proxies.context}
    who = {"user": USER, "password": PASSWORD} if auth else {}
    with mail_server(**tls, auth=auth) as mails:
        send(to(mails, secure=kind == "smtps", **who))
        (got,) = mails.got
    assert (got.sender, got.recipients) == ("flags@example.com", [TO])
    assert (got.is_encrypted, got.is_signed_in) == (kind != "plain", auth)


@pytest.mark.parametrize("kind", ["starttls", "smtps"])
def test_an_unknown_certificate_is_refused(certificates, kind):
    with mail_server(**{kind: certificates.context}, auth=True) as mails:
        server = to(mails, secure=kind == "smtps", user=USER, password=PASSWORD)
        failed = refusal(server)
    assert failed.text.startswith("TLS failed: ")
    assert "certificate" in failed.text
    assert failed.is_unavailable
    assert not failed.is_final
    assert (mails.got, mails.tried) == ([], [])


def test_the_certificate_must_name_the_server(trusted_proxies):
    with mail_server(smtps=trusted_proxies.context) as mails:
        send(to(mails, secure=True, host="localhost"))
    with mail_server(smtps=trusted_proxies.elsewhere) as other:
        failed = refusal(to(other, secure=True, host="localhost"))
    assert "Hostname mismatch" in failed.text
    assert (len(mails.got), other.got) == (1, [])


def test_a_password_needs_encryption_unless_the_server_is_here(monkeypatch):
    with mail_server(auth=True) as mails:
        send(to(mails, user=USER, password=PASSWORD, host="localhost"))
        monkeypatch.setattr(smtp, "_is_local", lambda _: False)
        failed = refusal(to(mails, user=USER, password=PASSWORD))
        assert "no encryption" in failed.text
        assert failed.is_unavailable
        assert (len(mails.got), mails.tried) == (1, [USER])
    with mail_server() as mails:
        send(to(mails))
    assert len(mails.got) == 1


@each(
    "peer is_here",
    [
        ("127.8.9.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("192.0.2.7", False),
        ("::ffff:192.0.2.7", False),
        ("fe80::1%eth0", False),
    ],
)
def test_which_peer_is_this_machine(peer, is_here):
    sock = SimpleNamespace(getpeername=lambda: (peer, 25))
    assert smtp._is_local(SimpleNamespace(sock=sock)) == is_here


def test_passwords_that_do_not_fit():
    with mail_server(auth=True) as mails:
        failed = refusal(to(mails, user=USER, password="wrong"))
        assert (failed.text, failed.is_final, failed.is_unavailable) == (
            "The server refuses username and password (535).",
            False,
            True,
        )
        failed = refusal(to(mails))
        assert failed.text == "The server refuses the sender (530)."
        assert not failed.is_final
        failed = refusal(to(mails, user=USER, password="пароль"))
        assert failed.text == "Username and password must be ASCII."
    with mail_server() as mails:
        failed = refusal(to(mails, user=USER, password=PASSWORD))
        assert failed.text == "The server doesn't support sign-in with username and password."
        assert mails.got == []


@pytest.mark.parametrize("code", [550, 450])
def test_refusals_say_whether_it_may_go_better(code):
    with mail_server() as mails:
        mails.refuses[TO] = f"{code} nobody@example.com is not here"
        failed = refusal(to(mails))
        assert failed.text == f"The server refuses the recipient ({code})."
        assert (failed.is_final, failed.is_unavailable) == (code == 550, False)
        mails.answer = f"{code} bo@example.com wants no such thing"
        failed = refusal(to(mails), "ann@example.com")
        assert failed.text == f"The server refuses the email ({code})."
        assert failed.is_final == (code == 550)


def test_who_is_no_mail_server(certificates, monkeypatch):
    with mail_server(smtps=certificates.context) as mails, monkeypatch.context() as patch:
        patch.setattr(smtp, "REPLY_SECONDS", 0.2)
        assert refusal(to(mails)).is_unavailable  # each waits for the other to begin
    with mail_server() as mails:
        assert "EMAIL_SECURE" in refusal(to(mails, secure=True)).text
    assert "Connection failed" in refusal(to(mails)).text
    with socket.create_server(("127.0.0.1", 0)) as other:
        mails.port = other.getsockname()[1]

        def talk():
            with other.accept()[0] as sock:
                sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=talk)
        thread.start()
        assert refusal(to(mails)).is_unavailable
        thread.join(DEADLINE_SECONDS)


@pytest.mark.parametrize(
    ("replies", "pause"), [(b"220-and\r\n", 0.05), (b"2", 0.05), (b"220-and\r\n" * 1000, 0)]
)
def test_a_server_that_never_comes_to_an_end(monkeypatch, replies, pause):
    monkeypatch.setattr(smtp, "TOTAL_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as other:

        def talk():
            with other.accept()[0] as sock, suppress(OSError):
                while True:  # until it is cut
                    sock.sendall(replies)
                    take_time(pause)

        thread = threading.Thread(target=talk)
        thread.start()
        began = time.monotonic()
        server = MailServer("127.0.0.1", other.getsockname()[1], False, "", "", "a@b")
        assert refusal(server).is_unavailable
        assert time.monotonic() - began < 30
        thread.join(DEADLINE_SECONDS)
    assert not thread.is_alive()


def test_what_is_not_configured_follows():
    def server(**environ):
        config = load_config(None, {f"EMAIL_{name}": text for name, text in environ.items()})
        return MailServer.from_config(config.config, "flags.example")

    assert server() is None
    assert server(PORT="25", USER="a") is None
    results = server(HOST="m")
    assert (results.port, results.secure, results.sender) == (465, True, "noreply@flags.example")
    assert results.domain == "flags.example"
    results = server(HOST="m", PORT="587", USER="a@b.example", PASSWORD="x")
    assert (results.secure, results.sender) == (False, "a@b.example")
    results = server(HOST="m", PORT="587", SECURE="true", SENDER="A <c@d.example>")
    assert (results.secure, results.sender, results.domain) == (
        True,
        "A <c@d.example>",
        "d.example",
    )
    assert server(HOST="m", PORT="465", SECURE="false").secure is False
