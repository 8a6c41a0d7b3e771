"""The commands of docs/senders, run against a listening service."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from sigservice.senders import SENDERS
from tests.server.process import OPEN_LIMITS, ROOT, make_database_environ, run_service
from tests.table_tests import each

FOLDER = ROOT / "docs" / "senders"
ENDPOINTS = "/api/admin/signal-endpoints"
ADMIN_TOKEN = OPEN_LIMITS["INIT_ADMIN_API_TOKENS"]


def find_blocks(page: str, language: str) -> list[str]:
    text = (FOLDER / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def process(database):
    with run_service(OPEN_LIMITS | make_database_environ(database.options())) as process:
        yield process


@pytest.fixture
def run_script(process, tmp_path):
    """`run_script(script, NAME="value")` with what the commands need on the PATH."""
    event = SENDERS["kubernetes"].samples.firing
    event_list = {"items": [event | {"metadata": event["metadata"] | {"resourceVersion": "1"}}]}
    (tmp_path / "watched.json").write_text(json.dumps(event, indent=2))
    (tmp_path / "listed.json").write_text(json.dumps(event_list))
    (tmp_path / "event.json").write_text(json.dumps(SENDERS["github-webhooks"].samples.firing))
    for name, script in {
        "sigservice": f'PYTHONPATH={ROOT} exec {sys.executable} -m sigservice "$@"',
        "kubectl": 'case "$*" in *--watch-only*) cat watched.json;; *) cat listed.json;; esac',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)

    def run(script: str, **environ: str) -> None:
        url = f"http://127.0.0.1:{process.port}"
        script = script.replace("http://localhost:4242", url)
        script = script.replace("*:*.choose-a-long-random-text", ADMIN_TOKEN)
        script = script.replace("signal_YOUR_TOKEN", environ.get("SIGNAL_TOKEN", ""))
        variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "GITHUB_EVENT_PATH": "event.json"}
        subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path,
            env=variables | environ,
            check=True,
            timeout=60,
            capture_output=True,
        )

    return run


def create_endpoint(process, template, endpoint=""):
    """(path, token) of the only endpoint, which has the name that the commands of its page use."""
    text = (FOLDER / Path(SENDERS[template].page).name).read_text()
    name = endpoint or re.search(r"/api/signal-endpoint/(\w+)", text)[1]
    status, row = process.request("POST", ENDPOINTS, {"name": name, "template": template})
    assert status == 201
    path = f"{ENDPOINTS}/{row['id']}"
    status, body = process.request("POST", f"{path}/tokens", {"name": "ci"})
    assert status == 201
    return path, body["token"]


def fill_setup(text: str) -> str:
    url = "http://localhost:4242/api/signal-endpoint/deploys"
    return text.replace("ENDPOINT_URL", url)


def list_payloads(process, path):
    signals = process.request("GET", f"{path}/signals")[1]["signalEndpointSignals"]
    return [signal["payload"] for signal in reversed(signals)]


def test_each_command_sends_a_signal(process, run_script):
    @each("template", ["gitlab", "opsgenie", "cloudevents", "kubernetes", "generic"])
    def check(template):
        path, token = create_endpoint(process, template)
        script = "\n".join(find_blocks(f"{template}.md", "sh"))
        run_script(script, SIGNAL_TOKEN=token)
        count = len(list_payloads(process, path))
        process.request("DELETE", path)
        assert count == len(re.findall(r"\bcurl -|\bsigservice send", script)) > 0

    check()


def test_each_command_of_a_setup_sends_a_signal(process, run_script):
    @each("name", ["cloudevents", "generic", "kubernetes"])
    def check(name):
        path, token = create_endpoint(process, name, endpoint="deploys")
        pattern = r"^(?:curl|kubectl) .*?(?=^$)"
        script = re.search(pattern, SENDERS[name].setup, re.MULTILINE | re.DOTALL)[0]
        run_script(fill_setup(script).replace("SIGNAL_TOKEN", token))
        (payload,) = list_payloads(process, path)
        process.request("DELETE", path)
        assert payload

    check()


def test_the_commands_for_github_webhooks_send_a_signed_signal(process, run_script):
    run_script("".join(find_blocks("github-webhooks.md", "sh")))
    (endpoint,) = process.request("GET", ENDPOINTS)[1]["signalEndpoints"]
    (token,) = endpoint["tokens"]
    assert token["type"] == "signature"
    payloads = list_payloads(process, f"{ENDPOINTS}/{endpoint['id']}")
    assert payloads == [{"zen": "Test", "hook_id": 1}]


def test_each_body_of_a_signature_token_is_accepted(process):
    _, endpoint = process.request("POST", ENDPOINTS, {"name": "deploys"})
    path = f"{ENDPOINTS}/{endpoint['id']}/tokens"

    @each("page", sorted(file.name for file in FOLDER.glob("*.md")))
    def check(page):
        text = (FOLDER / page).read_text()
        inline = re.findall(r"[`']([{][^`']*[}])[`']", text)
        for body in [*inline, *find_blocks(page, "json")]:
            if '"scheme"' in body:
                status, token = process.request("POST", path, json.loads(body))
                assert (status, token.get("type")) == (201, "signature"), token
                process.request("DELETE", f"{path}/{token['id']}")

    check()


def test_the_steps_for_github_actions_send_their_signals(process, run_script):
    path, token = create_endpoint(process, "github")
    setup = SENDERS["github"].setup
    workflow = re.search(r"^name: .*?(?=^$)", setup, re.MULTILINE | re.DOTALL)[0]
    for block in [*find_blocks("github-actions.md", "yaml"), fill_setup(workflow)]:
        text = yaml.safe_load(block)
        step = text[0] if isinstance(text, list) else text["jobs"]["send"]["steps"][0]
        names = set(re.findall(r"GITHUB_[A-Z_]+", step["run"])) - {"GITHUB_EVENT_PATH"}
        environ = {name: f"<{name}>" for name in names} | {"GITHUB_EVENT_NAME": "workflow_run"}
        run_script(step["run"], SIGNAL_TOKEN=token, STATUS="success", **environ)
    deployment, run = list_payloads(process, path)
    assert deployment["data"]["status"] == "success"
    sample = SENDERS["github"].samples.firing
    assert run["type"] == sample["type"]
    assert run["data"]["workflow_run"] == sample["data"]["workflow_run"]


def test_the_index_creates_an_endpoint_with_a_token(process, run_script):
    (script,) = find_blocks("README.md", "sh")
    run_script(script)
    (endpoint,) = process.request("GET", ENDPOINTS)[1]["signalEndpoints"]
    assert endpoint["options"]["rateLimit"]["status"] == 503
    assert [token["name"] for token in endpoint["tokens"]] == ["alertmanager-eu"]
