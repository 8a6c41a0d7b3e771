"""POST /api/frontend with 100 flags: evaluated for each request, and cached."""

from __future__ import annotations

import http.client
import json
import time

from load import build_post, measure_load
from service import TOKEN, Service, run_service

FLAGS = 100
FRONTEND = "*:development.bench"
PATH = "/api/admin/projects/default/features"


def build_body(user: str) -> bytes:
    context = {"userId": user, "appName": "bench", "properties": {"region": "eu"}}
    return json.dumps({"context": context}).encode()


def create_flags(service: Service) -> None:
    variants = [{"name": name, "stickiness": "userId"} for name in ("a", "b")]
    region = {"contextName": "region", "operator": "IN", "values": ["eu", "us"]}
    for n in range(FLAGS):
        service.send(PATH, {"name": f"flag-{n}"})
        strategy = {
            "name": "flexibleRollout",
            "parameters": {"rollout": 50, "stickiness": "userId"},
            "constraints": [region],
            "variants": variants,
        }
        service.send(f"{PATH}/flag-{n}/environments/development/strategies", strategy)
    names = [f"flag-{n}" for n in range(FLAGS)]
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    connection.request(
        "POST",
        "/api/admin/projects/default/bulk_features/environments/development/on",
        json.dumps({"features": names}),
        {"Authorization": TOKEN, "Content-Type": "application/json"},
    )
    assert connection.getresponse().status == 200


def measure_new_users(port: int, count: int) -> list[float]:
    """The response times for new users in ms, sorted."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"Authorization": FRONTEND, "Content-Type": "application/json"}
    times_ms = []
    for n in range(count):
        started_at = time.perf_counter()
        connection.request("POST", "/api/frontend", build_body(f"user-{n}"), headers)
        response = connection.getresponse()
        response.read()
        times_ms.append(1000 * (time.perf_counter() - started_at))
        assert response.status == 200
    return sorted(times_ms)


def main() -> None:
    with run_service(INIT_FRONTEND_API_TOKENS=FRONTEND) as service:
        create_flags(service)
        times_ms = measure_new_users(service.port, 500)
        print(f"a new user each time: p50 {times_ms[250]:.2f} ms, p99 {times_ms[495]:.2f} ms")
        request = build_post("/api/frontend", build_body("user-1"), FRONTEND)
        for connections in (1, 16):
            figures = measure_load(service.port, request, connections, 3)
            print(f"cached, {connections} connections: {figures}")


if __name__ == "__main__":
    main()
