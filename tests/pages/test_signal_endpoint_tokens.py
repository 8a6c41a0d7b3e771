"""Tokens of a signal endpoint: created, renamed, deleted."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from tests.conftest import ADMIN
from tests.pages.page_reader import (
    alert,
    crawl,
    find_error,
    form_to,
    heading,
    notice,
    read_table,
)

SECRET = re.compile(r"signal_[A-Za-z0-9_-]{43}")


def create(person, endpoint, name, status=303):
    path = f"/admin/signals/{endpoint['id']}/tokens"
    form = form_to(person.get(path), path)
    form["name"] = name
    return form.submit(status=status).maybe_follow()


def create_with_endpoint(person, name="builds", token_name="ci", status=303):
    form = form_to(person.get("/admin/signals/new"), "/admin/signals/new")
    form["name"], form["token"], form["token_name"] = name, "now", token_name
    return form.submit(status=status).maybe_follow()


def secret_of(page):
    tag = page.html.find(id="secret")
    return tag.get("value") or tag.get_text()


def tokens(read_api):
    return read_api("signal-endpoints")["signalEndpoints"][0]["tokens"]


def test_new_endpoint_with_a_token_now_shows_its_secret(ada, read_api):
    page = create_with_endpoint(ada)
    assert notice(page) == "Token ci created."
    assert heading(page) == "builds"
    assert SECRET.fullmatch(secret_of(page))
    assert page.headers["Cache-Control"] == "no-store"
    assert "see it again" in page.text
    assert [token["name"] for token in tokens(read_api)] == ["ci"]
    assert read_api("signal-endpoints")["signalEndpoints"][0]["name"] == "builds"


def test_new_token_of_an_endpoint_shows_its_secret(ada, read_api, endpoint):
    page = create(ada, endpoint, "  ci  ")
    assert SECRET.fullmatch(secret_of(page))
    (token,) = tokens(read_api)
    assert token["name"] == "ci"
    assert secret_of(page).startswith(token["secretPrefix"])
    assert len(token["secretPrefix"]) == len("signal_") + 4


def test_ready_curl_sends_a_signal(ada, web, read_api):
    page = create_with_endpoint(ada)
    words = shlex.split(page.html.find(id="curl").get_text().replace("\\\n", " "))
    assert words[:3] == ["curl", "-X", "POST"]
    url = words[3]
    headers = dict(words[n + 1].split(": ", 1) for n, word in enumerate(words) if word == "-H")
    body = words[words.index("-d") + 1]
    assert url == "http://localhost:80/api/signal-endpoint/builds"
    answer = web.post(
        url.removeprefix("http://localhost:80"),
        body,
        headers={"Authorization": headers["Authorization"]},
        content_type=headers["Content-Type"],
    )
    assert answer.json["signals"][0]["payload"] == json.loads(body)
    assert len(read_api("signals")["signals"]) == 1


def test_secret_is_on_no_other_page(ada, web, read_api, send):
    page = create_with_endpoint(ada)
    secret = secret_of(page)
    (endpoint,) = read_api("signal-endpoints")["signalEndpoints"]
    other = secret_of(create(ada, endpoint, "second"))
    assert secret != other
    send({"name": "builds"}, {"token": secret}, {"n": 1})
    pages = crawl(ada)
    assert len(pages) > 8
    for address, page in pages.items():
        for text in (secret, other, secret[12:30]):
            assert text not in page.text, address
    for path in (
        "/api/admin/signal-endpoints",
        f"/api/admin/signal-endpoints/{endpoint['id']}/tokens",
        "/api/admin/events?limit=1000",
        "/api/admin/signals",
        "/internal-backstage/prometheus",
    ):
        answer = web.get(path, headers=ADMIN)
        assert secret not in answer.text
        assert other not in answer.text


def test_database_has_a_hash_of_the_secret(ada, database, endpoint):
    secret = secret_of(create(ada, endpoint, "ci"))
    conn = database.connect()
    with conn.cursor() as cursor:
        for table in ("signal_endpoint_tokens", "events"):
            cursor.execute(f"SELECT string_agg(t::text, ' ') FROM {table} t")
            text = cursor.fetchone()[0]
            assert secret not in text
            assert secret.encode().hex() not in text
            assert secret[12:] not in text
    conn.close()


def test_repeated_form_creates_one_token_and_shows_no_secret(ada, read_api, endpoint):
    """The browser repeats the form when the page with the secret is reloaded."""
    first = secret_of(create(ada, endpoint, "ci"))
    fields = {"csrf": ada.csrf, "name": "ci"}
    page = ada.post(f"/admin/signals/{endpoint['id']}/tokens", fields, status=409)
    assert find_error(page, "name") == "The name ci already exists."
    assert not SECRET.search(page.text)
    assert first not in page.text
    assert len(tokens(read_api)) == 1


def test_repeated_form_creates_one_endpoint(ada, read_api):
    create_with_endpoint(ada)
    page = create_with_endpoint(ada, status=409)
    assert find_error(page, "name") == "The name builds already exists."
    assert len(read_api("signal-endpoints")["signalEndpoints"]) == 1
    assert len(tokens(read_api)) == 1


@pytest.mark.parametrize("name", ["", "   ", "n" * 101])
def test_invalid_token_name_creates_neither_token_nor_endpoint(ada, read_state, name):
    before = read_state()
    page = create_with_endpoint(ada, token_name=name, status=400)
    assert "1 to 100 characters" in find_error(page, "token_name")
    form = form_to(page, "/admin/signals/new")
    assert (form["name"].value, form["token"].value) == ("builds", "now")
    assert form["token_name"].value.strip() == name.strip()
    assert read_state() == before


@pytest.mark.parametrize(("name", "status"), [("", 400), ("n" * 101, 400), ("ci", 409)])
def test_invalid_name_of_another_token_is_an_error_and_stays(
    ada, read_state, endpoint, token, name, status
):
    before = read_state()
    page = create(ada, endpoint, name, status=status)
    assert find_error(page, "name")
    assert heading(page) == "deploys"
    assert form_to(page, f"/admin/signals/{endpoint['id']}/tokens")["name"].value == name
    assert read_state() == before


def test_limit_of_tokens_is_on_the_page_and_in_the_error(ada, make, read_state, endpoint):
    for n in range(5):
        make.token(endpoint, f"t{n}")
    path = f"/admin/signals/{endpoint['id']}/tokens"
    page = ada.get(path)
    assert "5 of 5" in page.text
    assert "Delete one to create another" in page.text
    assert not page.html.find("form", action=path)
    before = read_state()
    fields = {"csrf": ada.csrf, "name": "sixth"}
    page = ada.post(path, fields, status=400)
    assert "can't be more than 5 tokens of a signal endpoint" in alert(page)
    assert read_state() == before


def test_links_of_the_limit_error_lead_to_elements(ada, make, endpoint):
    for n in range(5):
        make.token(endpoint, f"t{n}")
    fields = {"csrf": ada.csrf, "name": "sixth"}
    page = ada.post(f"/admin/signals/{endpoint['id']}/tokens", fields, status=400)
    for link in page.html.find(role="alert").find_all("a"):
        assert page.html.find(id=link["href"].removeprefix("#")), link


def test_tokens_show_their_last_signal(ada, make, endpoint, token, send):
    make.token(endpoint, "unused")
    signal = send(endpoint, token, {})
    page = ada.get(f"/admin/signals/{endpoint['id']}/tokens")
    terms = read_table(page, "signal-tokens")
    assert terms["ci"]["Last signal"].time["datetime"] == signal["createdAt"]
    assert terms["unused"]["Last signal"].get_text(strip=True) == "never"
    assert terms["ci"]["Token"].bdi.get_text() == token["secretPrefix"] + "…"
    assert terms["ci"]["Created"].time["datetime"] == token["createdAt"]


def test_renamed_token_still_works(ada, endpoint, token, send, read_api):
    path = f"/admin/signals/{endpoint['id']}/tokens/{token['id']}"
    form = form_to(ada.get(path), path)
    form["name"] = "jenkins"
    page = form.submit(status=303).follow()
    assert notice(page) == "Token saved."
    assert [t["name"] for t in tokens(read_api)] == ["jenkins"]
    event = read_api("events")["events"][0]
    assert event["type"] == "signal-endpoint-token-updated"
    assert (event["preData"]["name"], event["data"]["name"]) == ("ci", "jenkins")
    send(endpoint, token, {})


@pytest.mark.parametrize(("name", "status"), [("", 400), ("n" * 101, 400), ("other", 409)])
def test_invalid_new_name_of_a_token_is_an_error_and_stays(
    ada, make, read_state, endpoint, token, name, status
):
    make.token(endpoint, "other")
    before = read_state()
    path = f"/admin/signals/{endpoint['id']}/tokens/{token['id']}"
    form = form_to(ada.get(path), path)
    form["name"] = name
    page = form.submit(status=status)
    assert read_state() == before
    assert heading(page) == "Token ci"
    assert form_to(page, path)["name"].value == name
    assert find_error(page, "name")


def test_delete_page_names_the_consequences(ada, endpoint, token):
    page = ada.get(f"/admin/signals/{endpoint['id']}/tokens/{token['id']}/delete")
    assert heading(page) == "Delete token ci of deploys?"
    text = page.html.find("main").get_text(" ", strip=True)
    assert "deploys" in text
    assert "can't be undone" in text
    cancel = page.html.find("a", string="Cancel")["href"]
    assert cancel == f"/admin/signals/{endpoint['id']}/tokens"


def test_deleted_token_is_rejected_and_its_signals_stay(
    ada, web, clock, endpoint, token, send, read_api
):
    send(endpoint, token, {"n": 1})
    path = f"/admin/signals/{endpoint['id']}/tokens/{token['id']}/delete"
    page = form_to(ada.get(path), path).submit(status=303).follow()
    assert "Token deleted" in notice(page)
    assert tokens(read_api) == []
    clock.advance(1)
    headers = {"Authorization": token["token"]}
    web.post("/api/signal-endpoint/deploys", headers=headers, status=401)
    assert [signal["payload"] for signal in read_api("signals")["signals"]] == [{"n": 1}]
    log = ada.get(f"/admin/signals/{endpoint['id']}/log")
    assert "deleted token" in log.text
    assert read_api("events")["events"][0]["type"] == "signal-endpoint-token-deleted"
