"""The snippets of docs/ofrep.md run unchanged."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sdk.conftest import CLIENT_TOKEN, FRONTEND_TOKEN, HERE
from tests.waiting import DEADLINE_SECONDS

DOCS = Path(__file__).parents[2] / "docs"
SNIPPET = re.compile(r"^## (\w+)\n.*?```\w+\n(.*?)```", re.MULTILINE | re.DOTALL)
SNIPPETS = dict(SNIPPET.findall((DOCS / "ofrep.md").read_text()))


@pytest.mark.parametrize("name", ["Python", "Node", "Browser"])
def test_a_snippet_works(server, request, name):
    if name != "Python":
        request.getfixturevalue("node")
    server.flag("new-checkout")
    code = SNIPPETS[name].replace("http://localhost:4242", server.url)
    code = code.replace("<client token>", CLIENT_TOKEN).replace("<frontend token>", FRONTEND_TOKEN)
    if name == "Browser":  # a page ends otherwise
        code += "process.exit();"
    assert "<" not in re.sub(r"=>|</?\w", "", code)
    command = [sys.executable, "-c"] if name == "Python" else ["node", "--input-type=module", "-e"]
    done = subprocess.run(
        [*command, code],
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert "the new checkout\n" in done.stdout, done.stderr
