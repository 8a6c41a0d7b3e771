"""The list of flags: rows, filters, pages, switches."""

from __future__ import annotations

from tests.conftest import ADMIN
from tests.jobs.release_kit import Releases
from tests.pages.accessibility import RULES
from tests.pages.page_reader import form_to, notice

LIST = "/admin/features"
SEE = "INSERT INTO feature_last_seen VALUES (%s, 'production', %s)"


def names(page):
    return [row.th.a.string for row in page.html.select("#flag-table tbody tr")]


def switch(page, label):
    return page.html.find("button", role="switch", attrs={"aria-label": label})


def press(person, page, label):
    """A switch of the list as the browser sends it: the form goes where the button says."""
    button = switch(page, label)
    form = button.find_parent("form")
    fields = {tag["name"]: tag["value"] for tag in form.find_all("input", type="hidden")}
    path = button.get("formaction") or form["action"]
    return person.post(path, fields | {"confirmed": "on"}, status=303).follow()


def test_empty_list_says_what_a_flag_is(ada, vera):
    empty = ada.get(LIST).html.find("section", class_="empty")
    assert "A flag is a name that your application asks about while it runs." in empty.get_text()
    assert empty.find("a", href="/admin/features/new")
    assert not vera.get(LIST).html.find("a", href="/admin/features/new")


def test_row_shows_states_and_the_chosen_columns(vera, flags, rows):
    tags = [{"type": "simple", "value": "it"}, {"type": "simple", "value": "ml"}]
    flags.create_flag(type="experiment", tags=tags)
    flags.switch()
    rows("UPDATE features SET created_at = '2026-01-01Z', stale = true")
    rows(SEE, "checkout", "2026-01-02 03:04:05Z")
    page = vera.get(f"{LIST}?cols=type,owner,stale,none")
    row = page.html.find(id="flag-checkout")
    cells = [cell.get_text(" ", strip=True) for cell in row.find_all(["th", "td"])]
    heads = [head.get_text(strip=True) for head in page.html.select("#flag-table thead th")]
    texts = dict(zip(heads, cells, strict=True))
    assert (row.th.a["href"], row.th.a["title"]) == ("/admin/features/checkout", "checkout")
    assert row.time["datetime"] == "2026-01-02T03:04:05.000Z"
    assert heads[1] == "production"
    assert texts["production"] == "● 100% · 2 more"
    assert (texts["development"], texts["default"]) == ("○ off", "○ off")
    assert (texts["Project"], texts["Tags"]) == ("Default", "simple:it +1")
    assert (texts["Type"], texts["Owner"], texts["Stale"]) == (
        "experiment",
        "API token admin",
        "stale",
    )
    assert not page.html.find(role="switch")
    assert "1 flag" in page.text


def test_cell_says_who_gets_the_flag(vera, flags):
    for name, strategy in (
        ("part", {"parameters": {"rollout": "25"}}),
        ("listed", {"name": "userWithId", "parameters": {"userIds": "ada"}}),
        ("nobody", {"parameters": {"rollout": "0"}}),
    ):
        flags.create_flag(name)
        flags.add_strategy(name, **strategy)
        flags.switch(name)
    page = vera.get(LIST)
    cells = {
        name: page.html.find(id=f"flag-{name}").find(attrs={"data-in": "production"}).span
        for name in ("part", "listed", "nobody")
    }
    assert {name: cell.string for name, cell in cells.items()} == {
        "part": "● 25%",
        "listed": "● some",
        "nobody": "● 0%",
    }
    assert cells["listed"]["title"] == "userId IN [ada]"
    assert cells["nobody"]["class"] == ["tag", "waits"]


def test_release_on_a_flag_is_in_its_cell(vera, service, clock, flags):
    kit = Releases(service, clock)  # of the flag checkout
    kit.create()
    page = vera.get(f"{LIST}?state=releasing")
    assert page.html.select_one("[data-in=production] .tag").string == "▶ 1%"
    flags.switch("checkout", "production", "off")
    page = vera.get(f"{LIST}?state=releasing")
    assert page.html.select_one("[data-in=production] .tag").string == "▲ off"


