"""A client of the public APIs, and checks that collect failures."""

from __future__ import annotations

import json
from typing import Any

import webtest

from tests.conftest import ADMIN

NOTHING = object()

Answer = webtest.TestResponse


class Checks:
    """Collects what failed, so that one run of a file reports all of it."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def __call__(self, holds: object, message: str) -> bool:
        if not holds:
            self.problems.append(message)
        return bool(holds)

    def equal(self, actual: object, want: object, message: str) -> bool:
        return self(actual == want, f"{message}: {actual!r} instead of {want!r}")

    def status(self, answer: Answer, want: int | tuple[int, ...], message: str = "status") -> bool:
        expected = want if isinstance(want, tuple) else (want,)
        request = answer.request
        return self(
            answer.status_int in expected,
            f"{message}: {request.method} {request.path_qs[:150]} {request.body[:100]!r}"
            f" -> {answer.status_int}, wanted {want}: {answer.text[:200]}",
        )

    def error(
        self,
        answer: Answer,
        status: int | tuple[int, ...],
        path: str = "",
        message: str = "",
        name: str = "",
    ) -> None:
        """The shape of all errors, with a detail whose path contains `path`."""
        if not self.status(answer, status, message or "error"):
            return
        where = f"{message} {answer.request.method} {answer.request.path_qs[:150]}".strip()
        if not self(answer.content_type == "application/json", f"{where}: {answer.content_type}"):
            return
        body = answer.json
        self(isinstance(body, dict) and body.get("message"), f"{where}: no message in {body}")
        self(isinstance(body.get("name"), str), f"{where}: no name in {body}")
        self("Traceback" not in answer.text, f"{where}: internals in the text")
        if name:
            self.equal(body.get("name"), name, where)
        if path:
            paths = [str(d.get("path", "")) for d in body.get("details") or []]
            self(any(path in p for p in paths), f"{where}: no detail at {path!r}: {body}")

    def __bool__(self) -> bool:
        return not self.problems

    def report(self) -> str:
        lines = "\n".join(f"  - {problem}" for problem in self.problems)
        return f"{len(self.problems)} checks failed:\n{lines}"


class Api:
    """Requests that never raise for a status, and helpers that require success."""

    def __init__(self, web: webtest.TestApp) -> None:
        self.web = web
        self._names = 0

    def ask(
        self,
        method: str,
        path: str,
        body: Any = NOTHING,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Sends `body` as JSON unless it is bytes; `headers` replace the admin token."""
        all_headers = dict(ADMIN if headers is None else headers)
        data = b""
        if isinstance(body, bytes):
            data = body
        elif body is not NOTHING:
            data = json.dumps(body).encode()
        if body is not NOTHING:
            all_headers.setdefault("Content-Type", "application/json")
        return self.web.request(
            path, method=method, headers=all_headers, body=data, expect_errors=True, status="*"
        )

    def get(self, path: str, headers: dict[str, str] | None = None) -> Answer:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, body: Any = NOTHING, headers: dict[str, str] | None = None) -> Answer:
        return self.ask("POST", path, body, headers)

    def put(self, path: str, body: Any = NOTHING, headers: dict[str, str] | None = None) -> Answer:
        return self.ask("PUT", path, body, headers)

    def patch(self, path: str, body: Any, headers: dict[str, str] | None = None) -> Answer:
        return self.ask("PATCH", path, body, headers)

    def delete(self, path: str, headers: dict[str, str] | None = None) -> Answer:
        return self.ask("DELETE", path, headers=headers)

    def done(self, method: str, path: str, body: Any = NOTHING) -> Any:
        """The JSON of a request that must succeed."""
        answer = self.ask(method, path, body)
        assert answer.status_int < 300, (
            f"{method} {path} -> {answer.status_int} {answer.text[:300]}"
        )
        return answer.json if answer.content_type == "application/json" and answer.body else None

    # what tests need to exist

    def project(self, id: str = "web", **more: Any) -> str:
        self.done("POST", "/api/admin/projects", {"id": id, "name": id.title(), **more})
        return id

    def flag(self, name: str = "demo", project: str = "default", **more: Any) -> str:
        self.done("POST", f"/api/admin/projects/{project}/features", {"name": name, **more})
        return name

    def strategy(
        self,
        flag: str,
        environment: str = "development",
        project: str = "default",
        **more: Any,
    ) -> dict[str, Any]:
        body = {"name": "default"} | more
        return self.done("POST", f"{self.at(flag, environment, project)}/strategies", body)

    def on(self, flag: str, environment: str = "development", project: str = "default") -> str:
        self.done("POST", f"{self.at(flag, environment, project)}/on")
        return flag

    def off(self, flag: str, environment: str = "development", project: str = "default") -> str:
        self.done("POST", f"{self.at(flag, environment, project)}/off")
        return flag

    def segment(self, name: str = "staff", constraints: Any = None, **more: Any) -> int:
        body = {"name": name, "constraints": constraints or [users("7")], **more}
        return int(self.done("POST", "/api/admin/segments", body)["id"])

    def token(self, **body: Any) -> dict[str, Any]:
        self._names += 1
        named = {"tokenName": f"token-{self._names}", "environment": "development"} | body
        return self.done("POST", "/api/admin/api-tokens", named)

    def client(self, environment: str = "development", **more: Any) -> dict[str, str]:
        """Headers of an SDK on a server."""
        token = self.token(type="client", environment=environment, **more)
        return {"Authorization": token["secret"]}

    def frontend(self, environment: str = "development", **more: Any) -> dict[str, str]:
        """Headers of an SDK in a browser."""
        token = self.token(type="frontend", environment=environment, **more)
        return {"Authorization": token["secret"]}

    # addresses and readings

    @staticmethod
    def flag_path(flag: str, project: str = "default") -> str:
        return f"/api/admin/projects/{project}/features/{flag}"

    @classmethod
    def at(cls, flag: str, environment: str = "development", project: str = "default") -> str:
        return f"{cls.flag_path(flag, project)}/environments/{environment}"

    def read(self, flag: str, project: str = "default") -> dict[str, Any]:
        return self.done("GET", self.flag_path(flag, project))

    def state(
        self, flag: str, environment: str = "development", project: str = "default"
    ) -> dict[str, Any]:
        return self.done("GET", self.at(flag, environment, project))

    def payload(self, headers: dict[str, str], query: str = "", spec: str = "5.1.7") -> Any:
        """The document of a server-side SDK, with a list of segments."""
        more = {"Unleash-Client-Spec": spec} if spec else {}
        answer = self.get(f"/api/client/features{query}", headers | more)
        assert answer.status_int == 200, f"{query}: {answer.status_int} {answer.text[:300]}"
        return answer.json

    def flags(self, headers: dict[str, str], query: str = "") -> dict[str, dict[str, Any]]:
        return {flag["name"]: flag for flag in self.payload(headers, query)["features"]}

    def toggles(self, headers: dict[str, str], query: str = "") -> dict[str, dict[str, Any]]:
        """The flags that the frontend API returns for the context."""
        answer = self.get(f"/api/frontend{query}", headers)
        assert answer.status_int == 200, f"{query}: {answer.status_int} {answer.text[:300]}"
        return {toggle["name"]: toggle for toggle in answer.json["toggles"]}

    def evaluate(self, headers: dict[str, str], context: Any) -> dict[str, dict[str, Any]]:
        answer = self.post("/api/frontend", {"context": context}, headers)
        assert answer.status_int == 200, f"{context}: {answer.status_int} {answer.text[:300]}"
        return {toggle["name"]: toggle for toggle in answer.json["toggles"]}


def users(*ids: str, **more: Any) -> dict[str, Any]:
    """A constraint that these users match."""
    return {"contextName": "userId", "operator": "IN", "values": list(ids), **more}
