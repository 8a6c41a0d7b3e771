"""The counter of sign-in attempts."""

from sigservice.telemetry.instruments import Counter, Instruments


class SignIns:
    """A result is success, failed (wrong login, password or code), limited (too many failures of
    the account) or unavailable (too many attempts at the same time, or no database)."""

    def __init__(self, instruments: Instruments) -> None:
        self._attempts = instruments.add(
            Counter("login_attempts_total", "Attempts to sign in, by result.", ("result",))
        )

    def count_attempt(self, result: str) -> None:
        self._attempts.inc(result)
