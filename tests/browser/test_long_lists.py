"""Sixty flags with long names, long differences and small windows."""

import contextlib

import pytest

from tests.browser.test_every_page import FIND_SHIFTS, MAX_SHIFT
from tests.conftest import ADMIN

pytestmark = pytest.mark.browser

CUT_NAMES = """() => [...document.querySelectorAll(".flags .flag > a")]
  .filter((e) => e.scrollWidth > e.clientWidth + 1 || e.closest("th").clientWidth < 200)
  .map((e) => `${e.textContent}: ${e.closest("th").clientWidth}`).slice(0, 3)"""
SPLIT_WORDS = """() => {
  const split = [], main = document.querySelector("main");
  const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.parentElement.checkVisibility() || node.parentElement.closest(".hidden")) continue;
    for (const word of node.data.matchAll(/[A-Za-z]{2,10}/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = [...range.getClientRects()].map((box) => Math.round(box.top));
      if (new Set(lines).size > 1) split.push(word[0]);
    }
  }
  return split;
}"""


@pytest.fixture
def names(flags):
    for number in range(60):
        flags.create_flag(f"checkout-of-the-shop-with-a-long-name-{number:02}")


def test_each_line_of_a_difference_is_on_a_line_of_its_own(tab, web, flags):
    flags.create_flag()
    flags.add_strategy(title="x" * 100)
    page = tab("ada")
    page.goto("/admin/events?feature=checkout")
    page.locator("summary").first.click()
    boxes = page.locator(".diff span").evaluate_all(
        "e => e.map((x) => x.getBoundingClientRect().top)"
    )
    assert len(boxes) > 5
    assert len(set(boxes)) == len(boxes)


def test_short_words_are_not_split_on_a_phone(tab, make, names):
    make.endpoint("payments")
    page, split_words = tab("ada", viewport={"width": 375, "height": 800}), {}
    for path in (
        "/",
        "/admin/features",
        "/admin/events",
        "/admin/signals",
        "/admin/users",
        "/admin/types",
        "/docs/guide/signals",
        "/admin/search?q=e",
    ):
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
        split_words[path] = page.evaluate(SPLIT_WORDS)
    assert {path: words for path, words in split_words.items() if words} == {}


def test_a_message_does_not_cover_the_card_that_the_page_jumps_to(tab, flags):
    flags.create_flag()
    for _ in range(4):
        flags.add_strategy(environment="development")
        flags.add_strategy()
    page = tab("ada", viewport={"width": 1280, "height": 600})
    page.goto("/admin/features/checkout?done=strategy-saved#in-production")
    notice, card = (
        page.locator("#notice").bounding_box(),
        page.locator("#in-production").bounding_box(),
    )
    assert notice["y"] + notice["height"] <= card["y"]


@pytest.mark.parametrize("width", [375, 1280])
def test_content_does_not_move_while_a_slow_processor_reads_a_page(tab, names, width):
    """A browser may paint what it has read: half a table, whose columns move, or half a menu."""
    page = tab("ada", viewport={"width": width, "height": 800})
    chromium = page.context.new_cdp_session(page)
    chromium.send("Emulation.setCPUThrottlingRate", {"rate": 10})
    for path in ("/", "/docs", "/admin/features", "/admin/environments") * 2:
        page.goto(path)
        assert sum(shift[0] for shift in page.evaluate(FIND_SHIFTS)) <= MAX_SHIFT, path


@pytest.fixture
def full_lists(web, database, flags, names):
    for number in range(20):
        body = {"tokenName": f"shop-{number}", "type": "client", "environment": "production"}
        web.post_json("/api/admin/api-tokens", body, headers=ADMIN)
    account = web.post_json("/api/admin/service-account", {"username": "robot"}, headers=ADMIN)
    with contextlib.closing(database.connect()) as conn, conn, conn.cursor() as cursor:
        cursor.execute(
            """INSERT INTO signal_endpoints (name, description, created_by_user_id)
               SELECT 'alertmanager-' || n, '', 1 FROM generate_series(10, 29) AS n"""
        )
        cursor.execute(
            """INSERT INTO action_sets (project, name, description, enabled, actor_id, endpoint_id,
                                        filters, settings, created_by_user_id)
               SELECT 'default', 'Checkout off while it fails ' || n, '', true, %s, e.id,
                      '[{"path": "status", "operator": "IN", "values": ["firing"]}]', '{}', 1
               FROM generate_series(10, 29) AS n, (SELECT min(id) AS id FROM signal_endpoints) e""",
            (account.json["id"],),
        )


@pytest.mark.parametrize(
    ("path", "rows"),
    [
        ("/admin/features", 20),
        ("/admin/signals", 15),
        ("/admin/api-tokens", 15),
        ("/admin/projects/default/actions", 12),
    ],
)
def test_lists_show_many_rows_in_a_window(tab, full_lists, path, rows):
    page = tab("ada", viewport={"width": 1280, "height": 900})
    page.goto(path)
    bottoms = page.locator("tbody tr").evaluate_all(
        "rows => rows.map((row) => row.getBoundingClientRect().bottom)"
    )
    assert sum(bottom <= 900 for bottom in bottoms) >= rows


def test_the_menu_of_a_row_is_in_the_window_and_opens_by_keyboard(tab, full_lists):
    page = tab("ada", viewport={"width": 1280, "height": 900})
    page.goto("/admin/signals")
    page.locator(".menu summary").first.press("Enter")
    box = page.get_by_role("link", name="Delete alertmanager-10").bounding_box()
    assert 0 < box["x"] + box["width"] < 1280
