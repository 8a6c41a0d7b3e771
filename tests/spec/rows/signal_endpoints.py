"""Signal endpoints: creation, permissions, names and tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

from tests.server.process import Process
from tests.spec.kit import ADMIN_SECRET, Answer, Case, Row
from tests.waiting import until

ENDPOINTS = "/api/admin/signal-endpoints"
USERS = "/api/admin/user-admin"


@dataclass
class Endpoint:
    """One of a check's own. With the defaults a token sends once a second: take them in turn."""

    case: Case
    service: Process
    id: int
    name: str
    url: str
    tokens: list[str]

    def send(
        self, body: Any = None, token: str | None = None, method: str = "POST", **headers: str
    ) -> Answer:
        return self.case.request(
            method,
            f"/api/signal-endpoint/{self.name}",
            body,
            token=self.tokens[0] if token is None else token,
            service=self.service,
            **headers,
        )

    def list_signals(self) -> list[dict[str, Any]]:
        """The newest first."""
        path = f"{ENDPOINTS}/{self.id}/signals"
        signals: list[dict[str, Any]] = self.case.admin("GET", path, service=self.service)[
            "signalEndpointSignals"
        ]
        return signals

    def list_payloads(self) -> list[Any]:
        return [signal["payload"] for signal in self.list_signals()]


@contextmanager
def create_endpoint(
    case: Case, tokens: int = 1, service: Process | None = None, name: str = ""
) -> Iterator[Endpoint]:
    service = service or case.service
    name = name or case.name
    created = case.admin("POST", ENDPOINTS, {"name": name}, service=service)
    path = f"{ENDPOINTS}/{created['id']}"
    secrets = [
        case.admin("POST", f"{path}/tokens", {"name": f"{name}-{n}"}, service=service)["token"]
        for n in range(tokens)
    ]
    yield Endpoint(case, service, created["id"], name, created["url"], secrets)
    case.admin("DELETE", path, service=service)


def open_session(case: Case, **login: str) -> tuple[str, str]:
    """The session's cookie, and the token that its forms and requests carry."""
    answer = case.sign_in(**login)
    (cookie,) = SimpleCookie(answer.headers["Set-Cookie"]).values()
    return f"{cookie.key}={cookie.value}", answer.json["csrfToken"]


def submit_form(case: Case, path: str, session: str, **fields: str) -> Answer:
    return case.request(
        "POST", path, urlencode(fields).encode(), Cookie=session,
        Content_Type="application/x-www-form-urlencoded",
    )  # fmt: skip


def check_form(case: Case) -> None:
    """Settings, Integrations, Signals, New signal endpoint: each leads to the next."""
    session, csrf = open_session(case)
    settings = case.request("GET", "/admin/settings", Cookie=session)
    path = settings.headers["Location"]
    for label in ("Integrations", "Signals", "New signal endpoint"):
        text = case.request("GET", path, Cookie=session).text
        text = text[text.index('id="main"') :]
        (path, *_) = re.findall(rf'<a [^>]*href="([^"]+)"[^>]*>{label}</a>', text)
    form = case.request("GET", path, Cookie=session).text
    assert f'action="{path}"' in form
    assert f'name="csrf" value="{csrf}"' in form
    fields = {"name": case.name, "enabled": "on", "token": "now", "token_name": "ci"}
    assert submit_form(case, path, session, **fields).status == 403
    invalid = submit_form(case, path, session, csrf=csrf, **(fields | {"name": "Not a name"}))
    assert (invalid.status, "Not a name" in invalid.text) == (400, True)
    created = submit_form(case, path, session, csrf=csrf, **fields)
    assert created.status == 303
    page = case.request("GET", created.headers["Location"], Cookie=session).text
    (token,) = set(re.findall(r"signal_[A-Za-z0-9_-]{43}", page))
    response = case.request("POST", f"/api/signal-endpoint/{case.name}", {"form": 1}, token=token)
    (signal,) = response.json["signals"]
    listing = case.request("GET", "/admin/signals", Cookie=session).text
    assert f"<bdi>{case.name}</bdi></a>" in listing
    case.admin("DELETE", f"{ENDPOINTS}/{signal['sourceId']}")


