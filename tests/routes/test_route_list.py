"""`sigservice routes`: all routes as a table or as JSON, without a database."""

from __future__ import annotations

import json

import pytest

from sigservice.config import load_config
from sigservice.routes import find_routers
from sigservice.routes.route_list import list_routes, render_json, render_text
from tests.server.process import run_command


@pytest.fixture(scope="module")
def routes():
    return list_routes(load_config({}, {}).config)


def find(routes, method, path):
    (route,) = [route for route in routes if route[:2] == (method, path)]
    return route


def test_routes_are_sorted_by_path(routes):
    assert [route.path for route in routes] == sorted(route.path for route in routes)


@pytest.mark.parametrize(
    ("method", "path", "permission", "limit"),
    [
        ("POST", "/api/signal-endpoint/{name}", "signal token", ""),
        ("GET", "/health", "public", ""),
        ("POST", "/sign-in", "public", "login"),
        ("GET", "/admin/features", "VIEW", ""),
        ("POST", "/api/admin/user-admin", "ADMIN", "create_user"),
        ("GET", "/api/client/features", "client token", ""),
        ("POST", "/api/frontend/client/metrics", "frontend token", "frontend_metrics"),
    ],
)
def test_route_has_its_permission_and_limit(routes, method, path, permission, limit):
    route = find(routes, method, path)
    assert (route.permission, route.limit) == (permission, limit)


def test_handler_is_a_function_of_the_service(routes):
    handlers = {
        f"{route.handler.__module__}:{route.handler.__name__}"
        for router in find_routers()
        for route in router.routes
    }
    assert {f"sigservice.{route.handler}" for route in routes} <= handlers


def test_routes_follow_the_configuration():
    enabled = list_routes(load_config({"experimentalEdgeBulkMetrics": True}, {}).config)
    assert find(enabled, "POST", "/edge/metrics").permission == "client or admin token"


def test_service_has_the_routes_of_the_list(routes, service):
    bound = [route for router in find_routers() for route in router.bind(service.context)]
    assert len(routes) == len(bound)


def test_text_is_a_table_with_one_line_for_each_route(routes):
    heading, *lines = render_text(routes).splitlines()
    assert heading.split() == ["METHOD", "PATH", "PERMISSION", "LIMIT", "HANDLER"]
    assert len(lines) == len(routes)
    (line,) = [line for line in lines if line.split()[:2] == ["GET", "/health"]]
    assert line.index("public") == heading.index("PERMISSION")


def test_json_has_one_object_for_each_route(routes):
    content = json.loads(render_json(routes))
    assert [tuple(item.values()) for item in content] == [tuple(route) for route in routes]
    assert set(content[0]) == {"method", "path", "permission", "limit", "handler"}


@pytest.mark.external
def test_command_needs_no_database(tmp_path):
    environ = {"DATABASE_HOST": "127.0.0.1", "DATABASE_PORT": "1", "PATH": "/usr/bin:/bin"}
    command = run_command(["routes", "--format", "json"], environ)
    assert command.returncode == 0, command.stderr
    assert json.loads(command.stdout)
