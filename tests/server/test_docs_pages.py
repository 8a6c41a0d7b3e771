"""The commands of each page of docs/ work in the order of the page, from an empty folder."""

from __future__ import annotations

import json
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.repository.kit import run
from tests.server.docs_pages import Reader, list_blocks
from tests.server.process import ROOT, Client, find_free_port, make_database_environ, run_service
from tests.waiting import DEADLINE_SECONDS

MODULES = ROOT / "tests" / "sdk" / "node_modules"
ADMIN_TOKEN = "*:*.choose-a-long-random-text"


def require(*programs: str) -> None:
    """Skips the test if a program that a page needs isn't installed."""
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


def split_json(text: str) -> list[dict[str, Any]]:
    """The JSON objects that commands print one after the other."""
    return [json.loads(part) for part in re.split(r"(?<=^\})\n", text, flags=re.MULTILINE) if part]


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
    assert '"previousSecretExpiresAt": "' in output["Tokens"]
    assert '"192.0.2.7"' in output["Tokens"]
    page, *_, last = split_json(output["View signals"])
    documented = next(
        json.loads(block.code)
        for block in list_blocks("signals")
        if '"signalEndpointSignals"' in block.code
    )
    (signal,), (example,) = page["signalEndpointSignals"], documented["signalEndpointSignals"]
    assert list(signal) == list(example)
    assert last["total"] == 7


def test_releases(service_port, tmp_path):
    require("curl", "jq")
    events = 'curl -sS -H "$AUTH" $PLACE/releases/$RELEASE/events'
    changes = {
        "4242": service_port,
        "sleep 2": f"until {events} | grep rolledBack >/dev/null; do sleep 1; done",
    }
    output = Reader(tmp_path).run_page("releases", changes=changes)["Try it"]
    documented = [block.code for block in list_blocks("releases") if block.language == ""]
    assert documented[0].strip() in output
    assert documented[1].strip() in output


@pytest.fixture
def hurried_rules(service_port, environ, temporary_database) -> Iterator[None]:
    """Alert rules are evaluated each second, not after a quarter of a minute."""
    stop = threading.Event()

    def hurry() -> None:
        with closing(temporary_database.connect(environ["DATABASE_NAME"])) as conn:
            while not stop.wait(0.3):
                run(conn, "UPDATE alert_rules SET due_at = 'epoch' WHERE due_at > now()")

    thread = threading.Thread(target=hurry)
    thread.start()
    yield
    stop.set()
    thread.join(DEADLINE_SECONDS)


def test_alert_rules(service_port, tmp_path, hurried_rules):
    require("curl", "jq")
    wait = "until curl -H \"$AUTH\" $PLACE | jq -e '.enabled == %s' >/dev/null; do sleep 1; done"
    fires = 'until curl -H "$AUTH" $RULES/$SILENCE | grep -q firing; do sleep 1; done'
    changes = {
        "4242": service_port,
        "sleep 20": wait % "false",
        "sleep 21": wait % "true",
        "sleep 30": fires,
    }
    output = Reader(tmp_path).run_page("alert-rules", changes=changes)
    reason = "search_errors per search_requests was 0.08 (limit 0.05) over 5 minutes, 100 samples."
    assert f'["firing",0.08,0.05,"{reason}"]' in output["4. An application that counts"]
    assert f"firing: {reason}" in output["5. The flag goes off"]
    assert '"enabled": false' in output["5. The flag goes off"]
    last = output["6. The flag goes on again"]
    assert "ok: search_errors per search_requests was 0.0072" in last
    assert '"enabled": true' in last
    assert '{"status":"firing","value":0.08}' in last
    assert '{"status":"resolved"' in last
    assert re.search(
        r"^firing: No signal came since .*\nok$", output["7. A signal that is missing"]
    )


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
    assert output["Test without an alert"].splitlines() == [
        '["status","firing",true]',
        '["commonLabels.service","search",false]',
        '["groupKey","search",true]',
    ]
    assert output["end"] == "alert-robot\n"


