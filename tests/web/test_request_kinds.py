"""Requests that wait for one group commit have one kind, which their routes declare."""

from sigservice.routes import find_routers
from sigservice.web.router import build_kind_finder
from tests.table_tests import each

KINDS = [
    ("POST", "/base/api/signal-endpoint/deploys", "signals"),
    ("POST", "/base/api/client/register", "reports"),
    ("POST", "/base/api/client/metrics", "reports"),
    ("POST", "/base/api/client/metrics/bulk", "reports"),
    ("POST", "/base/api/frontend/client/metrics", "frontend_reports"),
    ("POST", "/base/api/frontend/metrics", "frontend_reports"),
    ("POST", "/base/edge/metrics", "reports"),
    ("GET", "/base/api/client/metrics", ""),
    ("POST", "/base/api/client/metrics/edge", ""),
    ("POST", "/base/api/frontend/client/register", ""),
    ("POST", "/base/api/admin/signal-endpoints", ""),
    ("POST", "/api/signal-endpoint/deploys", ""),
]


@each("row", KINDS)
def test_kind_is_the_group_commit_of_the_route(row):
    method, path, kind = row
    assert build_kind_finder(find_routers(), "/base")(method, path) == kind
