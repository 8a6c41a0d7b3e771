"""POST /api/frontend with 100 flags: evaluated for each request, and remembered."""

from __future__ import annotations

import http.client
import json
import time

from load import measure, post
from service import TOKEN, Running, running

FLAGS = 100
FRONTEND = "*:development.bench"
PATH = "/api/admin/projects/default/features"


def body(user: str) -> bytes:
    context = {"userId": user, "appName": "bench", "properties": {"region": "eu"}}
    return json.dumps({"context": context}).encode()


def fill(service: Running) -> None:
    variants = [{"name": name, "stickiness": "userId"} for name in ("a", "b")]
    region = {"contextName": "region", "operator": "IN", "values": ["eu", "us"]}
    for n in range(FLAGS):
        service.call(PATH, {"name": f"flag-{n}"})
        strategy = {
            "name": "flexibleRollout",
            "parameters": {"rollout": 50, "stickiness": "userId"},
            "constraints": [region],
            "variants": variants,
        }
        service.call(f"{PATH}/flag-{n}/environments/development/strategies", strategy)
    names = [f"flag-{n}" for n in range(FLAGS)]
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    connection.request(
        "POST",
        "/api/admin/projects/default/bulk_features/environments/development/on",
        json.dumps({"features": names}),
        {"Authorization": TOKEN, "Content-Type": "application/json"},
    )
    assert connection.getresponse().status == 200


def new_users(port: int, amount: int) -> list[float]:
    """Milliseconds for each of them, sorted."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"Authorization": FRONTEND, "Content-Type": "application/json"}
    taken = []
    for n in range(amount):
        began = time.perf_counter()
        connection.request("POST", "/api/frontend", body(f"user-{n}"), headers)
        answer = connection.getresponse()
        answer.read()
        taken.append(1000 * (time.perf_counter() - began))
        assert answer.status == 200
    return sorted(taken)


def main() -> None:
    with running(INIT_FRONTEND_API_TOKENS=FRONTEND) as service:
        fill(service)
        taken = new_users(service.port, 500)
        print(f"a new user each time: p50 {taken[250]:.2f} ms, p99 {taken[495]:.2f} ms")
        request = post("/api/frontend", body("user-1"), FRONTEND)
        for connections in (1, 16):
            found = measure(service.port, request, connections, 3)
            print(f"remembered, {connections} connections: {found}")


if __name__ == "__main__":
    main()
