"""Evaluations of alert rules."""

from sigservice.telemetry.instruments import Counter, Histogram, Instruments


class RuleMetrics:
    def __init__(self, instruments: Instruments) -> None:
        self._evaluations = instruments.add(
            Counter(
                "alert_rule_evaluations_total",
                "Evaluations of alert rules, by kind of source and result.",
                ("kind", "result"),
            )
        )
        self._seconds = instruments.add(
            Histogram(
                "alert_rule_evaluation_seconds",
                "Duration of reading and evaluating rules together, by kind of source.",
                ("kind",),
                bounds=(0.005, 0.02, 0.1, 0.5, 2, 10, 30),
            )
        )

    def count_evaluation(self, kind: str, result: str) -> None:
        """`result` is value, unknown, or error if the metric source didn't answer."""
        self._evaluations.inc(kind, result)

    def observe(self, kind: str, seconds: float) -> None:
        self._seconds.observe(seconds, kind)
