"""Modules of routes that are imported at the first request of one of their routes."""

from __future__ import annotations

import os

from sigservice import routes
from sigservice.web.route_tree import RouteTree
from tests.table_tests import each

PATHS = ("/a", "/a/<name>", "/a/<id:id>", "/a/<path:path>/end", "/a/new", "/b/<rest:path>")
ROWS = [
    ("/a", "/a", {}),
    ("/a/new", "/a/new", {}),
    ("/a/x", "/a/<name>", {"name": "x"}),
    ("/a/x\n", "/a/<name>", {"name": "x\n"}),
    ("/a/007", "/a/<id:id>", {"id": 7}),
    ("/a/9223372036854775808", "/a/<id:id>", {"id": 0}),
    ("/a/12345678901234567890", "/a/<name>", {"name": "12345678901234567890"}),
    ("/a/+7", "/a/<name>", {"name": "+7"}),
    ("/a/x/y/end", "/a/<path:path>/end", {"path": "x/y"}),
    ("/a/end/end", "/a/<path:path>/end", {"path": "end"}),
    ("/b/x//\ny", "/b/<rest:path>", {"rest": "x//\ny"}),
]


def test_the_file_lists_the_modules_and_their_routes():
    if os.environ.get("SNAPSHOT") == "write":
        routes.LATE_FILE.write_text(routes.write_late_modules())
    renewed = "SNAPSHOT=write .venv/bin/pytest -n 0 tests/routes/test_late_routes.py"
    assert routes.LATE_FILE.read_text() == routes.write_late_modules(), renewed


@each("row", ROWS, name=lambda row: row[0])
def test_the_tree_finds_the_most_specific_rule(row):
    path, rule, arguments = row
    tree = RouteTree()
    for each_path in PATHS:
        tree.add("GET", each_path)
    assert tree.find(("GET",), path) == (("GET", rule), arguments)


@each("path", ["/", "", "/a/", "/b/", "/a/x/end/more", "/c", "*"])
def test_the_tree_finds_nothing_for_another_path(path):
    tree = RouteTree()
    for each_path in PATHS:
        tree.add("GET", each_path)
    assert tree.find(("GET",), path) is None
    assert tree.list_methods(path) == set()


def test_the_first_method_with_a_rule_counts():
    tree = RouteTree()
    for method, path in (("GET", "/a/<name>"), ("HEAD", "/a/x"), ("PUT", "/a/<other>")):
        tree.add(method, path)
    assert tree.find(("HEAD", "GET"), "/a/x") == (("HEAD", "/a/x"), {})
    assert tree.find(("HEAD", "GET"), "/a/y") == (("GET", "/a/<name>"), {"name": "y"})
    assert tree.list_methods("/a/x") == {"GET", "HEAD", "PUT"}