def test_mail(port, tmp_path, environ):
    require("curl", "jq")
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
    """Creates the flag that some pages begin with; returns the commands that set its tokens."""
    service = Client.at(int(port))

    def post(path: str, body: object = None) -> dict[str, str]:
        status, answer = service.request("POST", f"/api/admin/{path}", body, ADMIN_TOKEN)
        assert status < 300, answer
        return answer or {}

    post("projects/default/features", {"name": "new-checkout"})
    post("projects/default/features/new-checkout/environments/development/on")
    commands = ""
    for type in ("client", "frontend"):
        token = {"tokenName": type, "type": type, "environment": "development"}
        commands += f"{type.upper()}_TOKEN='{post('api-tokens', token)['secret']}'\n"
    return commands


def test_flags(service_port, tmp_path):
    before = {"UnleashClient": create_flag(service_port)}
    output = Reader(tmp_path).run_page("flags", changes={"4242": service_port}, before=before)
    assert output["Your first flag"] == "the new checkout\n"


@pytest.fixture
def node_folder(tmp_path):
    """A folder in which the SDKs for Node are installed."""
    require("node")
    if not MODULES.is_dir():
        pytest.skip("the SDKs are not installed: npm install --prefix tests/sdk")
    (tmp_path / "node_modules").symlink_to(MODULES)
    return tmp_path


def test_sdk(service_port, node_folder):
    require("curl", "jq")
    output = Reader(node_folder).run_page("sdk", changes={"4242": service_port})
    for name in ("Python", "Node", "Browser"):
        assert "the new checkout\n" in output[name], name


def test_ofrep(service_port, node_folder):
    output = Reader(node_folder).run_page(
        "ofrep",
        changes={"4242": service_port},
        before={"from openfeature import": create_flag(service_port)},
    )
    for name in ("Python", "Node", "Browser"):
        assert output[name] == "the new checkout\n", name


def test_playground(service_port, tmp_path):
    require("curl", "jq")
    create_flag(service_port)
    output = Reader(tmp_path).run_page("playground", changes={"4242": service_port})
    assert output["Playground"] == '["new-checkout",true,true]\n'


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


def test_integrations(tmp_path):
    require("openssl")
    output = Reader(tmp_path).run_page("integrations")
    assert re.fullmatch(r"whsec_\S{44}\n", output["Signatures"])


def test_run(port, folder):
    require("curl", "jq", "psql")
    admin = {"SERVICE_DEFAULT_ADMIN_USERNAME": "ada"}  # as the first section of the page says
    admin["SERVICE_DEFAULT_ADMIN_PASSWORD"] = "Correct-Horse-7"
    admin["INIT_ADMIN_API_TOKENS"] = ADMIN_TOKEN
    (folder / "run").mkdir()
    output = Reader(folder, admin).run_page(
        "run",
        changes={"4242": port, "/run/sigservice": f"{folder}/run"},
        before={"mv data": "stop sigservice; stop serve.py"},
        files={'"pipe"': "serve.py"},
        at_end=f"curl -H 'Authorization: {ADMIN_TOKEN}' localhost:{port}/api/admin/api-tokens",
    )
    assert output["Behind another proxy"].count("GOOD") == 1
    assert '"type":"admin"' in output["end"].replace(" ", "")


def test_limits(tmp_path):
    require("jq")
    event = '{"id": 1, "featureName": "checkout"}'
    (tmp_path / "events-2026-11.ndjson").write_text(f"{event}\n{event[:20]}\n{event}\n")
    output = Reader(tmp_path).run_page("limits")
    assert output["Retention and archive"] == '{"id":1,"featureName":"checkout"}\n'


def test_testing(tmp_path):
    output = Reader(tmp_path).run_page("testing", files={"import webtest": "test_deploys.py"})
    assert "1 passed" in output["Testing against the service"]
