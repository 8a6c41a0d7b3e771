"""Signal endpoints: how they are made, by whom, their names and tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

from tests.server.process import Process
from tests.spec.kit import ADMIN_SECRET, Answer, Asked, Row
from tests.waiting import until

ENDPOINTS = "/api/admin/signal-endpoints"
USERS = "/api/admin/user-admin"


@dataclass
class Endpoint:
    """One of a check's own. With the defaults a token sends once a second: take them in turn."""

    asked: Asked
    service: Process
    id: int
    name: str
    url: str
    tokens: list[str]

    def send(
        self, body: Any = None, token: str | None = None, method: str = "POST", **headers: str
    ) -> Answer:
        return self.asked.ask(
            method,
            f"/api/signal-endpoint/{self.name}",
            body,
            token=self.tokens[0] if token is None else token,
            service=self.service,
            **headers,
        )

    def received(self) -> list[dict[str, Any]]:
        """The newest first."""
        path = f"{ENDPOINTS}/{self.id}/signals"
        found: list[dict[str, Any]] = self.asked.admin("GET", path, service=self.service)[
            "signalEndpointSignals"
        ]
        return found

    def payloads(self) -> list[Any]:
        return [signal["payload"] for signal in self.received()]


@contextmanager
def endpoint(
    asked: Asked, tokens: int = 1, service: Process | None = None, name: str = ""
) -> Iterator[Endpoint]:
    service = service or asked.service
    name = name or asked.name
    made = asked.admin("POST", ENDPOINTS, {"name": name}, service=service)
    path = f"{ENDPOINTS}/{made['id']}"
    secrets = [
        asked.admin("POST", f"{path}/tokens", {"name": f"{name}-{n}"}, service=service)["token"]
        for n in range(tokens)
    ]
    yield Endpoint(asked, service, made["id"], name, made["url"], secrets)
    asked.admin("DELETE", path, service=service)


def signed_in(asked: Asked, **login: str) -> tuple[str, str]:
    """The session's cookie, and the token that its forms and requests carry."""
    answer = asked.sign_in(**login)
    (cookie,) = SimpleCookie(answer.headers["Set-Cookie"]).values()
    return f"{cookie.key}={cookie.value}", answer.json["csrfToken"]


def submit(asked: Asked, path: str, session: str, **fields: str) -> Answer:
    return asked.ask(
        "POST", path, urlencode(fields).encode(), Cookie=session,
        Content_Type="application/x-www-form-urlencoded",
    )  # fmt: skip


def made_by_form(asked: Asked) -> None:
    """Configure, Integrations, Signals, New signal endpoint: each leads to the next."""
    session, csrf = signed_in(asked)
    path, text = "/", ""
    for label in ("Integrations", "Signals", "New signal endpoint"):
        text = asked.ask("GET", path, Cookie=session).text
        if label == "Integrations":
            text = text[text.index(">Configure</summary>") :]
        text = text[text.index('id="main"') :] if label != "Integrations" else text
        (path, *_) = re.findall(rf'<a [^>]*href="([^"]+)"[^>]*>{label}</a>', text)
    form = asked.ask("GET", path, Cookie=session).text
    assert f'action="{path}"' in form
    assert f'name="csrf" value="{csrf}"' in form
    fields = {"name": asked.name, "enabled": "on", "token": "now", "token_name": "ci"}
    assert submit(asked, path, session, **fields).status == 403
    wrong = submit(asked, path, session, csrf=csrf, **(fields | {"name": "Not a name"}))
    assert (wrong.status, "Not a name" in wrong.text) == (400, True)
    made = submit(asked, path, session, csrf=csrf, **fields)
    assert made.status == 200
    (token,) = set(re.findall(r"signal_[A-Za-z0-9_-]{43}", made.text))
    sent = asked.ask("POST", f"/api/signal-endpoint/{asked.name}", {"form": 1}, token=token)
    (signal,) = sent.json["signals"]
    listed = asked.ask("GET", "/admin/signals", Cookie=session).text
    assert f">{asked.name}</a>" in listed
    asked.admin("DELETE", f"{ENDPOINTS}/{signal['sourceId']}")


