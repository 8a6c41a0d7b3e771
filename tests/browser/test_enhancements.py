"""What static/app.js adds to every page."""

import contextlib
from datetime import UTC, datetime, timedelta

import pytest

from sigservice.clock import format_iso
from sigservice.services import revisions
from tests.conftest import ADMIN, Cast

pytestmark = pytest.mark.browser

# Enter comes before the results.
TYPE_QUICKLY = """() => {
  const input = document.querySelector("#palette input");
  input.value = "depl";
  input.dispatchEvent(new Event("input", {bubbles: true}));
  input.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true}));
}"""


def is_post(request):
    return request.method == "POST"


@pytest.fixture
def page(tab, make):
    make.endpoint("payments")
    page = tab("ada", timezone_id="Asia/Tokyo", locale="en-GB")
    page.goto("/admin/environments")
    return page


@pytest.fixture
def hold_requests():
    """`hold_requests(page, "**/copy")`: the requests that wait until `continue_`."""

    def hold(page, pattern):
        routes = []
        page.route(pattern, lambda route: routes.append(route))
        return routes

    return hold


def test_search_opens_by_keyboard_and_leads_to_a_page(page):
    page.keyboard.press("Control+k")
    page.keyboard.type("paym")
    page.get_by_role("dialog").get_by_role("link", name="payments").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/signals/*/log")
    assert page.complaints == []


def test_enter_opens_a_result_of_the_text_in_the_search_field(page, make):
    make.endpoint("deploys")
    page.keyboard.press("Control+k")
    page.keyboard.type("paym")
    page.get_by_role("dialog").get_by_role("link", name="payments").wait_for()
    page.evaluate(TYPE_QUICKLY)
    page.wait_for_url("**/admin/signals/*/log")
    page.get_by_role("heading", name="deploys").wait_for()
    assert page.complaints == []


def test_slash_goes_to_the_search_field_or_opens_the_search(page):
    page.keyboard.press("/")
    page.get_by_role("dialog", name="Search").wait_for()
    assert page.evaluate("document.activeElement.type") == "search"
    page.goto("/admin/search")
    page.locator("h1").click()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.type("a/b")
    assert page.locator("#q").input_value() == "a/b"


def test_text_is_copied_without_the_clipboard_api(tab, make):
    endpoint = make.endpoint("payments")
    page = tab("ada")
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.goto(f"/admin/signals/{endpoint['id']}/setup")
    page.evaluate("addEventListener('copy', () => { window.copied = String(getSelection()) })")
    page.get_by_role("button", name="Copy").first.click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("window.copied").endswith("/api/signal-endpoint/payments")
    assert page.complaints == []


def test_times_have_the_local_time_as_their_title(page, flags):
    flags.create_flag("checkout")
    page.goto("/admin/features/checkout")
    time = page.locator("time").first
    assert "GMT+9" in time.get_attribute("title")
    assert time.get_attribute("datetime").endswith("Z")


def test_a_second_click_sends_a_form_only_once(tab, service):
    page = tab("ada")
    page.goto("/admin/features/new")
    page.get_by_label("Name").fill("checkout")
    button = page.get_by_role("button", name="Create flag")
    button.scroll_into_view_if_needed()
    place = button.bounding_box()
    posts = []
    page.on("request", lambda request: posts.append(request) if is_post(request) else None)
    with service.context.database.transaction() as conn:
        revisions.lock(conn)  # the response to the first click has to wait
        with page.expect_request(is_post):
            page.mouse.click(place["x"] + 5, place["y"] + 5)
        page.mouse.click(place["x"] + 5, place["y"] + 5)
    page.get_by_text("Flag created.").wait_for()
    assert len(posts) == 1
    assert page.complaints == []


def test_a_second_click_copies_a_strategy_only_once(tab, flags, hold_requests):
    flags.create_flag("checkout")
    flags.add_strategy("checkout", "development")
    page = tab("ada")
    page.goto("/admin/features/checkout?env=development")
    page.locator("#in-development .menu summary").click()
    posts = hold_requests(page, "**/copy")
    with page.expect_request("**/copy"):
        page.get_by_role("button", name="Copy to default").dblclick()
    page.evaluate("fetch('/admin/search')")  # sent after both clicks
    assert len(posts) == 1
    posts[0].continue_()
    page.get_by_text("Strategy copied.").wait_for()
    assert len(flags.list_strategies("checkout", "default")) == 1
    assert page.complaints == []


def test_times_to_come_stay_up_to_date(tab, web):
    expires_at = format_iso(datetime.now(UTC) + timedelta(hours=5, minutes=30))
    body = {"tokenName": "shop", "type": "admin", "expiresAt": expires_at}
    web.post_json("/api/admin/api-tokens", body, headers=ADMIN)
    page = tab("ada")
    page.clock.install()
    page.goto("/admin/api-tokens")
    page.locator("time", has_text="in 5 h").wait_for()
    page.clock.fast_forward("02:00:00")
    page.locator("time", has_text="in 3 h").wait_for(timeout=5000)
    page.clock.fast_forward("05:00:00")
    page.locator("time", has_text="1 h ago").wait_for(timeout=5000)


