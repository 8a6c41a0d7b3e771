"""The forms of tokens with a signature, an expiry or addresses, and of replaced secrets."""

from __future__ import annotations

import hashlib
import hmac
from datetime import timedelta

import pytest

from sigservice.routes.pages.signals.signal_token_form import INSTRUCTIONS, KINDS
from tests.conftest import ADMIN
from tests.pages.accessibility import RULES
from tests.pages.page_reader import (
    alert,
    find_error,
    follow,
    form_to,
    notice,
    read_table,
    sign_in,
)
from tests.table_tests import each

SENDERS_OWN = {"slack", "sentry", "pagerduty", "stripe"}
TOPIC = "arn:aws:sns:eu-west-1:123456789012:alerts"
DATE_TIME = "%Y-%m-%dT%H:%M"


@pytest.fixture
def base(endpoint):
    return f"/admin/signals/{endpoint['id']}"


def open_form(person, base, kind, name="sender"):
    """The form of a new token, reached through the choice of its kind."""
    choice = follow(
        person.get(f"{base}/tokens"), "Create a token with a signature, an expiry or addresses"
    )
    form = form_to(choice, f"{base}/tokens/new")
    form["kind"] = kind
    form = form_to(form.submit(), f"{base}/tokens/new")
    form["name"] = name
    return form


def read_tokens(web, endpoint):
    path = f"/api/admin/signal-endpoints/{endpoint['id']}/tokens"
    return web.get(path, headers=ADMIN).json["signalEndpointTokens"]


def read_row(page, name):
    """{column: text} of a token on the page of its endpoint, and its badges."""
    cells = read_table(page, "signal-tokens")[name]
    texts = {label: " ".join(cell.get_text().split()) for label, cell in cells.items()}
    return texts | {"badges": [badge.get_text() for badge in cells["Name"](class_="tag")]}


def check_accessibility(page):
    faults = [(name, fault) for name, rule in RULES.items() for fault in rule(page.html)]
    assert not faults


@each("kind", KINDS)
def test_each_kind_of_token_has_a_form_that_creates_it(ada, web, endpoint, base, kind):
    form = open_form(ada, base, kind)
    if kind in SENDERS_OWN:
        form["secret"] = "secret-of-the-sender"
    if kind == "aws-sns":
        form["signature.topics"] = TOPIC
    if kind == "generic":
        form["signature.header"], form["signature.prefix"] = "X-Sig", "v1="
    page = form.submit(status=303).follow()
    assert notice(page) == "Token sender created."
    assert page.headers["Cache-Control"] == "no-store"
    check_accessibility(page)
    (token,) = read_tokens(web, endpoint)
    assert token.get("signature", {"scheme": "bearer"})["scheme"] == kind
    assert (INSTRUCTIONS.get(kind, "Authorization: Bearer")) in page.text
    has_secret = page.html.find(id="secret") is not None
    assert has_secret == (kind not in {*SENDERS_OWN, "aws-sns"})
    assert "secret-of-the-sender" not in page.text
    edit = follow(ada.get(f"{base}/tokens"), "Edit token sender")
    check_accessibility(edit)
    form_to(edit, f"{base}/tokens/{token['id']}").submit(status=303)
    (after,) = read_tokens(web, endpoint)
    assert after == token
    web.delete(f"/api/admin/signal-endpoints/{endpoint['id']}/tokens/{token['id']}", headers=ADMIN)


@each("kind", KINDS)
def test_each_form_is_accessible(ada, base, kind):
    check_accessibility(ada.get(f"{base}/tokens/new?kind={kind}"))


def test_an_unknown_kind_leads_to_the_choice(ada, base):
    page = ada.get(f"{base}/tokens/new?kind=jwt")
    assert page.html.find("select", id="kind")
    fields = {"csrf": ada.csrf, "signature.scheme": "jwt", "name": "x"}
    page = ada.post(f"{base}/tokens/new", fields, status=400)
    assert "jwt" in alert(page)
    assert page.html.find("select", id="kind")


def test_a_secret_of_the_form_verifies_signatures(ada, web, base):
    page = open_form(ada, base, "github").submit().follow()
    secret = page.html.find(id="secret").get_text()
    digest = hmac.new(secret.encode(), b"{}", hashlib.sha256).hexdigest()
    headers = {"X-Hub-Signature-256": f"sha256={digest}"}
    web.post_json("/api/signal-endpoint/deploys", {}, headers=headers)


