"""Every route has a guard; the open ones are listed here, so that a new one is noticed."""

from __future__ import annotations

import pytest

from sigservice.routes import find_routers
from sigservice.web.guards import AdminGuard, ClientGuard, PageGuard, Public

OPEN = {
    ("POST", "/api/signal-endpoint/<name>"),
    ("OPTIONS", "/api/signal-endpoint/<name>"),
    *[
        ("GET", path)
        for path in ("/segments", "/context", "/integrations", "/admin/api", "/admin/actions")
    ],
    *[
        ("GET", f"/{kind}{rest}")
        for kind in ("projects", "features")
        for rest in ("", "/<rest:path>")
    ],
    ("GET", "/health"),
    ("GET", "/ready"),
    ("GET", "/internal-backstage/prometheus"),
    ("GET", "/internal-backstage/impact/metrics"),
    ("GET", "/static/<name>"),
    ("GET", "/docs/openapi.json"),
    ("POST", "/auth/simple"),
    ("POST", "/auth/simple/login"),
    ("POST", "/auth/demo/login"),
    ("POST", "/edge/metrics"),
    ("POST", "/edge/validate"),
    ("GET", "/ofrep/v1/events"),  # the token is in the query
    ("GET", "/sign-in"),
    ("POST", "/sign-in"),
    ("POST", "/auth/reset/password-email"),
    ("GET", "/auth/reset/validate"),
    ("POST", "/auth/reset/password"),
    ("POST", "/auth/reset/validate-password"),
    ("GET", "/forgot-password"),
    ("POST", "/forgot-password"),
    ("GET", "/reset-password"),
    ("POST", "/reset-password"),
    ("GET", "/new-user"),
    ("POST", "/new-user"),
}
LIMITED = {
    ("POST", "/auth/simple"): "login",
    ("POST", "/auth/simple/login"): "login",
    ("POST", "/auth/demo/login"): "login",
    ("POST", "/sign-in"): "login",
    ("POST", "/auth/reset/password-email"): "password_reset",
    ("POST", "/forgot-password"): "password_reset",
    ("POST", "/api/admin/user-admin"): "create_user",
    ("POST", "/api/client/metrics"): "client_metrics",
    ("POST", "/api/client/metrics/bulk"): "client_metrics",
    ("POST", "/api/client/register"): "client_register",
    ("POST", "/api/frontend/client/metrics"): "frontend_metrics",
    ("POST", "/api/frontend/metrics"): "frontend_metrics",
    ("POST", "/api/client/metrics/edge"): "client_metrics",
    ("POST", "/api/frontend/all/client/metrics"): "frontend_metrics",
    ("POST", "/api/proxy/client/metrics"): "frontend_metrics",
    ("POST", "/api/proxy/all/client/metrics"): "frontend_metrics",
    ("POST", "/api/proxy/client/register"): "frontend_register",
    ("POST", "/api/frontend/client/register"): "frontend_register",
    ("POST", "/api/frontend/register"): "frontend_register",
    ("POST", "/edge/metrics"): "client_metrics",
    ("POST", "/edge/validate"): "edge_validate",
}
# What a user with the default password may do before setting a new one.
WHILE_DEFAULT_PASSWORD = {
    ("GET", "/profile"),
    ("GET", "/profile/password"),
    ("POST", "/profile/password"),
    ("POST", "/logout"),
    ("GET", "/api/admin/user"),
    ("POST", "/api/admin/user/change-password"),
}


@pytest.fixture
def routes(service):
    return [route for router in find_routers() for route in router.bind(service.context)]


def test_every_route_has_a_guard(routes):
    opened = {(r.method, r.rule) for r in routes if isinstance(r.guard, Public)}
    assert opened == OPEN
    assert all(isinstance(r.guard, Public | AdminGuard | ClientGuard | PageGuard) for r in routes)


def test_every_guarded_route_says_what_it_needs(routes):
    for route in routes:
        if not isinstance(route.guard, Public | ClientGuard):
            assert route.config["needs"] in ("ADMIN", "EDIT", "VIEW"), route.rule


def test_limits_stand_on_the_routes_that_the_specification_names(routes):
    limits = {(r.method, r.rule): r.config["limit"] for r in routes if r.config.get("limit")}
    assert limits == LIMITED


def test_little_is_open_while_the_built_in_password_works(routes):
    result = {(r.method, r.rule) for r in routes if r.config.get("while_default_password")}
    assert result == WHILE_DEFAULT_PASSWORD


def test_api_routes_have_the_admin_guard_and_pages_the_page_guard(routes):
    for route in routes:
        if not isinstance(route.guard, Public):
            expected = PageGuard
            if route.rule.startswith(("/api/", "/ofrep/")):
                expected = AdminGuard if route.rule.startswith("/api/admin/") else ClientGuard
            assert isinstance(route.guard, expected), route.rule
