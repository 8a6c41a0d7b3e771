"""Pages of metric sources."""

from __future__ import annotations

import base64

import pytest
import webtest

from tests.conftest import ADMIN, Cast, sign_in_by_json
from tests.pages.page_reader import alert, find_error, follow, form_to, notice, read_table
from tests.prometheus_script import serve_prometheus, vector

PATH = "/admin/integrations/metrics"
NEW = f"{PATH}/new"
ONE = f"{PATH}/main"
API = "/api/admin/metric-sources"
SECRET = "s3cret-of-prometheus"


@pytest.fixture
def prometheus():
    with serve_prometheus() as script:
        yield script


@pytest.fixture
def service(make_service):
    return make_service(environ={"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1"})


@pytest.fixture
def page(service) -> webtest.TestApp:
    return sign_in_by_json(service, "ada")


@pytest.fixture
def new_form(page, prometheus):
    form = form_to(page.get(NEW), NEW)
    form["name"], form["url"] = "main", f"{prometheus.url}/prom"
    return form


@pytest.fixture
def source(new_form):
    new_form["auth.type"], new_form["auth.username"] = "basic", "ada"
    new_form["auth.password"] = SECRET
    new_form["headers"] = "X-Scope-OrgID: shop"
    return new_form.submit(status=303).follow()


def list_sources(web):
    return web.get(API, headers=ADMIN).json["metricSources"]


def create_rule(web, make):
    source = {"kind": "prometheus", "source": "main", "query": "up"}
    rule = {"name": "slow", "endpointId": make.endpoint()["id"], "source": source, "above": 1}
    return web.post_json("/api/admin/alert-rules", rule, headers=ADMIN, status=201).json


def send_password(prometheus):
    _, _, headers = prometheus.requests[-1]
    return base64.b64decode(headers["Authorization"].removeprefix("Basic ")).decode()


def run_query(page, text, status=200):
    form = form_to(page.get(f"{ONE}/edit"), f"{ONE}/query")
    form["query"] = text
    return form.submit(status=status)


def test_the_form_creates_a_source(web, source, prometheus):
    assert notice(source) == "Metric source created."
    (one,) = list_sources(web)
    assert one == {
        "name": "main",
        "url": f"{prometheus.url}/prom",
        "auth": {"type": "basic", "username": "ada", "password": None, "hasSecret": True},
        "headers": {"X-Scope-OrgID": "shop"},
        "timeoutSeconds": 5,
    }


def test_a_secret_is_in_no_page(page, source):
    for path in (PATH, f"{ONE}/edit"):
        assert SECRET not in page.get(path).text
    assert "A secret is stored." in source.text


def test_a_source_that_is_saved_again_keeps_its_secret(web, page, source, prometheus):
    before = list_sources(web)
    form_to(source, f"{ONE}/edit").submit(status=303)
    assert list_sources(web) == before
    run_query(page, "up")
    assert send_password(prometheus) == f"ada:{SECRET}"


def test_a_new_secret_replaces_the_stored_one(page, source, prometheus):
    form = form_to(source, f"{ONE}/edit")
    form["auth.password"] = "other"
    form.submit(status=303)
    run_query(page, "up")
    assert send_password(prometheus) == "ada:other"


def test_the_query_is_run_with_its_value(page, source, prometheus, clock):
    prometheus.answer = vector(
        (clock.now().timestamp(), "0.3"), warnings=["metric might not be a counter"]
    )
    answer = run_query(page, "errors / requests")
    assert notice(answer) == "0.3 · one series · 0 ms"
    assert "Warning: metric might not be a counter" in " ".join(
        answer.html.find("main").get_text().split()
    )
    assert form_to(answer, f"{ONE}/query")["query"].value == "errors / requests"
    path, query, _ = prometheus.requests[-1]
    assert (path, query) == ("/prom/api/v1/query", {"query": ["errors / requests"]})


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (vector(), "The query has no result."),
        (vector((0, "1"), (0, "2")), "The query has 2 series, not one"),
        ({"status": "error", "error": "bad_data: parse error"}, "bad_data: parse error"),
    ],
)
def test_a_query_without_a_value_says_why(page, source, prometheus, result, reason):
    prometheus.answer = result
    assert reason in notice(run_query(page, "up"))


def test_an_empty_query_is_a_problem(page, source):
    answer = run_query(page, "", status=400)
    assert find_error(answer, "query") == "The query must have 1 to 2000 characters."


@pytest.mark.parametrize(
    ("field", "text", "problem"),
    [
        ("headers", "X-Scope-OrgID:", "X-Scope-OrgID must have 1 to 2000 printable characters."),
        ("headers", "shop", "Write shop as name: value."),
        ("headers", "Host: a", "Host can't be the name of a header."),
        ("url", "http://10.0.0.7:9090", "private network"),
        ("name", "a b", "The name must have"),
        ("auth.type", "basic", ""),
        ("timeoutSeconds", "0", "Must be 1 to 30."),
    ],
)
def test_problems_are_beside_their_fields(web, new_form, field, text, problem):
    new_form[field] = text
    name = "auth.username" if field == "auth.type" else field
    assert problem in find_error(new_form.submit(status=400), name)
    assert list_sources(web) == []


def test_the_list_says_what_queries_a_source(web, page, source, make):
    create_rule(web, make)
    (row,) = read_table(page.get(PATH), "metric-sources").values()
    assert row["Queried by"].get_text(strip=True) == "alert rule slow"
    assert row["Authentication"].get_text(strip=True) == "Basic"


def test_a_source_is_deleted_after_a_question(web, page, source):
    question = follow(source, "Delete this metric source")
    answer = form_to(question, f"{ONE}/delete").submit(status=303).follow()
    assert notice(answer) == "Metric source deleted."
    assert list_sources(web) == []
    page.get(f"{ONE}/edit", status=404)


def test_a_source_that_a_rule_queries_is_not_deleted(web, page, source, make):
    create_rule(web, make)
    question = page.get(f"{ONE}/delete")
    assert "alert rule slow" in question.text
    assert question.html.find("main").find("form") is None
    answer = page.post(f"{ONE}/delete", {"csrf": page.csrf}, status=409)
    assert "is used by alert rule slow" in alert(answer)
    web.delete(f"{API}/main", headers=ADMIN, status=409)
    assert len(list_sources(web)) == 1


def test_only_admins_see_sources(service, source):
    Cast(service)
    for user in (sign_in_by_json(service, name) for name in ("ed", "vera")):
        assert PATH not in user.get("/admin/integrations").text
        for path in (PATH, NEW, f"{ONE}/edit", f"{ONE}/delete"):
            user.get(path, status=403)
        user.post(f"{ONE}/query", {"csrf": user.csrf, "query": "up"}, status=403)