def test_switch_changes_in_place_asks_in_production_and_is_undone(tab, flags):
    for number in range(60):
        flags.create_flag(f"flag-{number:02}")
    page = tab("ada", viewport={"width": 1280, "height": 500})
    page.goto("/admin/features")
    page.evaluate("window.neverReloaded = true")
    switch = page.get_by_role("switch", name="flag-20 in production")
    switch.scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    switch.click()
    page.get_by_role("dialog").get_by_role("link", name="Cancel").click()
    assert not flags.is_on("flag-20")
    switch.click()
    dialog = page.get_by_role("dialog", name="Turn on flag-20 in production?")
    dialog.wait_for()
    assert dialog.get_by_role("link", name="At a time …").is_visible()
    dialog.get_by_label("Why?").fill("SHOP-7")
    dialog.get_by_role("button", name="Turn on in production").click()
    toast = page.locator("#toast")
    toast.get_by_text("Enabled flag-20 in production.").wait_for()
    assert switch.get_attribute("aria-checked") == "true"
    assert flags.get_events("flag-20")[0]["data"]["reason"] == "SHOP-7"
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == (
        "flag-20 in production"
    )
    assert page.evaluate("scrollY") == place
    toast.get_by_role("button", name="Undo").click()
    toast.get_by_text("Disabled flag-20 in production.").wait_for()
    assert not flags.is_on("flag-20")
    assert page.evaluate("window.neverReloaded")
    assert page.complaints == []


def open_strategy_with_variants(tab, flags):
    """The form of a new strategy with the variants a and b."""
    flags.create_flag("checkout")
    page = tab("ada")
    page.goto("/admin/features/checkout/environments/production/strategies/new")
    for number, name in enumerate(("a", "b")):
        page.get_by_role("button", name="Add variant").click()
        page.locator(f"[id='variants.{number}.name']").fill(name)
    return page


def test_the_focus_stays_where_tab_has_moved_it(tab, flags):
    page = open_strategy_with_variants(tab, flags)
    page.locator("[id='variants.1.weightType']").select_option("fix")
    page.locator("[id='variants.1.weight']").fill("20")
    page.keyboard.press("Tab")
    page.get_by_text("a 80%, b 20%").wait_for()
    assert page.evaluate("document.activeElement.id") == "variants.1.payload.type"
    assert page.complaints == []


def test_an_answer_that_arrives_after_the_next_one_changes_nothing(tab, flags, hold_requests):
    page = open_strategy_with_variants(tab, flags)
    posts = hold_requests(page, "**/new")
    with page.expect_request("**/new"):
        page.locator("[id='variants.1.weightType']").select_option("fix")
    with page.expect_request("**/new"):
        page.locator("[id='variants.1.weight']").fill("20")
        page.keyboard.press("Tab")
    page.locator("form[aria-busy]").wait_for()
    posts[1].continue_()
    page.get_by_text("a 80%, b 20%").wait_for()
    with page.expect_response("**/new") as older:
        posts[0].continue_()
    older.value.finished()
    page.evaluate("new Promise(requestAnimationFrame)")
    assert page.get_by_text("a 80%, b 20%").count() == 1
    assert page.complaints == []


def test_what_is_typed_while_a_form_is_answered_stays(tab, flags, hold_requests):
    flags.create_flag("checkout")
    page = tab("ada")
    page.goto("/admin/features/checkout/environments/production/strategies/new")
    title, rollout = page.get_by_label("Title"), page.get_by_label("Rollout percentage")
    title.fill("ted")
    for label, expected in (("Add constraint", "slotted"), ("Remove constraint 1", "slotslotted")):
        posts = hold_requests(page, "**/new")
        with page.expect_request("**/new"):
            page.get_by_role("button", name=label).click()
        rollout.fill("7")
        title.focus()
        page.keyboard.press("Home")
        page.keyboard.type("slo")
        posts[0].continue_()
        page.locator("#constraints > fieldset").wait_for(
            state="attached" if label == "Add constraint" else "detached"
        )
        page.keyboard.type("t")
        assert title.input_value() == expected
        assert rollout.input_value() == "7"
        assert page.locator("[data-slider='parameters.rollout']").input_value() == "7"
    assert page.complaints == []


def test_what_is_typed_into_a_row_comes_into_no_other(tab, flags, hold_requests):
    flags.create_flag("checkout")
    page = tab("ada")
    page.goto("/admin/features/checkout/environments/production/strategies/new")
    for number in range(3):
        page.get_by_role("button", name="Add constraint").click()
        page.locator(f"[id='constraints.{number}.contextName']").wait_for()
    posts = hold_requests(page, "**/new")
    with page.expect_request("**/new"):
        page.get_by_role("button", name="Remove constraint 1").click()
    page.locator("[id='constraints.1.contextName']").fill("country")
    posts[0].continue_()
    page.locator("[id='constraints.2.contextName']").wait_for(state="detached")
    assert page.locator("[id='constraints.1.contextName']").input_value() == ""
    assert page.complaints == []


