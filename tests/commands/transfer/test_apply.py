"""`sigservice apply` against a service."""

from __future__ import annotations

import argparse
import json
import re

import pytest
import webtest

from sigservice.commands.transfer import apply as command
from tests.conftest import ADMIN, ADMIN_TOKEN
from tests.server.process import ROOT

pytestmark = pytest.mark.external  # it starts a service that listens

FLAGS = "/api/admin/projects/default/features"
FILE = """version: 1
flags:
  checkout:
    description: One page
    environments:
      production:
        enabled: off
        rollout: 25
"""


@pytest.fixture
def service(make_service):
    service = make_service({"server": {"port": 0, "gracefulShutdownEnable": False}})
    service.start()
    return service


@pytest.fixture
def call(service, tmp_path, capsys):
    def run(text, *arguments, environ=None):
        file = tmp_path / "flags.yaml"
        file.write_text(text)
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        options = parser.parse_args([str(file), *arguments])
        variables = {"SERVICE_URL": service.url, "SERVICE_TOKEN": ADMIN_TOKEN}
        code = command.run_command(options, variables if environ is None else environ)
        out, err = capsys.readouterr()
        return code, out, err.replace(f"{file}", "flags.yaml")

    return run


def test_a_check_prints_the_plan_and_an_apply_writes_it(service, call):
    code, out, _ = call(FILE, "--check")
    lines = out.splitlines()
    assert code == 3
    assert lines[:5] == [
        "+ flag checkout in default",
        '    description: "One page"',
        "    production: off",
        "    production, strategy 1: 25% of users · sticky on userId or sessionId · group checkout",
        "1 to create, 0 unchanged",
    ]
    fingerprint = lines[5].removeprefix("Fingerprint: ")
    assert call(FILE, "--fingerprint", fingerprint)[:2] == (
        0,
        "\n".join([*lines[:4], "1 created, 0 unchanged", ""]),
    )
    code, out, _ = call(FILE, "--check")
    assert (code, out.splitlines()[0]) == (0, "1 unchanged")
    web = webtest.TestApp(service.app)
    assert web.get(f"{FLAGS}/checkout", headers=ADMIN).json["description"] == "One page"


def test_yaml_and_json_of_a_document_have_one_fingerprint(call):
    place = {"enabled": False, "rollout": 25}
    flag = {"description": "One page", "environments": {"production": place}}
    document = json.dumps({"version": 1, "flags": {"checkout": flag}})
    assert call(FILE, "--check")[1] == call(document, "--check")[1]


def test_errors_have_the_line_of_their_member(call):
    text = FILE.replace("description", "descripton").replace("25", "250") + "    zzz: [a]\n"
    code, out, err = call(text)
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        "flags.yaml:4: flags.checkout.descripton: unknown member; did you mean description?",
        "flags.yaml:9: flags.checkout.zzz: unknown member",
    ]
    strategies = "strategies: [{segments: [beta]}]"
    code, _, err = call(FILE.replace("rollout: 25", strategies))
    path = "flags.checkout.environments.production.strategies[0].segments"
    assert err == f"flags.yaml:8: {path}: Segment beta not found.\n"


def test_a_file_that_is_no_yaml_is_refused_with_its_line(call):
    assert call("version: 1\nflags: [\n")[2].startswith("flags.yaml:3: ")


def test_the_answer_and_errors_as_json(call):
    code, out, _ = call(FILE, "--json")
    assert (code, json.loads(out)["applied"]) == (0, True)
    code, out, _ = call(FILE.replace("version: 1", "version: 2"), "--json")
    (detail,) = json.loads(out)["details"]
    assert (code, detail["path"], detail["line"]) == (1, "version", 1)


def test_control_characters_of_the_service_are_escaped(service, call):
    body = {"name": "checkout", "description": "x\x1b[31m"}
    webtest.TestApp(service.app).post_json(FLAGS, body, headers=ADMIN)
    _, out, _ = call(FILE, "--check")
    assert "\x1b" not in out
    assert "One page" in out


def test_differences_that_stay_are_printed(service, call):
    call(FILE)
    web = webtest.TestApp(service.app)
    web.post(f"{FLAGS}/checkout/environments/production/on", headers=ADMIN)
    assert call(FILE)[1].splitlines()[0] == (
        "note: flag checkout in production stays on, off in the file"
    )
    web.delete(f"{FLAGS}/checkout", headers=ADMIN)
    assert call(FILE)[0] == 1
    assert "skipped: flag checkout is archived." in call(FILE, "--skip-conflicts")[1]
    assert call(FILE, "--revive")[1].startswith("~ flag checkout in default: revived")


@pytest.mark.parametrize(
    ("arguments", "environ", "text"),
    [
        ((), {}, "The URL of the service is missing: set SERVICE_URL or --url."),
        ((), {"SERVICE_URL": "http://a"}, "The token is missing: set SERVICE_TOKEN or"),
        (("--check", "--fingerprint", "x"), None, "--fingerprint can't be used with --check."),
        (("nowhere.yaml",), None, "nowhere.yaml could not be read: No such file or directory"),
        (("--token-file", "nowhere"), None, "nowhere could not be read"),
    ],
)
def test_invalid_usage_ends_with_two(call, arguments, environ, text):
    code, _, err = call(FILE, *arguments, environ=environ)
    assert code == 2
    assert text in err


def test_what_the_service_refuses_ends_with_one(service, call):
    environ = {"SERVICE_URL": service.url, "SERVICE_TOKEN": "*:*.wrong"}
    assert call(FILE, environ=environ)[0] == 1
    code, _, err = call(FILE, "--url", "http://127.0.0.1:1")
    assert (code, err) == (1, "The service can't be reached: NewConnectionError.\n")
    assert call(f"version: 1 # {'x' * 5_300_000}", "--check")[0] == 0
    code, _, err = call(f"version: 1\nflags: {{a: {{description: {'x' * 5_300_000}}}}}")
    assert (code, err) == (1, "The files have more than 5 MB.\n")


def test_each_command_and_file_of_the_documentation_works(call):
    page = (ROOT / "docs" / "flags-as-code.md").read_text()
    files = re.findall(r"^```yaml\n(version: 1\n.*?)^```", page, re.DOTALL | re.MULTILINE)
    commands = re.findall(r"^sigservice apply flags.yaml(.*)$", page, re.MULTILINE)
    assert (len(files), commands) == (2, [" --check", ""])
    for text in files:
        assert [call(text, *options.split())[0] for options in commands] == [3, 0]
        assert call(text, "--check")[0] == 0


def test_a_source_adopts_and_prunes(service, call):
    web = webtest.TestApp(service.app)
    web.post_json(FLAGS, {"name": "checkout"}, headers=ADMIN)
    source = ("--source", "acme/shop")
    assert "isn't managed" in call(FILE, *source)[2]
    code, out, _ = call("version: 1\nflags: {checkout: }", *source, "--adopt", "--revision", "1")
    assert (code, out) == (0, "~ flag checkout in default: adopted\n1 adopted, 0 unchanged\n")
    code, out, _ = call("version: 1", *source, "--check")
    assert (code, out.splitlines()[0]) == (0, "note: flag checkout isn't in the files")
    code, out, _ = call("version: 1", *source, "--prune")
    assert (code, out.splitlines()[0]) == (0, "- flag checkout in default: archived")


@pytest.mark.parametrize("option", ["--adopt", "--prune", "--prune-used", "--revision=1"])
def test_options_of_a_source_need_it(call, option):
    code, _, err = call(FILE, option)
    assert (code, "need --source" in err) == (2, True)
