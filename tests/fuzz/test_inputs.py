"""Bodies, query strings, forms, action filters and configuration, made up by hypothesis."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable

import pytest
import webtest

pytest.importorskip("hypothesis", reason="hypothesis is installed by the extra dev")
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sigservice.config.load import read_config
from sigservice.config.options import OPTIONS
from sigservice.errors import AppError
from sigservice.web.body import read_form, read_json, read_query
from tests.conftest import ADMIN
from tests.fuzz.conftest import EXAMPLES, SECRETS, Target

fuzz = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES <= 100,
    database=None,
    suppress_health_check=list(HealthCheck),
)
MANY = settings(fuzz, max_examples=EXAMPLES * 10)  # where no request is made

RIGHT = (200, *range(400, 500))
TEXT = st.text(max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
TYPES = st.sampled_from(
    ["application/json", "application/cloudevents+json", "text/plain", "", "application/json;x"]
)
CODINGS = st.sampled_from(["", "gzip", "identity", "br", "gzip, gzip", "\xff"])
PIECES = st.sampled_from([b"{", b"}", b"[", b'"', b"\\u", b"1e999", b"NaN", b"\x00", b"\xff", b","])
BYTES = st.binary(max_size=300) | st.lists(PIECES, max_size=30).map(b"".join)


def status_of(read: Callable[..., object], *arguments: object) -> int:
    """200, or the status of the error that `read` raises."""
    try:
        read(*arguments)
    except AppError as error:
        return error.status
    return 200


def environ_of(data: bytes, **more: str) -> dict[str, object]:
    return {"wsgi.input": io.BytesIO(data), "CONTENT_LENGTH": str(len(data)), **more}


@MANY
@given(BYTES, TYPES, CODINGS, st.booleans())
def test_the_body_reader_returns_a_value_or_raises_a_4xx(data, content_type, coding, is_packed):
    messages = gzip.compress(data) if is_packed else data
    environ = environ_of(messages, CONTENT_TYPE=content_type, HTTP_CONTENT_ENCODING=coding)
    assert status_of(read_json, environ, 200) in RIGHT


@MANY
@given(st.text(st.characters(max_codepoint=255) | st.sampled_from("%&=;+"), max_size=80))
def test_query_strings_and_forms_are_read_or_refused_with_a_4xx(text):
    form_type = {"CONTENT_TYPE": "application/x-www-form-urlencoded"}
    for read, environ in (
        (read_query, {"QUERY_STRING": text}),
        (read_form, environ_of(text.encode("latin-1"), **form_type)),
    ):
        assert status_of(read, environ) in RIGHT


@MANY
@given(st.dictionaries(st.sampled_from([o.env for o in OPTIONS if o.env]), TEXT, max_size=4))
def test_any_variables_are_read_or_reported_by_name(environ):
    loaded = read_config(None, environ)
    assert all(problem for problem in loaded.problems)


@MANY
@given(st.dictionaries(st.sampled_from([o.path for o in OPTIONS]) | TEXT, JSON, max_size=4))
def test_any_options_in_code_are_read_or_reported(options):
    nested: dict[str, object] = {}
    for path, value in options.items():
        group, _, name = path.rpartition(".")
        if group:
            block = nested.setdefault(group, {})
            if isinstance(block, dict):
                block[name] = value
        else:
            nested[path] = value
    read_config(nested, {})


@pytest.fixture(scope="module")
def signed_in(target: Target) -> webtest.TestApp:
    web = webtest.TestApp(target.service.app)
    form = web.get("/sign-in").form
    form["username"], form["password"] = "ada", "Correct-Horse-7"
    form.submit(status=303)
    return web


@pytest.fixture(scope="module")
def forms(target: Target) -> list[str]:
    """The paths of pages that have a form of their own."""
    rules = {route.rule for route in target.routes if route.method == "POST"}
    programs = ("/api", "/auth", "/edge", "/logout", "/ofrep")
    return sorted(rule for rule in rules if not rule.startswith(programs) and "<" not in rule)


@fuzz
@given(data=st.data())
def test_any_form_of_a_page_is_answered(target, signed_in, forms, data):
    path = data.draw(st.sampled_from(forms))
    names = ["name", "description", "type", "project", "environment", "do", "expires_at", "values"]
    names += [
        "constraints.0.operator",
        "constraints.0.values",
        "variants.0.weight",
        "filters.0.path",
    ]
    fields = data.draw(st.dictionaries(st.sampled_from(names) | TEXT, TEXT, max_size=6))
    fields["csrf"] = signed_in.get("/api/admin/user").json["csrfToken"]
    fields = {name: text.encode("utf-8", "replace").decode() for name, text in fields.items()}
    answer = signed_in.post(path, fields, expect_errors=True)
    target.check(answer, (path, fields))


@fuzz
@given(
    st.sampled_from(["/api/admin/events", "/api/admin/search/features", "/api/admin/signals"]), TEXT
)
def test_any_query_string_of_a_list_is_answered(target, path, text):
    names = ("offset", "limit", "query", "sortBy", "type", "createdAtFrom", "after", "project")
    for name in names:
        query = {name: text.encode("utf-8", "replace").decode()}
        target.check(target.web.get(path, query, headers=ADMIN, expect_errors=True), (path, query))


OPERATORS = st.sampled_from(["IN", "NOT_IN", "STR_CONTAINS", "NUM_GT", "SEMVER_EQ", "EXISTS", "?"])
FILTERS = st.lists(
    st.fixed_dictionaries(
        {"path": TEXT, "operator": OPERATORS},
        optional={"values": st.lists(TEXT, max_size=3), "value": JSON, "inverted": JSON},
    )
    | JSON,
    max_size=4,
)


@fuzz
@given(FILTERS, JSON)
def test_any_filters_and_any_payload_are_tested_or_refused(target, filters, payload):
    body = {
        "name": "fuzz",
        "match": {"source": "signal-endpoint", "sourceId": 1, "payload": filters},
        "actions": [],
        "actorId": 1,
    }
    path = "/api/admin/projects/default/actions"
    target.check(
        target.web.post_json(path, json_safe(body), headers=ADMIN, expect_errors=True), body
    )


@fuzz
@given(JSON, st.sampled_from(["properties", "userId", "remoteAddress", "currentTime", "appName"]))
def test_any_evaluation_context_is_answered(target, value, name):
    headers = {"Authorization": SECRETS["frontend"]}
    body = json_safe({"context": {name: value}})
    target.check(
        target.web.post_json("/api/frontend", body, headers=headers, expect_errors=True), body
    )


@fuzz
@given(
    JSON,
    st.sampled_from(["/api/client/metrics", "/api/client/metrics/bulk", "/api/client/register"]),
)
def test_any_usage_report_is_answered(target, value, path):
    bucket = {"start": value, "stop": value, "toggles": {"x": value}}
    body = {"appName": "fuzz", "bucket": bucket, "applications": value, "metrics": [value]}
    body |= {"interval": value, "started": value, "strategies": value}
    headers = {"Authorization": SECRETS["client"]}
    target.check(
        target.web.post_json(path, json_safe(body), headers=headers, expect_errors=True), body
    )


def json_safe(value: object) -> object:
    """`value` without lone surrogates, which no client library can send."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {json_safe(key): json_safe(item) for key, item in value.items()}
    return [json_safe(item) for item in value] if isinstance(value, list) else value
