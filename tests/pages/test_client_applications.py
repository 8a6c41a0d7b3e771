"""The pages of applications, with their instances, SDKs and flags."""

from __future__ import annotations

import pytest
import webtest

from tests.conftest import Cast
from tests.pages.page_reader import heading, is_page
from tests.pages.test_hostile_text import HOSTILE, faults, read_texts
from tests.routes.sdk import CLIENT, PRODUCTION, Sdk

PATH = "/admin/applications"


@pytest.fixture
def sdk(make_service, database):
    sdk = Sdk(make_service, database)
    yield sdk
    sdk.close()


@pytest.fixture
def vera(sdk) -> webtest.TestApp:
    return Cast(sdk.service).signed_in("vera")


def register(sdk, app="shop", instance="a", headers=CLIENT, **more):
    body = {"appName": app, "instanceId": instance, "started": 0, "interval": 0}
    body |= {"strategies": ["default"], "sdkVersion": "py:1"} | more
    sdk.web.post_json("/api/client/register", body, headers=headers)


def rows(page):
    return [" ".join(row.get_text(" ").split()) for row in page.html.select("tbody tr")]


def test_list_has_instances_environments_and_sdks(sdk, vera):
    assert "No applications yet." in vera.get(PATH).text
    register(sdk)
    register(sdk, instance="b", sdkVersion="go:2")
    register(sdk, headers=PRODUCTION)
    register(sdk, "office")
    page = vera.get(PATH)
    assert heading(page) == "Applications"
    office, shop = rows(page)
    assert office.startswith("office 1 instance development py:1 just now")
    assert shop.startswith("shop 3 instances production development go:2, py:1 just now")
    form = page.forms[1]
    form["query"] = "HO"
    page = form.submit()
    assert [row.split()[0] for row in rows(page)] == ["shop"]
    assert page.forms[1]["query"].value == "HO"
    assert "No applications match." in vera.get(f"{PATH}?query=%25").text


def test_application_page_has_instances_and_flags(sdk, ada, vera):
    register(sdk, strategies=["default", "mine"])
    bucket = {"start": 0, "stop": 0, "toggles": {"one": {"yes": 3, "no": 4}}}
    body = {"appName": "shop", "instanceId": "a", "bucket": bucket}
    here = {"REMOTE_ADDR": "192.0.2.7"}
    sdk.web.post_json("/api/client/metrics", body, headers=CLIENT, extra_environ=here)
    page = vera.get(PATH).click("shop")
    assert heading(page) == "Application shop"
    flag, instance = rows(page)
    assert flag == "one default development 3 4"
    assert "In the last 30 days." in page
    assert instance.startswith("a development py:1 just now")
    assert "192.0.2.7" not in page.text
    assert "192.0.2.7" in ada.get(PATH).click("shop").text
    assert "Unknown strategies: mine" in " ".join(
        page.html.find(class_="problem").get_text().split()
    )
    assert [item.get_text() for item in page.html.select("ul.names li")] == ["default", "mine"]
    sdk.rows("DELETE FROM client_instances")
    sdk.rows("DELETE FROM client_metrics")
    assert rows(vera.get(f"{PATH}?name=shop")) == []
    assert is_page(vera.get(f"{PATH}?name=nobody", status=404))


def test_list_has_pages(sdk, vera):
    sdk.rows("INSERT INTO client_applications SELECT 'app-' || n FROM generate_series(100, 219) n")
    sdk.rows(
        "INSERT INTO client_instances (app_name, instance_id, environment) "
        "SELECT 'app-100', n::text, 'development' FROM generate_series(1, 101) n"
    )
    page, names = vera.get(f"{PATH}?query=app"), []
    for count in (50, 50, 20):
        names += [row.split()[0] for row in rows(page)]
        assert len(rows(page)) == count
        page = page.click("Next") if count == 50 else page.click("First")
    assert names == [f"app-{n}" for n in range(100, 220)]
    assert rows(page)[0].startswith("app-100 101 instances")
    one = page.click("app-100")
    assert len(rows(one)) == 100
    assert "The last 100 of 101 instances." in one.text
    for query in ("offset=x", "offset=-1", "query=%FF", "name=%00"):
        assert is_page(vera.get(f"{PATH}?{query}", status=400)), query


def test_text_of_applications_is_escaped(sdk, vera):
    for text in HOSTILE:
        register(sdk, text, text, sdkVersion=text, strategies=[text])
    page = vera.get(PATH)
    assert faults(page) == []
    for text in HOSTILE:
        assert text in read_texts(page)
        one = vera.get(PATH, {"name": text})
        assert faults(one) == []
        assert text in one.html.h1.get_text()
        assert read_texts(one).count(text) >= 4
    links = [row.a["href"] for row in page.html.select("tbody tr")]
    assert {vera.get(link).html.h1.bdi.string for link in links} == set(HOSTILE)
