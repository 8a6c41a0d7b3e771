"""`.ci/release.py` in a repository of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.external

ROOT = Path(__file__).parents[2]
CHANGES = "Signals\n\n* One change.\n# not a comment"


class Checkout:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / ".ci").mkdir()
        (folder / "sigservice").mkdir()
        shutil.copy(ROOT / ".ci/release.py", folder / ".ci/release.py")
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "a maintainer")
        self.git("config", "user.email", "maintainer@flags.example")
        self.commit()

    def git(self, *arguments: str) -> str:
        return subprocess.check_output(
            ["git", "-C", str(self._folder), *arguments], text=True
        ).strip()

    def read(self) -> str:
        return (self._folder / "CHANGELOG.md").read_text()

    def commit(self, version: str = "1.2.0", title: str = "1.2.0 (unreleased)") -> None:
        sections = f"## {title}\n\n{CHANGES}\n\n## 1.1.0 (2026-01-01)\n\n* Before.\n"
        (self._folder / "CHANGELOG.md").write_text(f"# Changelog\n\n{sections}")
        (self._folder / "sigservice/version.py").write_text(f'__version__ = "{version}"\n')
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "Change something")

    def release(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, ".ci/release.py"], cwd=self._folder, capture_output=True, text=True
        )


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_release_is_a_tag_whose_message_is_the_section(checkout: Checkout):
    answer = checkout.release()
    assert (answer.returncode, answer.stderr) == (0, "")
    assert checkout.git("tag", "--list", "--format=%(contents)") == f"1.2.0\n\n{CHANGES}"
    assert checkout.git("describe") == "v1.2.0"
    assert checkout.git("log", "-1", "--format=%s") == "Release 1.2.0"


def test_release_dates_the_section(checkout: Checkout):
    checkout.release()
    assert re.search(r"^## 1\.2\.0 \(\d{4}-\d\d-\d\d\)$", checkout.read(), re.MULTILINE)


@pytest.mark.parametrize(
    ("version", "title", "error"),
    [
        ("1.1.9", "1.2.0 (unreleased)", "version.py does not name version 1.2.0"),
        ("1.2.0", "1.2.0 (2026-02-02)", "the first section of CHANGELOG.md"),
        ("1.2.0", "Next", "the first section of CHANGELOG.md"),
    ],
)
def test_unfinished_release_is_refused(checkout: Checkout, version: str, title: str, error: str):
    checkout.commit(version, title)
    answer = checkout.release()
    assert answer.returncode == 1
    assert answer.stderr.startswith("No release: ")
    assert error in answer.stderr
    assert checkout.git("tag", "--list") == ""


def test_changes_that_are_not_committed_are_refused(checkout: Checkout, tmp_path: Path):
    (tmp_path / "left.txt").touch()
    assert "not committed" in checkout.release().stderr
    assert checkout.git("tag", "--list") == ""


def test_same_version_is_not_released_twice(checkout: Checkout):
    checkout.release()
    checkout.commit()
    assert "the tag v1.2.0 exists" in checkout.release().stderr
