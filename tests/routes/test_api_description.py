"""/docs/openapi.json matches the routes and the structs that check bodies."""

from __future__ import annotations

import gzip
import re
from wsgiref.util import setup_testing_defaults

import pytest

from sigservice.routes.system import api_description
from tests.conftest import ADMIN


@pytest.fixture
def document(web):
    return web.get("/docs/openapi.json").json


@pytest.mark.external
def test_the_document_is_valid_openapi(document):
    from openapi_spec_validator import validate  # takes a second or two in each process of a run

    validate(document)


def test_the_document_has_the_routes_of_the_api_and_no_pages(document):
    """tests/architecture/test_docs.py compares docs/api.md with all routes."""
    operations = {(method.upper(), path) for path, by in document["paths"].items() for method in by}
    for operation in (
        ("POST", "/api/signal-endpoint/{name}"),
        ("GET", "/api/client/features"),
        ("POST", "/api/admin/projects/{project}/features"),
        ("PUT", "/api/admin/segments/{id}"),
    ):
        assert operation in operations
    assert not [path for _, path in operations if path.startswith(("/admin", "/docs", "/sign"))]


def test_a_schema_requires_what_the_route_requires(web, document):
    operation = document["paths"]["/api/admin/segments"]["post"]
    reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    schema = document["components"]["schemas"][reference.rpartition("/")[2]]
    assert set(schema["required"]) == {"name", "constraints"}
    for name in schema["required"]:
        body = {"name": "s", "constraints": []}
        del body[name]
        answer = web.post_json("/api/admin/segments", body, headers=ADMIN, status=400)
        assert name in answer.json["message"]


def test_names_of_schemas_have_no_names_of_modules(document):
    names = [*document["components"]["schemas"]]
    assert [name for name in names if not re.fullmatch("[A-Z][A-Za-z]+", name)] == []


def test_operation_ids_are_unique(document):
    ids = [o["operationId"] for by in document["paths"].values() for o in by.values()]
    assert len(ids) == len(set(ids)) > 100
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+", id) for id in ids)


def test_operations_that_switch_something_say_which_way(document):
    path = "/api/admin/environments/{name}"
    operations = [document["paths"][f"{path}/{state}"]["post"] for state in ("on", "off")]
    summaries = [operation["summary"] for operation in operations]
    assert summaries == ["Switch environment on", "Switch environment off"]


def test_operations_have_their_security_schemes(document):
    paths = document["paths"]
    assert paths["/api/client/features"]["get"]["security"] == [{"token": []}]
    assert len(paths["/api/admin/segments"]["get"]["security"]) == 2
    assert "security" not in paths["/health"]["get"]
    assert paths["/api/signal-endpoint/{name}"]["post"]["security"] == [{"token": []}]


def test_the_page_lists_the_operations(cast, web):
    page = cast.signed_in("vera").get("/docs")
    assert "/api/client/features" in page.text
    assert "Create project" in page.text
    assert "Requires the role Editor." in page.text
    web.get("/docs", status=303)


def test_each_request_body_has_a_page_with_the_schemas_that_it_refers_to(cast, document):
    vera = cast.signed_in("vera")
    links = {a["href"] for a in vera.get("/docs").html.select(".rows a")}
    assert len(links) > 50
    assert links <= {f"/docs/bodies/{name}" for name in document["components"]["schemas"]}
    page = vera.get("/docs/bodies/ActionSetBody")
    assert page.html.h1.string == "Request body ActionSetBody"
    assert page.html.find(id="Filter")
    vera.get("/docs/bodies/None", status=404)


def fetch_gzipped(service, path):
    """The very object that the application returns."""
    environ = {"PATH_INFO": path, "HTTP_HOST": "localhost:80", "HTTP_ACCEPT_ENCODING": "gzip"}
    setup_testing_defaults(environ)
    (body,) = service.app(environ, lambda status, headers, exc_info=None: None)
    return body


@pytest.mark.parametrize("name", ["/docs/openapi.json", "/static"])
def test_public_documents_are_compressed_once(service, web, name):
    if name == "/static":
        name = re.search(r'/static/[^"?]+', web.get("/sign-in").text)[0]
    first = fetch_gzipped(service, name)
    assert gzip.decompress(first) == web.get(name).body
    assert fetch_gzipped(service, name) is first


def test_invented_hosts_use_limited_memory(web, monkeypatch):
    monkeypatch.setattr(api_description, "MAX_URLS", 3)
    urls = {
        web.get("/docs/openapi.json", headers={"Host": f"127.0.0.1:{n}"}).json["servers"][0]["url"]
        for n in range(1000, 1006)
    }
    assert len(urls) == 3 + 1
    assert "/" in urls


def test_each_schema_has_a_short_name(document):
    assert not [name for name in document["components"]["schemas"] if "." in name]