@pytest.mark.parametrize(
    ("kind", "fields", "path"),
    [
        ("bearer", {"name": ""}, "name"),
        ("bearer", {"name": "ci"}, "name"),
        ("bearer", {"expiresAt": "2020-01-01T00:00"}, "expiresAt"),
        ("bearer", {"expiresAt": "soon"}, "expiresAt"),
        ("bearer", {"allowedAddresses": "10.0.0.0/8\r\n\r\n10.0.0.1/8"}, "allowedAddresses"),
        ("bearer", {"allowedAddresses": "10.0.0.1\n" * 51}, "allowedAddresses"),
        ("slack", {}, "secret"),
        ("github", {"secret": "short"}, "secret"),
        ("gitlab", {"secret": "not in base64!"}, "secret"),
        ("gitlab", {"signature.toleranceSeconds": "a minute"}, "signature.toleranceSeconds"),
        ("gitlab", {"signature.toleranceSeconds": "999999999"}, "signature.toleranceSeconds"),
        ("generic", {}, "signature.header"),
        ("generic", {"signature.header": "X Sig"}, "signature.header"),
        (
            "generic",
            {"signature.header": "X-Sig", "signature.content": "{id}{body}"},
            "signature.content",
        ),
        (
            "generic",
            {"signature.header": "X-Sig", "signature.timestampHeader": "X-Time"},
            "signature.content",
        ),
        ("aws-sns", {}, "signature.topics"),
        ("aws-sns", {"signature.topics": f"{TOPIC}\n<b>alerts"}, "signature.topics"),
    ],
)
def test_errors_are_beside_their_fields_and_the_input_stays(
    ada, read_state, base, token, kind, fields, path
):
    before = read_state()
    form = open_form(ada, base, kind)
    values = {"name": "sender"} | fields
    for name, text in values.items():
        form[name] = text
    page = form.submit(status=409 if values["name"] == "ci" else 400)
    assert find_error(page, path)
    form = form_to(page, f"{base}/tokens/new")
    for name, text in values.items():
        expected = "" if name == "secret" else text.strip().replace("\r\n", "\n")
        assert form[name].value.replace("\r\n", "\n").strip() == expected
    assert read_state() == before


def test_the_error_of_a_line_names_it(ada, base):
    form = open_form(ada, base, "bearer")
    form["allowedAddresses"] = "10.0.0.0/8\n\n10.0.0.1/8"
    page = form.submit(status=400)
    assert find_error(page, "allowedAddresses").startswith("Line 2: This is not an IP address")


def test_forged_settings_are_400(ada, read_state, base):
    before = read_state()
    fields = {
        "csrf": ada.csrf,
        "signature.scheme": "generic",
        "name": "x",
        "signature.header": "X-Sig",
    }
    page = ada.post(f"{base}/tokens/new", fields | {"signature.algorithm": "md5"}, status=400)
    assert "md5" in alert(page)
    assert read_state() == before


def test_the_limit_of_tokens_is_on_the_form(ada, make, endpoint, base):
    for n in range(5):
        make.token(endpoint, f"t{n}")
    fields = {"csrf": ada.csrf, "name": "sixth"}
    page = ada.post(f"{base}/tokens/new", fields, status=400)
    assert "can't be more than 5 tokens of a signal endpoint" in alert(page)


def test_expiry_and_addresses_are_on_the_page(ada, clock, base):
    at = clock.now() + timedelta(days=3, minutes=1)
    form = open_form(ada, base, "bearer")
    form["expiresAt"] = at.strftime(DATE_TIME)
    form["allowedAddresses"] = "10.0.0.0/8\n2001:db8::1"
    form.submit()
    page = ada.get(f"{base}/tokens")
    card = read_row(page, "sender")
    assert "Bearer token" in card["Name"]
    assert card["Expires"] == "in 3 d"
    assert at.strftime('title="%-d %b %Y, %H:%M:00 UTC"') in page.text
    assert card["Addresses"] == "10.0.0.0/8, 2001:db8::1"
    assert card["badges"] == ["expires in 3 days"]
    clock.advance(3 * 86_400 - 3600)
    sign_in(ada)
    assert read_row(ada.get(f"{base}/tokens"), "sender")["badges"][0].startswith("expires in")
    clock.advance(2 * 3600)
    assert read_row(ada.get(f"{base}/tokens"), "sender")["badges"] == ["expired"]


