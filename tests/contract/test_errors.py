"""The shape of errors, and unusual URLs."""

from __future__ import annotations

from tests.conftest import ADMIN

P = "/api/admin/projects/default"
F = f"{P}/features"
BODIES = [
    ("POST", "/api/admin/projects"),
    ("POST", "/api/admin/environments"),
    ("POST", F),
    ("PUT", f"{F}/demo"),
    ("PATCH", f"{F}/demo"),
    ("POST", f"{F}/demo/clone"),
    ("POST", f"{F}/demo/dependencies"),
    ("POST", f"{F}/demo/environments/development/strategies"),
    ("POST", f"{F}/demo/environments/development/strategies/set-sort-order"),
    ("POST", f"{P}/archive"),
    ("POST", f"{P}/stale"),
    ("POST", f"{P}/bulk_features/environments/development/on"),
    ("POST", f"{P}/environments"),
    ("POST", "/api/admin/features/validate"),
    ("POST", "/api/admin/features/demo/tags"),
    ("PUT", "/api/admin/features/demo/tags"),
    ("POST", "/api/admin/segments"),
    ("POST", "/api/admin/segments/validate"),
    ("POST", "/api/admin/constraints/validate"),
    ("POST", "/api/admin/tag-types"),
    ("POST", "/api/admin/tags"),
    ("POST", "/api/admin/context"),
    ("POST", "/api/admin/strategies"),
    ("POST", "/api/admin/api-tokens"),
    ("POST", "/api/admin/playground"),
    ("POST", "/api/admin/ui-config/cors"),
]
DEEP = b"[" * 200 + b"]" * 200


def test_every_route_checks_its_body_in_the_same_way(api, check):
    api.flag()
    for method, path in BODIES:
        for what, body in (
            ("broken", b"{"), ("empty", b""), ("text", b"name=x"), ("number", b"1"),
            ("null", b"null"), ("not UTF-8", b'{"name": "\xff"}'), ("NaN", b'{"name": NaN}'),
            ("too deep", DEEP), ("NUL", b'{"name": "a\\u0000"}'),
            ("lone surrogate", b'{"name": "\\ud800"}'),
        ):  # fmt: skip
            check.error(api.ask(method, path, body), 400, message=what)
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            headers = ADMIN | {"Content-Type": kind}
            check.error(api.ask(method, path, b"{}", headers), (400, 415), message=kind)
        limit = 5_000_000 if "/segments" in path else 102_400  # segments have many values
        big = b'{"name":"' + b"a" * limit + b'"}'
        check.error(api.ask(method, path, big), 413)
    check.equal(api.read("demo")["stale"], False, "the flag is as it was")


def test_body_of_exactly_the_limit_is_accepted(api, check):
    stem = b'{"name":"demo","description":""}'
    just = stem.replace(b'""', b'"' + b"a" * (102_400 - len(stem)) + b'"')
    answer = api.post(F, just)
    check(answer.status_int in (201, 400), f"102400 bytes are read: {answer.status}")
    check.error(api.post(F, just + b" "), 413)


def test_unknown_addresses_and_methods(api, check):
    client, browser = api.client(), api.frontend()
    for path in ("/api/admin/nothing", f"{F}/demo/nothing", "/api/admin", "/api/nothing"):
        check.error(api.get(path), 404)
    check.error(api.get("/api/client/nothing", client), 404)
    check.error(api.get("/api/frontend/nothing", browser), 404)
    for method, path, headers in (
        ("DELETE", "/api/client/features", client),
        ("POST", "/api/client/features", client),
        ("GET", "/api/client/metrics", client),
        ("GET", "/api/client/register", client),
        ("PATCH", "/api/admin/projects", ADMIN),
        ("DELETE", "/api/admin/segments", ADMIN),
    ):
        answer = api.ask(method, path, headers=headers)
        check.error(answer, (404, 405))
        if answer.status_int == 405:
            check(answer.headers.get("Allow"), f"{method} {path}: Allow")


