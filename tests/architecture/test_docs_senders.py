"""docs/senders has a page for each sender; its samples, scripts and files are valid."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from sigservice.services.actions.action_templates import TEMPLATES as RECIPES
from sigservice.services.signals.endpoint_templates import TEMPLATES
from sigservice.services.signals.payload_paths import flatten_payload
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


def test_each_page_belongs_to_a_template_and_is_in_the_index():
    pages = {template.page for template in TEMPLATES.values()}
    assert pages | {"README.md"} == set(PAGES)
    for name, template in TEMPLATES.items():
        assert re.search(rf"\]\({template.page}\).*\| `{name}` \|", PAGES["README.md"]), name


@each("name", TEMPLATES)
def test_page_has_the_sections_and_the_template(name):
    page = PAGES[TEMPLATES[name].page]
    headings = re.findall(r"^## (.*)", page, re.MULTILINE)
    assert set(SECTIONS) <= set(headings)
    assert f"template `{name}`" in page


@each("name", TEMPLATES)
def test_index_names_what_identifies_a_delivery(name):
    template = TEMPLATES[name]
    line = next(line for line in PAGES["README.md"].splitlines() if f"| `{name}` |" in line)
    for path in template.options.idempotency.paths:
        assert f"`{path}`" in line


@each("block", list_blocks("json"), name=lambda block: block[0])
def test_json_parses(block):
    json.loads(block[1])


@each("block", list_blocks("yaml"), name=lambda block: block[0])
def test_yaml_parses(block):
    assert yaml.safe_load(block[1])


@each("block", list_blocks("sh"), name=lambda block: block[0])
def test_scripts_are_valid(block):
    subprocess.run(["bash", "-n"], input=block[1], text=True, check=True)


@each("name", TEMPLATES)
def test_payload_has_the_paths_of_the_sample(name):
    section = PAGES[TEMPLATES[name].page].split("\n## The payload\n")[1].split("\n## ")[0]
    text = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", section, re.S)]
    paths = set(flatten_payload(RECIPES[name].sample))
    if name == "github":  # its page shows a deployment first, and the jq filter of the sample
        paths |= {f"data.{member}" for member in ("status", "ref", "commit", "run")}
    assert any(set(flatten_payload(payload)) <= paths for payload in text)


def test_alertmanagers_page_shows_the_file():
    (block,) = (b for name, b in list_blocks("yaml") if "webhook_configs" in b)
    assert block == (FILES / "alertmanager.yml").read_text()


def test_grafanas_file_provisions_contact_point_policy_and_rule():
    text = yaml.safe_load((FILES / "grafana.yaml").read_text())
    ((receiver,),) = (point["receivers"] for point in text["contactPoints"])
    assert receiver["settings"]["authorization_credentials"] == "$SIGNAL_TOKEN"
    assert text["policies"][0]["receiver"] == text["contactPoints"][0]["name"]
    (rule,) = text["groups"][0]["rules"]
    assert rule["condition"] in {query["refId"] for query in rule["data"]}


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
