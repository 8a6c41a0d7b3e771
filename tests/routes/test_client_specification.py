"""Each case of the public client specification, by the frontend API and a server-side SDK."""

from __future__ import annotations

import json
from typing import Any

import pytest
from yggdrasil_engine.engine import UnleashEngine

from tests.routes import specification
from tests.routes.kit import Admin
from tests.routes.sdk import AUTHENTICATION, CLIENT, FRONTEND
from tests.routes.specification import FILLED_IN, MAY_BE_REFUSED, Loader

SUITES = specification.suites()
ABSENT = "the client specification is not here: see tests/routes/specification.py"
OFF = ("disabled", None, False, False)


def test_the_specification_is_here():
    if specification.find_specifications() is None:
        pytest.skip(ABSENT)
    assert len(SUITES) >= 20
    assert sum(len(cases(suite)) for suite in SUITES) >= 270


def cases(suite: dict[str, Any]) -> list[dict[str, Any]]:
    return suite.get("tests", []) + suite.get("variantTests", [])


def engine(state: dict[str, Any]) -> UnleashEngine:
    engine = UnleashEngine()
    engine.take_state(json.dumps(state))
    return engine


def by_engine(engine: UnleashEngine, case: dict[str, Any]) -> Any:
    """Enabled or not, or (name, payload, enabled, feature enabled) of a variant."""
    if isinstance(case["expectedResult"], bool):
        return engine.check_enabled(case["toggleName"], case["context"]).is_enabled
    variant = engine.check_variant(case["toggleName"], case["context"]).variant
    return variant.name, variant.payload, variant.enabled, variant.feature_enabled


def by_frontend(toggles: dict[str, dict[str, Any]], case: dict[str, Any]) -> Any:
    toggle = toggles.get(case["toggleName"])
    if isinstance(case["expectedResult"], bool):
        return toggle is not None
    if toggle is None:
        return OFF
    variant = toggle["variant"]
    return variant["name"], variant.get("payload"), variant["enabled"], variant["feature_enabled"]


def evaluate(suite: dict[str, Any], oracle: UnleashEngine, case: dict[str, Any]) -> Any:
    """What the suite says; a variant whose bucket depends on the sum of the weights is what the
    official engine says of the same state with weights out of 1000."""
    expected = case["expectedResult"]
    if isinstance(expected, bool):
        return expected
    if expected["enabled"]:
        return by_engine(oracle, case)
    return expected["name"], expected.get("payload"), False, expected["feature_enabled"]


@pytest.mark.skipif(not SUITES, reason=ABSENT)
@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite["name"])
def test_suite(make_service, suite):
    admin = Admin(make_service({"authentication": AUTHENTICATION}))
    loader = Loader(admin)
    loader.load(suite["state"])
    assert set(loader.refused) <= set(MAY_BE_REFUSED), loader.refused
    assert all(status < 500 for status, _ in loader.refused.values()), loader.refused

    oracle = engine(suite["state"])
    headers = CLIENT | {"Unleash-Client-Spec": "5.1.7"}
    served = engine(admin.web.get("/api/client/features", headers=headers).json)
    failures = []
    for case in cases(suite):
        if case["toggleName"] in loader.refused:
            continue
        expected, what = evaluate(suite, oracle, case), case["description"]
        if (actual := by_engine(served, case)) != expected:
            failures.append(("client API", what, actual, expected))
        if what not in FILLED_IN:
            body = {"context": case["context"]}
            answer = admin.web.post_json("/api/frontend", body, headers=FRONTEND).json
            toggles = {toggle["name"]: toggle for toggle in answer["toggles"]}
            if (actual := by_frontend(toggles, case)) != expected:
                failures.append(("frontend API", what, actual, expected))
    assert failures == []


@pytest.mark.skipif(not SUITES, reason=ABSENT)
@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite["name"])
def test_the_oracle_agrees_with_the_suite(suite):
    """Weights that sum to 1000 change only the limits of the buckets of variants."""
    oracle = engine(suite["state"])
    for case in cases(suite):
        expected, actual = case["expectedResult"], by_engine(oracle, case)
        if not isinstance(expected, bool):
            expected = expected["enabled"], expected["feature_enabled"]
            actual = actual[2:]
        assert actual == expected, case["description"]
