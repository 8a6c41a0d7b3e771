"""Evaluations of alert rules."""

from sigservice.telemetry.instruments import Instruments


class RuleMetrics:
    def __init__(self, instruments: Instruments) -> None:
        self.count_evaluation = instruments.add_counter(
            "alert_rule_evaluations_total",
            "Evaluations of alert rules, by kind of source and result.",
            ("kind", "result"),
        ).inc
        self._seconds = instruments.add_histogram(
            "alert_rule_evaluation_seconds",
            "Duration of reading and evaluating rules together, by kind of source.",
            ("kind",),
            bounds=(0.005, 0.02, 0.1, 0.5, 2, 10, 30),
        )

    def observe(self, kind: str, seconds: float) -> None:
        self._seconds.observe(seconds, kind)
