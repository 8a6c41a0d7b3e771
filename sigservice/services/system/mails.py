"""Mails to users: stored in the transaction of their cause, composed and sent by a job.

A mail is delivered at least once: a sender claims it for some time, and if the process dies, it is
sent again with the same Message-ID. Each attempt makes a new link, so that the database stores
only the hash of its secret.
"""

import re
from datetime import datetime, timedelta
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.outgoing import smtp
from sigservice.outgoing.smtp import MailError, MailServer
from sigservice.render import Renderer
from sigservice.repository.system import mails
from sigservice.services import outbox
from sigservice.wording import plural

PAGES = {"reset": "reset-password", "welcome": "new-user"}
SUBJECTS = {"reset": "sigservice - Reset your password", "welcome": "Welcome to sigservice"}
MIN_INTERVAL = timedelta(minutes=1)  # between two mails of a kind to a user
MAX_PER_HOUR = 3  # of a kind, to a user
MAX_AGE = timedelta(hours=24)  # of a mail that can't be delivered
CLAIM_DURATION = timedelta(minutes=5)  # longer than any attempt takes
_UNSAFE = re.compile(r"[^\w '’-]|_")
# Long lines aren't wrapped: a link that is broken in two doesn't work.
_POLICY = policy.SMTP.clone(max_line_length=900, cte_type="7bit")


def enqueue(
    conn: Connection, kind: str, user_id: int | None, *, base_url: str, now: datetime
) -> bool:
    """Whether a mail will be sent: not without a user, nor above the limits MIN_INTERVAL and
    MAX_PER_HOUR. The same statements run in each case, so that response times reveal nothing."""
    before = now - MIN_INTERVAL
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
    """The next mail to send, claimed for CLAIM_DURATION, or None. Gives up mails that are older
    than MAX_AGE, for example after the service was down."""
    while (mail := mails.claim(conn, now=now, until=now + CLAIM_DURATION)) is not None:
        if now < mail["created_at"] + MAX_AGE:
            return mail
        expired = MailError(mail["last_error"] or "Expired before it could be sent.", is_final=True)
        settle(conn, mail, expired, now)
    return None


def deliver(render: Renderer, server: MailServer, mail: Row, secret: str, now: datetime) -> None:
    """Sends the mail. Raises MailError."""
    recipient = _parse_recipient(mail["email"])
    smtp.send(server, compose(render, server, mail, recipient, secret, now), recipient)


def settle(conn: Connection, mail: Row, failed: MailError | None, now: datetime) -> str:
    """Stores and returns the result of an attempt: sent, waiting or given up."""
    due_at = now + outbox.draw_retry_delay(mail["attempts"])
    result = "waiting" if failed else "sent"
    if failed and (failed.is_final or due_at >= mail["created_at"] + MAX_AGE):
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
    """The message, as text and HTML, with the link for `secret` and its lifetime."""
    message = EmailMessage(policy=_POLICY)
    message["From"] = server.sender
    message["To"] = recipient
    message["Subject"] = SUBJECTS[mail["kind"]]
    message["Date"] = format_datetime(now)
    # The same at each attempt, so that mail programs recognize duplicates.
    created_at = mail["created_at"].timestamp()
    message["Message-ID"] = f"<{mail['kind']}.{mail['id']}.{created_at:.6f}@{server.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    values = {
        "name": clean_name(mail["name"] or ""),
        "base_url": mail["base_url"],
        "link": make_link(mail["base_url"], mail["kind"], secret),
        "lifetime": format_lifetime(mail["link_lifetime"]),
    }
    message.set_content(render.text(f"system/mail/{mail['kind']}.txt", **values))
    html = render.render(f"system/mail/{mail['kind']}.html", **values)
    message.add_alternative(html, subtype="html")
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
    """Only letters, digits and blanks, which no mail program takes for a link or markup."""
    return " ".join(_UNSAFE.sub(" ", name).split())[:100]


def _parse_recipient(email: str | None) -> str:
    """One address in the form of SMTP, without a name, list or comment. Raises MailError."""
    if not email:
        raise MailError("The user no longer has an email address.", is_final=True)
    try:
        parsed = Address(addr_spec=email)
        domain = parsed.domain.encode("idna").decode()
        address = Address(username=parsed.username, domain=domain).addr_spec  # quoted if necessary
        if not (address.isascii() and parsed.addr_spec == email):
            raise ValueError
    except Exception:  # noqa: BLE001  the parser fails in many ways
        raise MailError("The email address is not valid.", is_final=True) from None
    return address
