"""GitHub: the end of a workflow's run, sent by a workflow because webhooks can't send a token."""

from typing import Any

_RUN: dict[str, Any] = {
    "id": 1658821493,
    "name": "Smoke test",
    "workflow_id": 11238293,
    "path": ".github/workflows/smoke-test.yml",
    "event": "schedule",
    "status": "completed",
    "conclusion": "failure",
    "head_branch": "main",
    "head_sha": "9fceb02d0ae598e95dc970b74767f19372d61af8",
    "run_number": 312,
    "run_attempt": 1,
    "created_at": "2026-11-21T12:40:02Z",
    "updated_at": "2026-11-21T12:44:10Z",
    "html_url": "https://github.com/example/shop/actions/runs/1658821493",
}
FIRING: dict[str, Any] = {
    "type": "workflow_run",
    "data": {
        "action": "completed",
        "workflow_run": _RUN,
        "repository": "example/shop",
        "sender": "octocat",
    },
}
RESOLVED: dict[str, Any] = FIRING | {
    "data": FIRING["data"]
    | {
        "workflow_run": _RUN
        | {
            "id": 1658830017,
            "conclusion": "success",
            "run_number": 313,
            "html_url": "https://github.com/example/shop/actions/runs/1658830017",
        }
    },
}
SETUP = """\
Store the token as a secret named SIGNAL_TOKEN (Settings, Secrets and variables, Actions) and add
.github/workflows/signals.yml to the default branch. It reports each run of the workflow Smoke
test on main; runs on other branches must not report, because their success would revert the changes
of main.

name: Signals
on:
  workflow_run:
    workflows: [Smoke test]
    types: [completed]
    branches: [main]
jobs:
  send:
    runs-on: ubuntu-latest
    steps:
      - env:
          SIGNAL_TOKEN: ${{ secrets.SIGNAL_TOKEN }}
        run: |
          jq '{type: env.GITHUB_EVENT_NAME, data: {
                action, repository: .repository.full_name, sender: .sender.login,
                workflow_run: (.workflow_run | {id, name, workflow_id, path, event, status,
                  conclusion, head_branch, head_sha, run_number, run_attempt, created_at,
                  updated_at, html_url})}}' "$GITHUB_EVENT_PATH" |
          curl --fail-with-body --silent --show-error --retry 5 --max-time 10 \\
            -X POST ENDPOINT_URL \\
            -H "Authorization: Bearer $SIGNAL_TOKEN" \\
            -H "Idempotency-Key: $GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT" \\
            -H 'Content-Type: application/json' \\
            --data-binary @-

A failed run switches, the next good run of the same workflow restores. A cancelled run does
neither.
"""
