"""Forms that are submitted while another change of the same thing is about to be committed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from sigservice.services import revisions
from sigservice.services.flags import strategies
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import SYSTEM
from sigservice.services.projects import context_fields, project_environments
from sigservice.services.projects.context_fields import LegalValue
from tests.conftest import ADMIN
from tests.pages.page_reader import form_to
from tests.waiting import DEADLINE_SECONDS, until

WAITING = (
    "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
)
STRATEGIES = "/admin/features/checkout/environments/production/strategies"
TARGET = FeatureEnvironment("default", "checkout", "production")
FORMER = {"rollout": "100", "region": "north"}  # `region` has no field on the form
CHANGED = {"rollout": "100", "region": "south"}
LIMITS = {"max_segments": 5}

Submit = Callable[[], Any]
Change = Callable[[Any], Any]
ChangeMeanwhile = Callable[[Submit, Change], None]


@pytest.fixture
def change_meanwhile(service, rows) -> ChangeMeanwhile:
    """`change_meanwhile(submit, change)`: `change` is committed after `submit` has begun."""

    def run(submit: Submit, change: Change) -> None:
        thread = threading.Thread(target=submit)
        with service.context.database.transaction() as conn:
            revisions.lock(conn)
            thread.start()
            until(lambda: rows(WAITING), "the form waits for the lock")
            change(conn)
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive()

    return run


@pytest.fixture
def strategy_id(flags) -> str:
    flags.create_flag()
    return flags.add_strategy("checkout", "production", name="flexibleRollout", parameters=FORMER)


def replace_strategy(conn: Any, id: str) -> None:
    new = Strategy("flexibleRollout", parameters=CHANGED)
    strategies.replace(conn, TARGET, id, new, SYSTEM, **LIMITS)


def read_region(flags: Any) -> str:
    (strategy,) = flags.list_strategies()
    return str(strategy["parameters"]["region"])


def test_a_context_field_keeps_new_descriptions_of_its_values(ada, web, change_meanwhile):
    values = [{"value": "gold", "description": "old"}]
    body = {"name": "plan", "legalValues": values}
    web.post_json("/api/admin/context", body, headers=ADMIN)
    form = form_to(ada.get("/admin/context/plan/edit"), "/admin/context/plan/edit")
    form["description"] = "What the customer pays for"
    change_meanwhile(
        lambda: form.submit(status=303),
        lambda conn: context_fields.put_legal_value(
            conn, "plan", LegalValue("gold", "new"), SYSTEM
        ),
    )
    field = web.get("/api/admin/context/plan", headers=ADMIN).json
    assert field["description"] == "What the customer pays for"
    assert field["legalValues"] == [{"value": "gold", "description": "new"}]


def test_a_strategy_keeps_new_parameters_without_a_field(ada, flags, change_meanwhile, strategy_id):
    path = f"{STRATEGIES}/{strategy_id}"
    form = form_to(ada.get(path), path)
    form["title"] = "For some"
    change_meanwhile(
        lambda: form.submit(status=303), lambda conn: replace_strategy(conn, strategy_id)
    )
    assert read_region(flags) == "south"


def test_a_strategy_that_is_disabled_keeps_new_parameters(
    ada, flags, change_meanwhile, strategy_id
):
    path = f"{STRATEGIES}/{strategy_id}/off"
    change_meanwhile(
        lambda: ada.post(path, {"csrf": ada.csrf}, status=303),
        lambda conn: replace_strategy(conn, strategy_id),
    )
    assert read_region(flags) == "south"


def test_a_default_strategy_keeps_new_parameters_without_a_field(service, ada, change_meanwhile):
    def set_default(conn: Any, parameters: dict[str, Any]) -> None:
        new = Strategy("flexibleRollout", parameters=parameters)
        project_environments.set_default_strategy(
            conn, "default", "production", new, SYSTEM, **LIMITS
        )

    with service.context.database.transaction() as conn:
        set_default(conn, FORMER)
    path = "/admin/projects/default/environments/production/default-strategy"
    form = form_to(ada.get(path), path)
    change_meanwhile(lambda: form.submit(status=303), lambda conn: set_default(conn, CHANGED))
    with service.context.database.transaction() as conn:
        strategy = project_environments.find_default_strategy(conn, "default", "production")
    assert strategy["parameters"]["region"] == "south"
