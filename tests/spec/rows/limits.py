"""Limits for each address, and the endpoints that they stand on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

from tests.spec.kit import ADMIN_SECRET, Answer, Case, Row

USERS = "/api/admin/user-admin"
FORGED = (
    {"X_Forwarded_For": "9.9.9.9"},
    {"Forwarded": "for=9.9.9.9"},
    {"X_Real_IP": "9.9.9.9"},
    {"X_Client_IP": "9.9.9.9", "CF_Connecting_IP": "9.9.9.9", "True_Client_IP": "9.9.9.9"},
)
CROSSED = "the names are swapped"


def open_credential(case: Case, kind: str) -> AbstractContextManager[str]:
    if kind in ("client", "frontend"):
        return case.create_api_token(kind)
    return nullcontext(ADMIN_SECRET if kind == "admin" else "")


def is_rejected(answer: Answer, limit: int) -> bool:
    """429 as it must look; false for anything else."""
    if answer.status != 429:
        return False
    wait = int(answer.headers["Retry-After"])
    assert answer.headers["RateLimit-Reset"] == str(wait)
    assert 1 <= wait <= (60 // limit + 1 if limit else 3600)
    assert answer.headers["RateLimit-Limit"] == str(limit)
    assert answer.headers["RateLimit-Remaining"] == "0"
    assert answer.headers["RateLimit-Policy"] == f"{limit};w=60"
    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.json["name"] == "RateLimitError"
    assert answer.json["message"] == answer.json["details"][0]["message"]
    assert answer.json["id"]
    return True


def make_limit_check(*paths: str, kind: str = "") -> Callable[[Case], None]:
    """A check: of so many requests each is answered, the next refused; the paths share a bucket."""

    def check(case: Case) -> None:
        gauge = f'rate_limits{{endpoint="{paths[0]}",method="POST"}} {float(case.value)}'
        assert gauge in case.request("GET", "/internal-backstage/prometheus").text.splitlines()
        with open_credential(case, kind) as token:

            def post(path: str, address: str, **headers: str) -> Answer:
                return case.request("POST", path, {}, token=token, address=address, **headers)

            for address in list_addresses(case):
                started_at = time.monotonic()
                remaining = []
                for n in range(case.value):
                    answer = post(paths[n % len(paths)], address)
                    remaining.append((answer.status, answer.headers["RateLimit-Remaining"]))
                rejections = [post(path, address) for path in paths]
                forged = [post(paths[0], address, **headers) for headers in FORGED]
                if time.monotonic() - started_at < 60 / case.value:  # else one more was granted
                    break
            # 400, for what was sent is nothing: that counts too
            assert remaining == [(400, str(n)) for n in reversed(range(case.value))]
            assert all(is_rejected(answer, case.value) for answer in rejections + forged)
            assert post(paths[0], case.other_address).status == 400
            assert CROSSED not in case.service.stdout + case.service.stderr

    return check


def list_addresses(case: Case) -> Iterator[str]:
    """Fresh ones, for a machine that was too busy."""
    yield case.address
    yield from (case.address.replace("127.1.", f"127.{n}.", 1) for n in range(3, 30))


def check_client_address(case: Case) -> None:
    """Whose request it is: of X-Forwarded-For the right-most address that is no proxy of ours, and
    only when a proxy of ours says so. An IPv6 client is a /56. Zero is nobody's."""
    service = case.start(
        {
            "SERVICE_TRUSTED_PROXY": "127.1.0.0/16, 10.0.0.0/8",
            "REGISTER_CLIENT_RATE_LIMIT_PER_MINUTE": "4",
            "SIMPLE_LOGIN_LIMIT_PER_MINUTE": "1",
            "CREATE_USER_RATE_LIMIT_PER_MINUTE": "0",
        }
    )
    assert CROSSED in service.stdout + service.stderr

    def login(forwarded: str, path: str = "/auth/simple", address: str = "") -> bool:
        """Whether it was answered."""
        answer = case.request(
            "POST", path, {}, service=service, address=address, X_Forwarded_For=forwarded
        )
        return not is_rejected(answer, 1)

    assert login("9.9.9.1")
    assert not login("9.9.9.1")
    assert not login("9.9.9.1", "/auth/simple/login")
    assert not login("9.9.9.1", "//auth/simple/")
    assert not login("6.6.6.6, 9.9.9.1")
    assert not login("6.6.6.6, 9.9.9.1, 10.1.2.3")
    assert not login("::ffff:9.9.9.1")
    assert login("9.9.9.1, 9.9.9.2")
    assert login("2001:db8:0:1200::1")
    assert not login("2001:db8:0:12ff:5::2")
    assert login("2001:db8:0:1300::1")
    assert login("9.9.9.3", address=case.other_address)  # no proxy of ours: its own address counts
    assert not login("9.9.9.4", address=case.other_address)
    page = case.request(
        "POST", "/sign-in", b"", service=service, X_Forwarded_For="9.9.9.1",
        Content_Type="application/x-www-form-urlencoded",
    )  # fmt: skip
    assert (page.status, page.headers["Content-Type"]) == (429, "text/html; charset=utf-8")
    for address in ("9.9.9.1", "9.9.9.2"):
        answer = case.request(
            "POST", USERS, {"username": "x"}, token=ADMIN_SECRET, service=service,
            X_Forwarded_For=address,
        )  # fmt: skip
        assert is_rejected(answer, 0)
    with case.create_api_token("client", service=service) as token:
        for path, rejection in (("metrics", True), ("register", False)):
            answers = [
                case.request("POST", f"/api/client/{path}", {}, token=token, service=service)
                for _ in range(5)
            ]
            assert [answer.status for answer in answers] == [400] * 4 + [429 if rejection else 400]
    service.close()


CLIENT = ("/api/client/metrics", "/api/client/register")
FRONTEND_METRICS = ("/api/frontend/metrics", "/api/frontend/client/metrics")
FRONTEND_REGISTER = ("/api/frontend/register", "/api/frontend/client/register")
LOGIN = ("/auth/simple", "/auth/simple/login")

ROWS = (
    *(
        Row(name, make_limit_check(*paths, kind=kind), variable, str(value), value)
        for name, paths, kind, variable, value in (
            # The names of these two variables are crossed in the specification.
            (
                "metricsRateLimiting.clientMetricsMaxPerMinute",
                CLIENT[:1],
                "client",
                "REGISTER_CLIENT_RATE_LIMIT_PER_MINUTE",
                8,
            ),
            (
                "metricsRateLimiting.clientRegisterMaxPerMinute",
                CLIENT[1:],
                "client",
                "CLIENT_METRICS_RATE_LIMIT_PER_MINUTE",
                9,
            ),
            (
                "metricsRateLimiting.frontendMetricsMaxPerMinute",
                FRONTEND_METRICS,
                "frontend",
                "FRONTEND_METRICS_RATE_LIMIT_PER_MINUTE",
                10,
            ),
            (
                "metricsRateLimiting.frontendRegisterMaxPerMinute",
                FRONTEND_REGISTER,
                "frontend",
                "REGISTER_FRONTEND_RATE_LIMIT_PER_MINUTE",
                7,
            ),
            (
                "rateLimiting.simpleLoginMaxPerMinute",
                LOGIN,
                "",
                "SIMPLE_LOGIN_LIMIT_PER_MINUTE",
                12,
            ),
            (
                "rateLimiting.createUserMaxPerMinute",
                (USERS,),
                "admin",
                "CREATE_USER_RATE_LIMIT_PER_MINUTE",
                11,
            ),
        )
    ),
    Row("errors: a per-address limit answers 429", check_client_address, alone=True),
)
