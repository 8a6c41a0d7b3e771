"""The options of a signal endpoint in the JSON API."""

from tests.table_tests import each

PATH = "/api/admin/signal-endpoints"
OPTIONS = {
    "rateLimit": {"perSecond": 10, "burst": 100, "status": 503},
    "idempotency": {"paths": ["groupKey", "alerts[0].status"], "windowHours": 48},
    "allowQueryToken": True,
    "summary": [{"label": "Alert", "path": "commonLabels.alertname"}],
    "statusPath": "status",
    "severityPath": "commonLabels.severity",
}
INVALID = [
    ({"rateLimit": {"perSecond": -1}}, "options.rateLimit.perSecond"),
    ({"rateLimit": {"burst": 0}}, "options.rateLimit.burst"),
    ({"rateLimit": {"status": 500}}, "options.rateLimit.status"),
    ({"rateLimit": {"burst": "many"}}, "options.rateLimit.burst"),
    ({"idempotency": {"paths": ["a..b"]}}, "options.idempotency.paths[0]"),
    ({"idempotency": {"paths": ["a"] * 6}}, "options.idempotency.paths"),
    ({"idempotency": {"windowHours": 0}}, "options.idempotency.windowHours"),
    ({"idempotency": {"differentBody": "ignore"}}, "options.idempotency.differentBody"),
    ({"summary": [{"label": "", "path": "a"}]}, "options.summary[0].label"),
    ({"summary": [{"label": "A", "path": ""}]}, "options.summary[0].path"),
    ({"summary": [{"label": "A", "path": "a"}] * 11}, "options.summary"),
    ({"summary": [{"label": "A"}]}, "options.summary[0].path"),
    ({"statusPath": "["}, "options.statusPath"),
    ({"severityPath": "["}, "options.severityPath"),
    ([], "options"),
]


def create(admin, status=201, **more):
    return admin.post(PATH, {"name": "alerts"} | more, status)


def test_options_are_stored(admin):
    id = create(admin, options=OPTIONS)["id"]
    assert admin.get(f"{PATH}/{id}")["options"] == OPTIONS


def test_an_endpoint_without_options_has_none(admin):
    assert create(admin)["options"] == {}


def test_a_replacement_without_options_keeps_them(admin):
    id = create(admin, options=OPTIONS)["id"]
    assert admin.put(f"{PATH}/{id}", {"name": "renamed"})["options"] == OPTIONS


def test_a_replacement_with_options_replaces_all_of_them(admin):
    id = create(admin, options=OPTIONS)["id"]
    endpoint = admin.put(f"{PATH}/{id}", {"name": "alerts", "options": {"statusPath": "state"}})
    assert endpoint["options"] == {"statusPath": "state"}


@each("row", INVALID, name=str)
def test_an_invalid_option_is_named(admin, row):
    options, path = row
    error = create(admin, options=options, status=400)
    assert error["details"][0]["path"] == path