def test_selected_flags_stay_selected_when_one_is_switched(tab, flags):
    for name in ("alpha", "beta", "gamma"):
        flags.create_flag(name)
    page = tab("ada")
    page.goto("/admin/features")
    for name in ("alpha", "beta"):
        page.get_by_label(f"Select {name}").check()
    page.get_by_role("switch", name="beta in development").click()
    page.locator("#toast", has_text="Enabled beta in development.").wait_for()
    boxes = [page.get_by_label(f"Select {name}") for name in ("alpha", "beta", "gamma")]
    assert [box.is_checked() for box in boxes] == [True, True, False]
    assert page.complaints == []


def test_the_errors_of_a_form_have_the_focus(tab, flags):
    flags.create_flag("checkout")
    page = tab("ada")
    page.goto("/admin/features/checkout")
    page.locator("#details > summary").press("Enter")
    page.get_by_label("New tag").fill("shop")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#tag"
    assert page.complaints == []


def test_a_switch_after_the_session_has_ended_leads_back_to_the_list(tab, flags, database):
    flags.create_flag("checkout")
    page = tab("ada")
    page.goto("/admin/features?query=check")
    with contextlib.closing(database.connect()) as conn, conn, conn.cursor() as cursor:
        cursor.execute("DELETE FROM sessions")
    page.get_by_role("switch", name="checkout in development").click()
    page.get_by_label("Username or email").fill("ada")
    page.get_by_label("Password").fill(Cast.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("switch", name="checkout in development").wait_for()
    assert page.url.endswith("/admin/features?query=check")
    assert not flags.is_on("checkout", "development")


@pytest.mark.parametrize("names", [["alpha"], ["alpha", "beta"]], ids=["last flag", "one of two"])
def test_revive_brings_archived_flags_back_into_the_list(tab, flags, names):
    for name in names:
        flags.create_flag(name)
    page = tab("ada")
    page.goto("/admin/features")
    page.get_by_label("Select alpha").check()
    page.get_by_role("button", name="Archive …").click()
    page.get_by_role("button", name="Archive", exact=True).click()
    page.get_by_role("button", name="Revive").click()
    page.get_by_text("1 flag revived; disabled in every environment.").wait_for()
    page.locator("#flag-table").get_by_role("link", name="alpha", exact=True).wait_for()
    assert page.get_by_text("1 flag archived.").count() == 0
    assert page.complaints == []


@pytest.mark.parametrize(
    ("body", "message"),
    [("<main id=main><p>Busy.</p></main>", "Busy."), ("Bad gateway", "can't be reached")],
    ids=["service", "proxy"],
)
def test_a_form_stays_when_the_service_fails_meanwhile(tab, flags, body, message):
    flags.create_flag("checkout")
    page = tab("ada")
    page.goto("/admin/features/checkout/environments/production/strategies/new")
    page.get_by_label("Title").fill("typed")
    page.route("**/new", lambda route: route.fulfill(status=503, body=body))
    page.get_by_role("button", name="Add constraint").click()
    page.locator("#toast", has_text=message).wait_for()
    assert page.get_by_label("Title").input_value() == "typed"
    page.unroute("**/new")
    page.get_by_role("button", name="Add constraint").click()
    page.get_by_label("Context field").wait_for()
    assert page.get_by_label("Title").input_value() == "typed"


def test_strategy_with_a_constraint_and_variants_takes_one_page_load(tab, flags):
    flags.create_flag("checkout")
    page = tab("ada")
    page.goto("/admin/features/checkout/environments/production/strategies/new")
    page.evaluate("window.neverReloaded = true")
    page.get_by_label("Rollout percentage").fill("25")
    page.get_by_role("button", name="Add constraint").click()
    field = page.get_by_label("Context field").first
    field.wait_for()
    assert page.evaluate("document.activeElement.id") == "constraints.0.contextName"
    field.fill("country")
    page.locator("[id='constraints.0.values']").fill("DE")
    for number, name in enumerate(("a", "b")):
        page.get_by_role("button", name="Add variant").click()
        page.locator(f"[id='variants.{number}.name']").fill(name)
    page.get_by_label("Strategy type").select_option("default")
    page.get_by_label("Rollout percentage").wait_for(state="detached")
    page.get_by_label("Strategy type").select_option("flexibleRollout")
    page.get_by_label("Rollout percentage").wait_for()
    page.get_by_label("Rollout percentage").fill("25")
    assert page.evaluate("window.neverReloaded")
    page.get_by_role("button", name="Save strategy").last.click()
    page.get_by_text("Strategy saved.").wait_for()
    (strategy,) = flags.list_strategies("checkout")
    assert strategy["parameters"]["rollout"] == "25"
    assert [constraint["values"] for constraint in strategy["constraints"]] == [["DE"]]
    assert [variant["name"] for variant in strategy["variants"]] == ["a", "b"]
    assert page.complaints == []
