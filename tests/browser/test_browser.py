"""The main job in a real browser, with and without JavaScript, by mouse and by keyboard."""

from __future__ import annotations

import contextlib
import json
import re

import pytest

from tests.conftest import Cast
from tests.pages.actions import Actions
from tests.waiting import until

pytestmark = pytest.mark.browser

FOCUSED = """() => {
  const at = document.activeElement, style = getComputedStyle(at), box = at.getBoundingClientRect();
  const name = at.getAttribute("aria-label") || at.labels?.[0]?.textContent || at.textContent;
  return {tag: at.localName, id: at.id, name: name.trim().replace(/\\s+/g, " "),
          inMain: at.closest("main") !== null, outline: style.outlineStyle,
          width: parseFloat(style.outlineWidth), top: box.top, left: box.left};
}"""


@pytest.fixture
def log(make):
    """An endpoint with a token and the address of its log."""
    endpoint = make.endpoint()
    return {
        "address": f"/admin/signals/{endpoint['id']}/log",
        "secret": make.token(endpoint)["token"],
        "endpoint": endpoint,
    }


def focus(page):
    return page.evaluate(FOCUSED)


@pytest.mark.parametrize("javascript", [True, False], ids=["JavaScript", "no JavaScript"])
def test_whole_main_job(tab, call, expect, javascript):
    page = tab(java_script_enabled=javascript)
    if javascript:
        page.clock.install()

    def wait_for_signals(count):
        if javascript:
            page.evaluate("window.neverReloaded = true")
        else:
            page.reload()
        expect(page.locator("#signals details")).to_have_count(count)
        if javascript:
            assert page.evaluate("window.neverReloaded") is True

    page.goto("/admin/signals")
    page.locator("#username").fill("ada")
    page.get_by_label("Password").fill(Cast.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Signal endpoints")

    page.get_by_role("link", name="New signal endpoint").click()
    page.get_by_label("Name", exact=True).fill("deploys")
    page.get_by_label("Create a token now").check()
    page.get_by_label("Token name").fill("ci")
    page.get_by_role("button", name="Create signal endpoint").click()
    secret = page.get_by_label("Token", exact=True).input_value()
    assert re.fullmatch("signal_[A-Za-z0-9_-]{43}", secret)

    page.locator(".tabs").get_by_role("link", name="Signals", exact=True).click()
    expect(page.get_by_role("heading", name="No signals yet")).to_be_visible()
    assert call("deploys", secret, {"type": "deploy", "data": {"n": 1, "word": "first"}}) == 200
    wait_for_signals(1)
    expect(page.get_by_role("heading", name="No signals yet")).to_have_count(0)

    page.locator("#signals summary").click()
    payload = page.locator("#signals pre")
    expect(payload).to_be_visible()
    assert json.loads(payload.inner_text())["data"] == {"n": 1, "word": "first"}
    assert call("deploys", secret, {"type": "deploy", "data": {"word": "second"}}) == 200
    if javascript:
        page.clock.run_for(5000)  # the first refresh was awaited, this one is hastened
    wait_for_signals(2)
    if javascript:
        expect(page.locator("#signals details[open]")).to_have_count(1)
        expect(page.locator("#signals details[open]")).to_contain_text("first")

    page.get_by_label("Search payload").fill("SECOND")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("#signals details")).to_have_count(1)
    expect(page.locator("#signals summary")).to_contain_text("second")

    menu = page.get_by_role("navigation", name="Main")
    menu.get_by_role("link", name="Alerts").click()
    page.get_by_role("main").get_by_role("link", name="Signals", exact=True).click()
    switch = page.get_by_role("switch", name="Endpoint deploys")
    expect(switch).to_be_checked()
    switch.click()
    expect(switch).not_to_be_checked()
    assert call("deploys", secret, {}) == 404

    page.locator(".menu summary").click()
    page.get_by_role("link", name="Delete deploys").click()
    expect(page.get_by_role("main")).to_contain_text("2 signals")
    page.get_by_role("button", name="Delete signal endpoint").click()
    expect(page.get_by_role("status")).to_have_text("Signal endpoint deleted.")
    assert call("deploys", secret, {}) == 401

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.goto("/admin/signals")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert page.complaints == []


