"""Lots that the engine would draw at each look, drawn once for a whole explanation.

So its parts agree with each other: what sticks to nothing sticks to a context field that is made up
for one explanation. A rollout and a choice among variants get their lots by that field's hash.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

Context = dict[str, Any]
# Variants stick to none of these, whatever is given.
_NEVER = ("random", "currentTime", "")


class Lots:
    def __init__(self, context: Context) -> None:
        self._lot = uuid.uuid4().hex
        self._given = {*context, *context["properties"]}
        self.context = context | {"properties": context["properties"] | {self._lot: self._lot}}

    def settle(self, strategy: dict[str, Any], flag: str) -> dict[str, Any]:
        """The strategy with its lot drawn, as it decides for `flag`."""
        if strategy["name"] == "gradualRolloutRandom":
            share = {"rollout": strategy["parameters"].get("percentage", "0"), "groupId": flag}
            parameters = share | {"stickiness": self._lot}
            return strategy | {"name": "flexibleRollout", "parameters": parameters}
        if strategy["name"] == "flexibleRollout" and self._is_drawn(_stickiness(strategy)):
            return strategy | {"parameters": strategy["parameters"] | {"stickiness": self._lot}}
        return strategy

    def settle_variants(self, variants: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            variant | {"stickiness": self._lot} if self.decide([variant]) else variant
            for variant in variants
        ]

    def decide_rollout(self, strategy: dict[str, Any]) -> bool:
        """Whether it is by lot if the strategy applies. Nobody and everybody need none."""
        share = "percentage" if strategy["name"] == "gradualRolloutRandom" else "rollout"
        if strategy["parameters"].get(share, "0") in ("0", "100"):
            return False
        if strategy["name"] == "gradualRolloutRandom":
            return True
        return strategy["name"] == "flexibleRollout" and self._is_drawn(_stickiness(strategy))

    def decide(
        self, variants: Sequence[dict[str, Any]], strategy: dict[str, Any] | None = None
    ) -> bool:
        """Whether lots decide which of the variants it is; those of a strategy stick to what it
        sticks to."""
        fields = [variant.get("stickiness", "default") for variant in variants]
        if strategy is not None:
            fields = [_stickiness(strategy)]
        return any(
            field in _NEVER or self._is_drawn(field) or field not in {*self._given, "default"}
            for field in fields
        )

    def _is_drawn(self, field: str) -> bool:
        return field == "random" or (
            field == "default" and self._given.isdisjoint(("userId", "sessionId"))
        )


def _stickiness(strategy: dict[str, Any]) -> str:
    return str(strategy["parameters"].get("stickiness", "default"))
