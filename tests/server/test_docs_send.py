"""The commands of docs/send.md, run against a listening service."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
import yaml

from tests.server.process import OPEN_LIMITS, ROOT, make_database_environ, run_service

PAGE = (ROOT / "docs" / "send.md").read_text()


def find_blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def process(database):
    with run_service(OPEN_LIMITS | make_database_environ(database.options())) as process:
        yield process


@pytest.fixture
def run_script(process, tmp_path):
    """`run_script("sigservice send …", NAME="value")`: the payloads that arrive, oldest first."""
    endpoint, token = process.create_sender("deploys")
    command = f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m sigservice "$@"\n'
    for path, content in {
        "sigservice": command,
        "runner/sigservice/bin/sigservice": command,
        "runner/sigservice/bin/pip": "#!/bin/sh\n",
        "pip": "#!/bin/sh\n",
        "python3": "#!/bin/sh\n",  # it would only create the environment of the action
    }.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        file.chmod(0o755)

    def run(script: str, **environ: str) -> list[object]:
        url = f"http://127.0.0.1:{process.port}"
        variables = {
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(tmp_path / "runner"),
            "SIGNAL_URL": url,
            "SIGNAL_TOKEN": token,
        }
        script = script.replace("http://localhost:4242", url).replace("signal_YOUR_TOKEN", token)
        subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path,
            env=variables | environ,
            check=True,
            timeout=60,
        )
        path = f"/api/admin/signal-endpoints/{endpoint}/signals"
        signals = process.request("GET", path)[1]["signalEndpointSignals"]
        return [signal["payload"] for signal in reversed(signals)]

    return run


def test_each_shell_command_sends_a_signal(run_script):
    blocks = find_blocks("sh")
    payloads = run_script("\n".join(blocks))
    count = sum(block.count("sigservice send") + block.count("curl ") for block in blocks)
    assert count == len(payloads) == 6
    assert payloads[0] == payloads[-1]
    assert payloads[3] == {"type": "deploy", "data": {"app": "shop", "version": "2.7.1"}}
    assert payloads[4]["data"]["branch"].endswith('/"fix"')


def test_the_composite_action_sends_its_payload(run_script):
    action = yaml.safe_load(find_blocks("yaml")[0])
    (step,) = action["runs"]["steps"]
    assert set(step["env"]) >= {"SIGNAL_URL", "SIGNAL_TOKEN"}
    for expression in step["env"].values():
        assert re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", expression)[1] in action["inputs"]
    environ = {"ENDPOINT": "deploys", "PAYLOAD": '{"type": "x"}', "PACKAGE": "x.whl"}
    assert run_script(step["run"], **environ) == [{"type": "x"}]


def test_the_use_of_the_action_has_its_inputs():
    action, (step,) = (yaml.safe_load(block) for block in find_blocks("yaml")[:2])
    assert set(step["with"]) <= set(action["inputs"])
    required = {name for name, input in action["inputs"].items() if input.get("required")}
    assert required <= set(step["with"])


def test_the_job_for_gitlab_reports_its_status(run_script):
    job = yaml.safe_load(find_blocks("yaml")[2])["deploy"]
    names = set(re.findall(r"\$([A-Z_]+)", " ".join(job["after_script"])))
    environ = {name: f"<{name}>" for name in names}
    (payload,) = run_script("\n".join(job["after_script"]), **environ)
    assert payload["type"] == "deploy"
    assert payload["data"]["status"] == "<CI_JOB_STATUS>"


def test_defaults_and_options_are_those_of_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "sigservice", "send", "--help"],
        cwd=ROOT,
        env={"COLUMNS": "300"},
        capture_output=True,
        text=True,
        check=True,
    )
    for name, default in re.findall(r"^\| `(--[a-z-]+) N` \| (\d+) \|", PAGE, re.MULTILINE):
        assert re.search(rf"{name} N .*default: {default}$", done.stdout, re.MULTILINE), name
    for name in re.findall(r"^  (--[a-z-]+)", done.stdout, re.MULTILINE):
        assert name in PAGE