def test_filters_narrow_the_list(ada, web, flags):
    flags.create_flag("alpha", type="experiment", tags=[{"type": "simple", "value": "shop"}])
    flags.create_flag("beta", description="like Alpha")
    flags.create_flag("gone")
    flags.archive("gone")
    path = "/api/admin/projects/default/features/beta"
    web.put_json(path, {"stale": True}, headers=ADMIN)
    ada.post(f"{LIST}/alpha/favorite", {"csrf": ada.csrf}, status=303)
    for query, expected in (
        ("", ["alpha", "beta"]),
        ("query=ALPHA", ["alpha", "beta"]),
        ("query=%20alpha%20&type=release", ["beta"]),
        ("query=alpha%20like", ["beta"]),
        ("query=HOP%20alp", ["alpha"]),
        ("query=admin", ["alpha", "beta"]),
        ("query=alpha%20none", []),
        ("tag=simple:shop", ["alpha"]),
        ("tag=simple", []),
        ("type=experiment", ["alpha"]),
        ("type=none", []),
        ("project=default", ["alpha", "beta"]),
        ("project=none", []),
        ("state=remove", ["beta"]),
        ("state=favorites", ["alpha"]),
        ("state=favorites&project=none", []),
        ("state=alert", []),
        ("state=none", []),
        ("life=archived", ["gone"]),
        ("offset=2", ["alpha", "beta"]),
    ):
        page = ada.get(f"{LIST}?{query}")
        assert names(page) == expected, query
        if not expected:
            assert "No flag matches." in page.text
    form = page.html.find("form", role="search")
    assert form.find("input", type="search")["name"] == "query"
    for query in ("offset=x", "offset=-1", "query=%FF", "query=%00"):
        ada.get(f"{LIST}?{query}", status=400)


def test_filters_are_links_with_counts_and_active_ones_can_be_removed(ada, web, flags):
    flags.create_flag("alpha", tags=[{"type": "simple", "value": "shop"}])
    flags.create_flag("beta")
    web.put_json("/api/admin/projects/default/features/beta", {"stale": True}, headers=ADMIN)

    def list_links(query):
        links = [
            link for box in ada.get(f"{LIST}?{query}").html.select(".filters") for link in box("a")
        ]
        return {" ".join(link.get_text().split()): link["href"] for link in links}

    links = list_links("type=release")
    assert links["Ready to be removed 1"] == "?type=release&state=remove"
    assert links["simple:shop"] == "?type=release&tag=simple%3Ashop"
    assert links["Type Release ✕: remove this filter"] == "?"
    assert links["Clear"] == "?"
    assert "Releasing 0" not in links
    links = list_links("type=release&state=remove&query=b")
    assert links["Ready to be removed ✕: remove this filter"] == "?query=b&type=release"


ADD_FLAGS = """
    INSERT INTO features (name, project, type, created_by)
    SELECT 'f' || n, 'default', 'release', 'x' FROM generate_series(100, %s) AS n
"""


def test_page_past_the_last_one_shows_the_last_one(ada, rows):
    rows(ADD_FLAGS, 219)
    for offset in (120, 150, 10**9):
        page = ada.get(f"{LIST}?type=release&offset={offset}")
        assert names(page) == [f"f{n}" for n in range(200, 220)]
        assert "101–120 of 120" in page.text
        before = page.goto(page.html.find("a", rel="prev")["href"])
        assert names(before) == [f"f{n}" for n in range(150, 200)]
    page = ada.get(f"{LIST}?query=none&offset=50")
    assert "No flag matches." in page.text
    assert not page.html.find("a", rel="prev")


def test_list_without_flags_past_the_first_page_says_what_a_flag_is(ada):
    assert ada.get(f"{LIST}?offset=50").html.find("section", class_="empty")


def test_archiving_all_flags_of_the_last_page_shows_the_page_before(ada, rows):
    rows(ADD_FLAGS, 151)
    fields = {"csrf": ada.csrf, "change": "archive", "back": "type=release&offset=50"}
    question = ada.post(LIST, fields | {"flag.f150": "on", "flag.f151": "on"})
    page = question.forms[1].submit(status=303).follow()
    assert notice(page) == "2 flags archived."
    assert names(page) == [f"f{n}" for n in range(100, 150)]


