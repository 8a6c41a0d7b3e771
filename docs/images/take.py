"""Takes the picture of README.md: starts a service, sends it an alert and photographs the flag.

    .venv/bin/pip install -e '.[dev]' && .venv/bin/python docs/images/take.py

It needs Chromium at /usr/bin/chromium (Debian package chromium).
"""

from __future__ import annotations

import time
from pathlib import Path

import webtest
from playwright.sync_api import sync_playwright

import sigservice
from sigservice.testing import TemporaryDatabase

FOLDER = Path(__file__).parent
CHROMIUM = "/usr/bin/chromium"
TOKEN = "*:*.only-for-these-pictures"
PASSWORD = "Only-for-these-pictures-1"
PROJECT = "/api/admin/projects/default"
FLAGS = {  # name: description, environments where it is enabled, rollout percentage
    "checkout": ("New checkout with one page", ("development", "production"), 100),
    "dark-mode": ("Dark theme of the shop", ("development", "production"), 25),
    "recommendations": ("Products that others bought", ("development", "production"), 50),
    "search-v2": ("Search by vectors", ("development",), 100),
    "payments-retry": ("Retry a failed card payment once", ("development", "production"), 100),
}
ALERT = {
    "status": "firing",
    "groupKey": '{}:{alertname="PaymentErrors"}',
    "commonLabels": {"alertname": "PaymentErrors", "severity": "critical", "service": "checkout"},
    "commonAnnotations": {"summary": "12% of payments fail"},
}


def create_flags(web: webtest.TestApp) -> None:
    for name, (description, environments, rollout) in FLAGS.items():
        web.post_json(f"{PROJECT}/features", {"name": name, "description": description})
        for environment in environments:
            path = f"{PROJECT}/features/{name}/environments/{environment}"
            parameters = {"rollout": str(rollout), "stickiness": "default", "groupId": name}
            web.post_json(
                f"{path}/strategies", {"name": "flexibleRollout", "parameters": parameters}
            )
            web.post(f"{path}/on")


def create_action_set(web: webtest.TestApp) -> str:
    """Disables `checkout` in production when an alert fires; returns the signal token."""
    endpoint = web.post_json("/api/admin/signal-endpoints", {"name": "alertmanager"}).json["id"]
    account = web.post_json(
        "/api/admin/service-account", {"username": "incident-bot", "rootRole": "Editor"}
    ).json["id"]
    flag = {"project": "default", "environment": "production", "featureName": "checkout"}
    action_set = {
        "name": "Disable checkout on payment errors",
        "actorId": account,
        "match": {
            "source": "signal-endpoint",
            "sourceId": endpoint,
            "filters": [
                {"path": "status", "operator": "IN", "values": ["firing"]},
                {"path": "commonLabels.service", "operator": "IN", "values": ["checkout"]},
            ],
        },
        "actions": [
            {"action": "TOGGLE_FEATURE_OFF", "sortOrder": 1, "executionParams": flag},
        ],
        "options": {
            "restoreWhenResolved": {"path": "status", "values": ["resolved"], "key": "groupKey"}
        },
    }
    web.post_json(f"{PROJECT}/actions", action_set)
    path = f"/api/admin/signal-endpoints/{endpoint}/tokens"
    return web.post_json(path, {"name": "eu"}).json["token"]


def take_pictures(url: str) -> None:
    pages = {"flag": "/admin/features/checkout"}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        for scheme in ("light", "dark"):
            size = {"width": 1200, "height": 680}
            context = browser.new_context(
                base_url=url, color_scheme=scheme, viewport=size, device_scale_factor=1.5
            )
            page = context.new_page()
            page.goto("/sign-in")
            page.fill("#username", "grace")
            page.fill("#password", PASSWORD)
            page.press("#password", "Enter")
            page.wait_for_url("**/")
            for name, path in pages.items():
                page.goto(path)
                page.screenshot(path=FOLDER / f"{name}-{scheme}.png")
            context.close()
        browser.close()


def main() -> None:
    with TemporaryDatabase() as database:
        options = {
            "db": database.options(),
            "logLevel": "error",
            "server": {"host": "127.0.0.1", "port": 0},
            "authentication": {
                "initialAdminUser": {"username": "grace", "password": PASSWORD},
                "initApiTokens": [
                    {"type": "admin", "secret": TOKEN, "environment": "*", "project": "*"}
                ],
            },
        }
        service = sigservice.start(options, {})
        try:
            web = webtest.TestApp(service.app)
            web.authorization = ("Bearer", TOKEN)
            create_flags(web)
            headers = {"Authorization": f"Bearer {create_action_set(web)}"}
            web.post_json("/api/signal-endpoint/alertmanager", ALERT, headers=headers)
            while not web.get(f"{PROJECT}/actions/1/events").json["actionSetEvents"]:
                time.sleep(0.1)
            take_pictures(service.url)
        finally:
            service.stop()


if __name__ == "__main__":
    main()
