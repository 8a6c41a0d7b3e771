"""A form keeps what it has no fields for, also when another request changes it at the same time."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable

from sigservice.services import revisions
from tests.conftest import ADMIN
from tests.waiting import until

WAITING = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


def submit_during_change(
    service, rows, submit: Callable[[], None], statement: str, *values
) -> None:
    """Calls `submit` while a transaction that changes the flags runs, which executes `statement`
    when the request waits for it."""
    with service.context.database.transaction() as conn, conn.cursor() as cursor:
        revisions.lock(conn)
        thread = threading.Thread(target=submit)
        thread.start()
        until(lambda: rows(WAITING) == [(1,)], "the request waits for the change")
        cursor.execute(statement, values)
    thread.join()


def find_form(page, field: str):
    """The form with this field; pages have others, such as the search."""
    return next(form for form in page.forms.values() if field in form.fields)


def test_description_of_a_legal_value_is_not_lost(service, web, ada, rows):
    legal = {"value": "gold", "description": "old"}
    field = {"name": "plan", "legalValues": [legal]}
    web.post_json("/api/admin/context", field, headers=ADMIN, status=201)
    form = find_form(ada.get("/admin/context/plan/edit"), "values")
    new = json.dumps([legal | {"description": "new"}])
    statement = "UPDATE context_fields SET legal_values = %s WHERE name = 'plan'"
    submit_during_change(service, rows, lambda: form.submit(status=303), statement, new)
    answer = web.get("/api/admin/context/plan", headers=ADMIN)
    assert answer.json["legalValues"] == [{"value": "gold", "description": "new"}]


def test_parameter_without_a_field_is_not_lost(service, ada, flags, rows):
    name = flags.create_flag("checkout")
    id = flags.add_strategy(name, "production")
    path = f"/admin/features/{name}/environments/production/strategies/{id}"
    form = find_form(ada.get(path), "parameters.rollout")
    statement = "UPDATE feature_strategies SET parameters = parameters || %s::jsonb"
    new = json.dumps({"region": "eu"})
    submit_during_change(service, rows, lambda: form.submit(status=303), statement, new)
    ((parameters,),) = rows("SELECT parameters FROM feature_strategies")
    assert parameters["region"] == "eu"
