"""The intervals at which SDKs poll in each environment."""

from sigservice.concurrency.buffer import Buffer

MAX_SECONDS = 86_400
MAX_PAIRS = 1000  # between two runs of the job


class PollIntervals(Buffer[tuple[str, int], bool]):
    """The pairs (environment, seconds) of SDKs; 0 seconds if they stream."""

    def __init__(self) -> None:
        super().__init__(MAX_PAIRS)

    def record(self, environment: str, header: str) -> None:
        """`header` is Unleash-Interval: milliseconds, or seconds by some SDKs. Others are
        ignored."""
        if not (header.isascii() and header.isdigit() and len(header) <= 9):
            return
        number = int(header)
        seconds = number if number < 1000 else -(-number // 1000)
        self.add((environment, min(seconds, MAX_SECONDS)), lambda _: True)

    def record_stream(self, environment: str) -> None:
        self.add((environment, 0), lambda _: True)
