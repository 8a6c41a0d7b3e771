"""When, from where and how often tokens of signal endpoints are used."""

from datetime import datetime

from sigservice.concurrency.buffer import Buffer

MAX_TOKENS = 100_000  # between two runs of the job


class TokenUses(Buffer[int, tuple[datetime, str, int]]):
    """`drain` returns (last use, its address, number of uses) by token ID."""

    def __init__(self) -> None:
        super().__init__(MAX_TOKENS)

    def record(self, token_id: int, address: str, now: datetime) -> None:
        self.add(token_id, lambda use: (now, address, 1 + (use[2] if use else 0)))
