"""The commands of docs/signals.md on credentials, run against a listening service."""

from __future__ import annotations

import re
import subprocess

from tests.conftest import ENCRYPTION_KEY
from tests.server.process import (
    ADMIN_SECRET,
    OPEN_LIMITS,
    ROOT,
    make_database_environ,
    run_service,
)

PAGE = (ROOT / "docs" / "signals.md").read_text()


def find_commands(heading: str) -> str:
    """The shell commands of a section, without those of its subsections."""
    section = re.search(rf"^##+ {heading}\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    blocks = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert blocks
    return "\n".join(blocks)


def test_each_command_on_credentials_works(database, tmp_path):
    environ = OPEN_LIMITS | make_database_environ(database.options())
    with run_service(environ | {"SERVICE_ENCRYPTION_KEY": ENCRYPTION_KEY}) as process:
        endpoint, secret = process.create_sender("deploys")
        tokens = f"/api/admin/signal-endpoints/{endpoint}/tokens"
        token = process.request("GET", tokens)[1]["signalEndpointTokens"][0]["id"]

        def run(heading: str) -> str:
            commands = find_commands(heading)
            for old, new in {
                "http://localhost:4242": f"http://127.0.0.1:{process.port}",
                "signal-endpoints/1/tokens/1": f"signal-endpoints/{endpoint}/tokens/{token}",
                "signal-endpoints/1/": f"signal-endpoints/{endpoint}/",
            }.items():
                commands = commands.replace(old, new)
            variables = f"ADMIN_TOKEN='{ADMIN_SECRET}' SIGNAL_TOKEN='{secret}'\n"
            done = subprocess.run(
                [
                    "bash",
                    "-euo",
                    "pipefail",
                    "-c",
                    variables + commands.replace("curl ", "curl -f -sS "),
                ],
                cwd=tmp_path,
                check=True,
                capture_output=True,
                text=True,
                timeout=60,
            )
            return done.stdout

        assert run("Credentials").count('"signals"') == 3
        assert run("Signatures").count('"app": "shop"') == 1
        first, second = run("Repeated deliveries").split("HTTP/1.1 200")[1:]
        assert "Idempotency-Replayed: true" not in first
        assert "Idempotency-Replayed: true" in second
        responses = run("Tokens")
        assert '"previousSecretExpiresAt":"' in responses
        assert '"allowedAddresses":["192.0.2.7","10.0.0.0/8"]' in responses
        signals = process.request("GET", f"/api/admin/signal-endpoints/{endpoint}/signals")[1]
        assert len(signals["signalEndpointSignals"]) == 5