def test_page_has_fifty_flags_and_links_to_the_others(ada, rows):
    rows(ADD_FLAGS, 219)
    page = ada.get(f"{LIST}?type=release")
    assert (len(names(page)), names(page)[0]) == (50, "f100")
    assert "1–50 of 120" in page.text
    assert len(page.text) < 90_000
    pages = [page]
    while link := pages[-1].html.find("a", rel="next"):
        pages.append(pages[-1].goto(link["href"]))
    assert [names(page)[0] for page in pages] == ["f100", "f150", "f200"]
    assert not pages[0].html.find("a", rel="prev")
    for rule in RULES:
        assert list(RULES[rule](pages[1].html)) == []
    back = pages[2].goto(pages[2].html.find("a", rel="prev")["href"])
    assert names(back) == names(pages[1])
    pressed = press(ada, back, "f160 in production")
    assert names(pressed) == names(back)
    assert switch(pressed, "f160 in production").string == "● 100%"


def test_switch_redirects_to_the_same_list(ed, flags):
    flags.create_flag()
    flags.create_flag("other")
    page = ed.get(f"{LIST}?query=check&type=release&done=deleted")
    for text, aria, verb in (("● 100%", "true", "Enabled"), ("○ off", "false", "Disabled")):
        page = press(ed, page, "checkout in production")
        assert names(page) == ["checkout"]
        assert notice(page) == f"{verb} checkout in production."
        button = switch(page, "checkout in production")
        assert (button.string, button["aria-checked"]) == (text, aria)
        assert flags.is_on() is (aria == "true")
        assert page.request.query_string.startswith("query=check&type=release&done=")
    (strategy,) = flags.list_strategies()
    assert strategy["parameters"]["rollout"] == "100"


def test_switch_redirects_to_the_list_whatever_the_form_says(ada, flags):
    flags.create_flag()
    path = f"{LIST}/checkout/environments/production/on"
    for back in ("https://evil.example/", "//evil.example", "a=1&done=%3Cb%3E", "\r\nX: y", "é"):
        answer = ada.post(path, {"csrf": ada.csrf, "back": back, "confirmed": "on"}, status=303)
        assert answer.headers["Location"].startswith("/admin/features?")
        assert "X" not in answer.headers
        assert notice(answer.follow()) == "Enabled checkout in production."


def test_notice_of_a_switch_shows_names_only(ada):
    for flag in ("a b", "<b>", ""):
        page = ada.get(LIST, {"done": "on", "flag": flag, "in": "production"})
        assert notice(page) == "Flag enabled."


def test_archived_or_unknown_flag_can_not_be_switched(ada, flags):
    flags.create_flag()
    flags.archive("checkout")
    for place, status in (
        ("checkout/environments/production", 400),
        ("checkout/environments/none", 404),
        ("none/environments/production", 404),
    ):
        fields = {"csrf": ada.csrf, "confirmed": "on"}
        ada.post(f"{LIST}/{place}/on", fields, status=status)


def test_columns_sort_the_list(ada, flags, rows):
    for name in ("b", "a", "c"):
        flags.create_flag(name)
    rows(SEE, "b", "2100-01-02Z")
    rows("UPDATE features SET created_at = created_at - interval '1 day' WHERE name = 'c'")
    flags.switch("c", "production")
    for query, expected in (
        ("sort=name&order=desc", "cba"),
        ("sort=createdAt", "cba"),
        ("sort=createdAt&order=desc", "abc"),
        ("sort=lastSeenAt&order=desc", "bac"),
        ("sort=state:production&order=desc", "cab"),
        ("sort=state:none", "abc"),
    ):
        page = ada.get(f"{LIST}?{query}")
        assert "".join(names(page)) == expected, query
    (head,) = page.html.select("thead th[aria-sort]") or ada.get(
        f"{LIST}?sort=createdAt&cols=created"
    ).html.select("thead th[aria-sort]")
    assert (head["aria-sort"], head.a.string) == ("ascending", "Created")
    ada.get(f"{LIST}?sort=secret", status=400)


def test_a_search_keeps_the_order_and_the_other_filters(ada, flags):
    flags.create_flag("checkout")
    form = ada.get(f"{LIST}?sort=name&order=desc&query=check&type=release").forms[1]
    assert (form["sort"].value, form["order"].value) == ("name", "desc")
    assert (form["query"].value, form["type"].value) == ("check", "release")
    assert "sort" not in ada.get(LIST).forms[1].fields


def test_favorites_come_first(ada, flags):
    for name in ("a", "b"):
        flags.create_flag(name)
    ada.post(f"{LIST}/b/favorite", {"csrf": ada.csrf}, status=303)
    assert names(ada.get(LIST)) == ["b", "a"]
    assert names(ada.get(f"{LIST}?sort=name&order=desc")) == ["b", "a"]


