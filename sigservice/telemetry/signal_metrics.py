"""Signals, the runs that they trigger, and evaluations of alert rules."""

from sigservice.telemetry.instruments import Instruments


class SignalMetrics:
    def __init__(self, instruments: Instruments) -> None:
        self._received = instruments.add_counter(
            "signals_received_total",
            "Signals by endpoint and result.",
            ("endpoint", "result"),
            ("endpoint",),
        )
        self._payload = instruments.add_histogram(
            "signal_payload_bytes",
            "Size of accepted payloads.",
            bounds=(100, 1_000, 10_000, 100_000, 1_000_000),
        )
        self._runs = instruments.add_counter(
            "action_runs_total", "Runs of action sets, by how they ended.", ("state",)
        )
        self.count_action = instruments.add_counter(
            "signal_actions_total", "Actions of the runs, by result.", ("result",)
        ).inc
        self._reaction = instruments.add_histogram(
            "action_reaction_seconds",
            "From a signal's commit to the end of its run.",
            bounds=(0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5, 60),
        )

    def count_signal(self, endpoint: str, result: str, payload_bytes: int = 0) -> None:
        """`endpoint` is the name of an existing endpoint, or "" for a failed authentication."""
        self._received.inc(endpoint, result)
        if payload_bytes:
            self._payload.observe(payload_bytes)

    def count_run(self, state: str, reaction: float | None) -> None:
        """`reaction` is the seconds from a signal's commit to the end of its run."""
        self._runs.inc(state)
        if reaction is not None:
            self._reaction.observe(reaction)


class RuleMetrics:
    def __init__(self, instruments: Instruments) -> None:
        self.count_evaluation = instruments.add_counter(
            "alert_rule_evaluations_total",
            "Evaluations of alert rules, by kind of source and result.",
            ("kind", "result"),
        ).inc
        self.observe = instruments.add_histogram(
            "alert_rule_evaluation_seconds",
            "Duration of reading and evaluating rules together, by kind of source.",
            ("kind",),
            bounds=(0.005, 0.02, 0.1, 0.5, 2, 10, 30),
        ).observe
