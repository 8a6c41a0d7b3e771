"""Each case of the public client specification, by the frontend API and a server-side SDK."""

from __future__ import annotations

import json
from typing import Any

import pytest
from yggdrasil_engine.engine import UnleashEngine

from tests.contract import specification
from tests.contract.specification import FILLED_IN, MAY_BE_REFUSED, Loader

SUITES = specification.suites()
ABSENT = "the client specification is not here: see tests/contract/specification.py"
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
def test_suite(api, request, check, suite):
    importing = specification.needs_import(suite)
    loader = Loader(api, request.getfixturevalue("person") if importing else {})
    loader.load(suite["state"])
    for flag, (status, why) in loader.refused.items():
        check(flag in MAY_BE_REFUSED, f"{flag} was refused: {status} {why}")
        check(status < 500, f"{flag}: {status} {why}")

    oracle = engine(suite["state"])
    served = engine(api.payload(api.client()))
    browser = api.frontend()
    for case in cases(suite):
        if case["toggleName"] in loader.refused:
            continue
        want = evaluate(suite, oracle, case)
        what = case["description"]
        check.equal(by_engine(served, case), want, f"client API: {what}")
        if what not in FILLED_IN:
            toggles = api.evaluate(browser, case["context"])
            check.equal(by_frontend(toggles, case), want, f"frontend API: {what}")


@pytest.mark.skipif(not SUITES, reason=ABSENT)
@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite["name"])
def test_the_oracle_agrees_with_the_suite(check, suite):
    """Weights that sum to 1000 change only the limits of the buckets of variants."""
    oracle = engine(suite["state"])
    for case in cases(suite):
        expected, actual = case["expectedResult"], by_engine(oracle, case)
        if isinstance(expected, bool):
            check.equal(actual, expected, case["description"])
        else:
            check.equal(actual[2:], (expected["enabled"], expected["feature_enabled"]),
                        case["description"])  # fmt: skip
