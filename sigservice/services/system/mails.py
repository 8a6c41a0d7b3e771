"""Mails to users: messages of the outbox.

Each attempt makes a new link, so that the database stores only the hash of its secret.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import format_datetime

from sigservice.db import Connection
from sigservice.late import email_message, email_policy, headerregistry
from sigservice.outgoing import smtp
from sigservice.outgoing.smtp import MailError, MailServer
from sigservice.render import Renderer
from sigservice.repository.system import mails
from sigservice.wording import plural

PAGES = {"reset": "reset-password", "welcome": "new-user"}
SUBJECTS = {"reset": "sigservice - Reset your password", "welcome": "Welcome to sigservice"}
MIN_INTERVAL = timedelta(minutes=1)  # between two mails of a kind to a user
MAX_PER_HOUR = 3  # of a kind, to a user
MAX_AGE = timedelta(hours=24)  # of a mail that can't be delivered
_UNSAFE = re.compile(r"[^\w '’-]|_")


@dataclass(frozen=True)
class Mail:
    """A mail with the secret of its link; `message_id` is the same at each attempt."""

    kind: str
    message_id: str
    base_url: str
    email: str | None
    name: str | None
    secret: str
    link_lifetime: timedelta


def enqueue(
    conn: Connection, kind: str, user_id: int | None, *, base_url: str, now: datetime
) -> bool:
    """Whether a mail will be sent, which needs a user and respects MIN_INTERVAL and MAX_PER_HOUR.
    The same statements run in each case, so that response times reveal nothing."""
    before = now - MIN_INTERVAL
    mails.delete_waiting(conn, user_id, before=before)
    return mails.insert(
        conn,
        kind=kind,
        user_id=user_id,
        base_url=base_url,
        now=now,
        before=before,
        expires_at=now + MAX_AGE,
        max_per_hour=MAX_PER_HOUR,
    )


def deliver(render: Renderer, server: MailServer, mail: Mail, now: datetime) -> None:
    """Sends the mail. Raises MailError."""
    if not mail.email:
        raise MailError("The user no longer has an email address.", is_final=True)
    recipient = parse_recipient(mail.email)
    smtp.send(server, compose(render, server, mail, recipient, now), recipient)


def compose(
    render: Renderer, server: MailServer, mail: Mail, recipient: str, now: datetime
) -> email_message.EmailMessage:
    """The message, as text and HTML, with the link and its lifetime."""
    message = make_message(server, recipient, SUBJECTS[mail.kind], mail.message_id, now)
    values = {
        "name": clean_name(mail.name or ""),
        "base_url": mail.base_url,
        "link": make_link(mail.base_url, mail.kind, mail.secret),
        "lifetime": format_lifetime(mail.link_lifetime),
    }
    message.set_content(render.text(f"system/mail/{mail.kind}.txt", **values))
    html = render.render(f"system/mail/{mail.kind}.html", **values)
    message.add_alternative(html, subtype="html")
    return message


def make_message(
    server: MailServer, recipient: str, subject: str, message_id: str, now: datetime
) -> email_message.EmailMessage:
    """A message without a content. `message_id` is the same at each attempt, so that mail programs
    recognize duplicates."""
    # Long lines aren\'t wrapped: a link that is broken in two doesn\'t work.
    policy = email_policy.SMTP.clone(max_line_length=900, cte_type="7bit")
    message = email_message.EmailMessage(policy=policy)
    message["From"] = server.sender
    message["To"] = recipient
    message["Subject"] = subject
    message["Date"] = format_datetime(now)
    message["Message-ID"] = f"<{message_id}@{server.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    return message


def make_link(base_url: str, kind: str, secret: str) -> str:
    """The URL of the page that sets a password."""
    return f"{base_url}/{PAGES[kind]}?token={secret}"


def format_lifetime(lifetime: timedelta) -> str:
    """For example `1 hour` or `90 minutes`."""
    minutes = int(lifetime.total_seconds()) // 60
    count, unit = (minutes // 60, "hour") if minutes % 60 == 0 else (minutes, "minute")
    return plural(count, unit)


def clean_name(name: str) -> str:
    """The letters, digits and blanks of a name, which no mail program takes for a link or
    markup."""
    return " ".join(_UNSAFE.sub(" ", name).split())[:100]


def parse_recipient(email: str) -> str:
    """One address in the form of SMTP, without a name, list or comment. Raises MailError."""
    try:
        parsed = headerregistry.Address(addr_spec=email)
        domain = parsed.domain.encode("idna").decode()
        address = headerregistry.Address(
            username=parsed.username, domain=domain
        ).addr_spec  # quoted if necessary
        if not (address.isascii() and parsed.addr_spec == email):
            raise ValueError
    except Exception:  # noqa: BLE001  the parser fails in many ways
        raise MailError("The email address is not valid.", is_final=True) from None
    return address
