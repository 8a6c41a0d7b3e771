"""Each case of the public client specification, as the package has it: also what a server refuses
to store, and weights of any sum."""

from __future__ import annotations

import json

import pytest

from tests.delivery.kit import compile_document
from tests.properties.test_evaluation import make_fields
from tests.routes import specification

FOLDER = specification.find_specifications()
NAMES = json.loads((FOLDER / "index.json").read_text()) if FOLDER else []
READ = [json.loads((FOLDER / name).read_text()) for name in NAMES]
SUITES = [suite for suite in READ if suite["name"] not in specification.NOT_SERVED]
DISABLED = {"name": "disabled", "enabled": False, "feature_enabled": False}


def evaluate(flags, case):
    """What `expectedResult` has: enabled or not, or the variant."""
    flag = flags.by_name.get(case["toggleName"])
    fields = make_fields({"properties": {}} | case["context"])
    variant = flag.find_variant(fields) if flag else None
    if isinstance(case["expectedResult"], bool):
        return variant is not None
    return {key: (variant or DISABLED).get(key) for key in case["expectedResult"]}


@pytest.mark.skipif(not SUITES, reason="the client specification is not installed")
@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite["name"])
def test_suite(suite):
    flags = compile_document(suite["state"])
    cases = suite.get("tests", []) + suite.get("variantTests", [])
    failures = [case for case in cases if evaluate(flags, case) != case["expectedResult"]]
    assert failures == []
    assert cases
