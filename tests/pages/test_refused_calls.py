"""The pages of refused calls."""

from __future__ import annotations

from sigservice.jobs import buffers
from tests.pages.page_reader import heading

URL = "/api/signal-endpoint/"


def test_they_show_caller_and_reason(ada, web, make, service):
    endpoint = make.endpoint()
    web.post(f"{URL}deploys", headers={"Authorization": "<b>signal_abcdefghij"}, status=401)
    buffers.store_counts(service.context)
    page = ada.get(f"/admin/signals/{endpoint['id']}/refused")
    assert "The token is unknown" in page
    assert "&lt;b&gt;s…</bdi>" in page.text


def test_names_that_no_endpoint_has_are_on_one_page(ada, web, service):
    web.post(f"{URL}nowhere", status=401)
    buffers.store_counts(service.context)
    assert "nowhere" in ada.get("/admin/signals/refused")


def test_the_list_of_endpoints_counts_them(ada, web, make, service):
    make.endpoint()
    web.post(f"{URL}deploys", status=401)
    buffers.store_counts(service.context)
    page = ada.get("/admin/signals").click(href=r"\d+/refused$")
    assert heading(page) == "deploys"
    assert page.html.find(class_="tabs").find("a", string="Refused 1")["aria-current"] == "page"


def test_the_tab_counts_the_calls_of_its_endpoint(ada, web, make, service):
    ids = [make.endpoint(name)["id"] for name in ("deploys", "alerts")]
    for name in ("deploys", "alerts", "alerts"):
        web.post(f"{URL}{name}", status=401)
    buffers.store_counts(service.context)
    for id, calls in zip(ids, (1, 2), strict=True):
        tabs = ada.get(f"/admin/signals/{id}/refused").html.find(class_="tabs")
        assert tabs.find("a", string=f"Refused {calls}")
