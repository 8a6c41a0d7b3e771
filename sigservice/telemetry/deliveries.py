"""What leaves the house: notifications of runs, mails to users."""

from __future__ import annotations

from sigservice.telemetry.instruments import Counter, Instruments


class Messages:
    """A result is sent, failed (it will be tried again) or given up."""

    def __init__(self, make: Instruments) -> None:
        self._notifications = make.add(
            Counter(
                "notifications_sent_total",
                "Attempts to tell people of runs, by channel and result.",
                ("type", "result"),
            )
        )
        self._addons = make.add(
            Counter(
                "addon_events_handled",
                "The same attempts as tools of the field name them.",
                ("result", "destination"),
            )
        )
        self._mails = make.add(
            Counter(
                "mails_sent_total",
                "Attempts to send mails to users, by kind and result.",
                ("kind", "result"),
            )
        )

    def notified(self, type: str, result: str) -> None:
        self._notifications.inc(type, result)
        self._addons.inc("success" if result == "sent" else "failed", type)

    def mailed(self, kind: str, result: str) -> None:
        self._mails.inc(kind, result)
