"""Claims, retries and states that the outboxes of notifications and mails share."""

import random
from datetime import datetime, timedelta
from typing import Any

from sigservice.db.statements import Row
from sigservice.services.channel_delivery import DeliveryResult

CLAIM_DURATION = timedelta(minutes=3)  # longer than any attempt
MAX_ATTEMPTS = 10
FIRST_DELAY_SECONDS, MAX_DELAY_SECONDS = 5.0, 3600.0


def draw_retry_delay(attempts: int) -> timedelta:
    """5 seconds, tripled with each attempt up to an hour, plus or minus a quarter at random, so
    that messages that failed together aren't retried together."""
    seconds = min(FIRST_DELAY_SECONDS * 3 ** min(attempts - 1, 10), MAX_DELAY_SECONDS)
    return timedelta(seconds=seconds * random.uniform(0.75, 1.25))  # noqa: S311  no secret


def describe_attempt(row: Row, outcome: DeliveryResult, now: datetime) -> dict[str, Any]:
    """What is stored of the attempt to send a notification; `result` is sent, waiting or given
    up."""
    result = "waiting"
    if not outcome.error:
        result = "sent"
    elif outcome.is_final or row["attempts"] >= MAX_ATTEMPTS:
        result = "given up"
    return {
        "attempts": row["attempts"],
        "result": result,
        "error": outcome.error[:500] or None,
        "due_at": now + max(draw_retry_delay(row["attempts"]), outcome.pause),
        "now": now,
    }


def describe_state(row: Row) -> str:
    return "sent" if row["sent_at"] else "given up" if row["given_up_at"] else "waiting"
