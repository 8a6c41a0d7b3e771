"""Metrics of deliveries: events to integrations, emails to users."""

from sigservice.telemetry.instruments import Instruments


class Deliveries:
    """A result is sent, failed (another attempt follows) or given up."""

    def __init__(self, instruments: Instruments) -> None:
        self._addons = instruments.add_counter(
            "addon_events_handled",
            "Attempts to send events to integrations, by receiver.",
            ("result", "destination"),
        )
        self._given_up = instruments.add_counter(
            "integration_deliveries_given_up_total",
            "Events that an integration doesn't get, by provider.",
            ("provider",),
        )
        self.count_mail = instruments.add_counter(
            "mails_sent_total",
            "Attempts to send emails to users, by kind and result.",
            ("kind", "result"),
        ).inc

    def count_integration(self, provider: str, result: str) -> None:
        self._addons.inc("success" if result == "sent" else "failed", provider)
        if result == "given up":
            self._given_up.inc(provider)
