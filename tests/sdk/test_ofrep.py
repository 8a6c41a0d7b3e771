"""The OFREP providers of OpenFeature for Python, Node and web pages against a listening service."""

from __future__ import annotations

import pytest
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import OpenFeatureError

from tests.sdk.conftest import CLIENT_TOKEN, FRONTEND_TOKEN
from tests.server.process import until

PAYLOADS = {
    "integer": ("number", "5"),
    "float": ("number", "5.5"),
    "object": ("json", '{"a": [1, {"b": null}]}'),
}
# (method, flag, default, context, value, reason, variant)
ANSWERS = [
    ("Boolean", "rollout", False, {}, True, "STATIC", None),
    ("Boolean", "nobody", True, {}, False, "STATIC", None),
    ("Boolean", "german", False, {"country": "de"}, True, "TARGETING_MATCH", None),
    ("Boolean", "german", True, {"country": "fr"}, False, "TARGETING_MATCH", None),
    ("Boolean", "beta", False, {"targetingKey": "7"}, True, "TARGETING_MATCH", None),
    ("Boolean", "half", None, {"targetingKey": "7"}, None, "SPLIT", None),
    ("Boolean", "off", True, {"nested": {"a": [1]}}, False, "DISABLED", None),
    ("String", "color", "#000", {}, "#f00", "STATIC", "red"),
    ("Number", "integer", 1, {}, 5, "STATIC", "v"),
    ("Number", "float", 1, {}, 5.5, "STATIC", "v"),
    ("Object", "object", {}, {}, {"a": [1, {"b": None}]}, "STATIC", "v"),
]
# (method, flag, default, error code)
ERRORS = [
    ("Boolean", "unknown", True, "FLAG_NOT_FOUND"),
    ("Boolean", "a/b c", True, "FLAG_NOT_FOUND"),
    ("String", "rollout", "x", "TYPE_MISMATCH"),
    ("String", "off", "x", "TYPE_MISMATCH"),
]


@pytest.fixture
def values(flags):
    """`flags`, one for each type of payload, half (50%) and off."""
    for name, (type, value) in PAYLOADS.items():
        payload = {"type": type, "value": value}
        variant = {"name": "v", "weight": 1000, "weightType": "variable", "payload": payload}
        flags.flag(name, variants=[variant])
    flags.flag("half", parameters={"rollout": 50})
    flags.flag("off")
    flags.switch("off", on=False)
    return flags


def check(details, value, reason, variant):
    if value is not None:
        assert details["value"] == value
        assert type(details["value"]) is type(value)
    assert details["reason"] == reason
    assert details["variant"] == variant


def test_python(values):
    headers = {"Authorization": f"Bearer {CLIENT_TOKEN}"}
    provider = OFREPProvider(values.url, headers_factory=lambda: headers)

    def resolve(method, flag, default, context):
        if method == "Number":
            method = "Integer" if flag == "integer" else "Float"
        attributes = dict(context)
        evaluation_context = EvaluationContext(attributes.pop("targetingKey", None), attributes)
        call = getattr(provider, f"resolve_{method.lower()}_details")
        return vars(call(flag, default, evaluation_context))

    for method, flag, default, context, *expected in ANSWERS:
        check(resolve(method, flag, default, context), *expected)
    for method, flag, default, code in ERRORS:
        with pytest.raises(OpenFeatureError) as caught:
            resolve(method, flag, default, {})
        assert caught.value.error_code == code
    with pytest.raises(OpenFeatureError) as caught:
        resolve("Boolean", "rollout", False, {"targetingKey": "x" * 10_001})
    assert caught.value.error_code == "INVALID_CONTEXT"
    headers["Authorization"] = "wrong"
    with pytest.raises(OpenFeatureError, match="unauthorized"):
        resolve("Boolean", "rollout", False, {})
    provider.session.close()


def test_node(values, node):
    sdk = node("ofrep_sdk.cjs", values.url)
    sdk.ask(do="server", token=CLIENT_TOKEN, path="/")  # gives //ofrep
    for method, flag, default, context, *expected in ANSWERS:
        fallback = False if default is None else default
        details = sdk.ask(do="get", type=method, flag=flag, fallback=fallback, context=context)
        check({"variant": None} | details, *expected)
    for method, flag, default, code in ERRORS:
        details = sdk.ask(do="get", type=method, flag=flag, fallback=default)
        assert (details["value"], details["errorCode"]) == (default, code)
    context = {"plan": "x" * 10_001}
    details = sdk.ask(do="get", type="Boolean", flag="rollout", fallback=False, context=context)
    assert details["errorCode"] == "INVALID_CONTEXT"
    sdk.ask(do="server", token="wrong")
    assert not sdk.ask(do="get", type="Boolean", flag="rollout", fallback=False)["value"]


def test_a_web_page_sees_changes_at_once(values, node):
    sdk = node("ofrep_sdk.cjs", values.url)
    assert sdk.ask(do="web", token="wrong", context={}) == "PROVIDER_FATAL"
    context = {"targetingKey": "7", "country": "de", "nested": {"a": [1]}}
    assert sdk.ask(do="web", token=FRONTEND_TOKEN, context=context) == "ready"
    until(lambda: "304" in sdk.ask(do="statuses"), "the request at the first event")

    def see(flag, type="Boolean", fallback=False):
        return sdk.ask(do="see", type=type, flag=flag, fallback=fallback)

    for method, flag, default, _, value, reason, variant in ANSWERS:
        if value is not None and (flag, value) != ("german", False):
            check({"variant": None} | see(flag, method, default), value, reason, variant)
    assert see("unknown")["errorCode"] == "FLAG_NOT_FOUND"
    assert see("off", "String", "x")["errorCode"] == "TYPE_MISMATCH"
    sdk.ask(do="context", context=context | {"country": "fr"})  # with the ETag of the last answer
    assert sdk.ask(do="until", flag="german", value=False) is not None
    values.switch("rollout", on=False)
    assert sdk.ask(do="until", flag="rollout", value=False) is not None
    values.switch("rollout", on=True)
    assert sdk.ask(do="until", flag="rollout", value=True) is not None
