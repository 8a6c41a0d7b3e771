"""Flags as the client API sends them, and an engine made of them."""

from __future__ import annotations

from typing import Any

import msgspec

from sigservice import secrets
from sigservice.flags.engine import FlagEngine
from sigservice.flags.evaluation_context import make_context


def flag(name: str = "f", *strategies: dict[str, Any], **more: Any) -> dict[str, Any]:
    """On in the project `default`; without a strategy for everybody."""
    return {
        "name": name,
        "type": "release",
        "enabled": True,
        "project": "default",
        "stale": False,
        "description": None,
        "impressionData": False,
        "strategies": list(strategies),
        "variants": [],
    } | more


def strategy(name: str = "default", **more: Any) -> dict[str, Any]:
    return {"name": name, "parameters": {}, "constraints": [], "variants": []} | more


def rollout(share: int, stickiness: str = "default", **more: Any) -> dict[str, Any]:
    parameters = {"rollout": str(share), "stickiness": stickiness, "groupId": "f"}
    return strategy("flexibleRollout", parameters=parameters, **more)


def constraint(field: str, operator: str, *values: str, **more: Any) -> dict[str, Any]:
    return {"contextName": field, "operator": operator, "values": list(values)} | more


def variant(name: str, weight: int = 500, stickiness: str = "default", **more: Any):
    return {"name": name, "weight": weight, "weightType": "variable", "stickiness": stickiness} | (
        more
    )


def engine(*flags: dict[str, Any], segments: list[dict[str, Any]] | None = None) -> FlagEngine:
    document = {"version": 2, "features": list(flags), "segments": segments or []}
    return FlagEngine(msgspec.json.encode(document), 1)


def context(**given: Any) -> dict[str, Any]:
    return make_context(given, environment="development", remote_address="192.0.2.7")


def names(made: FlagEngine, *projects: str, **given: Any) -> list[str]:
    """Which flags are on."""
    return [toggle["name"] for toggle in made.evaluate(context(**given), projects or ("*",))]


def opened(state, secret):
    """As a guard asks: what is in memory, else the database; and the revisions that hold."""
    known, key = state.read_revisions(), secrets.sha256(secret)
    return state.find_cached_access(key, known) or state.find_access(secret, key, known), known