def test_an_unchanged_form_keeps_the_seconds_of_the_expiry(ada, web, endpoint, base):
    path = f"/api/admin/signal-endpoints/{endpoint['id']}/tokens"
    body = {"name": "ci", "expiresAt": "2999-01-02T03:04:05Z"}
    id = web.post_json(path, body, headers=ADMIN).json["id"]
    form = form_to(ada.get(f"{base}/tokens/{id}"), f"{base}/tokens/{id}")
    assert form["expiresAt"].value == "2999-01-02T03:04"
    form["name"] = "renamed"
    form.submit(status=303)
    (token,) = read_tokens(web, endpoint)
    assert (token["name"], token["expiresAt"]) == ("renamed", "2999-01-02T03:04:05.000Z")


def test_restrictions_can_be_removed(ada, web, endpoint, base):
    form = open_form(ada, base, "bearer")
    form["expiresAt"], form["allowedAddresses"] = "2999-01-01T00:00", "10.0.0.1"
    form.submit()
    (token,) = read_tokens(web, endpoint)
    path = f"{base}/tokens/{token['id']}"
    form = form_to(ada.get(path), path)
    form["expiresAt"] = form["allowedAddresses"] = ""
    assert notice(form.submit(status=303).follow()) == "Token saved."
    (token,) = read_tokens(web, endpoint)
    assert (token["expiresAt"], token["allowedAddresses"]) == (None, [])


def test_use_and_disuse_are_on_the_page(ada, rows, clock, base, token):
    assert read_row(ada.get(f"{base}/tokens"), "ci")["Last used"] == "never"
    statement = "INSERT INTO signal_token_uses VALUES (%s, %s, '10.0.0.1', 7)"
    rows(statement, token["id"], clock.now())
    card = read_row(ada.get(f"{base}/tokens"), "ci")
    assert card["Last used"].endswith("just now from 10.0.0.1, 7 times in total")
    assert card["badges"] == []
    clock.advance(30 * 86_400 + 3600)  # the database has a clock of its own
    sign_in(ada)
    assert read_row(ada.get(f"{base}/tokens"), "ci")["badges"] == ["unused for 30 days"]


def rotate(person, base, token, **fields):
    page = follow(person.get(f"{base}/tokens"), "Replace secret of token ci")
    check_accessibility(page)
    form = form_to(page, f"{base}/tokens/{token['id']}/rotate")
    for name, text in fields.items():
        form[name] = text
    return form.submit(status="*").maybe_follow()


def test_a_replaced_secret_is_shown_once_and_the_grace_period_on_the_page(
    ada, web, clock, base, token
):
    page = rotate(ada, base, token, graceHours="2")
    assert notice(page) == "Secret of ci replaced."
    assert "previous secret ends" in page.text
    assert page.headers["Cache-Control"] == "no-store"
    secret = page.html.find(id="secret").get_text()
    assert secret != token["token"]
    page = ada.get(f"{base}/tokens")
    assert secret not in page.text
    path = f"{base}/tokens/{token['id']}/previous-secret/delete"
    assert "The previous secret ends" in page.text
    page = form_to(page, path).submit(status=303).follow()
    assert "grace period has ended" in notice(page)
    assert "The previous secret ends" not in page.text
    url = "/api/signal-endpoint/deploys"
    web.post(url, headers={"Authorization": token["token"]}, status=401)
    web.post(url, headers={"Authorization": secret})


def test_without_a_grace_period_the_page_mentions_none(ada, base, token):
    page = rotate(ada, base, token, graceHours="0")
    assert "previous secret is valid" not in page.text
    assert "previous secret is valid" not in ada.get(f"{base}/tokens").text


@each("hours", ["", "-1", "1.5", "721", "9" * 30, "²"])
def test_an_invalid_grace_period_is_an_error_and_replaces_nothing(
    ada, read_state, base, token, hours
):
    before = read_state()
    page = rotate(ada, base, token, graceHours=hours)
    assert page.status_int == 400
    assert find_error(page, "graceHours")
    assert read_state() == before


def test_the_next_secret_of_the_sender_is_not_shown(ada, base):
    form = open_form(ada, base, "slack", "ci")
    form["secret"] = "secret-of-the-sender"
    form.submit()
    page = follow(ada.get(f"{base}/tokens"), "Replace secret of token ci")
    form = next(form for form in page.forms.values() if form.action.endswith("/rotate"))
    assert find_error(form.submit(status=400), "secret") == "Enter the secret of the sender."
    form["secret"] = "next-secret-of-the-sender"
    page = form.submit(status=303).follow()
    assert notice(page) == "Secret of ci replaced."
    assert "next-secret" not in page.text
