"""The counter of sign-in attempts."""

from sigservice.telemetry.instruments import Instruments


class SignIns:
    """A method is password, link (a reset link), oidc (the provider) or email. A result is success,
    failed (wrong login, password or code; refused), limited (too many failures of the account) or
    unavailable (too many attempts at the same time, no database or no provider)."""

    def __init__(self, instruments: Instruments) -> None:
        self._provider_requests = instruments.add_counter(
            "oidc_requests_total",
            "Requests to the OpenID provider, by endpoint and result.",
            ("endpoint", "result"),
        )
        self._provider_seconds = instruments.add_histogram(
            "oidc_request_seconds",
            "Duration of requests to the OpenID provider.",
            ("endpoint",),
            bounds=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        )
        self.count_attempt = instruments.add_counter(
            "login_attempts_total",
            "Attempts to sign in, by method and result.",
            ("method", "result"),
        ).inc

    def observe_provider(self, endpoint: str, result: str, seconds: float) -> None:
        """A result is success, error (status 4xx), unreachable or refused (too many requests)."""
        self._provider_requests.inc(endpoint, result)
        self._provider_seconds.observe(seconds, endpoint)