def test_lists_and_pages_have_the_order_of_the_page_environments(ada, web, flags):
    flags.create_flag()
    for name, type in (("staging", "preproduction"), ("qa", "test")):
        body = {"name": name, "type": type}
        web.post_json("/api/admin/environments", body, headers=ADMIN, status=201)
        path = "/api/admin/projects/default/environments"
        web.post_json(path, {"environment": name}, headers=ADMIN, status=200)

    def columns():
        heads = ada.get(LIST).html.select("#flag-table thead th")
        return [head.a.string for head in heads[1 : 1 + len(names)]]

    def list_texts(page, selector):
        return [node.get_text(" ").split()[0] for node in page.html.select(selector)]

    names = ["production", "staging", "qa", "development", "default"]
    assert columns() == names
    assert list_texts(ada.get("/admin/environments"), "#environments tbody th") == names
    flags.switch("checkout", "default")
    assert columns() == names
    assert list_texts(ada.get(f"{LIST}/checkout"), ".strip a") == names
    assert list_texts(ada.get("/admin/playground"), "#environment option") == names
    ada.post("/admin/environments/default/move", {"csrf": ada.csrf, "to": "up"}, status=303)
    assert columns() == ["production", "staging", "qa", "default", "development"]


def test_switch_in_production_is_asked_for(ada, flags):
    flags.create_flag()
    path = f"{LIST}/checkout/environments/production/on"
    page = ada.post(path, {"csrf": ada.csrf, "back": "type=release"}, status=200)
    assert page.html.h1.string == "Turn on checkout in production?"
    assert not flags.is_on()
    done = page.forms[1].submit(status=303).follow()
    assert notice(done).startswith("Enabled checkout in production.")
    assert flags.is_on()


def test_project_can_switch_without_a_question(ada, flags):
    flags.create_flag()
    form = ada.get("/admin/projects/default/edit").forms[1]
    form["confirmsProduction"] = False
    form.submit(status=303)
    path = f"{LIST}/checkout/environments/production/on"
    ada.post(path, {"csrf": ada.csrf}, status=303)
    assert flags.is_on()


def test_undo_takes_a_switch_back_and_is_offered_once(ada, flags):
    flags.create_flag()
    page = press(ada, ada.get(LIST), "checkout in production")
    (undo,) = page.html.select("#notice form")
    assert undo["data-swap"] == "flag-table"
    fields = {tag["name"]: tag["value"] for tag in undo.find_all("input")}
    page = ada.post(undo["action"], fields, status=303).follow()
    assert notice(page) == "Disabled checkout in production."
    assert not flags.is_on()
    assert not page.html.select("#notice form")


def test_selected_flags_are_changed_together(ada, web, flags):
    for name in ("a", "b", "c"):
        flags.create_flag(name)
    fields = {"csrf": ada.csrf, "flag.a": "on", "flag.b": "on", "back": "type=release"}

    def change(what, **more):
        return ada.post(LIST, fields | {"change": what} | more)

    assert notice(change("tag", tag="simple:shop").follow()) == "2 flags tagged."
    assert names(ada.get(f"{LIST}?tag=simple:shop")) == ["a", "b"]
    assert notice(change("on:development").follow()) == "2 flags turned on."
    assert flags.is_on("b", "development")
    question = change("on:production")
    assert question.html.h1.string == "Turn on 2 flags in production?"
    assert not flags.is_on("a")
    done = question.forms[1].submit(status=303)
    assert done.headers["Location"].endswith("?type=release&done=bulk&done.change=on&done.count=2")
    assert flags.is_on("a")
    question = change("archive")
    assert question.html.h1.string == "Archive 2 flags?"
    question.forms[1].submit(status=303)
    assert names(ada.get(LIST)) == ["c"]


def test_archiving_says_when_flags_were_evaluated_and_offers_to_revive_them(
    ada, flags, rows, clock
):
    for name in ("a", "b", "c"):
        flags.create_flag(name)
    rows(SEE, "a", "now")
    fields = {"csrf": ada.csrf, "flag.a": "on", "flag.b": "on", "change": "archive"}
    question = ada.post(LIST, fields)
    text = question.html.main.get_text()
    assert "Applications still use 1 of these" in text
    assert "b: never evaluated" in text
    assert question.html.find("button", class_="danger").string == "Archive"
    page = question.forms[1].submit(status=303).follow()
    assert notice(page) == "2 flags archived."
    assert names(page) == ["c"]
    assert page.html.find(id="notice").button.string == "Revive"  # not the state before: no undo
    (undo,) = [form for form in page.forms.values() if "flag.a" in form.fields]
    page = undo.submit(status=303).follow()
    assert notice(page) == "2 flags revived; disabled in every environment."
    assert names(page) == ["a", "b", "c"]


