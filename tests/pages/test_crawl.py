"""Every page that links lead to, and every page with problems, keeps the rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import webtest
from bs4 import BeautifulSoup

import sigservice
from sigservice.application.service import Service
from sigservice.testing import FakeClock, QuickPasswords, TemporaryDatabase
from tests.conftest import ADMIN, ADMIN_TOKEN, Cast, Make
from tests.pages.accessibility import RULES
from tests.pages.actions import Actions
from tests.pages.flags import Flags
from tests.pages.page_reader import crawl, sign_in
from tests.repository import kit

CLIENT_TOKEN = "*:default.client"
Pages = dict[str, BeautifulSoup]
FIELDS = ("appName", "currentTime", "environment", "plan", "sessionId", "userId")
WRONG_STRATEGY = {
    "name": "flexibleRollout",
    "shown_type": "flexibleRollout",
    "parameters.rollout": "101",
    "title": "t" * 201,
    "constraints.0.contextName": "",
    "constraints.0.operator": "IN",
    "constraints.0.values": "",
    "constraints.1.contextName": "age",
    "constraints.1.operator": "NUM_GT",
    "constraints.1.values": "x",
    "variants.0.name": "a",
    "variants.0.weightType": "fix",
    "variants.0.weight": "x",
    "variants.0.payload.type": "json",
    "variants.0.payload.value": "{",
}
ACTIONS = "/admin/projects/default/actions"
PROJECT_PAGES = ("overview", "export", "import")
ACTION_OPTIONS = {
    "maxRunsPerHour": 9,
    "continueOnFailure": True,
    "restoreWhenResolved": {"path": "type", "values": ["over"], "key": "n"},
}
WRONG_ACTION_SET = {
    "back": "on",
    "filters.0.path": "a..b",
    "filters.0.group": "A",
    "filters.1.operator": "NUM_GT",
    "filters.1.values": "x",
    "actions.0.action": "SET_FEATURE_ROLLOUT",
    "actions.0.shown": "SET_FEATURE_ROLLOUT",
    "actions.1.action": "TOGGLE_FEATURE_ON",
    "actions.1.shown": "TOGGLE_FEATURE_ON",
    "actions.0.executionParams.rollout": "x",
    "actions.0.executionParams.environment": "",
    "actions.0.executionParams.featureName": "",
    "actions.1.executionParams.environment": "production",
    "actions.1.executionParams.featureName": "none",
    "options.cooldownSeconds": "x",
    "options.maxRunsPerHour": "0",
    "options.restoreAfterMinutes": "x",
    "options.restoreWhenResolved.path": "..",
    "options.restoreWhenResolved.values": "",
    "options.restoreWhenResolved.key": "",
}


def fill(service: Service, web: webtest.TestApp, clock: FakeClock) -> int:
    """Creates two endpoints with tokens of the same names, signals and a deleted token."""
    make, ids = Make(web), []
    for name in ("deploys", "alerts"):
        endpoint = make.endpoint(name, description=f"What {name} there are")
        ids.append(endpoint["id"])
        tokens = [make.token(endpoint, name) for name in ("ci", "backup", "gone")]
        for n in range(24 if name == "deploys" else 2):
            clock.advance(1)
            headers = {"Authorization": tokens[n % 3]["token"]}
            body = {"type": name, "data": {"n": n, "text": "x" * (25_000 if n == 23 else 9)}}
            web.post_json(f"/api/signal-endpoint/{name}", body, headers=headers)
        gone = f"/api/admin/signal-endpoints/{endpoint['id']}/tokens/{tokens[2]['id']}"
        web.delete(gone, headers=ADMIN)
    make.endpoint("empty")
    robot = {"username": "robot", "name": "Robot"}
    robot = web.post_json("/api/admin/service-account", robot, headers=ADMIN).json
    body = {"description": "ci", "expiresAt": "2999-01-01"}
    web.post_json(f"/api/admin/service-account/{robot['id']}/token", body, headers=ADMIN)
    body = {"tokenName": "shop", "type": "client", "projects": ["default"]}
    web.post_json("/api/admin/api-tokens", body | {"expiresAt": "2001-01-01"}, headers=ADMIN)
    for path, body in (
        ("projects", {"name": "Shop", "description": "What sells", "environments": []}),
        ("environments", {"name": "staging", "type": "test", "enabled": False}),
        ("tag-types", {"name": "owner", "description": "Who owns it"}),
        ("strategies", {"name": "byRegion", "parameters": [{"name": "region", "type": "list"}]}),
        ("context", {"name": "plan", "legalValues": [{"value": "free"}], "stickiness": True}),
    ):
        web.post_json(f"/api/admin/{path}", body, headers=ADMIN)
    web.post(f"/api/admin/signal-endpoints/{ids[1]}/off", headers=ADMIN)
    report = {"appName": "shop", "instanceId": "a", "sdkVersion": "py:1", "started": 0}
    report |= {"interval": 0, "strategies": ["default", "mine"]}
    for n in range(60):
        body = report | {"appName": f"shop {n}" if n else "shop"}
        web.post_json("/api/client/register", body, headers={"Authorization": CLIENT_TOKEN})
    body = {"provider": "webhook", "enabled": True, "events": ["*"], "description": "Announce"}
    body |= {"parameters": {"url": "https://hooks.example/"}}
    web.post_json("/api/admin/addons", body, headers=ADMIN)
    body = {"name": "prom", "url": "https://prometheus.example"}
    web.post_json("/api/admin/metric-sources", body, headers=ADMIN)
    source = {"kind": "impactMetric", "metric": "errors", "measure": "rate"}
    rule = {"name": "errors", "endpointId": ids[0], "above": 5}
    rule |= {"source": source | {"environment": "production"}}
    web.post_json("/api/admin/alert-rules", rule, headers=ADMIN)
    fill_flags(Flags(web))
    fill_actions(service, web, clock, ids[0])
    return ids[0]


def fill_flags(flags: Flags) -> None:
    """Creates a flag with everything, its parent, a flag named new and an archived one."""
    segment = flags.create_segment(description="Who asked for it")
    flags.create_segment("unused", constraints=[])
    tags = [{"type": "simple", "value": value} for value in ("shop", "pay")]
    flags.create_flag("checkout", description="One page", tags=tags)
    for title in ("first", None):
        flags.add_strategy(
            title=title,
            parameters={"rollout": "50"},
            constraints=[
                {"contextName": "country", "operator": "IN", "values": ["DE", "FR"]},
                {"contextName": "age", "operator": "NUM_GT", "value": "18", "inverted": True},
            ],
            segments=[segment],
            variants=[
                {"name": "a", "payload": {"type": "json", "value": "[1]"}},
                {"name": "b", "weightType": "fix", "weight": 125},
            ],
        )
    flags.switch("checkout")
    for name in ("parent", "new", "old"):
        flags.create_flag(name)
    flags.set_parent("checkout", "parent")
    flags.archive("old")


def fill_actions(service: Service, web: webtest.TestApp, clock: FakeClock, id: int) -> None:
    """Creates action sets with runs, an undone run, run once, auto-revert and undoing a set."""
    endpoint = {"id": id, "name": "deploys"}
    sets = Actions(service, web, Flags(web), endpoint)
    type = {"path": "type", "operator": "IN", "values": ["deploys", "x"]}
    either = {"any": [type, {"path": "none", "operator": "EXISTS", "inverted": True}]}
    first = sets.set("kill checkout", filters=[type, either], options=ACTION_OPTIONS)
    sets.set("later", options={"restoreAfterMinutes": 5, "latch": True}, description="Long")
    sets.set("never", filters=[{"path": "none", "operator": "REGEX", "value": "a.c"}])
    sets.set("back", enabled=False)
    at = f"/api/admin/signal-endpoints/{id}"
    for n in range(2):
        clock.advance(60)
        body = {"payload": {"type": "deploys", "n": n}}
        signal = web.post_json(f"{at}/test-signal", body, headers=ADMIN).json
        sets.work()
    path = f"/api/admin/projects/default/actions/{first}/events"
    (run, *_) = web.get(path, headers=ADMIN).json["actionSetEvents"][::-1]
    web.post(f"{path}/{run['id']}/undo", headers=ADMIN)
    sets.work()
    clock.advance(60)
    with service.context.database.autocommit() as conn:  # links to runs differ in their time
        kit.run(conn, "UPDATE events SET created_at = created_at - interval '1 minute'")
    web.post(f"{at}/signals/{signal['id']}/replay", headers=ADMIN)
    sets.work()
    web.post_json(f"{at}/test-signal", {"payload": {"type": "deploys"}}, headers=ADMIN)


def problem_pages(ada: webtest.TestApp, id: int, clock: FakeClock) -> Pages:
    """The pages that no link leads to."""
    forms = {
        "/admin/signals/new": {"name": "A B", "token": "now"},
        f"/admin/signals/{id}/settings": {"name": ""},
        f"/admin/signals/{id}/tokens": {"name": ""},
        "/admin/api-tokens/new": {"tokenName": "", "type": "client", "projects": "some"},
        "/admin/users/new": {"username": "a b"},
        "/admin/service-accounts/new": {"rootRole": "none"},
        "/profile/password": {"oldPassword": "x", "password": "y", "confirm": "y"},
        "/admin/projects/new": {"id": "a b"},
        "/admin/projects/shop/edit": {"name": ""},
        "/admin/projects/default/delete": {},
        "/admin/environments/new": {"name": "a b", "type": "x"},
        "/admin/environments/default/delete": {},
        "/admin/context/new": {"name": "a b", "legalValues": "a\na"},
        "/admin/context/plan/edit": {"legalValues": "x" * 101},
        "/admin/context/userId/delete": {},
        "/admin/types/flags/release/edit": {"lifetimeDays": "x"},
        "/admin/types/strategies/new": {"parameters.0.type": "x"},
        "/admin/types/tags/new": {"name": "o"},
        "/profile/tokens": {"expiresAt": "x"},
        "/admin/features/new": {"name": "a b", "project": "none", "type": "none", "tags": "x"},
        "/admin/features/checkout/edit": {"type": "release", "description": "x" * 5001},
        "/admin/features/checkout/clone": {"name": ""},
        "/admin/features/checkout/tags": {"tag": "x"},
        "/admin/features/new/parent": {"feature": "checkout"},
        "/admin/features/parent/archive": {},
        "/admin/features/checkout/environments/production/strategies/new": WRONG_STRATEGY,
        "/admin/segments/new": {"name": "", "constraints.0.operator": "NUM_EQ"},
        "/admin/segments/1/delete": {},
        f"/admin/signals/{id}/send": {"payload": "{"},
        "/admin/integrations/metrics/new": {"name": "a b", "auth.type": "basic", "headers": "x"},
        "/admin/integrations/metrics/prom/edit": {"url": "x", "headers": "Host: a"},
        "/admin/integrations/metrics/prom/query": {},
        "/admin/alert-rules/new": {"name": "a b", "source.labels": "x"},
        "/admin/alert-rules/1": {"source.measure": "ratio", "above": "x", "breaches": "0"},
        f"{ACTIONS}/new": WRONG_ACTION_SET,
        f"{ACTIONS}/1": {"do": "add-filters"},
        f"{ACTIONS}/1/test": {"payload": '{"type": "deploys"}'},
        f"{ACTIONS}/2/test": {"payload": "{"},
        f"{ACTIONS}/1/runs/1/undo": {},
    }
    pages = {}
    for path, fields in forms.items():
        answer = ada.post(path, fields | {"csrf": ada.csrf}, expect_errors=True)
        pages[f"POST {path}"] = answer.html
    growing = {"csrf": ada.csrf, "do": "add-constraints", "constraints.0.operator": "IN"}
    for path in ("/admin/segments/new", "/admin/features/new/environments/default/strategies/new"):
        pages[f"POST {path} do"] = ada.post(path, growing).html
    created = ada.post(f"/admin/signals/{id}/tokens", {"csrf": ada.csrf, "name": "new"})
    pages["token created"] = created.follow().html
    pages["no CSRF"] = ada.post(f"/admin/signals/{id}/settings", {}, status=403).html
    browser = webtest.TestApp(ada.app)
    pages["GET /sign-in"] = browser.get("/sign-in?done=signed-out").html
    pages["POST /sign-in"] = sign_in(browser, password="x", status=401).html
    for _ in range(10):
        browser.post("/sign-in", {}, expect_errors=True)
    pages["429"] = browser.post("/sign-in", {}, status=429).html
    clock.advance(60)
    for address in ("/nowhere", f"/admin/signals/{id}/log?query=none", "/admin/events?type=none"):
        pages[address] = ada.get(address, expect_errors=True).html
    return pages


@pytest.fixture(scope="module")
def site(temporary_database: TemporaryDatabase) -> Iterator[dict[str, Pages]]:
    """{who: pages} of a service with a database of its own, crawled once for all tests."""
    clock = FakeClock()
    options = {
        "db": temporary_database.create_database("crawl"),
        "logLevel": "error",
        "authentication": {
            "initialAdminUser": {"username": "ada", "password": Cast.PASSWORD},
            "initApiTokens": [
                {"type": "admin", "secret": ADMIN_TOKEN, "environment": "*", "project": "*"},
                {
                    "type": "client",
                    "secret": CLIENT_TOKEN,
                    "environment": "default",
                    "project": "*",
                },
            ],
        },
    }
    service = sigservice.create(options, {}, clock=clock, passwords=QuickPasswords())
    cast, web = Cast(service), webtest.TestApp(service.app)
    ada, vera = cast.signed_in("ada"), cast.signed_in("vera")
    empty = {f"empty {path}": page.html for path, page in crawl(ada).items()}
    id = fill(service, web, clock)
    pages = {path: page.html for path, page in crawl(ada).items()}
    yield {
        "ada": pages,
        "empty": empty,
        "vera": {path: page.html for path, page in crawl(vera).items()},
        "problems": problem_pages(ada, id, clock),
    }
    service.stop()


@pytest.mark.parametrize("name", RULES)
def test_every_page_keeps_the_rule(site, name):
    faults = {
        f"{who} {address}": list(RULES[name](soup))
        for who, pages in site.items()
        for address, soup in pages.items()
    }
    assert {address: texts for address, texts in faults.items() if texts} == {}


def test_links_lead_to_every_page(site):
    kinds = {urlsplit(address).path for address in site["ada"]}
    for pattern, mark in (
        ("(?<=/admin/features/)(checkout|parent|new(?=/)|old)", "@"),
        ("(?<=[@]/environments/)[^/]+", "@"),
        ("(?<=/integrations/new/)[a-z-]+", "@"),
        ("(?<=/types/)(flags|strategies|tags)/[^/]+(?=/)", r"\1/@"),
        ("(?<=/projects/)(default|shop)/environments/[^/]+", "@/environments/@"),
        ("[0-9a-f]{8}-[0-9a-f-]{27}", "#"),
        ("[0-9]+", "#"),
    ):
        kinds = {re.sub(pattern, mark, kind) for kind in kinds}
    assert kinds == {
        "/",
        "/profile",
        "/profile/tokens",
        "/docs",
        "/admin/types",
        "/admin/types/flags/@/edit",
        "/admin/types/strategies/new",
        "/admin/types/strategies/@/edit",
        "/admin/types/strategies/@/delete",
        "/admin/types/tags/new",
        "/admin/types/tags/@/edit",
        "/admin/types/tags/@/delete",
        "/admin/projects/@/environments/@/default-strategy",
        "/docs/guide",
        "/admin/alerts",
        "/admin/automation",
        "/admin/emergency",
        "/admin/projects/default/actions/#/runs/#/turn-on",
        "/admin/signals/#/send",
        "/admin/applications",
        "/admin/events",
        "/admin/api-tokens",
        "/admin/api-tokens/new",
        "/admin/api-tokens/#/delete",
        "/admin/sign-in",
        "/admin/users",
        "/admin/users/new",
        "/admin/users/#",
        "/admin/users/#/delete",
        "/admin/service-accounts/new",
        "/admin/service-accounts/#",
        "/admin/service-accounts/#/delete",
        "/admin/service-accounts/#/tokens/#/delete",
        "/admin/features",
        "/admin/features/new",
        "/admin/features/@",
        "/admin/features/@/flag",
        "/admin/features/@/archive",
        "/admin/features/@/delete",
        "/admin/features/@/schedule",
        "/admin/features/@/environments/@/strategies/new",
        "/admin/features/@/environments/@/strategies/#",
        "/admin/features/@/environments/@/strategies/#/delete",
        "/admin/features/@/environments/@/releases/new",
        "/admin/releases",
        "/admin/releases/new",
        "/admin/segments",
        "/admin/segments/new",
        "/admin/segments/#",
        "/admin/segments/#/delete",
        "/admin/signals",
        "/admin/signals/new",
        "/admin/signals/#/setup",
        "/admin/signals/#/tokens",
        "/admin/signals/#/settings",
        "/admin/signals/#/delete",
        "/admin/alert-rules",
        "/admin/alert-rules/new",
        "/admin/alert-rules/#",
        "/admin/alert-rules/#/delete",
        "/admin/signals/refused",
        "/admin/signals/#/refused",
        "/admin/signals/#/log",
        "/admin/signals/#/log/#",
        "/admin/signals/#/tokens/new",
        "/admin/signals/#/tokens/#",
        "/admin/signals/#/tokens/#/rotate",
        "/admin/signals/#/tokens/#/delete",
        "/admin/projects",
        "/admin/projects/new",
        "/admin/projects/default/edit",
        "/admin/projects/shop/edit",
        *(f"/admin/projects/{id}/{page}" for id in ("default", "shop") for page in PROJECT_PAGES),
        "/admin/projects/shop/delete",
        "/admin/service-accounts",
        "/admin/automation/new",
        f"{ACTIONS}/#",
        f"{ACTIONS}/#/delete",
        f"{ACTIONS}/#/test",
        f"{ACTIONS}/#/runs",
        f"{ACTIONS}/#/runs/#",
        f"{ACTIONS}/#/runs/#/undo",
        "/admin/environments",
        "/admin/integrations",
        "/admin/integrations/new/@",
        "/admin/integrations/#",
        "/admin/integrations/#/delete",
        "/admin/integrations/metrics",
        "/admin/integrations/metrics/new",
        "/admin/integrations/metrics/prom/edit",
        "/admin/integrations/metrics/prom/delete",
        "/admin/environments/new",
        *(f"/admin/environments/{e}/delete" for e in ("development", "production", "staging")),
        "/admin/context",
        "/admin/context/new",
        *(f"/admin/context/{field}/edit" for field in FIELDS),
        "/admin/context/plan/delete",
        "/admin/playground",
        "/admin/search",
    }


def test_every_page_below_the_menu_has_breadcrumbs(site):
    links = "header a, footer a, .parts a, nav.tabs a"
    in_menu = {
        urlsplit(a["href"]).path for soup in site["ada"].values() for a in soup.select(links)
    } | {"/admin/emergency"}  # from Home
    pages = {urlsplit(address).path: soup for address, soup in site["ada"].items()}
    assert [
        path
        for path, soup in pages.items()
        if path not in in_menu and not soup.select("main > .breadcrumbs a")
    ] == []


def test_titles_of_pages_differ(site):
    titles: dict[str, str] = {}
    for address, soup in site["ada"].items():
        path, title = urlsplit(address).path, soup.title.get_text(strip=True)
        assert titles.setdefault(title, path) == path, title


def test_viewer_sees_only_what_is_allowed(site):
    paths = {urlsplit(address).path for address in site["vera"]}
    paths = {path for path in paths if not re.search("^/admin/features/|/runs(/|$)", path)}
    assert paths == {
        "/",
        "/profile",
        "/profile/tokens",
        "/admin/integrations",
        "/docs",
        "/admin/types",
        "/docs/guide",
        "/admin/applications",
        "/admin/events",
        "/admin/projects",
        *(
            f"/admin/projects/{id}/{page}"
            for id in ("default", "shop")
            for page in PROJECT_PAGES[:2]
        ),
        "/admin/environments",
        "/admin/context",
        "/admin/features",
        "/admin/automation",
        "/admin/releases",
        "/admin/alerts",
        "/admin/alert-rules",
        "/admin/segments",
        "/admin/playground",
        "/admin/search",
    }
    for soup in site["vera"].values():
        text = " ".join(tag.get_text() for tag in soup.find_all(["a", "button"]))
        for offer in (
            "New signal endpoint",
            "Delete",
            "New flag",
            "Edit",
            "Add strategy",
            "Archive flag",
        ):
            assert offer not in text
        methods = {form.get("action"): form["method"] for form in soup.find_all("form")}
        posted = {path for path, method in methods.items() if method == "post"}
        assert {path for path in posted if not str(path).endswith("/favorite")} <= {
            "/logout",
            "/project",
            "/hide-start",
            "/profile/password",
            "/profile/sessions",
            "/profile/tokens",
            "/admin/features",
            None,
        }
        assert not soup.find(role="switch")


def test_every_page_loads_its_own_style_and_script(site):
    for pages in site.values():
        for soup in pages.values():
            assert soup.find("link", rel="stylesheet")["href"].startswith("/static/app.css?v=")
            (script,) = soup.find_all("script")
            assert script["src"].startswith("/static/app.js?v=")
            assert script["type"] == "module"


def test_nothing_is_loaded_from_other_hosts(site):
    for pages in site.values():
        for soup in pages.values():
            for tag in soup.find_all(["link", "script", "img", "iframe", "form", "a"]):
                for name in ("src", "href", "action"):
                    assert not urlsplit(tag.get(name, "")).netloc, tag
