"""docs/senders has a page for each sender; its samples, scripts and files are valid."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from sigservice.senders import FOLDER as SOURCES
from sigservice.senders import SENDERS, list_external
from sigservice.senders.docs import write_pages
from tests.table_tests import each

FOLDER = Path(__file__).parents[2] / "docs" / "senders"
FILES = FOLDER / "files"
PAGES = {file.name: file.read_text() for file in FOLDER.glob("*.md")}
SECTIONS = ("Here", "The payload", "Limits and retries", "Test it")


def list_blocks(language):
    """(page, block) of all pages."""
    return [
        (name, block)
        for name, page in PAGES.items()
        for block in re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    ]


def test_pages_are_those_that_the_command_writes(tmp_path):
    shutil.copy(FOLDER / "README.md", tmp_path)
    write_pages(SOURCES, tmp_path)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == PAGES


@each("name", list_external())
def test_page_has_the_sections_and_what_is_generated(name):
    page = (SOURCES / name / "page.md").read_text()
    assert set(SECTIONS) <= set(re.findall(r"^## (.*)", page, re.MULTILINE))
    for place in ("title", "endpoint", "setup", "firing"):
        assert page.count(f"{{{{{place}}}}}") == 1


@each("block", list_blocks("json"), name=lambda block: block[0])
def test_json_parses(block):
    json.loads(block[1])


@each("block", list_blocks("yaml"), name=lambda block: block[0])
def test_yaml_parses(block):
    assert yaml.safe_load(block[1])


@pytest.mark.external
@each("block", list_blocks("sh"), name=lambda block: block[0])
def test_scripts_are_valid(block):
    subprocess.run(["bash", "-n"], input=block[1], text=True, check=True)


def test_alertmanagers_setup_has_the_receiver_of_the_file():
    setup = re.search(r"^receivers:.*?(?=^$)", SENDERS["alertmanager"].setup, re.M | re.S)[0]
    file = (FILES / "alertmanager.yml").read_text()
    url = "http://localhost:4242/api/signal-endpoint/alerts"
    filled = setup.replace("ENDPOINT_URL", url).replace("SIGNAL_TOKEN", "signal_YOUR_TOKEN")
    assert yaml.safe_load(filled)["receivers"] == yaml.safe_load(file)["receivers"]


def test_grafanas_file_provisions_contact_point_policy_and_rule():
    text = yaml.safe_load((FILES / "grafana.yaml").read_text())
    ((receiver,),) = (point["receivers"] for point in text["contactPoints"])
    assert receiver["settings"]["authorization_credentials"] == "$SIGNAL_TOKEN"
    assert text["policies"][0]["receiver"] == text["contactPoints"][0]["name"]
    (rule,) = text["groups"][0]["rules"]
    assert rule["condition"] in {query["refId"] for query in rule["data"]}


@pytest.mark.external
@pytest.mark.parametrize(
    "command",
    [
        ("amtool", "check-config", "alertmanager.yml"),
        ("promtool", "check", "rules", "prometheus.rules.yml"),
        ("promtool", "test", "rules", "prometheus.rules.test.yml"),
    ],
    ids=" ".join,
)
def test_tool_accepts_the_file(command):
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    result = subprocess.run(command, cwd=FILES, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
