"""What a user sees of a page: its forms, the error of a field, its links."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

import webtest

FORM = re.compile(r'<form\b[^>]*?\baction="([^"]*)"[^>]*>.*?</form>', re.DOTALL)
FORM_ID = re.compile(r'(<form(?: (?!id=)[\w-]+="[^"]*")*) id="([^"]*)"')
LINK = re.compile(r'<a\b[^>]*?\shref="([^"]*)"')
MAX_QUERIES = 5
PASSWORD = "Correct-Horse-7"


def form_to(page: webtest.TestResponse, path: str) -> Any:
    """The only form whose action is `path`. The rest of the page isn't parsed, which takes longer
    than rendering."""
    forms = [form[0] for form in FORM.finditer(page.text) if _get_action(form) == path]
    assert len(forms) == 1, f"{len(forms)} forms go to {path}"
    form = forms[0]
    has_id = FORM_ID.match(form)
    if has_id and f' form="{has_id[2]}"' not in page.text:
        # webtest would look for its fields on the whole page.
        form = FORM_ID.sub(r"\1", form, count=1)
    return webtest.Form(page, form)


def _get_action(form: re.Match[str]) -> str:
    return urldefrag(unescape(form[1])).url


def list_links(page: webtest.TestResponse) -> list[str]:
    """The targets of its links, without parsing the page."""
    return [unescape(target) for target in LINK.findall(page.text)]


def sign_in(
    web: webtest.TestApp,
    name: str = "ada",
    password: str = PASSWORD,
    *,
    path: str = "/sign-in",
    status: int = 303,
    headers: dict[str, str] | None = None,
) -> webtest.TestResponse:
    """Loads the form, fills it in and submits it."""
    form = web.get(path, headers=headers).form
    form["username"], form["password"] = name, password
    return form.submit(status=status, headers=headers)


def find_error(page: webtest.TestResponse, field: str) -> str:
    """The error of a field that the page marks as invalid, as a screen reader reads it."""
    control = page.html.find(id=field)
    assert control is not None, f"there is no field {field}"
    assert control["aria-invalid"] == "true"
    assert f"{field}-problem" in control["aria-describedby"].split()
    message = page.html.find(id=f"{field}-problem").get_text(strip=True)
    alert = page.html.find(role="alert")
    assert alert.find("a", href=f"#{field}"), "the summary does not lead to the field"
    assert page.html.title.string.startswith("Problem: ")
    return message


def read_table(page: webtest.TestResponse, id: str) -> dict[str, dict[str, Any]]:
    """The cells of a list by the name of their row, then by the label of their column."""
    table = page.html.find(id=id)
    rows = [row.find_all(["th", "td"]) for row in table.tbody.find_all("tr")] if table else []
    return {
        row[0].bdi.get_text(): {cell.get("data-label", "More"): cell for cell in row}
        for row in rows
    }


def follow(page: webtest.TestResponse, text: str) -> webtest.TestResponse:
    """The page behind the link that a screen reader reads as `text`."""
    for link in page.html.find_all("a", href=True):
        if " ".join(link.get_text().split()).removesuffix(" …") == text:
            return page.goto(link["href"])
    raise AssertionError(f"no link is called {text}")


def alert(page: webtest.TestResponse) -> str:
    element = page.html.find("main").find(role="alert")
    return element.get_text(" ", strip=True) if element else ""


def notice(page: webtest.TestResponse) -> str:
    element = page.html.find(role="status")
    return (element.p or element).get_text(" ", strip=True) if element else ""


def heading(page: webtest.TestResponse) -> str:
    """The only h1, found by a regular expression, because parsing is slower than rendering."""
    (content,) = re.findall(r"<h1\b[^>]*>(.*?)</h1>", page.text, re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", "", content)).split())


def is_page(answer: webtest.TestResponse) -> bool:
    """Whether this is one of our HTML pages, error pages included."""
    return answer.content_type == "text/html" and ' id="main"' in answer.text


def crawl(web: webtest.TestApp, start: str = "/") -> dict[str, webtest.TestResponse]:
    """The pages that links lead to, by their URLs; each must answer 200 or lead on. Of one path,
    whose links combine filters and orders, the first 5 queries."""
    queries: Counter[str] = Counter()
    pages: dict[str, webtest.TestResponse] = {}
    waiting = [start]
    while waiting:
        address = waiting.pop()
        if address in pages:
            continue
        assert len(pages) < 500, "the site has no end"
        page = web.get(address)
        if page.status_int == 303:  # to the first page of the settings
            waiting.append(page.headers["Location"])
            continue
        assert page.status_int == 200, address
        if page.content_type != "text/html":
            continue
        pages[address] = page
        for link in list_links(page):
            target = urldefrag(urljoin(address, link)).url
            assert not urlsplit(target).netloc, f"{address} leads elsewhere: {target}"
            path, query = urlsplit(target).path, urlsplit(target).query
            # Prose with links elsewhere, and more than 100 bodies: see the tests of these pages.
            if "/docs/guide/" in path or "/docs/bodies/" in path:
                continue
            if query and target not in pages and target not in waiting:
                queries[path] += 1
            if not query or queries[path] <= MAX_QUERIES:
                waiting.append(target)
    return pages


def create_own_token(user: webtest.TestApp) -> int:
    """The ID of a personal token of the signed-in user, who has `Cast.PASSWORD`."""
    expires_at = (datetime.now(UTC) + timedelta(1)).isoformat()
    body = {"description": "own", "expiresAt": expires_at, "password": PASSWORD}
    headers = {"X-CSRF-Token": user.csrf}
    return user.post_json("/api/admin/user/tokens", body, headers=headers).json["id"]
