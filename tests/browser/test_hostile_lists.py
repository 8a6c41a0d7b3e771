"""Every list with sixty rows of names without a place to break."""

import contextlib

import pytest

from tests.browser.test_every_page import AXE, FIND_SERIOUS

pytestmark = pytest.mark.browser

LISTS = [
    "/admin/users",
    "/admin/segments",
    "/admin/projects",
    "/admin/environments",
    "/admin/context",
    "/admin/types",
    "/admin/applications",
    "/admin/api-tokens",
    "/admin/integrations",
    "/admin/signals",
    "/admin/signals/refused",
    "/admin/automation",
    "/admin/features",
    "/admin/features?life=archived",
    "/profile",
    "/profile/tokens",
]
ROWS = """
INSERT INTO users (username, name, role_id)
SELECT n || %(long)s, n || %(long)s, 1 FROM generate_series(1, 60) AS n;
INSERT INTO users (account_type, username, name, role_id)
SELECT 'service', 's' || n || %(long)s, n || %(long)s, 1 FROM generate_series(1, 60) AS n;
INSERT INTO segments (name, description, created_by)
SELECT n || %(long)s, %(long)s, 'x' FROM generate_series(1, 60) AS n;
INSERT INTO projects (id, name, description)
SELECT n || %(long)s, n || %(long)s, %(long)s FROM generate_series(1, 60) AS n;
INSERT INTO environments (name, type, sort_order)
SELECT n || %(long)s, 'production', n FROM generate_series(10, 40) AS n;
INSERT INTO context_fields (name, description)
SELECT n || %(long)s, %(long)s FROM generate_series(1, 60) AS n;
INSERT INTO tag_types (name, description)
SELECT n || left(%(long)s, 40), %(long)s FROM generate_series(1, 60) AS n;
INSERT INTO client_applications (app_name) SELECT n || %(long)s FROM generate_series(1, 60) AS n;
INSERT INTO client_instances (app_name, instance_id, environment, sdk_version)
SELECT n || %(long)s, %(long)s, 'development', %(long)s FROM generate_series(1, 60) AS n;
INSERT INTO signal_endpoints (name, description, created_by_user_id)
SELECT n || lower(left(%(long)s, 80)), %(long)s, 1 FROM generate_series(1, 60) AS n;
INSERT INTO features (name, project, type, description, created_by, archived_at)
SELECT n || %(long)s, 'default', 'release', %(long)s, 'x', CASE WHEN n > 60 THEN now() END
FROM generate_series(1, 120) AS n;
"""


CUT_CELLS = """() => [...document.querySelectorAll(".list th, .list td")]
  .filter((e) => e.clientHeight && e.scrollHeight > e.clientHeight + 1)
  .map((e) => e.dataset.label).slice(0, 3)"""
# axe takes a second for sixty rows.
REMOVE_ROWS = "() => document.querySelectorAll('tr:nth-child(n+6)').forEach((e) => e.remove())"
OVERLAPS = """() => [...document.querySelectorAll(".list tr")].flatMap((row) => {
  const boxes = [...row.querySelectorAll("[data-label]")].map((e) => e.getBoundingClientRect());
  const covers = (box, n) => box.top < boxes[n].bottom - 1 && box.left < boxes[n].right - 1;
  return boxes.slice(1).filter(covers).map(() => row.textContent.trim().slice(0, 40));
}).slice(0, 3)"""


@pytest.fixture
def many_rows(database, service):
    with contextlib.closing(database.connect()) as conn, conn, conn.cursor() as cursor:
        cursor.execute(ROWS, {"long": "Checkout_of_the_shop" * 4 + "." * 16})


def test_lists_of_long_names_do_not_scroll_sideways_cover_cells_or_break_a_rule_of_axe(
    tab, many_rows
):
    page, script = tab("ada"), AXE.read_text() if AXE.exists() else ""
    faults = {}
    for path in LISTS:
        page.goto(path)
        for width in (375, 768, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            overflow = page.evaluate("document.documentElement.scrollWidth") > width
            faults[path, width] = (
                page.evaluate(CUT_CELLS) + page.evaluate(OVERLAPS) + [1] * overflow
            )
        page.evaluate(REMOVE_ROWS)
        page.evaluate(script)
        for width in (1280, 375) if script else ():
            page.set_viewport_size({"width": width, "height": 800})
            faults[path, width] += page.evaluate(FIND_SERIOUS, {})
    assert {place: fault for place, fault in faults.items() if fault} == {}
    assert page.complaints == []


def test_the_log_begins_near_the_top_and_shows_the_summary_first(tab, make, web):
    endpoint = make.endpoint("alerts")
    token = make.token(endpoint)
    headers = {"Authorization": f"Bearer {token['token']}"}
    web.post_json("/api/signal-endpoint/alerts", {"alertname": "CheckoutErrors"}, headers=headers)
    page = tab("ada", viewport={"width": 1280, "height": 900})
    page.goto(f"/admin/signals/{endpoint['id']}/log")
    assert page.locator(".log li").first.bounding_box()["y"] < 320
