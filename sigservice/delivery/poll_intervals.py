"""The intervals at which SDKs poll in each environment: kept in memory, written by a job once a
minute. A kill loses the last minute."""

MAX_SECONDS = 86_400
MAX_PAIRS = 1000  # between two runs of the job


class PollIntervals:
    """The pairs (environment, seconds) of SDKs since the last `drain`; 0 seconds if they stream."""

    def __init__(self) -> None:
        self._pairs: set[tuple[str, int]] = set()

    def record(self, environment: str, header: str) -> None:
        """`header` is Unleash-Interval: milliseconds, or seconds by some SDKs. Others are
        ignored."""
        if not (header.isascii() and header.isdigit() and len(header) <= 9):
            return
        number = int(header)
        self._add(environment, number if number < 1000 else -(-number // 1000))

    def record_stream(self, environment: str) -> None:
        self._add(environment, 0)

    def drain(self) -> list[dict[str, str | int]]:
        """Returns and removes the pairs since the last call."""
        pairs, self._pairs = self._pairs, set()
        return [{"environment": name, "seconds": seconds} for name, seconds in sorted(pairs)]

    def _add(self, environment: str, seconds: int) -> None:
        if len(self._pairs) < MAX_PAIRS:
            self._pairs.add((environment, min(seconds, MAX_SECONDS)))