def test_secret_is_gone_after_going_back(tab, make, expect):
    endpoint = make.endpoint()
    page = tab("ada")
    page.goto(f"/admin/signals/{endpoint['id']}/tokens")
    page.get_by_label("Token name").fill("ci")
    page.get_by_role("button", name="Create token").click()
    secret = page.get_by_label("Token", exact=True).input_value()
    page.get_by_role("main").get_by_role("link", name="Settings", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("deploys")
    assert secret not in page.content()
    with contextlib.suppress(Exception):  # Chromium asks before it sends a form again
        page.go_back(wait_until="commit")

    def content():
        with contextlib.suppress(Exception):  # the page is changing
            return page.evaluate("document.readyState === 'complete'") and page.content()

    assert secret not in until(content, "the page before")


def test_copy_buttons_fill_the_clipboard(tab, make, service):
    endpoint = make.endpoint()
    page = tab("ada", permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"/admin/signals/{endpoint['id']}/setup")
    page.get_by_role("button", name="Copy Webhook URL").click()
    page.locator("[data-copy]", has_text="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{service.url}/api/signal-endpoint/deploys"
    assert page.complaints == []


def test_copy_buttons_are_hidden_without_javascript(tab, make):
    endpoint = make.endpoint()
    page = tab("ada", java_script_enabled=False)
    page.goto(f"/admin/signals/{endpoint['id']}/setup")
    assert not page.locator("[data-copy=setup]").is_visible()


def test_live_refresh_shows_the_newest_first_and_keeps_scroll_and_text(tab, log, call, expect):
    for n in range(20):
        call("deploys", log["secret"], {"n": n})
    page = tab("ada", viewport={"width": 800, "height": 400})
    page.clock.install()
    page.goto(log["address"])
    page.get_by_label("Search payload").fill("half a wo")
    before = page.evaluate("() => { scrollTo(0, 300); return scrollY; }")
    assert before == 300
    call("deploys", log["secret"], {"n": 20})
    page.clock.run_for(5000)
    expect(page.locator("#signals summary").first).to_contain_text("n: 20")
    assert page.evaluate("scrollY") == before
    assert page.get_by_label("Search payload").input_value() == "half a wo"
    assert page.complaints == []


def test_live_refresh_leaves_the_focus_on_a_link_of_an_open_signal(tab, log, call, expect):
    call("deploys", log["secret"], {"n": 1})
    page = tab("ada")
    page.clock.install()
    page.goto(log["address"])
    page.locator("#signals summary").press("Enter")
    page.get_by_role("link", name=re.compile(r"^Signal \d+$")).focus()
    before = focus(page)
    call("deploys", log["secret"], {"n": 2})
    page.clock.run_for(5000)
    expect(page.locator("#signals details")).to_have_count(2)
    assert (focus(page)["tag"], focus(page)["name"]) == (before["tag"], before["name"])


def test_live_refresh_keeps_the_place_in_an_open_signal(
    tab, log, call, expect, service, web, flags
):
    sets = Actions(service, web, flags, log["endpoint"])
    sets.set()
    call("deploys", log["secret"], {"n": list(range(200))})
    sets.work()
    page = tab("ada")
    page.clock.install()
    page.goto(log["address"])
    page.locator("#signals summary").press("Enter")
    payload = page.locator("#signals pre").last
    payload.evaluate("pre => { pre.scrollTop = 900 }")
    page.get_by_role("link", name=re.compile(r"^Run \d+$")).focus()
    before = focus(page)
    call("deploys", log["secret"], {"n": 2})
    page.clock.run_for(5000)
    expect(page.locator("#signals details")).to_have_count(2)
    assert payload.evaluate("pre => pre.scrollTop") == 900
    assert (focus(page)["tag"], focus(page)["name"]) == (before["tag"], before["name"])
    assert page.complaints == []


def test_live_refresh_leaves_the_focus_on_the_pager(tab, log, call, expect):
    for n in range(21):
        call("deploys", log["secret"], {"n": n})
    page = tab("ada")
    page.clock.install()
    page.goto(log["address"])
    page.get_by_role("link", name="Older →").focus()
    call("deploys", log["secret"], {"n": 21})
    page.clock.run_for(5000)
    expect(page.locator("#signals summary").first).to_contain_text("n: 21")
    assert focus(page)["name"] == "Older →"


def test_live_refresh_tells_when_the_session_has_ended(tab, log, database, expect):
    page = tab("ada")
    page.clock.install()
    page.goto(log["address"])
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute("DELETE FROM sessions")
    conn.close()
    page.clock.run_for(5000)
    expect(page.locator("body")).to_contain_text(re.compile("sign in", re.IGNORECASE))


def test_skip_link_is_first_and_leads_into_the_content(tab, make):
    make.endpoint()
    page = tab("ada")
    for address in ("/", "/admin/signals", "/admin/events"):
        page.goto(address)
        assert page.locator(".skip").bounding_box()["y"] < -10
        page.keyboard.press("Tab")
        at = focus(page)
        assert at["name"] == "Skip to content"
        assert (at["top"] >= 0, at["left"] >= 0) == (True, True)
        page.keyboard.press("Enter")
        assert focus(page)["id"] == "main"
        page.keyboard.press("Tab")
        assert focus(page)["inMain"]


@pytest.mark.parametrize("width", [1280, 375])
def test_content_starts_at_the_third_stop_and_the_menu_follows_it(tab, make, width):
    make.endpoint()
    page = tab("ada", viewport={"width": width, "height": 800})
    for address in ("/", "/admin/features", "/admin/signals", "/admin/events"):
        page.goto(address)
        stops = []
        while not focus(page)["inMain"]:
            page.keyboard.press("Tab")
            stops.append(focus(page)["name"])
        assert stops[:-1] == ["Skip to content", "Skip to menu"]
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Enter")
        assert focus(page)["id"] == "menu"
        page.keyboard.press("Tab")
        assert focus(page)["name"] == ("sigservice" if width == 1280 else "☰ Menu")
        menu, content = page.locator("#menu").bounding_box(), page.locator("#main").bounding_box()
        assert menu["x"] + menu["width"] <= content["x"] or menu["y"] < content["y"]


def test_user_signs_in_and_works_by_keyboard(tab, make, expect):
    make.endpoint()
    page = tab()
    page.goto("/sign-in?next=/admin/signals")

    def tab_to(tag, name):
        for _ in range(40):
            page.keyboard.press("Tab")
            at = focus(page)
            if at["tag"] == tag and name in at["name"]:
                return
        raise AssertionError(f"Tab does not reach {name}")

    tab_to("input", "name")
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    page.keyboard.type("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("password")
    tab_to("a", "Wrong username")
    page.keyboard.press("Enter")
    assert focus(page)["id"] == "username"
    page.keyboard.press("Tab")
    page.keyboard.type(Cast.PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Signal endpoints")
    tab_to("button", "Endpoint deploys")
    page.keyboard.press("Space")
    expect(page.get_by_role("switch")).not_to_be_checked()
    tab_to("summary", "More for deploys")
    page.keyboard.press("Enter")
    tab_to("a", "Delete deploys")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Delete deploys?")
    tab_to("button", "Delete signal endpoint")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Signal endpoint deleted.")
    assert page.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_focus_can_be_seen_on_every_control(tab, log, call, scheme):
    call("deploys", log["secret"], {"n": 1})
    page = tab("ada", color_scheme=scheme)
    for address in ("/admin/signals", "/admin/signals/new", log["address"], "/profile"):
        page.goto(address)
        count = page.locator("a, button:visible, input:not([type=hidden]), select, summary").count()
        names = []
        for _ in range(count):
            page.keyboard.press("Tab")
            at = focus(page)
            if at["tag"] == "body":
                break
            assert at["outline"] != "none", (address, at)
            assert at["width"] >= 2, (address, at)
            names.append(at["name"])
        assert len(names) > 8
