"""Pages that are shown once after the redirect of a form: a reload repeats nothing."""

from __future__ import annotations

import re

import pytest

from sigservice.jobs import retention
from tests.conftest import Make, sign_in_by_json
from tests.pages.page_reader import form_to
from tests.repository.kit import run

SECRET = re.compile(r"signal_[A-Za-z0-9_-]{43}")


@pytest.fixture
def created(ada, make: Make):
    """The redirect after the form of a new token."""
    path = f"/admin/signals/{make.endpoint('deploys')['id']}/tokens"
    form = form_to(ada.get(path), path)
    form["name"] = "ci"
    return form.submit(status=303)


def test_a_reload_leads_back_and_shows_the_secret_no_more(ada, created):
    page = created.follow()
    assert SECRET.search(page.text)
    assert page.headers["Cache-Control"] == "no-store"
    reloaded = ada.get(created.location)
    assert reloaded.status_int == 303
    assert reloaded.location.endswith("/tokens")
    assert not SECRET.search(reloaded.follow().text)


def test_neither_the_address_nor_the_database_has_the_secret(created, database):
    conn = database.connect()
    ((page,),) = run(conn, "SELECT page FROM once_pages")
    secret = SECRET.search(created.follow().text)[0]
    assert secret not in created.location
    assert secret.encode() not in bytes(page)
    assert run(conn, "SELECT count(*) FROM once_pages") == [(0,)]
    conn.close()


def test_another_session_can_neither_read_nor_delete_it(created, service):
    other = sign_in_by_json(service, "ada")
    assert other.get(created.location).status_int == 303
    assert SECRET.search(created.follow().text)


def test_a_request_without_a_body_leaves_it(ada, created):
    ada.head(created.location)
    assert SECRET.search(created.follow().text)


def test_it_is_gone_after_ten_minutes(ada, created, rows, service):
    rows("UPDATE once_pages SET created_at = now() - interval '11 minutes'")
    assert ada.get(created.location).status_int == 303
    retention.run_once(service.context)
    assert rows("SELECT id FROM once_pages") == []


def test_a_tampered_way_back_leads_to_no_other_site(ada):
    answer = ada.get("/once/x?next=//evil.example/")
    assert answer.location in ("/", "http://localhost:80/")
