"""GitHub: workflow_run webhooks, as in "Webhook events and payloads" of its documentation."""

from typing import Any

from sigservice.services.actions.template_samples import github

FIRING: dict[str, Any] = {
    "action": "completed",
    "workflow_run": github.FIRING["data"]["workflow_run"],
    "workflow": {
        "id": 11238293,
        "name": "Smoke test",
        "path": ".github/workflows/smoke-test.yml",
        "state": "active",
    },
    "repository": {
        "id": 186853002,
        "name": "shop",
        "full_name": "example/shop",
        "private": True,
        "default_branch": "main",
    },
    "organization": {"login": "example", "id": 583231},
    "sender": {"login": "octocat", "id": 21031067, "type": "User"},
}
RESOLVED = FIRING | {"workflow_run": github.RESOLVED["data"]["workflow_run"]}
SETUP = """\
Create a signature token with the scheme github. Then add the webhook in the settings of the
repository or the organization (Webhooks, Add webhook):

  Payload URL        ENDPOINT_URL
  Content type       application/json
  Secret             the secret of the signature token
  SSL verification   Enable
  Events             Let me select individual events: Workflow runs

A failed run switches, the next good run of the same workflow reverts. Let the workflow run on one
branch only: a good run on another branch reverts too. Add filters for workflow_run.name and
repository.full_name.
"""
