"""The options on the form of a signal endpoint: shown, saved, rejected with their field."""

from __future__ import annotations

import pytest

from sigservice.routes.pages.signals.endpoint_options_form import make_form, read_options
from sigservice.services.signals.endpoint_options import EndpointOptions
from tests.conftest import ADMIN
from tests.pages.page_reader import form_to
from tests.table_tests import each

OPTIONS = {
    "rateLimit": {"perSecond": 2.5, "burst": 100, "status": 503},
    "idempotency": {"paths": ["groupKey", "a.b"], "windowHours": 48, "differentBody": "accept"},
    "allowQueryToken": True,
    "summary": [
        {"label": "Alert", "path": "commonLabels.alertname"},
        {"label": "a = b", "path": "x=y"},
    ],
    "statusPath": "state",
    "severityPath": "level",
}
INVALID = [
    ("options.rateLimit.perSecond", "fast", "The rate must be"),
    ("options.rateLimit.perSecond", "nan", "The rate must be"),
    ("options.rateLimit.burst", "1.5", "The burst must be"),
    ("options.rateLimit.burst", "9" * 30, "The burst must be"),
    ("options.idempotency.paths", "a\nb..c", "Line 2: "),
    ("options.idempotency.paths", "a\n" * 6, "At most 5 paths"),
    ("options.idempotency.windowHours", "0", "The window must be"),
    ("options.idempotency.windowHours", "a day", "The window must be"),
    ("options.summary", "Team", "Line 1: This is not a valid path."),
    ("options.summary", "A = a\n = b", "Line 2: "),
    ("options.summary", "A = a\n" * 11, "At most 10 fields"),
    ("options.statusPath", "[", "This is not a valid path."),
    ("options.severityPath", "a..b", "This is not a valid path."),
]


@pytest.fixture
def path(endpoint):
    return f"/admin/signals/{endpoint['id']}/settings"


@pytest.fixture
def form(ada, path):
    return form_to(ada.get(path), path)


@pytest.fixture
def read(web, endpoint):
    """`read()`: the endpoint."""

    def get():
        return web.get(f"/api/admin/signal-endpoints/{endpoint['id']}", headers=ADMIN).json

    return get


def configure(web, endpoint, options):
    body = {"name": endpoint["name"], "options": options}
    web.put_json(f"/api/admin/signal-endpoints/{endpoint['id']}", body, headers=ADMIN)


def test_new_endpoint_has_the_defaults(form, read):
    assert form["options.rateLimit.perSecond"].value == ""
    assert form["options.idempotency.windowHours"].value == "24"
    assert form["options.rateLimit.status"].value == "429"
    form.submit(status=303)
    assert read()["options"] == {}


def test_every_option_can_be_set(form, read):
    for name, value in make_form(make_options()).items():
        form[name] = bool(value) if name == "options.allowQueryToken" else value
    form.submit(status=303)
    assert read()["options"] == OPTIONS


def test_saving_the_unchanged_form_keeps_the_options(ada, web, endpoint, path, read):
    configure(web, endpoint, OPTIONS)
    form = form_to(ada.get(path), path)
    form["description"] = "New"
    form.submit(status=303)
    assert read()["options"] == OPTIONS
    assert read()["description"] == "New"


def test_a_form_without_options_keeps_them(ada, web, endpoint, path, read):
    configure(web, endpoint, OPTIONS)
    ada.post(path, {"name": "deploys", "enabled": "on", "csrf": ada.csrf}, status=303)
    assert read()["options"] == OPTIONS


def test_empty_fields_restore_the_defaults(ada, web, endpoint, path, read):
    configure(web, endpoint, OPTIONS)
    form = form_to(ada.get(path), path)
    defaults = make_form(EndpointOptions())
    for name in make_form(make_options()):
        form[name] = False if name == "options.allowQueryToken" else defaults.get(name, "")
    form["options.idempotency.windowHours"] = ""
    form.submit(status=303)
    assert read()["options"] == {}


@each("row", INVALID)
def test_invalid_option_is_shown_beside_its_field(ada, path, read, row):
    name, text, message = row
    form = form_to(ada.get(path), path)
    form[name] = text
    page = form.submit(status=400)
    field = page.html.find(attrs={"name": name})
    assert field["aria-invalid"] == "true"
    assert page.html.find(id=f"{name}-problem").get_text().startswith(message)
    assert page.html.find("details", id="options").has_attr("open")
    assert form_to(page, path)[name].value.replace("\r", "").strip() == text.strip()
    assert read()["options"] == {}


def test_options_are_closed_unless_one_is_rejected(ada, form, path):
    assert not ada.get(path).html.find("details", id="options").has_attr("open")
    form["name"] = "No"
    page = form.submit(status=400)
    assert not page.html.find("details", id="options").has_attr("open")


def test_a_rate_may_have_a_decimal_comma(form, read):
    form["options.rateLimit.perSecond"] = " 0,5 "
    form.submit(status=303)
    assert read()["options"] == {"rateLimit": {"perSecond": 0.5}}


def make_options():
    return read_options(
        {
            "options.rateLimit.perSecond": "2.5",
            "options.rateLimit.burst": "100",
            "options.rateLimit.status": "503",
            "options.idempotency.paths": "groupKey\r\n\r\na.b",
            "options.idempotency.windowHours": "48",
            "options.idempotency.differentBody": "accept",
            "options.allowQueryToken": "on",
            "options.summary": "Alert=commonLabels.alertname\na = b = x=y",
            "options.statusPath": "state",
            "options.severityPath": "level",
        }
    )
