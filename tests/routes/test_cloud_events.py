"""CloudEvents in the binary mode, and the handshake of their senders."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN

URL = "/api/signal-endpoint/deploys"
EVENT = {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "/shop", "ce-type": "deploy"}
ORIGIN = {"WebHook-Request-Origin": "eventgrid.azure.net"}


@pytest.fixture
def endpoint(make):
    return make.endpoint()


@pytest.fixture
def send_subject(web, make, endpoint):
    """Sends an event whose header `ce-subject` is this text; returns what is stored."""
    headers = {"Authorization": f"Bearer {make.token(endpoint)['token']}"} | EVENT

    def send(text, status=200):
        answer = web.post(URL, headers=headers | {"ce-subject": text}, status=status)
        return answer.json["signals"][0]["payload"]["subject"] if status == 200 else answer.json

    return send


@pytest.mark.parametrize(
    ("header", "subject"),
    [
        ("a b", "a b"),
        ("Euro%20%E2%82%AC", "Euro €"),
        ("100%2525", "100%25"),  # one round
        ('"a b"', "a b"),
        (r'"say \"hi\" \\ %41"', r'say "hi" \ A'),
        ("%22a%22", '"a"'),
        ('a "b"', 'a "b"'),
        ('"a" "b"', '"a" "b"'),
        ('"', '"'),
        ("50%", "50%"),
        ("Stra\xc3\x9fe", "Straße"),  # UTF-8 that a sender didn't encode
    ],
)
def test_a_header_is_unquoted_and_then_decoded_once(send_subject, header, subject):
    assert send_subject(header) == subject


@pytest.mark.parametrize("header", ["%FF", "a\xe4", "%00", '"%00"'])
def test_a_header_that_is_not_utf8_is_400(send_subject, header):
    assert "subject" in send_subject(header, 400)["message"]


def test_data_is_json_if_each_of_its_types_is(web, make, endpoint):
    headers = {"Authorization": f"Bearer {make.token(endpoint)['token']}"} | EVENT
    headers |= {"Content-Type": "application/json; charset=utf-8, application/json"}
    (signal,) = web.post(URL, '{"a": 1}', headers=headers).json["signals"]
    assert signal["payload"]["data"] == {"a": 1}


def ask(web, name="deploys", headers=ORIGIN, status=200):
    return web.options(f"/api/signal-endpoint/{name}", headers=headers, status=status)


def test_the_handshake_of_an_endpoint_allows_the_origin(web, endpoint):
    answer = ask(web)
    names = ("Allow", "WebHook-Allowed-Origin", "WebHook-Allowed-Rate")
    assert [answer.headers[name] for name in names] == ["POST", "eventgrid.azure.net", "60"]


def test_the_handshake_says_the_rate_of_the_endpoint(web, endpoint):
    body = {"name": "deploys", "options": {"rateLimit": {"perSecond": 10}}}
    web.put_json(f"/api/admin/signal-endpoints/{endpoint['id']}", body, headers=ADMIN)
    assert ask(web).headers["WebHook-Allowed-Rate"] == "600"


def test_an_option_request_without_an_origin_is_405(web, endpoint):
    assert ask(web, headers={}, status=405).headers["Allow"] == "POST"


def test_an_origin_that_is_no_name_is_400(web, endpoint):
    ask(web, headers={"WebHook-Request-Origin": "a, b"}, status=400)


def test_trying_names_of_endpoints_is_limited(web, endpoint):
    statuses = [ask(web, f"name-{n}", status="*").status_int for n in range(61)]
    assert statuses == [401] * 60 + [429]
    ask(web, status=429)


def test_a_deleted_endpoint_allows_no_origin(web, endpoint):
    web.delete(f"/api/admin/signal-endpoints/{endpoint['id']}", headers=ADMIN)
    ask(web, status=401)
