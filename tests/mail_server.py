"""A real mail server on this machine, for as long as a `with` lasts, with every kind of TLS."""

from __future__ import annotations

import asyncio
import re
import ssl
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any, NamedTuple

import trustme
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

from tests.waiting import DEADLINE_SECONDS

USER, PASSWORD = "flags", "hunter2-smtp"
LINK = re.compile(r"https?://[^\s\"<]+[?]token=[\w-]+")


class Got(NamedTuple):
    message: EmailMessage
    sender: str
    recipients: list[str]
    is_encrypted: bool
    is_signed_in: bool

    @property
    def text(self) -> str:
        return self.message.get_body(("plain",)).get_content()

    @property
    def html(self) -> str:
        return self.message.get_body(("html",)).get_content()

    @property
    def link(self) -> str:
        (matches,) = LINK.findall(self.text)
        return matches


class Mails:
    """What has come. `refuses`: recipients, and what they are answered; `answer`: to a mail."""

    def __init__(self) -> None:
        self.got: list[Got] = []
        self.refuses: dict[str, str] = {}
        self.answer = "250 OK"
        self.good = (USER, PASSWORD)
        self.tried: list[str] = []  # usernames …
        self.signed_in: list[tuple[str, str]] = []  # … and those with the right password
        self.port = 0

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, _: Any):
        if address in self.refuses:
            return self.refuses[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.answer.startswith("2"):
            message = message_from_bytes(envelope.content, policy=policy.default)
            is_encrypted = server.transport.get_extra_info("ssl_object") is not None
            self.got.append(
                Got(
                    message,
                    envelope.mail_from,
                    envelope.rcpt_tos,
                    is_encrypted,
                    bool(session.authenticated),
                )
            )
        return self.answer

    def authenticate(self, server: Any, session: Any, envelope: Any, how: str, data: Any) -> Any:
        assert isinstance(data, LoginPassword)
        login = (data.login.decode(), data.password.decode())
        self.tried.append(login[0])
        if login == self.good:
            self.signed_in.append(login)
        return AuthResult(success=login == self.good, handled=False)

    def links(self) -> list[str]:
        return [got.link for got in self.got]


class Certificates:
    """A CA of the test's own, and a server's certificate by it."""

    def __init__(self, folder: Path, *hosts: str) -> None:
        ca = trustme.CA()
        self.ca_file = str(folder / "ca.pem")
        ca.cert_pem.write_to_path(self.ca_file)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        ca.issue_cert("127.0.0.1", "localhost", *hosts).configure_cert(self.context)
        self.elsewhere = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        ca.issue_cert("mail.example").configure_cert(self.elsewhere)


@contextmanager
def mail_server(
    mails: Mails | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    smtps: ssl.SSLContext | None = None,
    starttls: ssl.SSLContext | None = None,
    auth: bool = False,
) -> Iterator[Mails]:
    mails = mails or Mails()
    loop = asyncio.new_event_loop()

    def protocol() -> SMTP:
        warnings.simplefilter("ignore")  # a password without TLS is what is tried
        return SMTP(
            mails,
            hostname="mail.test",
            tls_context=starttls,
            authenticator=mails.authenticate if auth else None,
            auth_required=auth,
            auth_require_tls=False,
            auth_exclude_mechanism=() if auth else ("LOGIN", "PLAIN"),
            loop=loop,
        )

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()  # first: in this thread another loop may run, a browser's
    listening = loop.create_server(protocol, host, port, ssl=smtps)
    server = asyncio.run_coroutine_threadsafe(listening, loop).result(5)
    mails.port = server.sockets[0].getsockname()[1]
    try:
        yield mails
    finally:
        loop.call_soon_threadsafe(server.close)
        asyncio.run_coroutine_threadsafe(_end(loop), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(DEADLINE_SECONDS)
        loop.close()


async def _end(loop: asyncio.AbstractEventLoop) -> None:
    """Ends connections that are still open, or their sockets outlive the test."""
    tasks = [task for task in asyncio.all_tasks(loop) if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0)
