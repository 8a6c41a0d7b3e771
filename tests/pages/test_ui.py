"""The option `ui`: a tag and a slogan on each page."""

from __future__ import annotations

import webtest


def test_tag_and_slogan_are_escaped(make_service):
    ui = {"environment": "<b>staging</b>", "slogan": "Ship & sleep"}
    web = webtest.TestApp(make_service({"ui": ui}).app)
    for page in (web.get("/sign-in"), web.get("/nothing-here", status=404)):
        assert '<span class="tag">&lt;b&gt;staging&lt;/b&gt;</span>' in page.text
        assert "<p>Ship &amp; sleep</p>" in page.text


def test_no_tag_and_slogan_by_default(web):
    page = web.get("/sign-in").text
    assert 'class="tag"' not in page
    assert page.partition("<footer>")[2].count("<p>") == 1