def check_needs_admin(case: Case) -> None:
    body = {"name": case.name}
    for role in ("Editor", "Viewer"):
        who = {"username": f"{case.name}-{role}", "password": "Strong-Pass-1"}
        user = case.admin("POST", USERS, who | {"rootRole": role})
        session, csrf = open_session(case, **who)
        rejection = case.request("POST", ENDPOINTS, body, Cookie=session, X_CSRF_Token=csrf)
        assert (rejection.status, rejection.json["permissions"]) == (403, ["ADMIN"])
        assert case.request("GET", "/admin/signals/new", Cookie=session).status == 403
        form = submit_form(case, "/admin/signals/new", session, csrf=csrf, name=case.name)
        assert form.status == 403
        case.admin("DELETE", f"{USERS}/{user['id']}")
    with case.create_api_token("client") as token:
        assert case.request("POST", ENDPOINTS, body, token=token).status == 403
    assert case.request("POST", ENDPOINTS, body).status == 401
    names = {row["name"] for row in case.admin("GET", ENDPOINTS)["signalEndpoints"]}
    assert case.name not in names
    with create_endpoint(case) as created:
        session, csrf = open_session(case)
        duplicate = case.request("POST", ENDPOINTS, body, Cookie=session, X_CSRF_Token=csrf)
        assert (created.name, duplicate.status, duplicate.json["name"]) == (
            case.name,
            409,
            "NameExistsError",
        )


def check_last_segment(case: Case) -> None:
    with create_endpoint(case, tokens=2) as deploys:
        assert deploys.url.endswith(f":{deploys.service.port}/api/signal-endpoint/{deploys.name}")
        assert deploys.send().status == 200
        new = f"{deploys.name}-new"
        case.admin("PUT", f"{ENDPOINTS}/{deploys.id}", {"name": new})
        assert deploys.send(token=deploys.tokens[1]).status == 401
        deploys.name = new
        assert deploys.send(token=deploys.tokens[1]).status in (200, 429)
        until(lambda: deploys.send(token=deploys.tokens[1]).status == 200, "the next second")
    for invalid in ("", "Upper", "a b", "a/b", "ä", "a" * 101):
        assert case.request("POST", ENDPOINTS, {"name": invalid}, token=ADMIN_SECRET).status == 400


def check_five_tokens(case: Case) -> None:
    with create_endpoint(case, tokens=5) as full:
        path = f"{ENDPOINTS}/{full.id}/tokens"
        over = case.request("POST", path, {"name": "sixth"}, token=ADMIN_SECRET)
        assert (over.status, over.json["name"]) == (400, "ExceedsLimitError")
        listing = case.admin("GET", path)["signalEndpointTokens"]
        assert len(listing) == 5
        assert not any("token" in row for row in listing)  # shown once, when it was made
        assert all(full.send(token=token).status == 200 for token in full.tokens)
        case.admin("DELETE", f"{path}/{listing[0]['id']}")
        case.admin("POST", path, {"name": "sixth"})


def check_five_endpoints(case: Case) -> None:
    limits = case.admin("GET", "/api/admin/ui-config")["resourceLimits"]
    assert (limits["signalEndpoints"], limits["signalTokensPerEndpoint"]) == (5, 5)
    there = len(case.admin("GET", ENDPOINTS)["signalEndpoints"])
    names = [f"{case.name}-{n}" for n in range(5 - there)]
    ids = [case.admin("POST", ENDPOINTS, {"name": name})["id"] for name in names]
    over = case.request("POST", ENDPOINTS, {"name": case.name}, token=ADMIN_SECRET)
    assert (over.status, over.json["name"]) == (400, "ExceedsLimitError")
    assert "5" in over.json["message"]
    session, csrf = open_session(case)
    fields = {"name": case.name, "token": "later", "csrf": csrf}
    assert submit_form(case, "/admin/signals/new", session, **fields).status == 400
    assert len(case.admin("GET", ENDPOINTS)["signalEndpoints"]) == 5
    for id in ids:
        case.admin("DELETE", f"{ENDPOINTS}/{id}")


ROWS = (
    Row("signal endpoint: created by the form New signal endpoint under Integrations", check_form),
    Row("signal endpoint: creation needs the permission ADMIN", check_needs_admin),
    Row("signal endpoint: the name is the last segment of the path", check_last_segment),
    Row("signal endpoint: at most five tokens", check_five_tokens),
    Row("limit: five signal endpoints", check_five_endpoints),
    Row("limit: five tokens for each endpoint", check_five_tokens),
)
