"""Mails to users: written with what causes them, composed and sent by a job.

At least once: whoever sends one has claimed it for a while; after a kill it is sent again, as the
same message. Neither link nor address is kept: the link is made for each attempt, so that the
database never holds more than its hash.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.outgoing import smtp
from sigservice.outgoing.smtp import Failed, MailServer
from sigservice.render import Renderer
from sigservice.repository.system import mails
from sigservice.services import outbox

PAGES = {"reset": "reset-password", "welcome": "new-user"}
SUBJECTS = {"reset": "sigservice - Reset your password", "welcome": "Welcome to sigservice"}
MOMENT = timedelta(minutes=1)  # nobody is sent two of a kind in it
MAX_PER_HOUR = 3  # of a kind, to one user
PATIENCE = timedelta(hours=24)  # then a mail that did not get through is given up
CLAIM = timedelta(minutes=5)  # longer than any attempt takes
_NO_LETTER = re.compile(r"[^\w '’-]|_")
# Long lines stay as they are: a link that is broken in two opens nothing.
_POLICY = policy.SMTP.clone(max_line_length=900, cte_type="7bit")


def enqueue(
    conn: Connection, kind: str, user_id: int | None, *, base_url: str, now: datetime
) -> bool:
    """Whether a mail will be sent. For nobody (None), and for a user to whom one of the kind was
    written a moment ago or MAX_PER_HOUR within the hour, the same statements run, but none will be.
    """
    before = now - MOMENT
    mails.delete_waiting(conn, user_id, before=before)
    return mails.insert(
        conn,
        kind=kind,
        user_id=user_id,
        base_url=base_url,
        now=now,
        before=before,
        max_per_hour=MAX_PER_HOUR,
    )


def claim(conn: Connection, now: datetime) -> Row | None:
    """The next to send, nobody else's for a while. One that was kept waiting too long, as while
    the service was down, is given up."""
    while (mail := mails.claim(conn, now=now, until=now + CLAIM)) is not None:
        if now < mail["created_at"] + PATIENCE:
            return mail
        late = Failed(mail["last_error"] or "It waited too long.", is_final=True)
        settle(conn, mail, late, now)
    return None


def deliver(render: Renderer, server: MailServer, mail: Row, secret: str, now: datetime) -> None:
    """Raises Failed."""
    recipient = _recipient(mail["email"])
    smtp.send(server, compose(render, server, mail, recipient, secret, now), recipient)


def settle(conn: Connection, mail: Row, failed: Failed | None, now: datetime) -> str:
    """Notes what became of an attempt: sent, waiting or given up."""
    due_at = now + outbox.pause(mail["attempts"])
    result = "waiting" if failed else "sent"
    if failed and (failed.is_final or due_at >= mail["created_at"] + PATIENCE):
        result = "given up"
    mails.settle(
        conn,
        mail["id"],
        attempts=mail["attempts"],
        result=result,
        error=failed.text if failed else None,
        due_at=due_at,
        now=now,
    )
    return result


def compose(
    render: Renderer, server: MailServer, mail: Row, recipient: str, secret: str, now: datetime
) -> EmailMessage:
    """Text and HTML with the link that `secret` opens, and how long it works."""
    message = EmailMessage(policy=_POLICY)
    message["From"] = server.sender
    message["To"] = recipient
    message["Subject"] = SUBJECTS[mail["kind"]]
    message["Date"] = format_datetime(now)
    # The same at each attempt, so that what arrives twice can be seen as one.
    moment = mail["created_at"].timestamp()
    message["Message-ID"] = f"<{mail['kind']}.{mail['id']}.{moment:.6f}@{server.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    values = {
        "name": plain_name(mail["name"] or ""),
        "base_url": mail["base_url"],
        "link": link(mail["base_url"], mail["kind"], secret),
        "lifetime": readable_lifetime(mail["link_lifetime"]),
    }
    message.set_content(render.text(f"system/mail/{mail['kind']}.txt", **values))
    html = render.render(f"system/mail/{mail['kind']}.html", **values)
    message.add_alternative(html, subtype="html")
    return message


def link(base_url: str, kind: str, secret: str) -> str:
    """The page where a password is set."""
    return f"{base_url}/{PAGES[kind]}?token={secret}"


def readable_lifetime(lifetime: timedelta) -> str:
    """Such as `1 hour` or `90 minutes`."""
    minutes = int(lifetime.total_seconds()) // 60
    count, unit = (minutes // 60, "hour") if minutes % 60 == 0 else (minutes, "minute")
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


def plain_name(name: str) -> str:
    """Letters, digits and blanks: nothing that a reader's program takes for a link or markup."""
    return " ".join(_NO_LETTER.sub(" ", name).split())[:100]


def _recipient(email: str | None) -> str:
    """The address as mail servers take it: one, without a name, a list or a comment in it."""
    if not email:
        raise Failed("The user has no e-mail address any more.", is_final=True)
    try:
        found = Address(addr_spec=email)
        domain = found.domain.encode("idna").decode()
        address = Address(username=found.username, domain=domain).addr_spec  # with its quotes
        if not (address.isascii() and found.addr_spec == email):
            raise ValueError
    except Exception:  # noqa: BLE001  the parser fails in many ways
        raise Failed("The address is not one that mail can be sent to.", is_final=True) from None
    return address
