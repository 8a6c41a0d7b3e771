"""Evaluations through OFREP are counted as usage."""

from __future__ import annotations

import pytest

from sigservice.jobs import buffers
from tests.routes.sdk import CLIENT, FRONTEND
from tests.routes.test_ofrep import PATH


@pytest.fixture
def sdk(sdk):
    """Both flags have the variant `blue`, with a weight."""
    variants = '[{"name": "blue", "weight": 1000, "weightType": "variable"}]'
    sdk.rows("UPDATE feature_environments SET variants = %s", variants)
    return sdk


def evaluate(sdk, key="one", headers=CLIENT, **context):
    sdk.web.post_json(f"{PATH}/{key}", {"context": context}, headers=headers, status="*")


def write(sdk):
    buffers.store_counts(sdk.service.context)


def test_single_evaluations_are_counted_by_application(sdk):
    for _ in range(3):
        evaluate(sdk, appName="shop")
    evaluate(sdk, "two", appName="shop")
    evaluate(sdk, headers=FRONTEND, appName="page")
    evaluate(sdk, "unknown", appName="shop")
    assert sdk.sums() == {}
    write(sdk)
    assert sdk.sums() == {
        ("one", "shop", "development"): (0, 3),
        ("two", "shop", "development"): (0, 1),
        ("one", "page", "development"): (0, 1),
    }
    assert sdk.instances() == {
        ("shop", "default", "development", "OFREP", "backend"),
        ("page", "default", "development", "OFREP", "frontend"),
    }
    write(sdk)
    assert sdk.sums()["one", "shop", "development"] == (0, 3)


def test_the_state_and_the_variant_are_counted(sdk):
    sdk.rows("UPDATE feature_environments SET enabled = true")
    evaluate(sdk)
    evaluate(sdk)
    write(sdk)
    ((key, count),) = sdk.sums().items()
    assert key[1]  # the name of the token
    assert count == (2, 0)
    assert sdk.variants() == {("one", "blue"): 2}


def test_bulk_answers_are_not_counted(sdk):
    sdk.web.post_json(PATH, {"context": {}}, headers=CLIENT)
    write(sdk)
    assert sdk.sums() == {}


def test_invented_applications_use_limited_memory(sdk, monkeypatch):
    monkeypatch.setattr(sdk.service.context.evaluation_counts, "_max_keys", 2)
    for name in ("a", "b", "c", "a", "x" * 9000):
        evaluate(sdk, appName=name)
    write(sdk)
    assert sdk.sums() == {
        ("one", "a", "development"): (0, 2),
        ("one", "b", "development"): (0, 1),
    }
    evaluate(sdk, appName="x" * 9000)
    write(sdk)
    assert ("one", "x" * 255, "development") in sdk.sums()
