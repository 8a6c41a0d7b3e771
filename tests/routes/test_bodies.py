"""Each body that a route of the admin API takes, made from its struct, with one wrong member.

tests/routes/bodies.txt lists the structs, so that a change of a type is seen. SNAPSHOT=write pytest
… renews it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import webtest
from msgspec import inspect

from sigservice.routes import find_routers
from tests.conftest import ADMIN
from tests.routes.kit import NO_OBJECTS
from tests.table_tests import each

NO_JSON = [body for body in NO_OBJECTS if not body.startswith((b"[", b"null", b"1", b'"'))]
MAY_BE_EMPTY = ("/user/identities", "/user/identities/1", "/releases/1/1")
FILE = Path(__file__).with_name("bodies.txt")
LONG = "x" * 20_000
# Values by the classes of types that accept them.
VALUES = (
    (None, inspect.NoneType),
    (True, inspect.BoolType),
    (1, (inspect.IntType, inspect.FloatType)),
    (7.5, inspect.FloatType),
    ("1", (inspect.StrType, inspect.LiteralType, inspect.DateTimeType, inspect.EnumType)),
    ([], inspect.ListType),
    ({}, (inspect.DictType, inspect.StructType)),
)


def list_types(type: inspect.Type) -> list[inspect.Type]:
    """The types that a member may have."""
    while isinstance(type, inspect.Metadata):
        type = type.type
    return list(type.types) if isinstance(type, inspect.UnionType) else [type]


def make_value(type: inspect.Type, parents: tuple[Any, ...] = ()) -> Any:
    """A valid value, with all members. Lists of one of the `parents` are empty."""
    type = next(t for t in list_types(type) if not isinstance(t, inspect.NoneType))
    match type:
        case inspect.StructType():
            parents = (*parents, type.cls)
            tag = {type.tag_field: type.tag} if type.tag_field else {}
            return tag | {f.encode_name: make_value(f.type, parents) for f in type.fields}
        case inspect.ListType():
            is_recursive = getattr(type.item_type, "cls", None) in parents
            return [] if is_recursive else [make_value(type.item_type, parents)]
        case inspect.DictType():
            return {"key": make_value(type.value_type, parents)}
        case inspect.BoolType():
            return True
        case inspect.IntType() | inspect.FloatType():
            return 1
        case inspect.LiteralType():
            return type.values[0]
    return "text"


def list_wrong(value: Any, type: inspect.Type, path: str = "") -> Iterator[tuple[Any, str]]:
    """Each value with one wrong part, and the path of that part."""
    types = list_types(type)
    if any(isinstance(t, inspect.AnyType) for t in types):
        return
    for invalid, accepting in VALUES:
        if not any(isinstance(t, accepting) for t in types):
            yield invalid, path
    type = next(t for t in types if not isinstance(t, inspect.NoneType))
    if isinstance(type, inspect.StructType):
        for field in type.fields:
            name = field.encode_name
            for invalid, where in list_wrong(value[name], field.type, f"{path}.{name}"):
                yield value | {name: invalid}, where
            if field.required:
                yield {k: v for k, v in value.items() if k != name}, f"{path}.{name}"
    elif isinstance(type, inspect.ListType) and value:
        for invalid, where in list_wrong(value[0], type.item_type, f"{path}[0]"):
            yield [invalid], where
    elif isinstance(type, inspect.DictType):
        for invalid, where in list_wrong(value["key"], type.value_type, f"{path}[...]"):
            yield {"key": invalid}, where


def list_long(value: Any) -> Iterator[Any]:
    """Each value with one text that is too long."""
    if isinstance(value, str):
        yield LONG
    for name in value if isinstance(value, dict) else ():
        for long in list_long(value[name]):
            yield value | {name: long}
    for long in list_long(value[0]) if isinstance(value, list) and value else ():
        yield [long]


def fill_in(path: str) -> str:
    """With the project and environment that exist, and the flag "1"."""
    path = path.replace("<project>", "default").replace("<environment>", "development")
    return re.sub("<[^>]+>", "1", path)


def list_routes(prefix: str) -> list[tuple[str, str, Any]]:
    """(method, path, type of the body)."""
    return sorted(
        (
            (route.method, fill_in(route.path), route.options["takes"])
            for router in find_routers()
            for route in router.routes
            if route.path.startswith(prefix) and route.options.get("takes")
        ),
        key=str,
    )


ROUTES = list_routes("/api/admin/")
EACH_ROUTE = each("route", ROUTES, name=lambda route: f"{route[0]} {route[1]}")
ANY_CONTENT_TYPE = "/lifecycle/complete"
# Unknown names change nothing there.
MAY_BE_LONG = ("/api/admin/emergency", "/strategies/set-sort-order")


@pytest.fixture
def send(make_service):
    """`send(route, body)`: the status, and the paths of the details."""
    provider = {"ISSUER": "https://id.example", "CLIENT_ID": "flags", "CLIENT_SECRET": "secret"}
    environ = {f"SERVICE_OIDC_{name}": value for name, value in provider.items()}
    environ |= {"SERVICE_URL": "https://flags.example", "CREATE_USER_RATE_LIMIT_PER_MINUTE": "9999"}
    web = webtest.TestApp(make_service({}, environ).app)
    web.post_json("/api/admin/projects/default/features", {"name": "1"}, headers=ADMIN)

    def send(route, body, content_type="application/json"):
        method, path, _ = route
        headers = ADMIN | {"Content-Type": content_type}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = web.request(path, method=method, headers=headers, body=data, expect_errors=True)
        assert answer.status_int >= 400, (body, answer.text)
        return answer.status_int, [detail.get("path") for detail in answer.json["details"]]

    return send


@EACH_ROUTE
def test_a_wrong_member_is_400_with_its_path(send, route):
    type = inspect.type_info(route[2])
    for body, path in list_wrong(make_value(type), type):
        status, paths = send(route, body)
        assert (status, paths) == (400, [path.removeprefix(".") or None]), (body, path)


@EACH_ROUTE
def test_a_body_that_is_no_json_is_400(send, route):
    for body in NO_JSON:
        if body or not route[1].endswith(MAY_BE_EMPTY):
            assert send(route, body)[0] == 400, body


@EACH_ROUTE
def test_another_content_type_is_415(send, route):
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        status = send(route, {}, content_type)[0]
        assert status == 415 or route[1].endswith(ANY_CONTENT_TYPE), content_type


@EACH_ROUTE
def test_a_long_text_is_refused(send, route):
    for body in list_long(make_value(inspect.type_info(route[2]))):
        assert route[1].endswith(MAY_BE_LONG) or send(route, body)[0] < 500


def name_type(type: inspect.Type, structs: dict[str, str]) -> str:
    """Adds the structs that it refers to."""
    match type:
        case inspect.Metadata():
            return name_type(type.type, structs)
        case inspect.UnionType():
            return "|".join(sorted(name_type(t, structs) for t in type.types))
        case inspect.ListType():
            return f"[{name_type(type.item_type, structs)}]"
        case inspect.DictType():
            return f"{{{name_type(type.value_type, structs)}}}"
        case inspect.LiteralType():
            return "/".join(map(str, type.values))
        case inspect.StructType():
            name = f"{type.cls.__module__.removeprefix('sigservice.')}.{type.cls.__name__}"
            if name not in structs:
                structs[name] = ""
                structs[name] = " ".join(
                    f"{field.encode_name}{':' if field.required else '?:'}"
                    f"{name_type(field.type, structs)}"
                    for field in type.fields
                )
            return name
    return type.__class__.__name__.removesuffix("Type").lower()


def test_the_types_of_bodies_are_those_of_the_file():
    structs: dict[str, str] = {}
    lines = [
        f"{method} {path} {name_type(inspect.type_info(struct), structs)}"
        for method, path, struct in ROUTES
    ]
    lines += sorted(f"{name} {members}" for name, members in structs.items())
    if os.environ.get("SNAPSHOT") == "write":
        FILE.write_text("\n".join(lines) + "\n")
    assert FILE.read_text().splitlines() == lines
