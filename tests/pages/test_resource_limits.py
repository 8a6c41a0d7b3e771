"""Forms of new things whose limit is reached: the page says so, and how to raise the limit."""

from __future__ import annotations

import pytest
import webtest

from tests.conftest import Make
from tests.pages.page_reader import heading, sign_in

# The environment variable, the options of the configuration, and the paths of form and list.
VARIABLES = {
    "SERVICE_SIGNAL_ENDPOINTS_LIMIT": (
        {"signals": {"endpointsLimit": 1}},
        "/admin/signals/new",
        "/admin/signals",
    ),
    "SERVICE_SIGNAL_TOKENS_PER_ENDPOINT_LIMIT": (
        {"signals": {"tokensPerEndpointLimit": 1}},
        "/admin/signals/{id}/tokens/new",
        "/admin/signals/{id}/tokens",
    ),
    "SERVICE_ACTION_SETS_PER_PROJECT_LIMIT": (
        {"actions": {"setsPerProjectLimit": 0}},
        "/admin/projects/default/actions/new",
        "/admin/automation",
    ),
    "SERVICE_INTEGRATIONS_LIMIT": (
        {"integrations": {"limit": 0}},
        "/admin/integrations/new/webhook",
        "/admin/integrations",
    ),
}
# What fills the tables of the limits without a variable.
TABLES = {
    "/admin/features/new": (
        "The limit of 20,000 flags",
        "INSERT INTO features (name, project, type, created_by) "
        "SELECT 'f' || n, 'default', 'release', 'ada' FROM generate_series(1, 20000) n",
    ),
    "/admin/projects/new": (
        "The limit of 500 projects",
        "INSERT INTO projects (id, name) SELECT 'p' || n, 'p' || n FROM generate_series(1, 499) n",
    ),
    "/admin/environments/new": (
        "The limit of 50 environments",
        "INSERT INTO environments (name, type, sort_order) "
        "SELECT 'e' || n, 'test', n FROM generate_series(1, 50) n",
    ),
    "/admin/segments/new": (
        "The limit of 300 segments",
        "INSERT INTO segments (name, created_by) "
        "SELECT 's' || n, 'ada' FROM generate_series(1, 300) n",
    ),
    "/admin/api-tokens/new": (
        "The limit of 2,000 API tokens",
        "INSERT INTO api_tokens (secret_hash, secret_prefix, token_name, type, environment, "
        "projects) SELECT n::text::bytea, 'x', 't', 'client', 'default', '{*}' "
        "FROM generate_series(1, 2000) n",
    ),
}


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_form_and_its_list_name_the_variable_of_the_limit(make_service, variable):
    options, form, list_path = VARIABLES[variable]
    web = webtest.TestApp(make_service(options).app)
    endpoint = Make(web).endpoint()
    Make(web).token(endpoint)
    sign_in(web)
    page = web.get(form.format(id=endpoint["id"]))
    assert f"raise {variable}" in page.html.main.get_text()
    assert not page.html.main.find("form")
    back = page.html.main.find("a", string=lambda text: text and text.startswith("Back to"))
    page = page.goto(back["href"])
    assert page.request.path == list_path.format(id=endpoint["id"])
    assert f"raise {variable}" in page.html.main.get_text()
    assert not page.html.main.find("a", href=form.format(id=endpoint["id"]))


@pytest.mark.parametrize("path", TABLES)
def test_a_form_says_that_its_fixed_limit_is_reached(ada, rows, path):
    text, statement = TABLES[path]
    rows(statement)
    page = ada.get(path)
    assert text in page.html.main.get_text()
    assert not page.html.main.find("form")
    assert heading(page).startswith("New ")


def test_a_submitted_form_keeps_its_input_at_the_limit(make_service):
    web = webtest.TestApp(make_service({"signals": {"endpointsLimit": 0}}).app)
    sign_in(web)
    csrf = web.get("/profile").html.find("input", attrs={"name": "csrf"})["value"]
    fields = {"csrf": csrf, "name": "deploys", "token": "later"}
    page = web.post("/admin/signals/new", fields, status=400)
    assert page.html.find(id="name")["value"] == "deploys"
