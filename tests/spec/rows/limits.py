"""Limits for each address, and the endpoints that they stand on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from http.cookies import SimpleCookie

from tests.spec.kit import ADMIN_SECRET, ADMIN_USER, Answer, Asked, Row
from tests.spec.rows.features import flag, poll

APPLICATIONS = "/api/admin/metrics/applications"
USERS = "/api/admin/user-admin"
PASSWORD = "Strong-Pass-1"
FORGED = (
    {"X_Forwarded_For": "9.9.9.9"},
    {"Forwarded": "for=9.9.9.9"},
    {"X_Real_IP": "9.9.9.9"},
    {"X_Client_IP": "9.9.9.9", "CF_Connecting_IP": "9.9.9.9", "True_Client_IP": "9.9.9.9"},
)
CROSSED = "the names are swapped"


def credential(asked: Asked, kind: str) -> AbstractContextManager[str]:
    if kind in ("client", "frontend"):
        return asked.api_token(kind)
    return nullcontext(ADMIN_SECRET if kind == "admin" else "")


def is_refused(answer: Answer, limit: int) -> bool:
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


def limited(*paths: str, kind: str = "") -> Callable[[Asked], None]:
    """A check: of so many requests each is answered, the next refused; the paths share a bucket."""

    def check(asked: Asked) -> None:
        gauge = f'rate_limits{{endpoint="{paths[0]}",method="POST"}} {float(asked.value)}'
        if asked.way != "code":  # other rows' code switches metrics off there
            assert gauge in asked.ask("GET", "/internal-backstage/prometheus").text.splitlines()
        with credential(asked, kind) as token:

            def post(path: str, address: str, **headers: str) -> Answer:
                return asked.ask("POST", path, {}, token=token, address=address, **headers)

            if asked.value > 100:  # too many to be sure that none comes back meanwhile
                answer = post(paths[0], asked.address)
                assert answer.headers["RateLimit-Policy"] == f"{asked.value};w=60"
                assert answer.headers["RateLimit-Remaining"] == str(asked.value - 1)
                return
            for address in addresses(asked):
                began = time.monotonic()
                left = []
                for n in range(asked.value):
                    answer = post(paths[n % len(paths)], address)
                    left.append((answer.status, answer.headers["RateLimit-Remaining"]))
                over = [post(path, address) for path in paths]
                forged = [post(paths[0], address, **headers) for headers in FORGED]
                if time.monotonic() - began < 60 / asked.value:  # else one more was granted
                    break
            # 400, for what was sent is nothing: that counts too
            assert left == [(400, str(n)) for n in reversed(range(asked.value))]
            assert all(is_refused(answer, asked.value) for answer in over + forged)
            assert post(paths[0], asked.neighbour).status == 400
            if asked.way == "environment":
                assert CROSSED not in asked.service.stdout + asked.service.stderr

    return check


def addresses(asked: Asked) -> Iterator[str]:
    """Fresh ones, for a machine that was too busy."""
    yield asked.address
    yield from (asked.address.replace("127.1.", f"127.{n}.", 1) for n in range(3, 30))


def too_many(asked: Asked) -> None:
    """Whose request it is: of X-Forwarded-For the right-most address that is no proxy of ours, and
    only when a proxy of ours says so. An IPv6 client is a /56. Zero is nobody's."""
    service = asked.start(
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
        answer = asked.ask(
            "POST", path, {}, service=service, address=address, X_Forwarded_For=forwarded
        )
        return not is_refused(answer, 1)

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
    assert login("9.9.9.3", address=asked.neighbour)  # no proxy of ours: its own address counts
    assert not login("9.9.9.4", address=asked.neighbour)
    page = asked.ask(
        "POST", "/sign-in", b"", service=service, X_Forwarded_For="9.9.9.1",
        Content_Type="application/x-www-form-urlencoded",
    )  # fmt: skip
    assert (page.status, page.headers["Content-Type"]) == (429, "text/html; charset=utf-8")
    for address in ("9.9.9.1", "9.9.9.2"):
        answer = asked.ask(
            "POST", USERS, {"username": "x"}, token=ADMIN_SECRET, service=service,
            X_Forwarded_For=address,
        )  # fmt: skip
        assert is_refused(answer, 0)
    with asked.api_token("client", service=service) as token:
        for path, refused in (("metrics", True), ("register", False)):
            answers = [
                asked.ask("POST", f"/api/client/{path}", {}, token=token, service=service)
                for _ in range(5)
            ]
            assert [answer.status for answer in answers] == [400] * 4 + [429 if refused else 400]
    service.close()


# The endpoints --------------------------------------------------------------------------------


def client_features(asked: Asked) -> None:
    with flag(asked) as name, asked.api_token("client") as token:
        answer = poll(asked, token)
        assert (answer.status, answer.json["version"]) == (200, 2)
        (found,) = (row for row in answer.json["features"] if row["name"] == name)
        assert found["enabled"]
        assert poll(asked, "").status == poll(asked, "wrong").status == 401


def client_register(asked: Asked) -> None:
    body = {
        "appName": asked.name,
        "instanceId": "one",
        "strategies": ["default"],
        "started": moment(),
        "interval": 10,
    }
    with asked.api_token("client") as token:
        assert asked.ask("POST", "/api/client/register", body, token=token).status == 202
        assert asked.ask("POST", "/api/client/register", body).status == 401
    path = f"/api/admin/metrics/instances/{asked.name}/environment/development"
    (instance,) = asked.admin("GET", path)["instances"]
    assert (instance["instanceId"], instance["clientIp"]) == ("one", asked.address)
    asked.admin("DELETE", f"{APPLICATIONS}/{asked.name}")


def metrics(*paths: str, kind: str, status: int) -> Callable[[Asked], None]:
    def check(asked: Asked) -> None:
        with flag(asked) as name, asked.api_token(kind) as token:
            counts = {name: {"yes": 2, "no": 1}}
            body = {
                "appName": name,
                "instanceId": "one",
                "bucket": {"start": moment(), "stop": moment(), "toggles": counts},
            }
            for path in paths:
                assert asked.ask("POST", path, body, token=token).status == status, path
                assert asked.ask("POST", path, body).status == 401, path
            rows = asked.admin("GET", f"/api/admin/client-metrics/features/{name}/raw")["data"]
            assert sum(row["yes"] for row in rows) == 2 * len(paths)
            assert {row["appName"] for row in rows} == {name}
            asked.admin("DELETE", f"{APPLICATIONS}/{name}")

    return check


def frontend_register(asked: Asked) -> None:
    body = {"appName": asked.name, "started": moment(), "interval": 10, "strategies": []}
    with asked.api_token("frontend") as token:
        for path in ("/api/frontend/register", "/api/frontend/client/register"):
            assert asked.ask("POST", path, body, token=token).status == 200
            assert asked.ask("POST", path, body).status == 401


def sign_in(asked: Asked) -> None:
    for path in ("/auth/simple", "/auth/simple/login"):
        answer = asked.ask("POST", path, ADMIN_USER)
        (cookie,) = SimpleCookie(answer.headers["Set-Cookie"]).values()
        session = f"{cookie.key}={cookie.value}"
        seen = asked.ask("GET", "/api/admin/user", Cookie=session).json["user"]
        assert seen["username"] == answer.json["username"] == ADMIN_USER["username"]
        refused = asked.ask("POST", path, ADMIN_USER | {"password": "wrong"})
        assert (refused.status, refused.headers["Set-Cookie"]) == (401, None)


def create_user(asked: Asked) -> None:
    body = {"username": asked.name, "password": PASSWORD, "rootRole": "Editor"}
    made = asked.ask("POST", USERS, body, token=ADMIN_SECRET)
    assert made.status == 201
    assert asked.sign_in(username=asked.name, password=PASSWORD).status == 200
    assert asked.ask("POST", USERS, body).status == 401
    asked.admin("DELETE", f"{USERS}/{made.json['id']}")
    assert asked.sign_in(username=asked.name, password=PASSWORD).status == 401


def moment() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


CLIENT = ("/api/client/metrics", "/api/client/register")
FRONTEND_METRICS = ("/api/frontend/metrics", "/api/frontend/client/metrics")
FRONTEND_REGISTER = ("/api/frontend/register", "/api/frontend/client/register")
LOGIN = ("/auth/simple", "/auth/simple/login")

ROWS = (
    # The names of these two variables are crossed in the specification.
    Row(
        "metricsRateLimiting.clientMetricsMaxPerMinute",
        limited(CLIENT[0], kind="client"),
        "REGISTER_CLIENT_RATE_LIMIT_PER_MINUTE",
        6000,
        "8",
        8,
        code=11,
    ),
    Row(
        "metricsRateLimiting.clientRegisterMaxPerMinute",
        limited(CLIENT[1], kind="client"),
        "CLIENT_METRICS_RATE_LIMIT_PER_MINUTE",
        6000,
        "9",
        9,
        code=12,
    ),
    Row(
        "metricsRateLimiting.frontendMetricsMaxPerMinute",
        limited(*FRONTEND_METRICS, kind="frontend"),
        "FRONTEND_METRICS_RATE_LIMIT_PER_MINUTE",
        6000,
        "10",
        10,
        code=13,
    ),
    Row(
        "metricsRateLimiting.frontendRegisterMaxPerMinute",
        limited(*FRONTEND_REGISTER, kind="frontend"),
        "REGISTER_FRONTEND_RATE_LIMIT_PER_MINUTE",
        6000,
        "7",
        7,
        code=14,
    ),
    Row(
        "rateLimiting.simpleLoginMaxPerMinute",
        limited(*LOGIN),
        "SIMPLE_LOGIN_LIMIT_PER_MINUTE",
        10,
        "12",
        12,
        code=15,
    ),
    Row(
        "rateLimiting.createUserMaxPerMinute",
        limited(USERS, kind="admin"),
        "CREATE_USER_RATE_LIMIT_PER_MINUTE",
        20,
        "11",
        11,
        code=16,
    ),
    Row("errors: a per-address limit answers 429", too_many, alone=True),
    Row("endpoint: GET /api/client/features", client_features),
    Row("endpoint: POST /api/client/register", client_register),
    Row("endpoint: POST /api/client/metrics", metrics(CLIENT[0], kind="client", status=202)),
    Row("endpoint: POST /api/frontend/register", frontend_register),
    Row(
        "endpoint: POST /api/frontend/metrics",
        metrics(*FRONTEND_METRICS, kind="frontend", status=200),
    ),
    Row("endpoint: POST /auth/simple", sign_in),
    Row("endpoint: POST /api/admin/user-admin", create_user),
)
