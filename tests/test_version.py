"""The commit beside the version: of a checkout, whatever its form, and of a wheel."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sigservice.version import COMMIT_FILE, VERSION_WITH_COMMIT, __version__, read_commit
from tests.server.process import ROOT, run_command


def git(folder, *arguments):
    identity = ["-c", "user.name=ada", "-c", "user.email=ada@example.com"]
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments],
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path):
    """A repository with two commits on a branch with a slash."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=topic/flags")
    for _ in range(2):
        git(folder, "commit", "--quiet", "--allow-empty", "--message=x")
    return folder


def check(folder):
    commit = read_commit(folder / "sigservice")
    assert len(commit) == 7
    assert git(folder, "rev-parse", "HEAD").startswith(commit)


@pytest.mark.external
def test_commit_of_a_branch(checkout):
    check(checkout)


@pytest.mark.external
def test_commit_of_a_branch_in_packed_refs(checkout):
    git(checkout, "branch", "other", "HEAD~1")
    git(checkout, "pack-refs", "--all")
    check(checkout)


@pytest.mark.external
def test_commit_of_a_tag_that_is_checked_out(checkout):
    git(checkout, "tag", "--annotate", "--message=x", "v1", "HEAD~1")
    git(checkout, "checkout", "--quiet", "v1")
    check(checkout)


@pytest.mark.external
def test_commit_of_a_worktree(checkout, tmp_path):
    git(checkout, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "worktree"), "HEAD~1")
    check(tmp_path / "worktree")


@pytest.mark.parametrize("head", [None, "", "ref: refs/heads/none", "ref: ../../x", "\0\xff"])
def test_no_commit_without_a_readable_head(tmp_path, head):
    if head is not None:
        (tmp_path / ".git").mkdir()
        (tmp_path / ".git" / "HEAD").write_text(head)
    assert read_commit(tmp_path / "sigservice") == ""


@pytest.mark.external
def test_wheel_keeps_the_commit_that_it_was_built_from(checkout, tmp_path):
    for name in ("setup.py", "sigservice/version.py"):
        (checkout / name).parent.mkdir(exist_ok=True)
        (checkout / name).write_text((ROOT / name).read_text())
    (checkout / "sigservice" / "__init__.py").touch()
    (checkout / "setup.cfg").write_text("[options]\npackages = sigservice\n")
    build = [sys.executable, "setup.py", "--quiet", "build_py", "--build-lib", str(tmp_path / "x")]
    subprocess.run(build, cwd=checkout, check=True, capture_output=True)
    assert (tmp_path / "x" / "sigservice" / COMMIT_FILE).exists()
    assert git(checkout, "rev-parse", "HEAD").startswith(read_commit(tmp_path / "x" / "sigservice"))
    assert not (checkout / "sigservice" / COMMIT_FILE).exists()


@pytest.mark.external
def test_command_prints_version_and_commit():
    assert VERSION_WITH_COMMIT.startswith(__version__)
    assert run_command(["--version"], {}).stdout == f"sigservice {VERSION_WITH_COMMIT}\n"


def test_pages_and_start_lines_show_version_and_commit(web, service):
    assert service.describe()[0] == f"sigservice {VERSION_WITH_COMMIT}"
    assert f"<p>sigservice {VERSION_WITH_COMMIT}" in web.get("/sign-in").text
