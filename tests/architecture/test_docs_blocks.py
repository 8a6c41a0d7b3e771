"""Each command of docs/ is run by a test, or its block says why not."""

from __future__ import annotations

import re
from pathlib import Path

from tests.server import test_docs_pages
from tests.server.docs_pages import list_blocks, list_commands
from tests.table_tests import each

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(file.stem for file in (ROOT / "docs").glob("*.md"))
SENDERS = [f"senders/{file.stem}" for file in (ROOT / "docs" / "senders").glob("*.md")]
RUN = [name for name in PAGES if hasattr(test_docs_pages, f"test_{name.replace('-', '_')}")]
# Pages that other tests run.
ELSEWHERE = {
    "authentication": "tests/routes/test_custom_authentication.py",
    "send": "tests/server/test_docs_send.py",
}
OTHER_SPELLINGS = re.compile(r"\brun\.py\b|-m sigservice\b|\.venv/bin/(python|sigservice)\b")
CURL_WITH_PROGRESS = re.compile(r"^(?=.*[|>]|.*\$\().*\bcurl (?!.*(-sS|--silent)\b)", re.MULTILINE)


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


@each("page", [*PAGES, *SENDERS, "../README"])
def test_the_command_has_one_spelling(page):
    for block in list_commands(page):
        assert not OTHER_SPELLINGS.search(block.code), block.place


@each("page", [*PAGES, *SENDERS])
def test_curl_shows_no_progress_beside_the_output_of_a_pipe(page):
    for block in list_commands(page):
        commands = block.code.replace("\\\n", "")
        assert not CURL_WITH_PROGRESS.search(commands), block.place


@each("page", list(ELSEWHERE))
def test_the_other_test_reads_the_page(page):
    assert page in (ROOT / ELSEWHERE[page]).read_text()
