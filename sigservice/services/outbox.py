"""The outbox of mails and deliveries to receivers outside of the service: leases, retries, states.

They are stored in the transaction of their cause and sent by a job. Delivery is at least once:
a sender leases them for a while, and another one sends it again if the first is killed.
"""

import random
from datetime import datetime, timedelta

from sigservice.db import Connection, Row
from sigservice.repository import outbox
from sigservice.services.deliveries import DeliveryResult

LEASE_DURATION = timedelta(minutes=3)  # longer than any attempt
STATES = ("waiting", "sent", "given up")
MAX_ATTEMPTS = 10  # of messages without `expires_at`
FIRST_DELAY_SECONDS, MAX_DELAY_SECONDS = 5.0, 3600.0


def lease_mail(conn: Connection, now: datetime) -> Row | None:
    """The next mail, leased for LEASE_DURATION, or None. Gives up mails that have expired, for
    example while the service was down."""
    until = now + LEASE_DURATION
    while (row := outbox.lease_mail(conn, now=now, until=until)) is not None:
        if now < row["expires_at"]:
            return row
        error = row["last_error"] or "Expired before it could be sent."
        settle_mail(conn, row, DeliveryResult(error, is_final=True), now)
    return None


def settle_mail(conn: Connection, row: Row, attempt: DeliveryResult, now: datetime) -> str:
    """Stores and returns the result of an attempt: sent, waiting or given up."""
    result, due_at = choose_result(row, attempt, now)
    error = attempt.error[:500] or None
    outbox.settle_mail(conn, row, result=result, error=error, due_at=due_at, now=now)
    return result


def choose_result(row: Row, attempt: DeliveryResult, now: datetime) -> tuple[str, datetime]:
    """Sent, waiting or given up, and when the next attempt would be due."""
    due_at = now + max(_draw_retry_delay(row["attempts"]), attempt.pause)
    if not attempt.error:
        return "sent", due_at
    expires_at = row["expires_at"]
    is_late = due_at >= expires_at if expires_at else row["attempts"] >= MAX_ATTEMPTS
    return "given up" if attempt.is_final or is_late else "waiting", due_at


def describe_state(row: Row) -> str:
    return "sent" if row["sent_at"] else "given up" if row["given_up_at"] else "waiting"


def _draw_retry_delay(attempts: int) -> timedelta:
    """5 seconds, tripled with each attempt up to an hour, plus or minus a quarter at random, so
    that messages that failed together aren't retried together."""
    seconds = min(FIRST_DELAY_SECONDS * 3 ** min(attempts - 1, 10), MAX_DELAY_SECONDS)
    return timedelta(seconds=seconds * random.uniform(0.75, 1.25))  # noqa: S311  no secret
