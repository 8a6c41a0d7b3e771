"""An upstream that misbehaves never replaces flags, and an SDK never waits for it."""

from __future__ import annotations

import gzip
import json

import pytest

from sigservice.relay.upstream import MAX_BYTES
from tests.relay.conftest import CLIENT, FRONTEND
from tests.waiting import until

FEATURE = {"name": "two", "enabled": True, "strategies": []}


def document(**members):
    return json.dumps({"version": 2, "features": [FEATURE], **members}).encode()


UNUSABLE = {
    "HTML with 200": (200, {}, b"<html>Maintenance</html>"),
    "empty": (200, {}, b""),
    "204": (204, {}, b""),
    "redirect": (302, {"Location": "/elsewhere"}, document()),
    "500": (500, {}, document()),
    "429": (429, {"Retry-After": "7"}, document()),
    "another form": (200, {}, b'{"features": {"two": true}}'),
    "list": (200, {}, b"[]"),
    "null": (200, {}, b"null"),
    "without a name": (200, {}, document(features=[{"enabled": True, "strategies": []}])),
    "twice": (200, {}, document(features=[FEATURE, FEATURE])),
    "text as enabled": (200, {}, document(features=[FEATURE | {"enabled": "yes"}])),
    "without strategies": (200, {}, document(features=[FEATURE | {"strategies": None}])),
    "segment without constraints": (200, {}, document(segments=[{"id": 1}])),
    "segment with a text as ID": (200, {}, document(segments=[{"id": "1", "constraints": []}])),
    "shorter than promised": (200, {"Content-Length": "9999"}, document()),
    "cut gzip": (200, {"Content-Encoding": "gzip"}, gzip.compress(document())[:-5]),
    "another encoding": (200, {"Content-Encoding": "br"}, document()),
    "gzip that grows": (
        200,
        {"Content-Encoding": "gzip"},
        gzip.compress(b" " * (MAX_BYTES + 1) + document(), 1),
    ),
    "50 MB": (200, {}, b" " * 50_000_000 + document()),
    "not UTF-8": (200, {}, document().replace(b"two", b"tw\xff")),
    "deep": (200, {}, document(x=0).replace(b"0", b"[" * 5000 + b"]" * 5000)),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_an_unusable_answer_never_replaces_flags(fake, make_relay, name):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    fake.flags = lambda: UNUSABLE[name]
    (source,) = relay.context.sources.list_all()
    before = source.contact_at
    relay.read_all_again()
    assert relay.list_toggles() == {"one"}
    assert source.contact_at == before
    fake.names, fake.flags = ["three"], fake.write_flags
    relay.read_all_again()
    assert relay.list_toggles() == {"three"}


def test_an_empty_list_of_flags_is_used(fake, make_relay):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    fake.names = []
    relay.read_all_again()
    assert relay.list_toggles() == set()


def test_members_and_numbers_are_passed_on_as_they_are(fake, make_relay):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    text = (
        b'{"features": [\n {"name": "two", "enabled": true, "strategies": [],'
        b' "new": {"n": 1.50, "m": 1e3}}]}'
    )
    fake.flags = lambda: (200, {}, text)
    relay.read_all_again()
    answer = relay.get("/api/client/features/two", CLIENT)
    assert answer[0] == 200
    assert answer[2]["new"] == {"n": 1.50, "m": 1e3}


def test_a_compressed_answer_is_used(fake, make_relay):
    fake.flags = lambda: (200, {"Content-Encoding": "gzip"}, gzip.compress(document()))
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    assert relay.list_toggles() == {"two"}
    assert relay.context.sources.list_all()[0].failures == 0


def test_equal_content_is_no_change(fake, make_relay):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    etag = relay.get("/api/client/features", CLIENT)[1]["etag"]
    fake.flags = lambda: (200, {"ETag": '"other"'}, fake.write_flags()[2].replace(b", ", b" ,  "))
    relay.read_all_again()
    assert relay.get("/api/client/features", CLIENT, If_None_Match=etag)[0] == 304


def test_the_etag_of_the_upstream_is_sent_back(fake, make_relay):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    fake.flags = lambda: (304, {}, b"")
    relay.read_all_again()
    path, headers = fake.requests[-1]
    assert (path, headers["If-None-Match"]) == ("/api/client/features", '"e"')
    assert (headers["Authorization"], headers["Unleash-Client-Spec"]) == (CLIENT, "5.2.0")
    assert relay.list_toggles() == {"one"}


def test_a_flag_that_cannot_be_evaluated_is_off_and_goes_to_server_sdks(fake, make_relay):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    strategy = {"name": "default", "constraints": 5}
    broken = FEATURE | {"name": "broken", "strategies": [strategy]}
    uses_broken = FEATURE | {"name": "uses", "strategies": [{"name": "default", "segments": [1]}]}
    lacks = FEATURE | {"name": "lacks", "strategies": [{"name": "default", "segments": [9]}]}
    fake.flags = lambda: (
        200,
        {},
        document(
            features=[FEATURE, broken, uses_broken, lacks],
            segments=[{"id": 1, "constraints": [7]}],
        ),
    )
    relay.read_all_again()
    assert relay.list_toggles() == {"two"}
    status, _, answer = relay.get("/api/client/features", CLIENT, Unleash_Client_Spec="5.2.0")
    assert status == 200
    assert [it["strategies"] for it in answer["features"] if it["name"] == "broken"] == [[strategy]]
    assert relay.get("/api/client/features", CLIENT)[0] == 200  # with constraints of segments


def test_a_start_without_an_upstream_is_503_until_it_answers(fake, make_relay):
    port = fake.port
    fake.stop()
    relay = make_relay(f"http://127.0.0.1:{port}")
    assert relay.get("/health")[2] == {"health": "GOOD", "upstream": "never"}
    assert relay.get("/ready")[0] == 503
    assert relay.get("/internal-backstage/ready")[2] == {"status": "NOT_READY"}
    status, headers, _ = relay.get("/api/client/features", CLIENT)
    assert (status, headers["retry-after"]) == (503, "5")
    fake.start()
    relay.wait_until_ready()
    assert relay.list_toggles() == {"one"}


def test_known_tokens_are_served_while_the_upstream_is_away(fake, make_relay):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    assert relay.list_toggles() == {"one"}
    fake.stop()
    relay.read_all_again()
    relay.context.tokens.run_once()
    assert relay.list_toggles() == {"one"}
    assert relay.get("/ready")[0] == 200
    assert relay.get("/api/frontend", "*:development.unknown")[0] == 503
    fake.names = ["three"]
    fake.start()
    relay.read_all_again()
    assert relay.list_toggles() == {"three"}


def test_contact_is_lost_after_three_intervals(fake, make_relay):
    relay = make_relay(fake.url, RELAY_REFRESH_INTERVAL_SECONDS="3600")
    relay.wait_until_ready()
    assert relay.get("/health")[2]["upstream"] == "connected"
    (source,) = relay.context.sources.list_all()
    source.contact_at -= 3 * 3600
    assert relay.get("/health")[2]["upstream"] == "lost"
    assert relay.get("/ready")[0] == 200


def test_polls_dont_wait_for_an_upstream_that_hangs(fake, make_relay):
    relay = make_relay(fake.url, RELAY_REFRESH_INTERVAL_SECONDS="1")
    relay.wait_until_ready()
    before = len(fake.requests)
    fake.flags = lambda: None
    until(lambda: len(fake.requests) > before, "a poll hangs")
    assert relay.get("/api/client/features", CLIENT)[0] == 200
    assert not fake.released.is_set()


def test_after_failures_the_relay_waits_longer_and_at_least_retry_after(fake, make_relay):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    (source,) = relay.context.sources.list_all()
    source.ended.set()  # so that its thread doesn't count too
    fake.flags = lambda: (503, {}, b"")
    pauses = [relay.context.sources.read(source) for _ in range(8)]
    assert all(0.5 * 2**n <= pause <= 2**n for n, pause in enumerate(pauses[:5]))
    assert all(15 <= pause <= 30 for pause in pauses[5:])
    fake.flags = lambda: (429, {"Retry-After": "77"}, b"")
    assert relay.context.sources.read(source) == 77
    fake.flags = fake.write_flags
    assert 13.5 <= relay.context.sources.read(source) <= 16.5


def test_a_stop_does_not_wait_for_an_upstream_that_hangs(fake, make_relay):
    fake.flags = lambda: None
    relay = make_relay(fake.url)
    until(lambda: fake.requests, "a poll hangs")
    relay.relay.stop()
    assert not fake.released.is_set()
    assert relay.context.draining.is_set()


def test_frontend_answers_have_no_strategies(fake, make_relay):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    answer = relay.get("/api/frontend", FRONTEND)[2]
    assert set(answer["toggles"][0]) == {"name", "enabled", "variant", "impressionData"}
