"""Makes random decisions of the engine the same for all parts of one explanation.

Random stickiness is replaced by a temporary context field, so the hash of that field decides about
rollouts and variants.
"""

import uuid
from collections.abc import Sequence
from typing import Any

Context = dict[str, Any]
# Variants never stick to these, whatever the context has.
_NEVER = ("random", "currentTime", "")


class RandomStickiness:
    def __init__(self, context: Context) -> None:
        self._field = uuid.uuid4().hex
        self._names = {*context, *context["properties"]}
        properties = context["properties"] | {self._field: self._field}
        self.context = context | {"properties": properties}

    def fix_strategy(self, strategy: dict[str, Any], flag: str) -> dict[str, Any]:
        """Returns the strategy of `flag` without randomness."""
        if strategy["name"] == "gradualRolloutRandom":
            rollout = {"rollout": strategy["parameters"].get("percentage", "0"), "groupId": flag}
            parameters = rollout | {"stickiness": self._field}
            return strategy | {"name": "flexibleRollout", "parameters": parameters}
        if strategy["name"] == "flexibleRollout" and self._is_random(_get_stickiness(strategy)):
            return strategy | {"parameters": strategy["parameters"] | {"stickiness": self._field}}
        return strategy

    def fix_variants(self, variants: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            variant | {"stickiness": self._field} if self.is_random_choice([variant]) else variant
            for variant in variants
        ]

    def is_random_rollout(self, strategy: dict[str, Any]) -> bool:
        """Whether a matching strategy decides at random; 0% and 100% don't."""
        percentage = "percentage" if strategy["name"] == "gradualRolloutRandom" else "rollout"
        if strategy["parameters"].get(percentage, "0") in ("0", "100"):
            return False
        if strategy["name"] == "gradualRolloutRandom":
            return True
        is_flexible = strategy["name"] == "flexibleRollout"
        return is_flexible and self._is_random(_get_stickiness(strategy))

    def is_random_choice(
        self, variants: Sequence[dict[str, Any]], strategy: dict[str, Any] | None = None
    ) -> bool:
        """Whether the variant is chosen at random. Variants of a strategy use its stickiness."""
        fields = [variant.get("stickiness", "default") for variant in variants]
        if strategy is not None:
            fields = [_get_stickiness(strategy)]
        return any(
            field in _NEVER or self._is_random(field) or field not in {*self._names, "default"}
            for field in fields
        )

    def _is_random(self, field: str) -> bool:
        return field == "random" or (
            field == "default" and self._names.isdisjoint(("userId", "sessionId"))
        )


def _get_stickiness(strategy: dict[str, Any]) -> str:
    return str(strategy["parameters"].get("stickiness", "default"))
