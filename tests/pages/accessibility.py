"""Accessibility rules for all pages: keyboard, screen reader, strict browser.

Each rule is a function of a page's soup that yields the faults of the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from urllib.parse import urldefrag

from bs4 import BeautifulSoup, Tag

Rule = Callable[[BeautifulSoup], Iterator[str]]
RULES: dict[str, Rule] = {}
CLOCK_TEXT = re.compile(r"\d{4}-\d\d-\d\d|\bUTC\b|\b\d\d?:\d\d\b|\d [AP]M\b|\d (s|min|h|d) ago\b")
MAY_HAVE_CLOCK_TEXTS = {"time", "bdi", "pre", "code", "textarea", "option", "title", "label"}


def rule(check: Rule) -> Rule:
    RULES[check.__name__] = check
    return check


def tags_of(soup: BeautifulSoup, *names: str) -> list[Tag]:
    """The tags of these names, or all, in their order. A search of the page for each rule takes
    longer than the rule."""
    tags = vars(soup).get("all_tags")
    if tags is None:
        tags = soup.all_tags = [node for node in soup.descendants if isinstance(node, Tag)]
    return [tag for tag in tags if tag.name in names] if names else tags


def ids_of(soup: BeautifulSoup) -> set[str]:
    return {tag["id"] for tag in tags_of(soup) if "id" in tag.attrs}


def name_of(soup: BeautifulSoup, tag: Tag) -> str:
    """The accessible name, as far as these pages need it."""
    name = vars(tag).get("accessible_name")
    if name is None:
        name = tag.accessible_name = _find_name(soup, tag)
    return str(name)


def _find_name(soup: BeautifulSoup, tag: Tag) -> str:
    if tag.get("aria-label"):
        return str(tag["aria-label"]).strip()
    id, parent = tag.get("id"), tag.find_parent("label")
    labels = [label for label in tags_of(soup, "label") if id and label.get("for") == id]
    texts = [label.get_text(" ", strip=True) for label in [*labels, *([parent] if parent else [])]]
    return " ".join(texts) or tag.get_text(" ", strip=True)


@rule
def language_is_named(soup: BeautifulSoup) -> Iterator[str]:
    if not re.fullmatch("[a-z]{2}(-[A-Z]{2})?", soup.html.get("lang", "")):
        yield "html has no lang"


@rule
def title_is_there(soup: BeautifulSoup) -> Iterator[str]:
    if not soup.title or not soup.title.get_text(strip=True).endswith("sigservice"):
        yield "no title"


@rule
def there_is_one_h1(soup: BeautifulSoup) -> Iterator[str]:
    headings = tags_of(soup, "h1")
    if len(headings) != 1 or not headings[0].get_text(strip=True):
        yield f"{len(headings)} h1"
    elif not headings[0].find_parent("main"):
        yield "h1 is outside of main"


@rule
def headings_skip_no_level(soup: BeautifulSoup) -> Iterator[str]:
    level = 0
    for heading in tags_of(soup, "h1", "h2", "h3", "h4", "h5", "h6"):
        if int(heading.name[1]) > level + 1:
            yield f"{heading.name} after h{level}: {heading.get_text(strip=True)}"
        if not heading.get_text(strip=True):
            yield f"empty {heading.name}"
        level = int(heading.name[1])


@rule
def skip_link_comes_first(soup: BeautifulSoup) -> Iterator[str]:
    first = soup.body.find(["a", "button", "input", "select", "summary"])
    target = soup.find(id=first.get("href", "").removeprefix("#"))
    if first.name != "a" or target is None or target.name != "main":
        yield f"the first control is {first}"
    elif target.get("tabindex") != "-1":
        yield "main can't take the focus"


@rule
def landmarks_are_there(soup: BeautifulSoup) -> Iterator[str]:
    for name in ("header", "main", "footer"):
        if len(soup.body.find_all(name, recursive=False)) != 1:
            yield f"no {name}"
    names = [nav.get("aria-label", "") for nav in tags_of(soup, "nav")]
    if "" in names or len(set(names)) != len(names):
        yield f"landmarks nav are named {names}"


@rule
def controls_are_labelled(soup: BeautifulSoup) -> Iterator[str]:
    for tag in tags_of(soup, "input", "select", "textarea"):
        is_hidden = tag.get("type") == "hidden" or tag.get("aria-hidden") == "true"
        if not is_hidden and not name_of(soup, tag):
            yield str(tag)
    ids = ids_of(soup)
    for label in tags_of(soup, "label"):
        if label.has_attr("for") and label["for"] not in ids:
            yield f"{label} labels nothing"


@rule
def buttons_and_links_have_a_name(soup: BeautifulSoup) -> Iterator[str]:
    for tag in tags_of(soup, "a", "button", "summary"):
        if not name_of(soup, tag):
            yield str(tag)
        if tag.name == "a" and not tag.get("href"):
            yield f"{tag} leads nowhere"


@rule
def same_name_leads_to_the_same_place(soup: BeautifulSoup) -> Iterator[str]:
    links: dict[str, str] = {}
    for tag in soup.find("main").find_all("a", href=True):
        if links.setdefault(name_of(soup, tag), tag["href"]) != tag["href"]:
            yield f"“{name_of(soup, tag)}” leads to {tag['href']} and elsewhere"


@rule
def buttons_of_several_forms_differ_in_name(soup: BeautifulSoup) -> Iterator[str]:
    names = Counter(name_of(soup, tag) for tag in tags_of(soup, "button"))
    yield from (f"{count} buttons “{name}”" for name, count in names.items() if count > 1)


@rule
def nothing_is_inline(soup: BeautifulSoup) -> Iterator[str]:
    yield from (str(tag) for tag in tags_of(soup, "style"))
    yield from (str(tag) for tag in tags_of(soup, "script") if tag.get_text(strip=True))
    for tag in tags_of(soup):
        for name in tag.attrs:
            if name == "style" or name.startswith("on"):
                yield f"{tag.name} {name}"


@rule
def ids_are_unique(soup: BeautifulSoup) -> Iterator[str]:
    ids = Counter(tag["id"] for tag in tags_of(soup) if "id" in tag.attrs)
    yield from (f"{count} times {id}" for id, count in ids.items() if count > 1)


@rule
def descriptions_exist(soup: BeautifulSoup) -> Iterator[str]:
    ids = ids_of(soup)
    for attribute in ("aria-describedby", "aria-labelledby", "aria-controls"):
        for tag in tags_of(soup):
            for id in tag.attrs.get(attribute, "").split():
                if id not in ids:
                    yield f"{attribute} of {tag.get('id')} names {id}"


@rule
def anchors_exist(soup: BeautifulSoup) -> Iterator[str]:
    ids = ids_of(soup)
    for tag in tags_of(soup, "a"):
        if tag.get("href", "").startswith("#") and urldefrag(tag["href"]).fragment not in ids:
            yield tag["href"]


@rule
def pictures_are_named(soup: BeautifulSoup) -> Iterator[str]:
    yield from (str(tag) for tag in tags_of(soup, "img") if not tag.has_attr("alt"))
    for tag in tags_of(soup, "svg"):
        # A picture with links in it is a group: what is in an img is hidden from screen readers.
        named = tag.get("role") in ("img", "group") and tag.get("aria-label")
        if not named and tag.get("aria-hidden") != "true":
            yield str(tag)[:80]


@rule
def posted_forms_have_a_csrf_field(soup: BeautifulSoup) -> Iterator[str]:
    for form in tags_of(soup, "form"):
        if form.get("method", "get").lower() == "post":
            fields = form.find_all("input", attrs={"type": "hidden", "name": "csrf"})
            if len(fields) != 1 or len(fields[0].get("value", "")) < 40:
                yield str(form)[:120]
        # A browser submits a search with Enter; a button that nobody sees would take the focus.
        if form.get("role") == "search" and form.find("input", type="search"):
            continue
        if not form.find("button") and not any(
            tag.get("form") == form.get("id", "-") for tag in tags_of(soup, "button")
        ):
            yield f"{form.get('action')} has no button"


@rule
def passwords_are_never_sent_in_an_address(soup: BeautifulSoup) -> Iterator[str]:
    for field in tags_of(soup, "input"):
        if field.get("type") == "password" and field.find_parent("form").get("method") != "post":
            yield str(field)


@rule
def lists_hold_items(soup: BeautifulSoup) -> Iterator[str]:
    for tag in tags_of(soup, "ul", "ol"):
        children = tag.find_all(True, recursive=False)
        if any(child.name != "li" for child in children):
            yield f"{tag.name} holds {[child.name for child in children]}"
        if not children:
            yield f"empty {tag.name} {tag.get('class', '')}"


@rule
def times_can_be_read_by_machines(soup: BeautifulSoup) -> Iterator[str]:
    for tag in tags_of(soup, "time"):
        if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", tag.get("datetime", "")):
            yield str(tag)


@rule
def clock_texts_are_times(soup: BeautifulSoup) -> Iterator[str]:
    """Except in what others wrote or read by programs."""
    for text in soup.body.find_all(string=CLOCK_TEXT):
        around = [*text.parents]
        is_axis = any(parent.get("aria-hidden") == "true" for parent in around)
        if not is_axis and not MAY_HAVE_CLOCK_TEXTS.intersection(p.name for p in around):
            yield text.strip()


@rule
def page_can_be_zoomed(soup: BeautifulSoup) -> Iterator[str]:
    content = soup.find("meta", attrs={"name": "viewport"})["content"]
    if "width=device-width" not in content or "scalable" in content or "maximum" in content:
        yield content


@rule
def required_and_wrong_fields_say_so(soup: BeautifulSoup) -> Iterator[str]:
    for tag in tags_of(soup):
        if tag.get("aria-invalid") != "true":
            continue
        message = soup.find(id=f"{tag.get('id')}-problem")
        if not message or not message.get_text(strip=True):
            yield f"{tag.get('id')} is wrong without a message"
        if not soup.find(role="alert"):
            yield "no summary of what is wrong"
