"""The official wrappers of SDKs: React, Vue, Next.js and OpenFeature in Node, and for Python."""

from __future__ import annotations

from typing import Any

import pytest
from openfeature import api
from openfeature.evaluation_context import EvaluationContext
from unleash_openfeature_python_provider import UnleashFlagProvider

from tests.sdk.conftest import CLIENT_TOKEN, FRONTEND_TOKEN, Server
from tests.waiting import until

SCRIPT = "wrappers_sdk.mjs"


def list_variants(server: Server) -> list[Any]:
    path = "/api/admin/client-metrics/features/color/raw"
    return [row.get("variants") for row in server.admin("GET", path)["data"]]


@pytest.mark.parametrize("wrapper", ["react", "vue", "next-page"])
def test_a_component_shows_flags_and_reports(flags, node, wrapper):
    page = node(SCRIPT, wrapper, flags.url, FRONTEND_TOKEN)
    until(lambda: page.ask(do="text") == "beta true, color red #f00", "the first flags")
    assert page.ask(do="context", context={"userId": "8"})
    until(lambda: page.ask(do="text").startswith("beta false"), "the flags of another user")
    assert page.ask(do="context", context={"userId": "7"})
    flags.switch("beta", on=False)
    flags.switch("beta", on=True)
    flags.switch("color", on=False)
    until(lambda: page.ask(do="text") == "beta true, color disabled undefined", "the next poll")
    until(lambda: min(flags.usage("beta")) >= 1, "metrics on the server")


def test_next_evaluates_on_the_server_and_reports_with_a_client_token(flags, node):
    page = node(SCRIPT, "next", flags.url, FRONTEND_TOKEN, CLIENT_TOKEN)
    for user, is_enabled in (("7", True), ("8", False)):
        context = {"userId": user, "properties": {"country": "de"}}
        for where in ("server", "frontend"):
            names = page.ask(do=where, context=context)
            assert {"rollout", "german", "color"} <= set(names)
            assert ("beta" in names) == is_enabled
    flag = page.ask(do="flag", flag="color", context={"userId": "7"})
    assert (flag["enabled"], flag["variant"]["name"]) == (True, "red")
    flags.switch("rollout", on=False)
    assert "rollout" not in page.ask(do="server", context={"userId": "7"})
    assert page.ask(do="report", context={"userId": "7"})
    until(lambda: flags.usage("beta") == (1, 0), "metrics on the server")
    assert {"red": 1} in list_variants(flags)


def test_the_openfeature_provider_for_web_pages(flags, node):
    page = node(SCRIPT, "openfeature", flags.url, FRONTEND_TOKEN)
    assert page.ask(do="boolean", flag="beta")
    assert page.ask(do="string", flag="color") == "#f00"
    assert not page.ask(do="boolean", flag="german")
    assert page.ask(do="context", context={"userId": "8", "country": "de"})
    assert not page.ask(do="boolean", flag="beta")
    assert page.ask(do="boolean", flag="german")
    flags.switch("german", on=False)
    until(lambda: not page.ask(do="boolean", flag="german"), "the next poll")
    until(lambda: min(flags.usage("german")) >= 1, "metrics on the server")


def test_the_openfeature_provider_for_python(flags, tmp_path):
    api.set_provider_and_wait(
        UnleashFlagProvider(
            f"{flags.url}/api",
            "openfeature",
            custom_headers={"Authorization": CLIENT_TOKEN},
            refresh_interval=1,
            metrics_interval=1,
            cache_directory=str(tmp_path),
        )
    )
    client = api.get_client()
    try:
        ada = EvaluationContext(targeting_key="7", attributes={"country": "de"})
        assert client.get_boolean_value("beta", False, ada)
        assert client.get_boolean_value("german", False, ada)
        assert not client.get_boolean_value("beta", False, EvaluationContext(targeting_key="8"))
        assert client.get_string_value("color", "default", ada) == "#f00"
        flags.switch("german", on=False)
        until(lambda: not client.get_boolean_value("german", True, ada), "the next poll")
        until(lambda: min(flags.usage("german")) >= 1, "metrics on the server")
    finally:
        api.shutdown()
