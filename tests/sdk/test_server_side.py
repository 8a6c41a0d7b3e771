"""The official SDKs for Python and Node against a listening service."""

from __future__ import annotations

import uuid

import pytest
from UnleashClient import UnleashClient

from tests.sdk.conftest import CLIENT_TOKEN
from tests.server.process import until

ANSWERS = {
    ("rollout", "1", "fr"): True,
    ("nobody", "1", "fr"): False,
    ("german", "1", "de"): True,
    ("german", "1", "fr"): False,
    ("beta", "7", "fr"): True,
    ("beta", "8", "fr"): False,
    ("unknown", "7", "de"): False,
}


def connect(server, tmp_path, token=CLIENT_TOKEN, **more):
    return UnleashClient(
        url=f"{server.url}/api",
        app_name="python-app",
        instance_id=str(uuid.uuid4()),
        custom_headers={"Authorization": token},
        refresh_interval=1,
        metrics_interval=1,
        cache_directory=str(tmp_path),
        **more,
    )


@pytest.fixture
def python(flags, tmp_path):
    client = connect(flags, tmp_path)
    client.initialize_client()
    yield client
    client.destroy()


def test_python_evaluates(flags, python):
    result = {
        (flag, user, country): python.is_enabled(flag, {"userId": user, "country": country})
        for flag, user, country in ANSWERS
    }
    assert result == ANSWERS
    variant = python.get_variant("color", {"userId": "1"})
    assert variant["name"] == "red"
    assert variant["payload"] == {"type": "string", "value": "#f00"}


def test_python_sees_a_flip_reports_and_registers(flags, python):
    assert python.is_enabled("rollout")
    flags.switch("rollout", on=False)
    until(lambda: not python.is_enabled("rollout"), "the flip at the next poll")
    until(lambda: min(flags.usage("rollout")) >= 1, "metrics on the server")
    apps = flags.admin("GET", "/api/admin/metrics/applications")["applications"]
    assert [app["appName"] for app in apps] == ["python-app"]
    (instance,) = flags.admin(
        "GET", "/api/admin/metrics/instances/python-app/environment/development"
    )["instances"]
    assert instance["sdkVersion"].startswith("unleash-python-sdk:")


def test_python_survives_a_wrong_token(flags, tmp_path):
    client = connect(flags, tmp_path, "*:development.wrong")
    client.initialize_client()
    assert not client.is_enabled("rollout")
    assert client.is_enabled("rollout", fallback_function=lambda name, context: True)
    client.destroy()


def test_python_is_served_from_its_backup_when_the_token_is_revoked(flags, python):
    assert python.is_enabled("rollout")
    flags.admin("DELETE", f"/api/admin/api-tokens/{CLIENT_TOKEN}")
    assert flags.request("GET", "/api/client/features", secret=CLIENT_TOKEN)[0] == 401
    assert python.is_enabled("rollout")


def test_node_evaluates(flags, node):
    sdk = node("node_sdk.cjs", flags.url, CLIENT_TOKEN)
    sdk.ask(do="ready")
    until(lambda: sdk.ask(do="seen").get("registered") == 1, "the registration")
    result = {
        (flag, user, country): sdk.ask(
            do="on", flag=flag, context={"userId": user, "properties": {"country": country}}
        )
        for flag, user, country in ANSWERS
    }
    assert result == ANSWERS
    variant = sdk.ask(do="variant", flag="color", context={"userId": "1"})
    assert (variant["name"], variant["payload"]["value"]) == ("red", "#f00")


def test_node_polls_with_etag_sees_a_flip_and_reports(flags, node):
    sdk = node("node_sdk.cjs", flags.url, CLIENT_TOKEN)
    sdk.ask(do="ready")
    assert sdk.ask(do="until", event="unchanged")["unchanged"] >= 1  # 304
    assert sdk.ask(do="on", flag="rollout")
    flags.switch("rollout", on=False)
    sdk.ask(do="until", event="changed")
    assert not sdk.ask(do="on", flag="rollout")
    until(lambda: flags.usage("rollout") == (1, 1), "metrics on the server")


def test_node_survives_a_wrong_token(flags, node):
    sdk = node("node_sdk.cjs", flags.url, "*:development.wrong")
    assert sdk.ask(do="until", event="error")["error"] >= 1
    assert not sdk.ask(do="on", flag="rollout")


def test_ruby_evaluates_sees_a_flip_and_reports(flags, ruby, tmp_path):
    """Its version knows no segments: it gets their constraints in the strategies."""
    sdk = ruby("ruby_sdk.rb", flags.url, CLIENT_TOKEN, str(tmp_path))
    result = {
        (flag, user, country): sdk.ask(
            do="on", flag=flag, context={"user_id": user, "properties": {"country": country}}
        )
        for flag, user, country in ANSWERS
    }
    assert result == ANSWERS
    flags.switch("rollout", on=False)
    until(lambda: not sdk.ask(do="on", flag="rollout"), "the flip at the next poll")
    until(lambda: min(flags.usage("rollout")) >= 1, "metrics on the server")
    flags.admin("DELETE", f"/api/admin/api-tokens/{CLIENT_TOKEN}")
    assert sdk.ask(do="on", flag="beta", context={"user_id": "7"})
    apps = flags.admin("GET", "/api/admin/metrics/applications")["applications"]
    assert [app["appName"] for app in apps] == ["ruby-app"]


def test_a_variant_is_counted(flags, python):
    python.get_variant("color", {"userId": "1"})
    path = "/api/admin/client-metrics/features/color/raw"

    def counted():
        rows = flags.admin("GET", path)["data"]
        return any(row.get("variants", {}).get("red") for row in rows)

    until(counted, "the variant's count")


def test_impression_events_are_emitted(flags, tmp_path):
    events = []
    client = connect(flags, tmp_path, event_callback=events.append)
    client.initialize_client()
    client.is_enabled("rollout", {"userId": "1"})
    client.destroy()
    assert [event.feature_name for event in events if hasattr(event, "feature_name")] == ["rollout"]
