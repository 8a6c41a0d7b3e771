"""Contrast of pages in both colour schemes, their width on a phone and the size of targets."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

# The contrast of every text with its background, as [kind, text, ratio].
CONTRAST = """() => {
  const parse = (css) => {
    const n = css.match(/[\\d.]+/g).map(Number);
    return {r: n[0], g: n[1], b: n[2], a: n.length > 3 ? n[3] : 1};
  };
  const over = (top, below) => ({
    r: top.r * top.a + below.r * (1 - top.a), g: top.g * top.a + below.g * (1 - top.a),
    b: top.b * top.a + below.b * (1 - top.a), a: 1,
  });
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      layers.push(parse(getComputedStyle(e).backgroundColor));
      if (layers.at(-1).a === 1) break;
    }
    return layers.reduceRight((below, top) => over(top, below), {r: 255, g: 255, b: 255, a: 1});
  };
  const light = (c) => {
    const [r, g, b] = [c.r, c.g, c.b].map((v) => v / 255)
      .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const ratios = [];
  for (const e of document.querySelectorAll("body, body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const isField = ["INPUT", "SELECT", "TEXTAREA"].includes(e.tagName) && e.type !== "hidden";
    if (!(own || isField) || !e.checkVisibility({visibilityProperty: true})) continue;
    const style = getComputedStyle(e), back = behind(e);
    const kind = e.classList.length ? "." + e.classList[0] : e.localName;
    const text = (e.value || e.textContent).trim().slice(0, 40);
    const opacity = parseFloat(style.opacity);
    ratios.push([kind, text, ratio(over({...parse(style.color), a: opacity}, back), back)]);
    if (isField && !["checkbox", "radio"].includes(e.type)) {
      const around = behind(e.parentElement);
      ratios.push(["border", text, 1.5 * ratio(parse(style.borderTopColor), around)]);
    }
  }
  return ratios;
}"""

SMALL_TARGETS = """() => [...document.querySelectorAll(
    "button, select, summary, textarea, input:not([type=hidden]), nav a, .actions a, .account a, " +
    ".button")]
  .filter((e) => e.checkVisibility())
  .map((e) => [e.textContent.trim() || e.id, e.getBoundingClientRect()])
  .filter(([, box]) => box.width < 24 || box.height < 24)
  .map(([name, box]) => `${name}: ${box.width} x ${box.height}`)"""

BROKEN_BUTTONS = """() => [...document.querySelectorAll("button, .button")]
  .filter((e) => e.checkVisibility() && e.getBoundingClientRect().height > 48)
  .map((e) => e.textContent)"""

WIDE = """() => [...document.querySelectorAll("body *")]
  .filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((e) => `${e.localName}.${e.className}`).slice(0, 5)"""

# The part of the focused element that the buttons at the bottom of a form cover.
COVERED = """() => {
  const element = document.activeElement, bar = document.querySelector(".save");
  if (!element.closest("#editor") || bar.contains(element)) return "";
  const box = element.getBoundingClientRect(), over = bar.getBoundingClientRect();
  return Math.min(box.bottom, over.bottom) > Math.max(box.top, over.top) ? element.id : "";
}"""

NEEDED = {
    ".hint",
    ".muted",
    ".tag",
    ".quiet",
    ".danger",
    ".button",
    ".wrong",
    ".brand",
    "a",
    "button",
    "p",
    "h1",
    "label",
    "code",
    "dt",
    "time",
    "border",
}


def fill_flags(flags, name, text):
    """The addresses of the pages of a flag whose strategy has everything."""
    tags = [{"type": "simple", "value": text[:50]}, {"type": "simple", "value": "shop"}]
    flags.create_flag(name, description=text, tags=tags)
    segment = flags.create_segment(name, description=text)
    id = flags.add_strategy(
        name,
        title=text[:200],
        parameters={"rollout": "50", "groupId": name},
        constraints=[{"contextName": text[:100], "operator": "IN", "values": [text[:100]] * 3}],
        segments=[segment],
        variants=[{"name": name, "payload": {"type": "string", "value": text}}, {"name": "b"}],
    )
    flags.switch(name)
    flags.create_flag("plain")
    flags.create_flag("old")
    flags.archive("old")
    here = f"/admin/features/{name}"
    strategies = f"{here}/environments/production/strategies"
    return [
        "/admin/features?done=on",
        "/admin/features?query=none",
        "/admin/features/new",
        "/admin/features/old",
        "/admin/features/old/delete",
        here,
        f"{here}/archive",
        f"{strategies}/new",
        f"{strategies}/{id}",
        f"{strategies}/{id}/delete",
        "/admin/segments",
        f"/admin/segments/{segment}",
        f"/admin/segments/{segment}/delete",
        f"/admin/events?feature={name}",
    ]


@pytest.fixture
def fill(make, flags, call):
    """`fill(names, …)` creates two endpoints, one disabled; returns the addresses of all pages."""

    def fill_service(name="deploys", token_name="ci", description="What is shipped", text="words"):
        endpoint = make.endpoint(name, description=description)
        make.endpoint("off", enabled=False)
        token = make.token(endpoint, token_name)
        for n in range(3):
            call(name, token["token"], {"n": n, "text": text, text[:99]: [1, {"x": None}]})
        here = f"/admin/signals/{endpoint['id']}"
        return [
            *fill_flags(flags, name, description),
            "/",
            "/profile",
            "/profile?done=password",
            "/admin/events",
            "/admin/signals?done=on",
            "/admin/signals/new",
            f"{here}/setup",
            f"{here}/setup?done=created",
            f"{here}/tokens",
            f"{here}/refused",
            f"{here}/settings",
            f"{here}/delete",
            f"{here}/tokens/{token['id']}/delete",
            f"{here}/log",
            f"{here}/log?query=words",
            "/admin/signals/999999",
            "/nowhere",
        ]

    return fill_service


def visit(page, addresses):
    """Visits each page, lists unfolded, then the pages that respond to a form."""
    for address in addresses:
        page.goto(address)
        page.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
        yield address
    page.goto("/admin/features/plain/environments/default/strategies/new")
    page.get_by_role("button", name="Add constraint").click()
    page.locator("[id='constraints.0']").wait_for()
    page.evaluate("document.forms[1].noValidate = true")
    page.get_by_role("button", name="Save strategy").click()
    page.get_by_role("alert").wait_for()
    yield "strategy problem"
    page.goto("/admin/signals/new")
    page.get_by_label("Name", exact=True).fill("A B")
    page.get_by_role("button", name="Create signal endpoint").click()
    page.get_by_role("alert").wait_for()
    yield "problem"
    page.get_by_label("Name", exact=True).fill("another")
    page.get_by_label("Token name").fill(f"ci {page.viewport_size['width']}")
    page.get_by_role("button", name="Create signal endpoint").click()
    page.locator("#secret").wait_for()
    yield "token created"
    page.context.clear_cookies()
    page.goto("/sign-in?done=signed-out")
    yield "sign-in"
    page.locator("#username").fill("ada")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").wait_for()
    yield "sign-in problem"


def test_all_text_can_be_read(tab, fill):
    page = tab("ada")
    poor, kinds = set(), set()
    for where in visit(page, fill()):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for kind, text, ratio in page.evaluate(CONTRAST):
                kinds.add(kind)
                if ratio < 4.5:
                    poor.add((where, scheme, kind, text, round(ratio, 2)))
    assert poor == set()
    assert kinds >= NEEDED
    assert page.complaints == []


def test_dark_is_dark_and_light_is_light(tab):
    shades = {}
    for scheme in ("light", "dark"):
        page = tab(color_scheme=scheme)
        page.goto("/sign-in")
        css = page.evaluate("getComputedStyle(document.body).backgroundColor")
        shades[scheme] = sum(int(n) for n in css[4:-1].split(","))
    assert shades["light"] > 600
    assert shades["dark"] < 150


def test_every_page_fits_a_phone_and_every_target_a_thumb(tab, fill):
    page = tab("ada", viewport={"width": 360, "height": 740}, has_touch=True)
    wide, small = {}, {}
    for where in visit(page, fill()):
        if page.evaluate("document.documentElement.scrollWidth") > 360:
            wide[where] = page.evaluate(WIDE)
        if faults := page.evaluate(SMALL_TARGETS) + page.evaluate(BROKEN_BUTTONS):
            small[where] = faults[:4]
    assert (wide, small) == ({}, {})


def test_no_page_is_wider_than_a_phone_with_long_names(tab, fill):
    page = tab("ada", viewport={"width": 360, "height": 740})
    long = {"name": "n" * 100, "token_name": "t" * 100, "description": "d" * 1000}
    wide = {}
    for where in visit(page, fill(**long, text="x" * 5000)):
        if page.evaluate("document.documentElement.scrollWidth") > 360:
            wide[where] = page.evaluate(WIDE)
    assert wide == {}


def test_secret_can_be_read_in_full_on_a_phone(tab, make):
    """It is shown once, so the field is as large as the secret."""
    endpoint = make.endpoint()
    page = tab("ada", viewport={"width": 360, "height": 740})
    page.goto(f"/admin/signals/{endpoint['id']}/tokens")
    page.get_by_label("Token name").fill("ci")
    page.get_by_role("button", name="Create token").click()
    secret = page.locator("#secret")
    secret.wait_for()
    assert secret.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_the_account_is_in_the_window_and_a_phone_has_one_bar(tab):
    page = tab("ada", viewport={"width": 1280, "height": 800})
    page.goto("/admin/types")
    box = page.locator(".account").bounding_box()
    assert box["y"] + box["height"] <= 800
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.locator("body > header").bounding_box()["height"] <= 49
    assert not page.locator(".account").is_visible()
    page.locator("summary", has_text="Menu").click()
    assert page.locator(".account").is_visible()


def test_fields_of_one_row_begin_at_the_same_height(tab):
    page = tab("ada", viewport={"width": 1280, "height": 900})
    page.goto("/admin/alert-rules/new")
    tops = [
        page.get_by_text(text, exact=True).bounding_box()["y"]
        for text in ("Measure", "Per counter")
    ]
    assert tops[0] == tops[1]


def test_labels_are_beside_or_above_their_fields_on_a_phone(tab, make):
    endpoint = make.endpoint()
    page = tab("ada", viewport={"width": 360, "height": 740})
    page.goto(f"/admin/signals/{endpoint['id']}/log")
    for field in ("query", "token"):
        label = page.locator(f"label[for={field}]").bounding_box()
        box = page.locator(f"#{field}").bounding_box()
        is_beside = abs(label["y"] + label["height"] / 2 - box["y"] - box["height"] / 2) < 8
        is_above = abs(label["x"] - box["x"]) < 8 and label["y"] < box["y"]
        assert is_beside or is_above, field


@pytest.mark.parametrize(("width", "height"), [(1280, 700), (640, 350), (320, 640)])
def test_the_focus_is_never_below_the_button_that_saves(tab, flags, width, height):
    flags.create_flag("checkout")
    page = tab("ada", viewport={"width": width, "height": height})
    page.goto("/admin/features/checkout/environments/production/strategies/new")
    for _ in range(2):
        page.get_by_role("button", name="Add variant").click()
        page.locator("#variants fieldset").last.wait_for()
    ids = set()
    for key in ("Tab", "Shift+Tab"):
        page.locator("h1").click()
        for _ in range(40):
            page.keyboard.press(key)
            ids.add(page.evaluate(COVERED))
    assert ids == {""}
