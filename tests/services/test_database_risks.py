"""The risks that only the database knows: at the start, and in `check-config`."""

from __future__ import annotations

import pytest

from sigservice.application import service
from sigservice.config import load_config
from sigservice.repository.access import users as user_repository
from sigservice.senders import list_external
from sigservice.services import database_risks
from sigservice.services.access import users
from sigservice.services.identity import SYSTEM
from tests.conftest import ADMIN, ADMIN_TOKEN

PATH = "authentication.initialAdminUser"
BUILT_IN = {"authentication": {}}
GOOD = "Correct-Horse-7"


@pytest.fixture
def find_risks(database):
    """The risks of the run's database with these options, by option."""

    def find(options=None, environ=None):
        loaded = load_config({"db": database.options()} | (options or {}), environ or {})
        return {risk.option: risk for risk in service.find_database_risks(loaded.config)}

    return find


@pytest.fixture
def add_trigger(service, web):
    """`add_trigger(name, options)`: an endpoint that triggers an action set."""

    def add(name, **endpoint):
        def post(path, body):
            return web.post_json(f"/api/admin/{path}", body, headers=ADMIN).json

        source = post("signal-endpoints", {"name": name, **endpoint})["id"]
        account = {"username": f"{name}-robot", "name": "Robot", "rootRole": "Editor"}
        post("projects/default/features", {"name": name})
        params = {"environment": "development", "featureName": name}
        action = {"action": "TOGGLE_FEATURE_OFF", "sortOrder": 1, "executionParams": params}
        match = {"source": "signal-endpoint", "sourceId": source, "payload": {}}
        body = {"name": name, "actorId": post("service-account", account)["id"], "match": match}
        return post("projects/default/actions", body | {"actions": [action]})

    return add


def test_default_password_is_a_danger_until_it_is_changed(make_service, find_risks):
    service = make_service(BUILT_IN)
    risk = find_risks()[PATH]
    assert risk.severity == "danger"
    assert "reset-password" in risk.message
    password_hash = service.context.passwords.hash(GOOD)
    with service.context.database.transaction() as conn:
        (user,) = user_repository.list_all(conn)
        users.set_password(conn, user["id"], password_hash, SYSTEM)
    assert PATH not in find_risks()


def test_configured_admin_is_no_danger(service, find_risks):
    assert find_risks() == {}


def test_database_without_users_is_a_danger_unless_an_admin_is_configured(make_service, find_risks):
    make_service({"authentication": {"initialAdminUser": None}})
    assert find_risks()[PATH].severity == "danger"
    assert "no users" in find_risks()[PATH].message
    assert (
        find_risks({"authentication": {"initialAdminUser": {"username": "a", "password": GOOD}}})
        == {}
    )


def test_missing_database_is_a_danger_that_says_so_and_is_not_created(find_risks, tmp_path):
    data = tmp_path / "data"
    loaded = load_config({"dataDir": str(data)}, {})
    (risk,) = service.find_database_risks(loaded.config)
    assert (risk.option, risk.severity) == (PATH, "danger")
    assert "can't be asked" in risk.message
    assert str(data) in risk.message
    assert not data.exists()


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"port": 1, "host": "127.0.0.1"}, "Can't reach"), ({"schema": "absent"}, "lacks tables")],
)
def test_database_that_does_not_answer_is_a_danger_that_says_why(
    service, database, find_risks, options, reason
):
    risk = find_risks({"db": database.options() | options})[PATH]
    assert risk.severity == "danger"
    assert reason in risk.message
    environ = {"SERVICE_DEFAULT_ADMIN_USERNAME": "ada", "SERVICE_DEFAULT_ADMIN_PASSWORD": GOOD}
    configured = find_risks({"db": database.options() | options}, environ)[PATH]
    assert configured.severity == "warning"


def test_tokens_that_are_ignored_are_a_warning_at_the_start_and_in_the_check(
    make_service, service, find_risks
):
    environ = {"INIT_CLIENT_API_TOKENS": "default:development.one,default:development.two"}
    (warning,) = make_service({"authentication": {}}, environ).warnings
    assert warning.startswith("INIT_CLIENT_API_TOKENS: token 1, INIT_CLIENT_API_TOKENS: token 2: ")
    assert "POST /api/admin/api-tokens" in warning
    assert "development.one" not in warning
    risk = find_risks(environ=environ)["authentication.initApiTokens"]
    assert (risk.severity, risk.message) == ("warning", warning)


def test_tokens_that_the_first_start_stored_are_no_warning(make_service, find_risks):
    environ = {"INIT_ADMIN_API_TOKENS": ADMIN_TOKEN}
    for _ in range(2):
        assert make_service(BUILT_IN, environ).warnings == []
    assert "authentication.initApiTokens" not in find_risks(environ=environ)


def test_limit_under_which_an_endpoint_with_action_sets_loses_alerts_is_a_warning(
    make_service, add_trigger, find_risks
):
    add_trigger("tight")
    add_trigger("slow", options={"rateLimit": {"perSecond": 2.5}})
    add_trigger("enough", options={"rateLimit": {"burst": 10}})
    add_trigger("repeated", options={"rateLimit": {"perSecond": 1, "status": 503}})
    (warning,) = make_service().warnings
    assert "slow, tight." in warning
    assert find_risks()["signals.burst"].message == warning
    environ = {"SIGNAL_ENDPOINT_RATE_LIMIT_BURST": "10"}
    (warning,) = make_service(environ=environ).warnings
    assert ": slow." in warning


def test_no_template_of_a_sender_has_such_a_limit(make_service, add_trigger):
    for name, sender in list_external().items():
        limit = sender.endpoint_options.rateLimit
        assert limit.status == 503 or (limit.find_burst() or 0) >= database_risks.MIN_BURST, name
    add_trigger("alerts", template="alertmanager")
    assert make_service().warnings == []


def test_disabled_sets_and_endpoints_without_sets_cause_no_warning(make_service, web, add_trigger):
    id = add_trigger("tight")["id"]
    web.post_json("/api/admin/signal-endpoints", {"name": "log"}, headers=ADMIN)
    web.post(f"/api/admin/projects/default/actions/{id}/off", headers=ADMIN)
    assert make_service().warnings == []
