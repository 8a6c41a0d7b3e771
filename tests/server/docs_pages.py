"""Runs the commands of a page of docs/ as a reader does: in order, in an empty folder.

* The `sh` blocks of a page run in one session of bash, which ends at the first failure.
* A `console` block is another terminal, without the variables of the session. Its command starts
  in the background; the session continues when the output has the words of READY.
* A `python` or `js` block is a program. A placeholder such as `<client token>` in it gets the value
  of the session's variable CLIENT_TOKEN.
* A block that begins with "```sh not run: reason" is skipped.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

from tests.server.process import ROOT
from tests.waiting import until

LANGUAGES = ("sh", "console", "python", "js")
MAX_SECONDS = 120  # for one page
NOTHING: Mapping[str, str] = {}
# A program that a terminal starts, and what it prints when others can use it.
READY = {
    "sigservice": "address ",
    "serve.py": "address ",
    "shop.py": "checkout is on",
    "prometheus-alertmanager": "Listening on",
    "aiosmtpd": "",
}
# An error that the service answers ends the page.
CURL_OPTIONS = "fail\nsilent\nshow-error\n"
FUNCTIONS = """
set -euo pipefail
wait_for() {  # COUNT PATTERN FILE
    for _ in $(seq 1200); do
        if [ "$(grep -cE -e "$2" "$3")" -ge "$1" ]; then return; fi
        sleep 0.05
    done
    echo "$3 lacks $2:"; cat "$3"; exit 1
}
wait_for_port() {
    for _ in $(seq 1200); do
        if (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
        sleep 0.05
    done
    echo "nothing listens on port $1"; exit 1
}
stop() {  # PROGRAM
    pid=$(cat "$1.pid"); kill "$pid"; wait "$pid" || true
}
"""


class Block(NamedTuple):
    page: str
    line: int
    heading: str
    language: str
    is_fenced: bool
    mark: str  # "" of a block that is run
    code: str

    @property
    def place(self) -> str:
        return f"docs/{self.page}.md:{self.line}"


def list_blocks(page: str) -> list[Block]:
    """All code blocks of a page, in order."""
    tokens = MarkdownIt("commonmark").parse((ROOT / "docs" / f"{page}.md").read_text())
    blocks, heading = [], ""
    for number, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = tokens[number + 1].content
        elif token.type in ("fence", "code_block"):
            language, _, mark = token.info.partition(" ")
            line = (token.map or [0])[0] + 1
            is_fenced = token.type == "fence"
            blocks.append(Block(page, line, heading, language, is_fenced, mark, token.content))
    return blocks


def list_commands(page: str) -> list[Block]:
    """The blocks that a reader types in or runs."""
    return [block for block in list_blocks(page) if block.language in LANGUAGES]


class Reader:
    """Follows pages in a folder. `environ` is in every terminal."""

    def __init__(self, folder: Path, environ: Mapping[str, str] = NOTHING) -> None:
        self.folder = folder
        home = folder / ".home"
        home.mkdir()
        (home / ".curlrc").write_text(CURL_OPTIONS)
        self._environ = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            **environ,
        }

    def run_page(
        self,
        page: str,
        *,
        changes: Mapping[str, str] = NOTHING,
        before: Mapping[str, str] = NOTHING,
        files: Mapping[str, str] = NOTHING,
        at_end: str = "",
    ) -> dict[str, str]:
        """The output of each heading's blocks. Raises AssertionError with the block that failed.

        `changes` replaces texts, such as a port. `before` has what a reader does before the block
        with a text, for example waits. `files` has the name under which the block with a text is
        saved instead of run.
        """
        script = [FUNCTIONS]
        blocks = [block for block in list_commands(page) if not block.mark]
        unused = {*changes, *before, *files}
        for number, block in enumerate(blocks):
            unused -= {text for text in unused if text in block.code}
            script += [commands for text, commands in before.items() if text in block.code]
            script.append(f"printf '\\n=== %s\\n' '{number} {block.place}'")
            names = [name for text, name in files.items() if text in block.code]
            code = block.code
            for old, new in changes.items():
                code = code.replace(old, new)
            if names:
                self._save_file(names[0], code)
            else:
                script.append(self._make(block, number, code))
        assert not unused, f"docs/{page}.md has no block with {unused}"
        output = self._run("\n".join([*script, "printf '\\n=== end\\n'", at_end]))
        parts = re.split(r"\n=== (\d+|end).*\n", output)[1:]
        result: dict[str, str] = {}
        for which, text in zip(parts[::2], parts[1::2], strict=True):
            heading = "end" if which == "end" else blocks[int(which)].heading
            if which != "end":
                place = blocks[int(which)].place
                assert text[-1:] in ("", "\n"), f"{place}: its output has no end of line"
            result[heading] = result.get(heading, "") + text
        return result

    def _make(self, block: Block, number: int, code: str) -> str:
        """The commands of bash that run a block."""
        if block.language == "sh":
            return code
        if block.language == "console":
            name = next(name for name in READY if re.search(rf"\b{re.escape(name)}\b", code))
            self._save_file(f".terminal{number}", code.removeprefix("$ "))
            variables = shlex.join(f"{key}={value}" for key, value in self._environ.items())
            # The output of a former start must not count, so its file is emptied before.
            return f"""
: >{name}.log
env -i {variables} bash -c "$(cat .terminal{number})" >{name}.log 2>&1 &
echo $! >{name}.pid
wait_for {int(bool(READY[name]))} '{READY[name]}' {name}.log
"""
        suffix, program = ("py", "python") if block.language == "python" else ("mjs", "node")
        file = f"program{number}.{suffix}"
        self._save_file(file, code)
        edits = "".join(
            f'sed -i "s|{text}|${text[1:-1].upper().replace(" ", "_")}|" {file}\n'
            for text in sorted(set(re.findall(r"<\w+ token>", code)))
        )
        return f"{edits}{program} {file}"

    def _save_file(self, name: str, content: str) -> None:
        (self.folder / name).write_text(content)

    def _run(self, script: str) -> str:
        """What bash prints."""
        with subprocess.Popen(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as bash:
            try:
                output, _ = bash.communicate(timeout=MAX_SECONDS)
            except subprocess.TimeoutExpired:
                bash.kill()
                output = f"{bash.communicate()[0]}\nnot done after {MAX_SECONDS} s"
            finally:
                end_session(bash.pid)
        last = output.rpartition("\n=== ")[2]
        assert not bash.returncode, f"exit code {bash.returncode} at block {last}"
        return output


def end_session(session: int) -> None:
    """Ends the processes that a terminal has started; kills those that don't end."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in list_session(session):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        with contextlib.suppress(AssertionError):
            return until(lambda: not list_session(session), "the end of each process", 10)


def list_session(session: int) -> list[int]:
    """The running processes of a session."""
    pids = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, _, _, number, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(number) == session and state not in ("Z", "X"):
                    pids.append(int(entry.name))
    return pids
