"""Every page there is, with data, in Chromium: axe, weight, layout shift, messages of the console.

The suite checks the pages that are opened most, in one form each; EVERY_PAGE=1 checks all pages in
light, in dark and on a phone. SCREENSHOTS=<folder> keeps an image of each.
"""

import os
from pathlib import Path

import pytest

from tests.pages import conftest as pages
from tests.pages import guards

pytestmark = pytest.mark.browser
place, saved_place = pages.place, pages.saved_place
AXE = Path(__file__).parents[1] / "sdk/node_modules/axe-core/axe.min.js"
FORMS = {
    "light": {"viewport": {"width": 1280, "height": 900}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 375, "height": 800}, "has_touch": True},
}
PAGES = [*guards.VIEW_PAGES, *guards.EDIT_PAGES, *guards.ADMIN_PAGES]
MAIN_PAGES = [
    "/",
    "/admin/features",
    "/admin/features/{name}",
    f"{guards.STRATEGIES}/new",
    "/admin/signals",
    "/admin/signals/{id}/log",
    "/admin/signals/{id}/setup",
    "/admin/projects/{project}/actions/new",
    "/admin/events",
    "/admin/environments",
    "/docs",
]
MAX_WEIGHT = 120_000  # bytes of HTML, style and script, not compressed
MAX_SHIFT = 0.01  # a tenth of what Web Vitals call good: the text of a font that loads late
FIND_SERIOUS = """async (options) => {
  const { violations } = await axe.run({ resultTypes: ["violations"], ...options });
  return violations.filter((rule) => ["serious", "critical"].includes(rule.impact))
    .map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map((node) => node.html.slice(0, 160))]);
}"""
FIND_SHIFTS = """() => new Promise((resolve) => {
  const shifted = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      shifted.push([value, ...sources.map(({ node }) => node?.outerHTML?.slice(0, 160))]);
    }
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(shifted), 50);
})"""
MEASURE_WEIGHT = """() => ["navigation", "resource"]
  .flatMap((type) => performance.getEntriesByType(type))
  .reduce((sum, entry) => sum + entry.decodedBodySize, 0)"""


@pytest.fixture
def send(web):
    def post(endpoint, token, payload):
        headers = {"Authorization": f"Bearer {token['token']}"}
        answer = web.post_json(f"/api/signal-endpoint/{endpoint['name']}", payload, headers=headers)
        return answer.json["signals"][0]

    return post


def list_paths(form, place):
    if not os.environ.get("EVERY_PAGE"):
        return [guards.at(path, place) for path in MAIN_PAGES[[*FORMS].index(form) :: len(FORMS)]]
    return [guards.at(path, place) for path in PAGES]


def find_faults(page, script, options):
    weight, shifts = page.evaluate(MEASURE_WEIGHT), page.evaluate(FIND_SHIFTS)
    faults = {
        "bytes": weight if weight > MAX_WEIGHT else 0,
        "layout shifts": shifts if sum(shift[0] for shift in shifts) > MAX_SHIFT else [],
        "console": [*page.complaints],
    }
    if script:
        page.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
        page.evaluate(script)
        faults["axe"] = page.evaluate(FIND_SERIOUS, options)
    page.complaints.clear()
    return {name: value for name, value in faults.items() if value}


@pytest.mark.parametrize("form", FORMS)
def test_pages_are_light_still_and_without_serious_findings(tab, place, form):
    page, script = tab("ada", **FORMS[form]), AXE.read_text() if AXE.exists() else ""
    options = {"runOnly": ["color-contrast"]} if form == "dark" else {}  # only colours differ
    folder, faults = os.environ.get("SCREENSHOTS"), {}
    for path in list_paths(form, place):
        page.goto(path)
        if folder:
            page.screenshot(path=f"{folder}/{form}{path.replace('/', '_')}.png", full_page=True)
        faults[path] = find_faults(page, script, options)
    assert {path: fault for path, fault in faults.items() if fault} == {}
