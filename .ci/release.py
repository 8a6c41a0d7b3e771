#!/usr/bin/env python3
"""Makes the release that the first section of CHANGELOG.md describes: dates the section, commits
that, and tags the commit with the section as its message. Pushes nothing. See docs/releasing.md.
"""

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG, VERSION = ROOT / "CHANGELOG.md", ROOT / "sigservice/version.py"
FIRST_SECTION = re.compile(
    r"# Changelog\n\n## (\d+\.\d+\.\d+) \(unreleased\)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL
)


def run_git(*arguments: str, text: str | None = None) -> str:
    done = subprocess.run(
        ["git", "-C", str(ROOT), *arguments],
        input=text,
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    return done.stdout.strip()


def release() -> str:
    """Returns the name of the tag. Raises ValueError if the checkout can't be released."""
    changelog = CHANGELOG.read_text()
    section = FIRST_SECTION.match(changelog)
    if section is None:
        raise ValueError("the first section of CHANGELOG.md must be `## X.Y.Z (unreleased)`")
    version, changes = section[1], section[2].strip()
    if f'__version__ = "{version}"' not in VERSION.read_text():
        raise ValueError(f"{VERSION.name} does not name version {version}")
    if not changes:
        raise ValueError(f"CHANGELOG.md lists no change of {version}")
    if run_git("status", "--porcelain"):
        raise ValueError("the checkout has changes that are not committed")
    tag = f"v{version}"
    if run_git("tag", "--list", tag):
        raise ValueError(f"the tag {tag} exists")
    today = datetime.now(UTC).date().isoformat()
    CHANGELOG.write_text(
        changelog.replace(f"## {version} (unreleased)", f"## {version} ({today})", 1)
    )
    run_git("commit", "--quiet", "--message", f"Release {version}", "--", str(CHANGELOG))
    # Without cleaning, because that would remove lines that begin with #.
    run_git(
        "tag", "--annotate", tag, "--cleanup=verbatim", "--file=-", text=f"{version}\n\n{changes}\n"
    )
    return tag


if __name__ == "__main__":
    try:
        tag = release()
    except ValueError as error:
        sys.exit(f"No release: {error}.")
    print(f"Tagged {tag}. Publish it: git push --follow-tags")
