"""The version, in the one place that packaging and pages read it from, and the commit."""

from pathlib import Path

__version__ = "0.1.0"
_PACKAGE = Path(__file__).resolve().parent
COMMIT_FILE = "commit.txt"  # in the package; setup.py writes it into a wheel
_HASH_CHARACTERS = 7


def read_commit(package: Path) -> str:
    """The abbreviated commit of an installed package or of its checkout, without starting git; ""
    if it isn't known."""
    try:
        if (package / COMMIT_FILE).exists():
            commit = (package / COMMIT_FILE).read_text()
        else:
            commit = _read_head(package.parent / ".git")
    except (OSError, ValueError):
        return ""
    return commit[:_HASH_CHARACTERS] if commit[:_HASH_CHARACTERS].isalnum() else ""


def _read_head(git: Path) -> str:
    """The commit of HEAD. Raises OSError and ValueError if there is none."""
    if git.is_file():  # of a worktree
        git = git.parent / git.read_text().removeprefix("gitdir:").strip()
    head = (git / "HEAD").read_text().strip()
    if not head.startswith("ref: "):
        return head
    name = head.removeprefix("ref: ")
    common = git
    if (git / "commondir").exists():
        common = git / (git / "commondir").read_text().strip()
    if (common / name).exists():
        return (common / name).read_text()
    packed = (common / "packed-refs").read_text().splitlines()
    return next((line for line in packed if line.endswith(f" {name}")), "")


# Read once at the start: a later `git pull` doesn't change the code that runs.
COMMIT = read_commit(_PACKAGE)
VERSION_WITH_COMMIT = f"{__version__} ({COMMIT})" if COMMIT else __version__