def test_archived_flags_are_revived_together(ada, flags):
    for name in ("a", "b"):
        flags.create_flag(name)
        flags.archive(name)
    page = ada.get(f"{LIST}?life=archived")
    assert page.html.title.string.startswith("Archived flags")
    form = form_to(page, LIST)
    form["flag.a"], form["flag.b"] = "on", "on"
    page = form.submit("change", value="revive", status=303).follow()
    assert notice(page) == "2 flags revived; disabled in every environment."
    assert names(ada.get(LIST)) == ["a", "b"]


def test_flags_that_are_ready_to_be_removed_are_marked_permanent(ada, vera, flags, rows):
    for name in ("a", "b", "c"):
        flags.create_flag(name)
    rows("UPDATE features SET stale = true")
    page = ada.get(f"{LIST}?state=remove")
    assert page.html.find(id="task-a").get_text().startswith("Remove the flag a. Keep: off. ")
    assert not vera.get(f"{LIST}?state=remove").html.find("button", formaction=True)
    fields = {"csrf": ada.csrf, "back": "state=remove"}
    page = ada.post(f"{LIST}/a/permanent", fields, status=303).follow()
    assert (notice(page), names(page)) == ("1 flag marked permanent.", ["b", "c"])
    fields |= {"flag.b": "on", "flag.c": "on", "change": "permanent"}
    page = ada.post(LIST, fields, status=303).follow()
    assert (notice(page), names(page)) == ("2 flags marked permanent.", [])


def test_change_of_selected_flags_is_whole_or_an_error(ada, web, flags):
    for name in ("a", "b"):
        flags.create_flag(name)
    fields = {"csrf": ada.csrf, "flag.a": "on", "flag.b": "on"}
    for change, status in (
        ({"change": "fly"}, 400),
        ({"change": "tag", "tag": "shop"}, 400),
        ({"change": "tag", "tag": "none:shop"}, 400),
        ({"change": "on:none"}, 404),
        ({"change": "archive", "flag.none": "on"}, 404),
    ):
        ada.post(LIST, fields | change, status=status)
    ada.post(LIST, {"csrf": ada.csrf, "change": "archive"}, status=400)
    many = {f"flag.{n}": "on" for n in range(51)}
    ada.post(LIST, {"csrf": ada.csrf, "change": "archive"} | many, status=400)
    flags.set_parent("a", "b")
    fields = {"csrf": ada.csrf, "flag.b": "on", "change": "archive", "confirmed": "on"}
    ada.post(LIST, fields, status=403)
    assert names(ada.get(LIST)) == ["a", "b"]


def test_selected_flags_stay_selected_after_an_error(ada, flags):
    for name in ("a", "b", "other"):
        flags.create_flag(name)
    fields = {"csrf": ada.csrf, "flag.a": "on", "back": "query=&sort=name&order=desc"}
    for change, tag, field, message in (
        ("tag", "shop", "bulk-tag", '"shop" must be in the form type:value.'),
        ("tag", "none:shop", "bulk-tag", "none"),
    ):
        page = ada.post(LIST, fields | {"change": change, "tag": tag}, status=400)
        assert page.html.find(role="alert").a["href"] == f"#{field}"
        assert message in page.html.find(id=f"{field}-problem").string
        assert not page.html.find(id="tag-problem")
        form = form_to(page, LIST)
        assert names(page) == ["other", "b", "a"]
        assert [form[f"flag.{name}"].checked for name in "ab"] == [True, False]
        assert form["tag"].value == tag
        assert form["back"].value == "sort=name&order=desc"
        assert "open" in page.html.find(class_="bulk")["class"]
    page = ada.post(LIST, {"csrf": ada.csrf, "change": "tag", "tag": "simple:it"}, status=400)
    assert "Select 1 to 50 flags." in page.html.find(role="alert").get_text()
    assert page.html.find(id="bulk-tag")["value"] == "simple:it"
