"""POST /api/signal-endpoint/<name>: every response."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.conftest import ADMIN

URL = "/api/signal-endpoint/deploys"


@pytest.fixture
def sender(web, make):
    """Posts bytes to the endpoint with its token; a second passes before each call."""
    endpoint = make.endpoint()
    token = make.token(endpoint)
    auth = {"Authorization": f"Bearer {token['token']}"}

    def post(data=b"", *, url=URL, status=200, headers=None, advance=1, **more):
        sender_clock.advance(advance)
        return web.post(url, data, headers=auth | (headers or {}), status=status, **more)

    sender_clock = make.clock
    post.endpoint, post.token, post.auth, post.web = endpoint, token, auth, web
    return post


@pytest.fixture
def make(make, clock):
    make.clock = clock
    return make


def list_signals(post):
    path = f"/api/admin/signal-endpoints/{post.endpoint['id']}/signals"
    return post.web.get(path, headers=ADMIN).json["signalEndpointSignals"]


def test_signal_is_stored_and_answered(sender):
    answer = sender(b'{"type": "deploy", "data": {"n": 1}}', content_type="application/json")
    (signal,) = answer.json["signals"]
    assert signal["source"] == "signal-endpoint"
    assert signal["sourceId"] == sender.endpoint["id"]
    assert signal["createdBySourceTokenId"] == sender.token["id"]
    assert signal["payload"] == {"type": "deploy", "data": {"n": 1}}
    assert [row["id"] for row in list_signals(sender)] == [signal["id"]]


def test_absent_body_is_an_empty_object(sender):
    assert sender().json["signals"][0]["payload"] == {}


@pytest.mark.parametrize("body", ["null", "0", "false", '""', "[1,[2]]", '"text"', "1.50", "[]"])
def test_any_json_value_is_accepted(sender, body):
    answer = sender(body.encode(), content_type="application/json")
    assert answer.json["signals"][0]["payload"] == json.loads(body)


def test_gzip_is_inflated(sender):
    answer = sender(
        gzip.compress(b'{"a": 1}'),
        headers={"Content-Encoding": "gzip"},
        content_type="application/json",
    )
    assert answer.json["signals"][0]["payload"] == {"a": 1}


@pytest.mark.parametrize(
    "authorization", ["signal_x", "Bearer signal_x", "bearer   signal_x", "Basic eDp5"]
)
def test_invalid_token_is_401_with_one_message(sender, authorization):
    unknown = sender(status=401, headers={"Authorization": authorization})
    elsewhere = sender(status=401, url="/api/signal-endpoint/nowhere")
    assert unknown.json["message"] == elsewhere.json["message"]
    assert unknown.json["name"] == "UnauthorizedError"
    assert "WWW-Authenticate" in unknown.headers
    assert list_signals(sender) == []


def test_no_token_is_401(web, make):
    make.endpoint()
    assert web.post(URL, status=401).json["name"] == "UnauthorizedError"


def test_bare_token_is_accepted(sender):
    sender(headers={"Authorization": sender.token["token"]})


def test_admin_token_is_no_signal_token(sender):
    sender(headers=ADMIN, status=401)


def test_disabled_endpoint_is_404_for_its_own_token_only(sender):
    off = f"/api/admin/signal-endpoints/{sender.endpoint['id']}/off"
    sender.web.post(off, headers=ADMIN)
    assert sender(status=404).json["name"] == "NotFoundError"
    sender(status=401, headers={"Authorization": "Bearer signal_x"})


def test_endpoint_that_was_disabled_and_then_deleted_is_401(sender):
    path = f"/api/admin/signal-endpoints/{sender.endpoint['id']}"
    sender.web.post(f"{path}/off", headers=ADMIN)
    sender(status=404)
    sender.web.delete(path, headers=ADMIN)
    sender(status=401)


def test_deleted_token_is_rejected_at_once(sender):
    sender()
    path = f"/api/admin/signal-endpoints/{sender.endpoint['id']}/tokens/{sender.token['id']}"
    sender.web.delete(path, headers=ADMIN)
    sender(status=401)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"tru",
        b"{'a':1}",
        b"[1,]",
        b"NaN",
        b"[Infinity]",
        b"-Infinity",
        b"1e999",
        b"01",
        b'"\\u0000"',
        b'{"\\u0000":1}',
        b'"\\ud800"',
        b'"\\udc00\\ud800"',
        b'"\xff"',
        b"\xff\xfe{}",
        b"\xef\xbb\xbf{}",
        b'"\x01"',
        b"1 2",
        b"1" * 5000,
        b"[" * 65 + b"]" * 65,
        b'{"a":' * 65 + b"1" + b"}" * 65,
        b"[" * 50_000,
        b"\x00",
    ],
)
def test_body_that_cannot_be_stored_is_400(sender, body):
    answer = sender(body, status=400, content_type="application/json")
    assert answer.json["name"] == "BadDataError"
    assert set(answer.json) == {"id", "name", "message", "details"}
    assert list_signals(sender) == []


def test_depth_64_is_accepted_and_brackets_in_strings_do_not_count(sender):
    sender(b"[" * 64 + b"]" * 64, content_type="application/json")
    sender(json.dumps("[" * 500).encode(), content_type="application/json")


def test_last_of_duplicate_keys_counts(sender):
    answer = sender(b'{"a": 1, "a": 2}', content_type="application/json")
    assert answer.json["signals"][0]["payload"] == {"a": 2}


def test_numbers_are_unchanged(sender):
    answer = sender(b"[12345678901234567890123, 0.1]", content_type="application/json")
    assert b"12345678901234567890123" in answer.body


@pytest.mark.parametrize(("size", "status"), [(102_400, 200), (102_401, 413)])
def test_limit_is_102400_bytes_inclusive(sender, size, status):
    body = b'"' + b"x" * (size - 2) + b'"'
    sender(body, status=status, content_type="application/json")


def test_gzip_bomb_is_413(sender):
    bomb = gzip.compress(b'"' + b"x" * 5_000_000 + b'"')
    sender(bomb, status=413, headers={"Content-Encoding": "gzip"}, content_type="application/json")


@pytest.mark.parametrize(
    "bad", [b"no gzip", gzip.compress(b"{}", mtime=0)[:-4], gzip.compress(b"{}", mtime=0) + b"x"]
)
def test_broken_gzip_is_400(sender, bad):
    sender(bad, status=400, headers={"Content-Encoding": "gzip"}, content_type="application/json")


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip"])
def test_other_encodings_are_415(sender, encoding):
    headers = {"Content-Encoding": encoding}
    sender(b"{}", status=415, headers=headers, content_type="application/json")


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/vnd.x+json", ""])
def test_json_types_are_accepted(sender, kind):
    sender(b"{}", content_type=kind)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "text/html+json"]
)
def test_other_types_are_415(sender, kind):
    assert sender(b"{}", status=415, content_type=kind).json["name"] == "ContentTypeError"


def test_invalid_body_with_an_invalid_token_is_401(sender):
    sender(
        b"{",
        status=401,
        headers={"Authorization": "Bearer signal_x"},
        content_type="application/json",
    )


def test_second_signal_within_a_second_is_429(sender):
    first = sender()
    assert first.headers["RateLimit-Limit"] == "1"
    assert first.headers["RateLimit-Remaining"] == "0"
    second = sender(status=429, advance=0)
    assert second.json["name"] == "RateLimitError"
    assert second.headers["Retry-After"] == "1"
    sender(advance=1)
    assert len(list_signals(sender)) == 2


def test_invalid_token_is_401_also_beyond_the_signal_limit(sender):
    for _ in range(3):
        sender(status=401, advance=0, headers={"Authorization": "Bearer signal_x"})


def test_signal_that_could_not_be_stored_does_not_count_for_the_limit(sender, service, monkeypatch):
    pool = service.context.database
    slots = [pool.autocommit() for _ in range(pool.max_size)]
    monkeypatch.setattr(pool, "_wait_seconds", 0.01)
    for slot in slots:
        slot.__enter__()
    assert sender(status=503).headers["Retry-After"] == "1"
    for slot in slots:
        slot.__exit__(None, None, None)
    sender(advance=0)


def test_each_token_has_its_own_limit(sender, make):
    other = make.token(sender.endpoint, "other")
    sender()
    sender(advance=0, headers={"Authorization": f"Bearer {other['token']}"})


def test_burst_and_rate_are_options(make_service, clock):
    import webtest

    from tests.conftest import Make

    environ = {
        "SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND": "2",
        "SIGNAL_ENDPOINT_RATE_LIMIT_BURST": "5",
    }
    web = webtest.TestApp(make_service(environ=environ).app)
    make = Make(web)
    token = make.token(make.endpoint())
    auth = {"Authorization": token["token"]}
    statuses = [web.post(URL, headers=auth, expect_errors=True).status_int for _ in range(6)]
    assert statuses == [200] * 5 + [429]
    policy = web.post(URL, headers=auth, status=429).headers["RateLimit-Policy"]
    assert policy == "5;w=3"
    clock.advance(1)
    statuses = [web.post(URL, headers=auth, expect_errors=True).status_int for _ in range(3)]
    assert statuses == [200, 200, 429]


def test_failed_authentications_are_limited_by_address_except_for_recent_senders(sender):
    sender()
    statuses = [
        sender.web.post(URL, headers={"Authorization": f"x{n}"}, expect_errors=True).status_int
        for n in range(62)
    ]
    assert statuses == [401] * 60 + [429] * 2
    sender()


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_405_with_allow(sender, method):
    answer = sender.web.request(URL, method=method, headers=sender.auth, status=405)
    assert answer.headers["Allow"] == "POST"


def test_trailing_and_repeated_slashes_are_the_same_path(sender):
    sender(url="//api///signal-endpoint/deploys/")


@pytest.mark.parametrize("path", ["/api/signal-endpoint/%FF", "/api/signal-endpoint/a%00b"])
def test_paths_that_are_not_text_are_400(web, path):
    assert web.post(path, status=400).json["name"] == "BadDataError"


@pytest.mark.parametrize("name", ["Deploys", "de%2Fploys", "..", "%C3%A9", "deploys%20"])
def test_similar_names_are_not_found(sender, name):
    answer = sender(url=f"/api/signal-endpoint/{name}", status="*")
    assert answer.status_int in (401, 404)
