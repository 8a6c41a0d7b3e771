"""The attributes of bottle that the service uses although bottle doesn't document them, as
bottle_attributes.txt lists them. An upgrade that renames one of them is a difference of that file.
"""

from __future__ import annotations

import ast
import os
from pathlib import Path

import bottle

import sigservice
from tests.http_server.test_waitress import list_attributes, list_names

PACKAGE = Path(sigservice.__file__).parent
SNAPSHOT = Path(__file__).with_name("bottle_attributes.txt")
BASES = (bottle.Bottle, bottle.BaseRequest, bottle.BaseResponse)


def find_private_attributes() -> list[str]:
    texts = [path.read_text() for path in sorted(PACKAGE.rglob("*.py"))]
    trees = [ast.parse(text) for text in texts if "from bottle import" in text]
    names = {name for tree in trees for name in list_names(tree)}
    private = {name for name in names if name.startswith("_") and not name.endswith("__")}
    return sorted(
        text for base in BASES for name, text in list_attributes(base).items() if name in private
    )


def test_private_attributes_of_bottle_that_are_used_are_listed():
    text = "\n".join(find_private_attributes()) + "\n"
    if os.environ.get("SNAPSHOT") == "write":
        SNAPSHOT.write_text(text)
    assert text.splitlines() == SNAPSHOT.read_text().splitlines()


def test_no_class_of_the_service_extends_one_of_bottle():
    """Except for templates, whose methods are documented."""
    bases = {
        ast.unparse(base)
        for path in PACKAGE.rglob("*.py")
        if "from bottle import" in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
        for base in node.bases
    }
    assert not bases & set(vars(bottle)) - {"SimpleTemplate"}