def needs_admin(asked: Asked) -> None:
    body = {"name": asked.name}
    for role in ("Editor", "Viewer"):
        who = {"username": f"{asked.name}-{role}", "password": "Strong-Pass-1"}
        user = asked.admin("POST", USERS, who | {"rootRole": role})
        session, csrf = signed_in(asked, **who)
        refused = asked.ask("POST", ENDPOINTS, body, Cookie=session, X_CSRF_Token=csrf)
        assert (refused.status, refused.json["permissions"]) == (403, ["ADMIN"])
        assert asked.ask("GET", "/admin/signals/new", Cookie=session).status == 403
        form = submit(asked, "/admin/signals/new", session, csrf=csrf, name=asked.name)
        assert form.status == 403
        asked.admin("DELETE", f"{USERS}/{user['id']}")
    with asked.api_token("client") as token:
        assert asked.ask("POST", ENDPOINTS, body, token=token).status == 403
    assert asked.ask("POST", ENDPOINTS, body).status == 401
    names = {row["name"] for row in asked.admin("GET", ENDPOINTS)["signalEndpoints"]}
    assert asked.name not in names
    with endpoint(asked) as made:
        session, csrf = signed_in(asked)
        again = asked.ask("POST", ENDPOINTS, body, Cookie=session, X_CSRF_Token=csrf)
        assert (made.name, again.status, again.json["name"]) == (asked.name, 409, "NameExistsError")


def last_segment(asked: Asked) -> None:
    with endpoint(asked, tokens=2) as deploys:
        assert deploys.url.endswith(f":{deploys.service.port}/api/signal-endpoint/{deploys.name}")
        assert deploys.send().status == 200
        new = f"{deploys.name}-new"
        asked.admin("PUT", f"{ENDPOINTS}/{deploys.id}", {"name": new})
        assert deploys.send(token=deploys.tokens[1]).status == 401
        deploys.name = new
        assert deploys.send(token=deploys.tokens[1]).status in (200, 429)
        until(lambda: deploys.send(token=deploys.tokens[1]).status == 200, "the next second")
    for wrong in ("", "Upper", "a b", "a/b", "ä", "a" * 101):
        assert asked.ask("POST", ENDPOINTS, {"name": wrong}, token=ADMIN_SECRET).status == 400


def five_tokens(asked: Asked) -> None:
    with endpoint(asked, tokens=5) as full:
        path = f"{ENDPOINTS}/{full.id}/tokens"
        over = asked.ask("POST", path, {"name": "sixth"}, token=ADMIN_SECRET)
        assert (over.status, over.json["name"]) == (400, "ExceedsLimitError")
        listed = asked.admin("GET", path)["signalEndpointTokens"]
        assert len(listed) == 5
        assert not any("token" in row for row in listed)  # shown once, when it was made
        assert all(full.send(token=token).status == 200 for token in full.tokens)
        asked.admin("DELETE", f"{path}/{listed[0]['id']}")
        asked.admin("POST", path, {"name": "sixth"})


def five_endpoints(asked: Asked) -> None:
    limits = asked.admin("GET", "/api/admin/ui-config")["resourceLimits"]
    assert (limits["signalEndpoints"], limits["signalTokensPerEndpoint"]) == (5, 5)
    there = len(asked.admin("GET", ENDPOINTS)["signalEndpoints"])
    names = [f"{asked.name}-{n}" for n in range(5 - there)]
    ids = [asked.admin("POST", ENDPOINTS, {"name": name})["id"] for name in names]
    over = asked.ask("POST", ENDPOINTS, {"name": asked.name}, token=ADMIN_SECRET)
    assert (over.status, over.json["name"]) == (400, "ExceedsLimitError")
    assert "5" in over.json["message"]
    session, csrf = signed_in(asked)
    fields = {"name": asked.name, "token": "later", "csrf": csrf}
    assert submit(asked, "/admin/signals/new", session, **fields).status == 400
    assert len(asked.admin("GET", ENDPOINTS)["signalEndpoints"]) == 5
    for id in ids:
        asked.admin("DELETE", f"{ENDPOINTS}/{id}")


ROWS = (
    Row(
        "signal endpoint: created by the form New signal endpoint under Integrations", made_by_form
    ),
    Row("signal endpoint: creation needs the permission ADMIN", needs_admin),
    Row("signal endpoint: the name is the last segment of the path", last_segment),
    Row("signal endpoint: at most five tokens", five_tokens),
    Row("limit: five signal endpoints", five_endpoints),
    Row("limit: five tokens for each endpoint", five_tokens),
)
