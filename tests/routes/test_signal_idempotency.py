"""Repeated deliveries: a key identifies a signal within its endpoint and window."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from tests.conftest import ADMIN
from tests.routes.kit import Admin

URL = "/api/signal-endpoint/deploys"
KEY = {"Idempotency-Key": "delivery-1"}
KEY_HEADERS = ["Idempotency-Key", "webhook-id", "X-GitHub-Delivery"]
BAD_KEYS = ["x" * 256, "caf\xe9", "a\tb"]


@pytest.fixture
def send(web, make):
    """Posts JSON to the endpoint with its token; `options` are the endpoint's."""
    endpoint = make.endpoint(options={"rateLimit": {"perSecond": 1000, "burst": 1000}})
    auth = {"Authorization": f"Bearer {make.token(endpoint)['token']}"}

    def post(payload, headers=KEY, status=200):
        return web.post_json(URL, payload, headers=auth | headers, status=status)

    def set_options(**options):
        rate = {"rateLimit": {"perSecond": 1000, "burst": 1000}}
        body = {"name": "deploys", "options": rate | {"idempotency": options}}
        path = f"/api/admin/signal-endpoints/{endpoint['id']}"
        web.put_json(path, body, headers=ADMIN)

    post.set_options, post.endpoint, post.auth = set_options, endpoint, auth
    return post


def id_of(answer):
    (signal,) = answer.json["signals"]
    return signal["id"]


def is_replayed(answer):
    return answer.headers.get("Idempotency-Replayed") == "true"


@pytest.mark.parametrize("header", KEY_HEADERS)
def test_a_repeat_returns_the_first_signal(send, header):
    first = send({"n": 1}, {header: "k"})
    repeat = send({"n": 1}, {header: "k"})
    assert repeat.json == first.json
    assert (is_replayed(first), is_replayed(repeat)) == (False, True)


def test_the_id_of_svix_is_that_of_standard_webhooks(send):
    first = send({"n": 1}, {"svix-id": "msg_1"})
    repeats = [send({"n": 1}, {name: "msg_1"}) for name in ("svix-id", "webhook-id")]
    assert [(is_replayed(r), r.json) for r in repeats] == [(True, first.json)] * 2


def test_signals_without_a_key_are_all_stored(send):
    assert id_of(send({"n": 1}, {})) != id_of(send({"n": 1}, {}))


def test_an_empty_key_is_none(send):
    empty = {"Idempotency-Key": " "}
    assert id_of(send({}, empty)) != id_of(send({}, empty))


def test_other_keys_and_other_headers_are_other_signals(send):
    answers = [send({}, {name: text}) for name in KEY_HEADERS for text in ("a", "b")]
    assert len({id_of(answer) for answer in answers}) == 6


def test_the_key_belongs_to_its_endpoint(send, web, make):
    other = make.endpoint(name="other")
    auth = {"Authorization": make.token(other)["token"]}
    first = send({"n": 1})
    second = web.post_json("/api/signal-endpoint/other", {"n": 1}, headers=auth | KEY)
    assert id_of(first) != id_of(second)


def test_another_body_is_a_conflict(send):
    first = send({"n": 1})
    error = send({"n": 2}, status=409).json
    assert error["name"] == "ConflictError"
    assert str(id_of(first)) in error["message"]


def test_another_body_can_be_accepted(send):
    send.set_options(differentBody="accept")
    first = send({"n": 1})
    assert send({"n": 2}).json == first.json


def test_another_body_does_not_show_the_payload_of_another_token(send, web, make):
    send.set_options(differentBody="accept")
    first = send({"n": 1})
    other = {"Authorization": make.token(send.endpoint, name="other")["token"]}
    (signal,) = web.post_json(URL, {"n": 2}, headers=other | KEY).json["signals"]
    assert (signal["id"], signal["payload"]) == (id_of(first), None)
    (signal,) = web.post_json(URL, {"n": 1}, headers=other | KEY).json["signals"]
    assert signal["payload"] == {"n": 1}


@pytest.mark.parametrize("key", BAD_KEYS, ids=["long", "not ASCII", "control character"])
def test_an_invalid_key_is_400(send, key):
    error = send({}, {"Idempotency-Key": key}, status=400).json
    assert error["details"][0]["path"] == "idempotency-key"


def test_the_key_can_come_from_the_payload(send):
    send.set_options(paths=["source", "event.id"])
    first = send({"source": "a", "event": {"id": 7}}, {})
    assert id_of(send({"source": "a", "event": {"id": 7}}, {})) == id_of(first)
    assert id_of(send({"source": "a", "event": {"id": 8}}, {})) != id_of(first)
    assert id_of(send({"source": "b", "event": {"id": 7}}, {})) != id_of(first)


def test_values_of_several_paths_do_not_run_together(send):
    send.set_options(paths=["a", "b"])
    assert id_of(send({"a": "x", "b": "yz"}, {})) != id_of(send({"a": "xy", "b": "z"}, {}))


def test_the_same_value_at_another_path_is_another_key(send):
    send.set_options(paths=["id"])
    first = send({"id": 5, "number": 7}, {})
    send.set_options(paths=["number"])
    send({}, {})  # the service knows the new paths
    assert id_of(send({"id": 6, "number": 5}, {})) != id_of(first)


def test_new_paths_apply_to_the_next_signal(send):
    send({}, {})  # the service knows the options
    send.set_options(paths=["id"])
    first = send({"id": 1}, {})
    assert id_of(send({"id": 1}, {})) == id_of(first)


@pytest.mark.parametrize("payload", [{}, {"id": None}, {"id": {}}, {"id": [1]}, [], "id", 1])
def test_a_payload_without_the_value_has_no_key(send, payload):
    send.set_options(paths=["id"])
    assert id_of(send(payload, {})) != id_of(send(payload, {}))


def test_the_paths_come_before_the_headers(send):
    send.set_options(paths=["id"])
    assert id_of(send({"id": 1})) != id_of(send({"id": 2}))


def test_after_the_window_the_key_is_free(send, service):
    send.set_options(windowHours=1)
    first = send({"n": 1})
    age_signals(service, timedelta(minutes=59))
    assert id_of(send({"n": 1})) == id_of(first)
    age_signals(service, timedelta(minutes=2))
    second = send({"n": 2})
    assert id_of(second) != id_of(first)
    assert id_of(send({"n": 2})) == id_of(second)


def age_signals(service, age):
    Admin(service).rows("UPDATE signals SET created_at = created_at - %s RETURNING id", age)


def test_the_key_of_a_deleted_signal_is_free(send, service):
    first = send({"n": 1})
    Admin(service).rows("DELETE FROM signals RETURNING id")
    assert id_of(send({"n": 1})) != id_of(first)


def test_twenty_repeats_at_once_are_one_signal(send, service):
    answers, together = [], threading.Barrier(20)

    def repeat():
        together.wait()
        answers.append(send({"n": 1}))

    threads = [threading.Thread(target=repeat) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id_of(answer) for answer in answers}) == 1
    assert sorted(map(is_replayed, answers)) == [False] + [True] * 19
    assert Admin(service).rows("SELECT count(*) FROM signals") == [(1,)]
