"""A payload as a tree: paths that filters take, and its limits."""

from __future__ import annotations

from sigservice.services.signals import payload_tree
from sigservice.services.signals.payload_tree import build_tree


def list_nodes(node):
    yield node
    for child in node.children:
        yield from list_nodes(child)


def test_values_have_paths_and_the_text_of_filters():
    tree = build_tree({"alerts": [{"labels": {"a.b": "x"}, "n": 2.0, "ok": True}], "none": None})
    values = {node.path: node.text for node in list_nodes(tree) if node.is_value}
    assert values == {
        "alerts[0].labels.a.b": "x",
        "alerts[0].n": "2",
        "alerts[0].ok": "true",
        "none": "null",
    }


def test_a_key_that_no_path_can_express_has_none():
    (node,) = build_tree({"a[0]": 1}).children
    assert (node.key, node.path, node.text) == ("a[0]", "", "1")


def test_a_large_payload_is_cut_and_says_so(monkeypatch):
    monkeypatch.setattr(payload_tree, "MAX_NODES", 4)
    assert [node.text for node in build_tree([1, 2, 3, 4, 5]).children] == ["1", "2", "3", "2 more"]


def test_a_deep_payload_ends_as_text():
    payload = "end"
    for _ in range(100):
        payload = [payload]
    *_, last = list_nodes(build_tree(payload))
    assert last.text.startswith("[[")
