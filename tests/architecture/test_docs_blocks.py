"""Each command of docs/ is run by a test, or its block says why not."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

from tests.server import test_docs_pages
from tests.server.docs_pages import list_blocks, list_commands
from tests.table_tests import each

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(file.stem for file in (ROOT / "docs").glob("*.md"))
RUN = [name for name in PAGES if hasattr(test_docs_pages, f"test_{name.replace('-', '_')}")]
# Pages that other tests run.
ELSEWHERE = {
    "authentication": "tests/routes/test_custom_authentication.py",
    "relay": "tests/relay/test_start.py",
    "flags-as-code": "tests/commands/transfer/test_apply.py",
    "send": "tests/server/test_docs_send.py",
}


def test_each_page_with_commands_is_run():
    pages = {page for page in PAGES if any(not block.mark for block in list_commands(page))}
    assert pages == {*RUN, *ELSEWHERE}


@each("page", RUN)
def test_no_block_is_indented(page):
    for block in list_blocks(page):
        assert block.is_fenced, f"{block.place}: an indented block isn't run"


@each("page", PAGES)
def test_a_block_that_is_not_run_says_why(page):
    for block in list_commands(page):
        assert not block.mark or re.match(r"not run: \w", block.mark), block.place


@each("page", list(ELSEWHERE))
def test_the_other_test_reads_the_page(page):
    assert page in (ROOT / ELSEWHERE[page]).read_text()


def test_tutorials_on_one_service_share_no_names_and_files():
    patterns = r'"(?:name|username|tokenName)": "([^"]+)"', r"(?:>|-o) *([\w.-]+\.(?:json|py|yml))"
    names = {
        page: {
            name
            for block in list_commands(page)
            for pattern in patterns
            for name in re.findall(pattern, block.code)
        }
        for page in ("quickstart", "actions", "alert-rules", "releases")
    }
    shared = {
        (first, second): names[first] & names[second] for first, second in combinations(names, 2)
    }
    assert {pages: both for pages, both in shared.items() if both} == {}
    assert all(names.values())
