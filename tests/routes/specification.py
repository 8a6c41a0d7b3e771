"""The public client specification: its location, and the import of a suite's state.

It is not part of this repository (Apache-2.0, npm package `@unleash/client-specification`):

    npm install --prefix tests/sdk

or CLIENT_SPECIFICATION=<the unpacked package>.
"""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

from tests.routes.kit import FEATURES, Admin

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "tests/sdk/node_modules/@unleash/client-specification"

#: Suites that no such server can hold: the delta API is not served.
NOT_SERVED = {"19-delta-api-hydration", "20-delta-api-events"}

#: Flags that the admin API may refuse to store, and why. The others are evaluated like the rest.
MAY_BE_REFUSED = {
    "Feature.constraints.empty": "IN needs values",
    "Feature.constraints.empty-not-in": "NOT_IN needs values",
    "Feature.constraints.no_values": "IN needs values",
    "Feature.constraints.no_values_NOT_IN": "NOT_IN needs values",
    "F7.invalid-operator": "an unknown operator",
    "F8.invalidSemverWithLeadingV": "v2.0.0 is no semver",
    "F9.withMissingSegment": "an unknown segment",
    "parent.with.cycle": "a cycle",
    "child.with.cycle": "a cycle",
    "child.with.transitive.dependency": "a parent with a parent",
    "multiple.parents.satisfied.child.enabled": "one parent at most",
    "multiple.parents.not.satisfied.child.enabled": "one parent at most",
    "parents.not.exist.child.enabled": "an unknown parent",
    "Feature.UTF-8.Hellø_Wørld": "a name that is not URL friendly",
    "Feature.UTF-8.😊_φriend_你好_🌍": "a name that is not URL friendly",
    "invalid-regex-defaults-to-false": "an invalid expression",
    "Inverted.constraint": "REGEX can't be inverted",
    "R90.reject_lookahead": "not RE2",
    "R91.reject_backreference": "not RE2",
    "CIDR.exact.match": "IN_CIDR is young",
    "CIDR.range.match": "IN_CIDR is young",
    "CIDR.mixed.values": "an invalid address",
    "CIDR.invalid.only": "an invalid address",
    "CIDR.ipv6.exact.match": "IN_CIDR is young",
    "CIDR.ipv6.range.match": "IN_CIDR is young",
    "CIDR.ipv6.mixed.values": "an invalid address",
}

#: Cases that the frontend API can't show, for it fills these fields of the context itself.
FILLED_IN = {
    "Feature.remoteAddress.A should not be enabled for missing remoteAddress on context": (
        "remoteAddress is the caller's"
    ),
    "Feature.A4 should be disabled when no user on context": "sessionId is made up",
}


def find_specifications() -> Path | None:
    override = os.environ.get("CLIENT_SPECIFICATION")
    folder = (Path(override) if override else ROOT / PACKAGE) / "specifications"
    return folder if (folder / "index.json").is_file() else None


def suites() -> list[dict[str, Any]]:
    """The suites with a state that a server can store; weights sum to 1000."""
    folder = find_specifications()
    if folder is None:
        return []
    names = json.loads((folder / "index.json").read_text())
    read = [json.loads((folder / name).read_text()) for name in names]
    return [out_of_1000(suite) for suite in read if suite["name"] not in NOT_SERVED]


def out_of_1000(suite: dict[str, Any]) -> dict[str, Any]:
    """Servers store weights that sum to 1000; those of the suites have any sum."""
    suite = copy.deepcopy(suite)
    for flag in suite["state"]["features"]:
        for holder in (flag, *flag["strategies"]):
            variants = holder.get("variants") or []
            total = sum(variant["weight"] for variant in variants)
            for variant in variants:
                variant["weight"] = variant["weight"] * 1000 // total
                variant["weightType"] = "fix"
                variant.setdefault("stickiness", "default")
            if variants:
                rest = sum(variant["weight"] for variant in variants[:-1])
                variants[-1].update(weight=1000 - rest, weightType="variable")
    return suite


class Loader:
    """Imports a suite's state into a server and records what the server rejects."""

    def __init__(self, admin: Admin) -> None:
        self.admin = admin
        self.refused: dict[str, tuple[int, str]] = {}
        self._segments: dict[int, int] = {}

    def load(self, state: dict[str, Any]) -> None:
        for segment in state.get("segments", []):
            name = f"segment-{segment['id']}"
            self._segments[segment["id"]] = self.admin.segment(
                name, constraints=segment["constraints"]
            )
        for flag in state["features"]:
            self._flag(flag)
        for flag in sorted(state["features"], key=lambda flag: flag["name"] in MAY_BE_REFUSED):
            self._depend(flag)

    def _is_refused(self, flag: str, path: str, body: Any) -> bool:
        answer = self.admin.ask("POST", path, body)
        if answer.status_int >= 300:
            self.refused[flag] = answer.status_int, f"{answer.request.path_qs}: {answer.text}"
        return answer.status_int >= 300

    def _flag(self, flag: dict[str, Any]) -> None:
        name, state = flag["name"], f"{FEATURES}/{flag['name']}/environments/development"
        body = {"name": name, "description": flag.get("description")}
        if self._is_refused(name, FEATURES, body):
            return
        if flag.get("variants"):
            self._import(flag)
            return
        for strategy in flag["strategies"]:
            body = self._strategy(strategy)
            if self._is_refused(name, f"{state}/strategies", body):
                return
        if flag["enabled"]:
            self.admin.post(f"{state}/on")

    def _strategy(self, strategy: dict[str, Any]) -> dict[str, Any]:
        fields = {k: v for k, v in strategy.items() if k != "segments"}
        ids = [self._segments.get(id, id) for id in strategy.get("segments", [])]
        return {"parameters": {}, "constraints": [], **fields, "segments": ids}

    def _import(self, flag: dict[str, Any]) -> None:
        """Only an import can create flag-level variants, which are deprecated."""
        name = flag["name"]
        strategies = [self._strategy(strategy) for strategy in flag["strategies"]]
        in_use = {id for strategy in strategies for id in strategy["segments"]}
        data = {
            "features": [{"name": name, "type": "release", "project": "default"}],
            "featureStrategies": [{**strategy, "featureName": name} for strategy in strategies],
            "featureEnvironments": [
                {
                    "name": "development",
                    "environment": "development",
                    "featureName": name,
                    "enabled": flag["enabled"],
                    "variants": flag["variants"],
                }
            ],
            "contextFields": [],
            "featureTags": [],
            "segments": [
                {"id": id, "name": f"segment-{old}"}
                for old, id in self._segments.items()
                if id in in_use
            ],
            "tagTypes": [],
            "dependencies": [],
        }
        body = {"project": "default", "environment": "development", "data": data}
        self._is_refused(name, "/api/admin/features-batch/import", body)

    def _depend(self, flag: dict[str, Any]) -> None:
        name, dependencies = flag["name"], flag.get("dependencies") or []
        if not dependencies or name in self.refused:
            return
        for dependency in dependencies:
            if self._is_refused(name, f"{FEATURES}/{name}/dependencies", dependency):
                return
        saved = {d["feature"] for d in self.admin.get(f"{FEATURES}/{name}")["dependencies"]}
        if saved != {d["feature"] for d in dependencies}:
            self.refused[name] = 200, f"only {sorted(saved)} was kept"
