"""What a start imports."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from sigservice.routes import read_late_modules
from tests.server.process import ROOT
from tests.waiting import DEADLINE_SECONDS

LATE = {
    "argparse",
    "cryptography",
    "joserfc",
    "jsonpatch",
    "markdown_it",
    "prometheus_client",
    "ruamel",
    "standardwebhooks",
    "urllib3",
    "xml",
}
SCRIPT = """
import json, sys
import sigservice.commands.run
service = sigservice.start(json.loads(sys.argv[1]), {})
print(json.dumps(sorted(sys.modules)))
service.stop()
"""


@pytest.mark.external
def test_a_start_imports_no_library_and_no_route_that_only_some_requests_need(database):
    options = {"db": database.create_database("imports"), "logLevel": "error"}
    options["server"] = {"host": "127.0.0.1", "port": 0}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(options)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    modules = json.loads(done.stdout.splitlines()[-1])
    assert sorted(LATE & {name.partition(".")[0] for name in modules}) == []
    late_routes = {
        f"sigservice.routes.{name}" for name in read_late_modules() if read_late_modules()[name]
    }
    assert sorted(late_routes & set(modules)) == []
