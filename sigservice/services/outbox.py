"""What the outboxes of notifications and of mails have in common."""

from __future__ import annotations

import random
from datetime import timedelta

from sigservice.db.statements import Row

FIRST_PAUSE, LONGEST_PAUSE = 5.0, 3600.0  # seconds


def pause(attempts: int) -> timedelta:
    """5 s, then three times as long each time, up to an hour; a quarter more or less, so that
    those that failed together don't come back together."""
    seconds = min(FIRST_PAUSE * 3 ** min(attempts - 1, 10), LONGEST_PAUSE)
    return timedelta(seconds=seconds * random.uniform(0.75, 1.25))  # noqa: S311  no secret


def state_of(row: Row) -> str:
    return "sent" if row["sent_at"] else "given up" if row["given_up_at"] else "waiting"
