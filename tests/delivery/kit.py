"""Flags in the format of the client API, compiled, and contexts."""

from __future__ import annotations

from typing import Any

import msgspec

from sigservice.crypto import secrets
from sigservice.evaluation.fields import Fields
from sigservice.evaluation.flags import Flags, evaluate
from sigservice.playground.evaluation_context import make_context


def flag(name: str = "f", *strategies: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Enabled in the project `default`; for everyone without a strategy."""
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


def compile_flags(*flags: dict[str, Any], segments: list[dict[str, Any]] | None = None) -> Flags:
    return compile_document({"features": flags, "segments": segments or []})


def compile_document(document: dict[str, Any]) -> Flags:
    encode = msgspec.json.encode
    texts = {flag["name"]: encode(flag) for flag in document["features"]}
    return Flags(texts, {it["id"]: encode(it) for it in document.get("segments") or ()})


def context(**fields: Any) -> Fields:
    """As the frontend API makes it from what an SDK sends."""
    return make_context(
        fields, environment="development", remote_address="192.0.2.7", creates_session=True
    )


def toggles(flags: Flags, *projects: str, **fields: Any) -> list[dict[str, Any]]:
    """The enabled flags as the frontend API shows them."""
    body = evaluate(flags.list_entries(projects or ("*",)), context(**fields))
    return msgspec.json.decode(body)["toggles"]


def names(flags: Flags, *projects: str, **fields: Any) -> list[str]:
    return [toggle["name"] for toggle in toggles(flags, *projects, **fields)]


def open_access(cache, secret):
    """Reads the cache, else the database, as a guard does. Returns the access and the revisions."""
    revisions, key = cache.read_revisions(), secrets.sha256(secret)
    return cache.find_cached_access(key, revisions) or cache.find_access(
        secret, key, revisions
    ), revisions
