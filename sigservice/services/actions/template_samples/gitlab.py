"""GitLab: pipeline events, as in "Webhook events" of its documentation."""

from typing import Any

_PIPELINE: dict[str, Any] = {
    "id": 31415926,
    "iid": 312,
    "name": "Deploy shop",
    "ref": "main",
    "tag": False,
    "sha": "9fceb02d0ae598e95dc970b74767f19372d61af8",
    "source": "push",
    "status": "failed",
    "detailed_status": "failed",
    "stages": ["build", "smoke-test"],
    "created_at": "2026-11-21 12:40:02 UTC",
    "finished_at": "2026-11-21 12:44:10 UTC",
    "duration": 248,
    "url": "https://gitlab.example.org/example/shop/-/pipelines/31415926",
}
FIRING: dict[str, Any] = {
    "object_kind": "pipeline",
    "object_attributes": _PIPELINE,
    "merge_request": None,
    "user": {"id": 7, "name": "Ada", "username": "ada"},
    "project": {
        "id": 278,
        "name": "shop",
        "web_url": "https://gitlab.example.org/example/shop",
        "path_with_namespace": "example/shop",
        "default_branch": "main",
    },
    "commit": {
        "id": "9fceb02d0ae598e95dc970b74767f19372d61af8",
        "title": "Change the gateway",
        "timestamp": "2026-11-21T12:39:51+00:00",
        "author": {"name": "Ada"},
    },
    "builds": [
        {"id": 380, "stage": "build", "name": "image", "status": "success"},
        {"id": 381, "stage": "smoke-test", "name": "checkout", "status": "failed"},
    ],
}
RESOLVED = FIRING | {
    "object_attributes": _PIPELINE
    | {
        "id": 31415999,
        "iid": 313,
        "status": "success",
        "detailed_status": "passed",
        "url": "https://gitlab.example.org/example/shop/-/pipelines/31415999",
    },
    "builds": [
        {"id": 390, "stage": "build", "name": "image", "status": "success"},
        {"id": 391, "stage": "smoke-test", "name": "checkout", "status": "success"},
    ],
}
SETUP = """\
Settings, Webhooks, Add new webhook:

  URL                        ENDPOINT_URL
  Secret token               SIGNAL_TOKEN
  Trigger                    Pipeline events
  Enable SSL verification    on

A failed pipeline of main switches, the next good one of main reverts. The branch ties the two, so
use one endpoint for each project. Change the second filter for another branch.
"""
