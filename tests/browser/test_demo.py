"""`sigservice demo` as a process, with a browser in its shop."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.process import ROOT
from tests.waiting import DEADLINE_SECONDS, until

COMMAND = [sys.executable, str(ROOT / "run.py"), "demo", "--no-browser"]


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    environ = {"PATH": os.environ["PATH"], "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}
    process = subprocess.Popen(
        COMMAND,
        cwd=tmp_path,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    yield process
    process.kill()
    process.communicate()


def read_links(process: subprocess.Popen[str]) -> tuple[str, str]:
    """The links of the shop and of the sign-in."""
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    shop, sign_in = re.findall(r"http://\S+", "".join(lines))
    return shop, sign_in


@pytest.mark.browser
def test_a_broken_checkout_goes_off_and_the_page_of_the_flag_says_why(
    demo: subprocess.Popen[str], chromium: Any, expect: Any, tmp_path: Path
) -> None:
    shop_link, sign_in_link = read_links(demo)
    context = chromium.new_context()
    context.set_default_timeout(DEADLINE_SECONDS * 1000)
    shop = context.new_page()
    shop.goto(shop_link)
    expect(shop.get_by_text("The shop uses the new checkout.")).to_be_visible()
    shop.get_by_role("button", name="Break the new checkout").click()
    expect(shop.get_by_text("The flag is off")).to_be_visible()
    page = context.new_page()
    page.goto(f"{sign_in_link}?flag")
    expect(page.get_by_text("orders-fail").first).to_be_visible()
    assert page.request.get(f"{shop_link}sign-in/guess").status == 404
    assert page.request.get(shop_link, headers={"Host": "rebound.example"}).status == 421
    context.close()

    demo.send_signal(signal.SIGINT)
    until(lambda: demo.poll() is not None, "the end of the demo")
    assert demo.returncode == 0
    assert not list(tmp_path.iterdir())