def test_slashes(api, check):
    api.flag()
    client, browser = api.client(), api.frontend()
    for path, headers in (
        ("/api/admin/projects/", ADMIN),
        ("/api//admin///projects", ADMIN),
        ("/api/admin/projects//default/features/demo/", ADMIN),
        ("/api/admin/projects/?x=1", ADMIN),
        ("/api/client/features/", client),
        ("/api//client//features", client),
        ("/api/client/features/demo/", client),
        ("/api/frontend/", browser),
        ("/api//frontend", browser),
    ):
        check.status(api.get(path, headers), 200)
    check.status(api.post(f"{api.at('demo')}/on/"), 200, "POST")
    check.equal(api.state("demo")["enabled"], True, "it worked")
    metrics = api.post("/api/client/metrics/", {"appName": "a"}, client)
    check.status(metrics, 202, "POST for clients")


def test_each_kind_of_error_has_its_name(api, check):
    api.flag()
    segment = api.segment()
    api.strategy("demo", segments=[segment])
    check.error(api.post(F, {"name": "a b"}), 400, name="BadDataError")
    check.error(api.get(f"{F}/nothing"), 404, name="NotFoundError")
    check.error(api.post(F, {"name": "demo"}), 409, name="NameExistsError")
    check.error(api.get("/api/admin/projects", {}), 401, name="AuthenticationRequired")
    form = ADMIN | {"Content-Type": "text/plain"}
    check.error(api.post(F, b"{}", form), 415, name="ContentTypeError")
    answer = api.post(F, {"name": "a b"})
    check(answer.json.get("id"), f"an id: {answer.json}")
    check(isinstance(answer.json.get("details"), list), f"details: {answer.json}")
    for detail in answer.json.get("details", []):
        check(detail.get("message"), f"details have messages: {detail}")


def test_strange_names_in_addresses(api, check):
    for name in ("%00", "%ff", "a%2Fb", "%2e%2e", "a%20b", "%E2%98%83", "'", '"', "%25", "$1", "*"):
        for path in (f"{F}/{name}", f"/api/admin/features/{name}/tags",
                     f"/api/admin/projects/{name}/overview", f"/api/admin/segments/{name}",
                     f"/api/admin/environments/{name}", f"/api/admin/tag-types/{name}",
                     f"/api/admin/context/{name}", f"/api/admin/strategies/{name}",
                     f"{F}/{name}/environments/{name}"):  # fmt: skip
            answer = api.get(path)
            check(answer.status_int in (400, 404), f"{path[:150]}: {answer.status}")
    for name in ("%00", "%ff", "'", "*"):
        answer = api.get(f"/api/client/features/{name}", api.client())
        check(answer.status_int in (400, 404), f"client {name}: {answer.status}")


def test_query_values_are_never_a_servers_error(api, check):
    client = api.client()
    for value in ("", "%00", "%ff", "'", "a" * 2000, "%F0%9F%98%8A", "-1", "1e999", "IS:%00"):
        for path in (
            f"/api/client/features?namePrefix={value}",
            f"/api/client/features?tag=simple:{value}",
            f"/api/client/features?project={value}",
        ):
            answer = api.get(path, client)
            check(answer.status_int in (200, 400), f"{path[:150]}: {answer.status}")
        for path in (
            f"/api/admin/search/features?query={value}",
            f"/api/admin/search/features?limit={value}",
            f"/api/admin/search/events?query={value}",
            f"/api/admin/search/events?offset={value}",
            f"/api/admin/search/events?from={value}",
            f"/api/admin/search/events?feature={value}",
            f"/api/admin/client-metrics/features/demo/raw?hoursBack={value}",
            f"{F}?namePrefix={value}",
            f"{F}?tag={value}",
        ):
            answer = api.get(path)
            check(answer.status_int in (200, 400), f"{path[:150]}: {answer.status}")


def test_probes_are_open(api, check):
    for path in ("/health", "/ready"):
        answer = api.get(path, {})
        if check.status(answer, 200):
            check.equal(answer.json.get("health"), "GOOD", path)
    check.status(api.get("/internal-backstage/prometheus", {}), 200)
