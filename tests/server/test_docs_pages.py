"""The commands of each page of docs/ work in the order of the page, from an empty folder."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest

from tests.server.docs_pages import Reader
from tests.server.process import ROOT, Client, find_free_port, make_database_environ, run_service

MODULES = ROOT / "tests" / "sdk" / "node_modules"
ADMIN_TOKEN = "*:*.choose-a-long-random-text"


def require(*programs: str) -> None:
    """Skips the test if a program that a page needs isn't installed."""
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


@pytest.fixture
def port() -> str:
    return str(find_free_port())


@pytest.fixture
def environ(temporary_database, request) -> dict[str, str]:
    """The variables of an empty database."""
    name = request.node.name.replace("test", "docs", 1)
    return make_database_environ(temporary_database.create_database(name))


def test_quickstart(port, folder):
    require("curl", "jq")
    output = Reader(folder).run_page("quickstart", changes={"4242": port})
    assert output["Connect an application"] == "True\n"
    assert '"version":"1.2.3"' in output["Or use the API"].replace(" ", "")


def test_signals(port, tmp_path, environ):
    require("curl", "jq", "gzip", "openssl")
    output = Reader(tmp_path, environ).run_page("signals", changes={"4242": port})
    assert output["Credentials"].count('"signals"') == 3
    assert output["Signatures"].count('"app": "shop"') == 1
    first, second = output["Repeated deliveries"].split("HTTP/1.1 200")[1:]
    assert "Idempotency-Replayed: true" not in first
    assert "Idempotency-Replayed: true" in second
    assert '"previousSecretExpiresAt":"' in output["Tokens"]
    assert '"allowedAddresses":["192.0.2.7","10.0.0.0/8"]' in output["Tokens"]
    assert '"total":7' in output["As JSON: the signals of all endpoints"].replace(" ", "")


@pytest.mark.alertmanager
def test_actions(port, tmp_path, environ):
    require("curl", "jq", "prometheus-alertmanager", "amtool")
    changes = {"4242": port, "9093": str(find_free_port()), "interval: 10s": "interval: 1s"}
    before = {
        "--end=": "wait_for 1 'checkout is off' shop.py.log",
        "/events |": "wait_for 2 'checkout is on' shop.py.log",
    }
    output = Reader(tmp_path, environ).run_page(
        "actions",
        changes=changes,
        before=before,
        at_end='curl -H "$AUTH" $URL/api/admin/events/checkout | jq -r ".events[0].createdBy"',
    )
    runs = output["5. Fire an alert and resolve it"]
    assert '"resolved","success","Reverted 1 of 1 change."]' in runs
    assert '"signal","success","Disabled checkout in production."]' in runs
    filters = '["status","firing",true]\n["commonLabels.service","search",false]\n'
    assert output["Test without an alert"] == filters
    assert output["end"] == "alert-robot\n"


def test_mail(port, tmp_path, environ):
    require("curl")
    smtp_port = str(find_free_port())
    Reader(tmp_path, environ).run_page(
        "mail",
        changes={"4242": port, "2525": smtp_port},
        before={"EMAIL_PORT=": f"wait_for_port {smtp_port}"},
        at_end="wait_for 1 'To: grace@example.com' aiosmtpd.log",
    )


@pytest.fixture
def service_port(environ) -> Iterator[str]:
    """The port of a service with the admin token of the pages that start none themselves."""
    with run_service(environ | {"INIT_ADMIN_API_TOKENS": ADMIN_TOKEN}) as process:
        yield str(process.port)


def create_flag(port: str) -> str:
    """Creates the flag of docs/flags.md, which is created on pages; returns a client token."""
    service = Client.at(int(port))
    features = "/api/admin/projects/default/features"
    token = {"tokenName": "shop", "type": "client", "environment": "development"}
    for path, body in {
        features: {"name": "new-checkout"},
        f"{features}/new-checkout/environments/development/on": None,
        "/api/admin/api-tokens": token,
    }.items():
        status, answer = service.request("POST", path, body, ADMIN_TOKEN)
        assert status < 300, answer
    return str(answer["secret"])


def test_flags(service_port, tmp_path):
    before = {"UnleashClient": f"CLIENT_TOKEN='{create_flag(service_port)}'"}
    output = Reader(tmp_path).run_page("flags", changes={"4242": service_port}, before=before)
    assert output["Your first flag"] == "the new checkout\n"


def test_sdk(service_port, tmp_path):
    require("curl", "jq", "node")
    if not MODULES.is_dir():
        pytest.skip("the SDKs are not installed: npm install --prefix tests/sdk")
    (tmp_path / "node_modules").symlink_to(MODULES)
    output = Reader(tmp_path).run_page(
        "sdk",
        changes={"4242": service_port, "unleash.stop();": "unleash.stop(); process.exit();"},
    )
    for name in ("Python", "Node", "Browser"):
        assert "the new checkout\n" in output[name], name


def test_import_export(service_port, environ, tmp_path):
    require("curl")
    create_flag(service_port)
    reader = Reader(tmp_path, environ | {"DATABASE_SCHEMA": "target"})
    output = reader.run_page(
        "import-export",
        changes={
            "https://unleash.example.com": f"http://localhost:{service_port}",
            "*:*.token-of-the-other-server": ADMIN_TOKEN,
        },
        before={"UNLEASH_URL=": "sigservice migrate"},
    )
    assert "1 changed\n" in output["Import from an Unleash server"]
    assert "flags.json: 1 flag" in output["Export everything to a file"]


def test_notifications(tmp_path):
    require("openssl")
    output = Reader(tmp_path).run_page("notifications")
    assert re.fullmatch(r"whsec_\S{44}\n", output["Webhooks"])


def test_operations(port, folder):
    require("curl", "jq", "psql")
    admin = {"SERVICE_DEFAULT_ADMIN_USERNAME": "ada"}  # step 1 of the page
    admin["SERVICE_DEFAULT_ADMIN_PASSWORD"] = "Correct-Horse-7"
    (folder / "run").mkdir()
    event = '{"id": 1, "featureName": "checkout"}'
    (folder / "events-2026-11.ndjson").write_text(f"{event}\n{event[:20]}\n{event}\n")
    output = Reader(folder, admin).run_page(
        "operations",
        changes={"4242": port, "/run/sigservice": f"{folder}/run"},
        files={'"pipe"': "serve.py"},
        at_end=f"curl http://127.0.0.1:{port}/ready",
    )
    assert output["Other ways to connect"].count("GOOD") == 1
    assert output["Retention and archive"] == '{"id":1,"featureName":"checkout"}\n'
    assert "GOOD" in output["end"]


def test_testing(tmp_path):
    output = Reader(tmp_path).run_page("testing", files={"import webtest": "test_deploys.py"})
    assert "1 passed" in output["Testing against the service"]


def test_upgrading(port, folder):
    require("curl")
    start = f"""
        INIT_ADMIN_API_TOKENS='{ADMIN_TOKEN}' HTTP_PORT={port} sigservice >old.log 2>&1 &
        echo $! >old.pid
        wait_for 1 address old.log
    """
    output = Reader(folder).run_page(
        "upgrading",
        changes={"4242": port},
        before={"sigservice backup": start, "mv data": "stop old"},
        at_end=f"curl -H 'Authorization: {ADMIN_TOKEN}' localhost:{port}/api/admin/api-tokens",
    )
    assert '"type":"admin"' in output["end"].replace(" ", "")
