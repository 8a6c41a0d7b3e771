"""Signals: what is taken and refused, where it is seen, the limits."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections.abc import Iterator
from html import unescape

from tests.spec.kit import ADMIN_SECRET, Case, Row
from tests.spec.rows.signal_endpoints import ENDPOINTS, Endpoint, create_endpoint, open_session
from tests.waiting import until

KB_100 = 102_400
FAST = {"SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND": "1000"}


def check_report(case: Case) -> None:
    with create_endpoint(case) as deploys:
        payload = {"type": "deploy", "data": {"status": "success"}}
        (signal,) = deploys.send(payload).json["signals"]
        assert (signal["payload"], signal["sourceId"]) == (payload, deploys.id)
        assert deploys.list_payloads() == [payload]
        for method in ("GET", "PUT", "DELETE", "PATCH"):
            answer = deploys.send(method=method)
            assert (answer.status, answer.headers["Allow"]) == (405, "POST"), method
        assert len(deploys.list_signals()) == 1


def check_sources(case: Case) -> None:
    with create_endpoint(case, tokens=3) as shared:
        ids = set()
        for n, token in enumerate(shared.tokens):
            (signal,) = shared.send({"n": n}, token).json["signals"]
            ids.add(signal["createdBySourceTokenId"])
        assert len(ids) == 3
        names = [f"{shared.name}-{n}" for n in range(3)]
        payloads = {signal["tokenName"]: signal["payload"] for signal in shared.list_signals()}
        assert payloads == {name: {"n": n} for n, name in enumerate(names)}
        session, _ = open_session(case)
        page = case.request("GET", f"/admin/signals/{shared.id}/log", Cookie=session).text
        log = page[page.index('<ol class="log">') : page.index("</main>")]
        entries = log.split("<li>")[1:]
        for name, entry in zip(reversed(names), entries, strict=True):
            assert name in entry


def check_view(case: Case) -> None:
    """The link in the row of the endpoint leads to its signals, newest first and complete."""
    with create_endpoint(case, tokens=2) as deploys:
        for n, token in enumerate(deploys.tokens):
            deploys.send({"told": f"no. {n} <&>"}, token)
        session, _ = open_session(case)
        listing = case.request("GET", "/admin/signals", Cookie=session).text
        row = listing[listing.index(f"<bdi>{deploys.name}</bdi></a>") :].split("</tr>")[0]
        (path,) = re.findall(r'<a href="([^"]+)">View signals', row)
        page = case.request("GET", path, Cookie=session)
        assert page.status == 200
        text = unescape(page.text)
        assert 0 < text.index('"told": "no. 1 <&>"') < text.index('"told": "no. 0 <&>"')
        for signal in deploys.list_signals():
            page = case.request("GET", f"{path}/{signal['id']}", Cookie=session).text
            assert signal["payload"]["told"] in unescape(page)
        away = case.request("GET", path)
        assert (away.status, away.headers["Location"].split("?")[0]) == (303, "/sign-in")


def check_any_json(case: Case) -> None:
    service = case.start(FAST)
    values = [{}, [], {"a": [1, {"b": None}]}, [1, "two"], "text", "", 0, -1.5, True, False, None]
    with create_endpoint(case, service=service) as deploys:
        for value in values:
            answer = deploys.send(json.dumps(value).encode(), Content_Type="application/json")
            assert (answer.status, answer.json["signals"][0]["payload"]) == (200, value)
        for nothing in (deploys.send(), deploys.send(b"", Content_Type="application/json")):
            assert (nothing.status, nothing.json["signals"][0]["payload"]) == (200, {})
        assert deploys.list_payloads() == [{}, {}, *reversed(values)]
        for status, body, headers in (
            (400, b"{", {}),
            (400, b"NaN", {}),
            (400, b'{"a": "\\u0000"}', {}),
            (400, b"[" * 65 + b"]" * 65, {}),
            (415, b"a=b", {"Content_Type": "application/x-www-form-urlencoded"}),
            (415, b"{}", {"Content_Encoding": "br"}),
        ):
            answer = deploys.send(body, **({"Content_Type": "application/json"} | headers))
            assert answer.status == status, body
            assert set(answer.json) >= {"id", "name", "message", "details"}
        assert len(deploys.list_signals()) == len(values) + 2
    service.close()


def check_conventions(case: Case) -> None:
    with create_endpoint(case, tokens=3) as deploys:
        bodies = [{"type": "deploy", "data": {"ok": True}}, {"type": 5, "data": "x"}, {"other": 1}]
        for body, token in zip(bodies, deploys.tokens, strict=True):
            assert deploys.send(body, token).status == 200
        assert deploys.list_payloads() == bodies[::-1]


def check_credentials(case: Case) -> None:
    """One answer for every wrong name and token, so that nobody can probe."""
    with (
        create_endpoint(case, tokens=4) as deploys,
        create_endpoint(case, name=f"{case.name}-other") as other,
        case.create_api_token("client") as client,
    ):
        good = deploys.tokens
        path = f"/api/signal-endpoint/{deploys.name}"
        rejections = [
            deploys.send(token=token)
            for token in ("", "wrong", *other.tokens, ADMIN_SECRET, client, f"Basic {good[0]}")
        ]
        rejections += [
            case.request("POST", f"{path}-unknown", token=good[0]),
            case.request("POST", f"{path}?token={good[0]}"),
            deploys.send(b"{", token="wrong", Content_Type="application/json"),
            deploys.send(b'"' + b"x" * KB_100 + b'"', token="wrong"),
        ]
        assert {answer.status for answer in rejections} == {401}
        assert len({answer.json["message"] for answer in rejections}) == 1
        assert {answer.json["name"] for answer in rejections} == {"UnauthorizedError"}
        assert not deploys.list_signals()
        for scheme, token in zip(("", "Bearer ", "bearer ", "BEARER  "), good, strict=True):
            assert deploys.send(token=scheme + token).status == 200, scheme
        case.admin("POST", f"{ENDPOINTS}/{other.id}/off")
        assert other.send().status == 404


def make_text(size: int) -> bytes:
    return b'"' + b"x" * (size - 2) + b'"'


def split_chunks(data: bytes) -> Iterator[bytes]:
    for at in range(0, len(data), 10_000):
        yield data[at : at + 10_000]


def send_size(deploys: Endpoint, size: int) -> list[int]:
    """The statuses of one size sent at once, in chunks, and packed."""
    kind = {"Content_Type": "application/json"}
    whole = make_text(size)
    bodies = (whole, split_chunks(whole), gzip.compress(whole), split_chunks(gzip.compress(whole)))
    return [
        deploys.send(body, token, **kind, **({"Content_Encoding": "gzip"} if n > 1 else {})).status
        for n, (body, token) in enumerate(zip(bodies, deploys.tokens, strict=True))
    ]


def check_largest_payload(case: Case) -> None:
    with create_endpoint(case, tokens=4) as deploys:
        assert send_size(deploys, KB_100) == [200] * 4
        assert [len(payload) for payload in deploys.list_payloads()] == [KB_100 - 2] * 4


def check_too_large_payload(case: Case) -> None:
    with create_endpoint(case, tokens=4) as deploys:
        assert send_size(deploys, KB_100 + 1) == [413] * 4
        bomb = gzip.compress(make_text(5_000_000))
        spare = deploys.send(
            bomb, deploys.tokens[0], Content_Type="application/json", Content_Encoding="gzip"
        )
        assert spare.status in (413, 429)
        assert not deploys.list_signals()


def check_one_per_second(case: Case) -> None:
    with create_endpoint(case, tokens=2) as deploys:
        started_at, answers = time.monotonic(), []

        def is_refused() -> bool:
            answers.append(deploys.send())
            return answers[-1].status == 429

        until(is_refused, "a refusal")  # the second one, unless the machine is busy
        *accepted, over = answers
        assert {answer.status for answer in accepted} == {200}
        assert len(accepted) <= 1 + time.monotonic() - started_at
        assert over.json["name"] == "RateLimitError"
        assert (over.headers["Retry-After"], over.headers["RateLimit-Remaining"]) == ("1", "0")
        assert over.headers["RateLimit-Limit"] == "1"
        assert over.headers["RateLimit-Policy"] == "1;w=1"
        assert deploys.send(token=deploys.tokens[1]).status == 200  # nobody else waits
        until(lambda: deploys.send().status == 200, "the next second")
        gauge = 'rate_limits{endpoint="/api/signal-endpoint/:name",method="POST"} 60.0'
        assert gauge in case.request("GET", "/internal-backstage/prometheus").text


def check_overrides(case: Case) -> None:
    variables = {
        "SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND": "2",
        "SIGNAL_ENDPOINT_RATE_LIMIT_BURST": "6",
        "SERVICE_SIGNAL_ENDPOINTS_LIMIT": "2",
        "SERVICE_SIGNAL_TOKENS_PER_ENDPOINT_LIMIT": "3",
        "SERVICE_SIGNAL_PAYLOAD_LIMIT": "200000",
    }
    service = case.start(variables)
    limits = case.admin("GET", "/api/admin/ui-config", service=service)["resourceLimits"]
    assert (limits["signalEndpoints"], limits["signalTokensPerEndpoint"]) == (2, 3)
    with create_endpoint(case, 3, service) as deploys:
        tokens = f"{ENDPOINTS}/{deploys.id}/tokens"
        for path, status in ((tokens, 400), (ENDPOINTS, 201), (ENDPOINTS, 400)):
            body = {"name": f"one-{status}"}
            answer = case.request("POST", path, body, token=ADMIN_SECRET, service=service)
            assert answer.status == status
        kind = {"Content_Type": "application/json"}
        assert deploys.send(make_text(200_000), **kind).status == 200
        assert deploys.send(make_text(200_001), **kind).status == 413
        started_at = time.monotonic()
        answers = [deploys.send(token=deploys.tokens[1]) for _ in range(7)]
        seconds = time.monotonic() - started_at
        assert {answer.headers["RateLimit-Limit"] for answer in answers} == {"6"}
        if seconds < 1 / 2:
            assert [answer.status for answer in answers] == [200] * 6 + [429]


ROWS = (
    Row("service 2: external systems report signals by POST", check_report),
    Row("service 4: one endpoint shared by several tokens tells its sources apart", check_sources),
    Row("service 5: received signals stand in the View signals page of the endpoint", check_view),
    Row("signal: the body is optional JSON of any structure", check_any_json, alone=True),
    Row("signal: type and data are conventional, not required", check_conventions),
    Row(
        "send a signal: an existing endpoint, and the token in the Authorization header",
        check_credentials,
    ),
    Row("send a signal: a payload up to the limit is accepted", check_largest_payload),
    Row("send a signal: what was received appears in View signals", check_view),
    Row("limit: one signal a second", check_one_per_second),
    Row("limit: 100 kB of payload", check_too_large_payload),
    Row("limits: the four of signals can be overridden", check_overrides, alone=True),
)
